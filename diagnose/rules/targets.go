package rules

import (
	"github.com/lshark/lshark/diagnose"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/track"
)

// targetKey is a target: by its name or, where that is unknown, by a server and the
// handle of a connection to it.
type targetKey struct {
	name   string
	server lnet.NID
	handle uint64
}

// maxTargets are followed by a rule.
const maxTargets = 1 << 13

// targetOf returns the target of an RPC.
func targetOf(r *track.RPC) targetKey {
	if name := r.Target(); name != "" {
		return targetKey{name: name}
	}
	return targetKey{server: r.Server, handle: r.Handle}
}

// subject returns the target as what a finding is about.
func (k targetKey) subject() diagnose.Subject {
	if k.name != "" {
		return diagnose.Subject{Target: k.name}
	}
	return diagnose.Subject{Server: k.server, Detail: string(schema.AppendHex(nil, k.handle))}
}

func (k targetKey) String() string { return targetText(k.name, k.server) }

// spaces has what targets said last about their space.
type spaces struct {
	last *fifo.Map[targetKey, spaceReply]
}

// spaceReply is a reply to a statfs.
type spaceReply struct {
	opcodes.TargetSpace
	at track.Point
}

func newSpaces() spaces { return spaces{fifo.NewMap[targetKey, spaceReply](maxTargets)} }

// statfsOpcodes are the operations with replies about the space of a target.
var statfsOpcodes = []uint32{opcodes.OST_STATFS, opcodes.MDS_STATFS}
