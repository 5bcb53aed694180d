package track

import (
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// IsLog reports whether a connection is known from logs only.
func (c *Connection) IsLog() bool { return c.TargetFrom == TargetFromLog }

// LacksReply reports whether no reply is known, whatever the reason.
func (r *RPC) LacksReply() bool {
	return r.Missing != NotMissing || r.Log != nil && r.Connection.IsLog() && !r.HasReply
}

// mayBeTo reports whether a connection is to a target with a name, as far as its own is known.
func (c *Connection) mayBeTo(target string) bool {
	return c.Target == target || c.Target == "" && c.TargetIndex != "" && strings.HasSuffix(target, "-"+c.TargetIndex)
}

// FromLog makes an RPC of what logs have about it, without a capture: between two nodes, of
// which the zero NID stands for one that is unknown. What logs do not have is unknown.
func FromLog(l *debuglog.RPC, client, server lnet.NID) *RPC {
	c := &l.Client
	if !l.HasClient {
		c = &l.Server
	}
	r := &RPC{Log: l, HasRequest: true, Sends: 1 + l.Client.Resent, Seen: []Sighting{{}}}
	r.Identity = Identity{XID: c.XID, Opcode: c.Opcode, HasOpcode: true, Client: client, Server: server}
	r.Connection = &Connection{Client: client, Server: server, ClientUUID: c.UUID, TargetFrom: TargetFromLog, Target: l.Client.Target}
	r.jobLen = uint8(copy(r.job[:], c.Job))
	r.hasJob = true
	user := l.Client.User
	if !user.Known {
		user = l.Server.User
	}
	r.UID, r.GID, r.HasUser = user.UID, user.GID, user.Known
	r.state, r.created = ended, c.Begin()
	s := &r.Seen[0]
	s.Request = Point{-c.FirstLine, c.File, c.Begin()}
	if l.HasServer && l.Server.Handled != 0 && l.Server.ReplyStatus != debuglog.NoReply {
		r.HasReply, s.Reply = true, Point{-l.Server.LastLine, l.Server.File, l.Server.Handled}
		r.Status, r.Transno = l.Server.ReplyStatus, l.Server.Transno
		r.body = opcodes.PbTransno.Off + opcodes.PbTransno.Size
	}
	gotReply := l.Client.Failed == 0 || l.Client.Failed <= l.Server.Handled && l.Server.Handled <= l.Client.Completed
	if l.HasClient && l.Client.Completed != 0 && gotReply && l.NotOnWire == debuglog.Nothing {
		r.HasReply, s.Reply = true, Point{-l.Client.LastLine, l.Client.File, l.Client.Completed}
	}
	if l.Client.Intent != 0 {
		r.OtherErrors = []int32{l.Client.Intent}
	}
	return r
}
