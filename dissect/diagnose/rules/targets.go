package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// targetKey is a target: by its name; where that is unknown by a server and the index,
// as in OST0001; else by a server and the handle of a connection to it.
type targetKey struct {
	name   string
	index  string
	server lnet.NID
	handle uint64
}

// namedTarget returns a target of which name and index may be empty.
func namedTarget(name, index string, server lnet.NID) targetKey {
	if name != "" {
		return targetKey{name: name}
	}
	return targetKey{index: index, server: server}
}

// lockTarget returns the target of a lock.
func lockTarget(l *locks.Lock) targetKey { return namedTarget(l.Target(), l.TargetIndex(), l.Server) }

// maxTargets are followed by a rule.
const maxTargets = 1 << 13

// targetOf returns the target of an RPC.
func targetOf(r *track.RPC) targetKey {
	k := namedTarget(r.Target(), r.TargetIndex(), r.Server)
	if !k.isKnown() {
		k.handle = r.Handle
	}
	return k
}

// clientOfLock returns client and resource of a lock, and the target, as what a finding
// is about.
func clientOfLock(l *locks.Lock) diagnose.Subject {
	s := lockTarget(l).subject()
	s.Client, s.Detail = l.Client, string(l.Desc.AppendResource(nil))
	return s
}

// isKnown reports whether name or index are known.
func (k targetKey) isKnown() bool { return k.name != "" || k.index != "" }

// subject returns the target as what a finding is about.
func (k targetKey) subject() diagnose.Subject {
	if k.name != "" {
		return diagnose.Subject{Target: k.name}
	}
	s := diagnose.Subject{TargetIndex: k.index, Server: k.server}
	if k.handle != 0 {
		s.Detail = string(schema.AppendHex(nil, k.handle))
	}
	return s
}

// String returns the name of a target, or what is known instead.
func (k targetKey) String() string {
	switch {
	case k.name != "":
		return k.name
	case k.index != "":
		return k.index + " of " + k.server.String()
	case k.handle == 0:
		return k.server.String()
	}
	return "a target of " + k.server.String()
}

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
