package rules

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// unseenMessages has when messages of nodes, or parts of them, were not captured: what
// rules do not find there may have happened.
type unseenMessages struct {
	last    *fifo.Map[lnet.NID, int64] // times of the last ones
	unknown int64                      // time of the last one of unknown nodes
}

func newUnseenMessages() *unseenMessages {
	return &unseenMessages{last: fifo.NewMap[lnet.NID, int64](maxTargets)}
}

// lost takes bytes that were not captured, if a message may be in them.
func (u *unseenMessages) lost(l *lnet.Loss) {
	if l.Bytes < minMessage {
		return
	}
	for _, n := range l.NIDs {
		u.add(n, l.To)
	}
	if len(l.NIDs) == 0 {
		u.unknown = max(u.unknown, l.To)
	}
}

// sent takes a request, of which a part may not have been captured.
func (u *unseenMessages) sent(r *track.RPC, m *dissect.Message) {
	if m.RPC.Cut {
		u.add(r.Client, m.Time)
		u.add(r.Server, m.Time)
	}
}

// answered takes a reply, of which a part may not have been captured.
func (u *unseenMessages) answered(r *track.RPC, m *dissect.Message) {
	if len(m.Data) < m.Size {
		u.add(r.Client, m.Time)
	}
}

func (u *unseenMessages) add(n lnet.NID, at int64) {
	last, _ := u.last.Get(n)
	u.last.Put(n, max(last, at))
}

// since reports whether messages from or to a node may be missing since a time.
func (u *unseenMessages) since(n lnet.NID, time int64) bool {
	last, _ := u.last.Get(n)
	return last >= time || u.unknown >= time
}
