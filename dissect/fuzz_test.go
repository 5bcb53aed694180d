package dissect

import (
	"testing"

	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// FuzzLNet plays the bytes that two nodes send to each other, in order and whole, and
// builds a tree of every message.
func FuzzLNet(f *testing.F) {
	for _, w := range []wiretest.Socklnd{{Version: 1}, {Version: 2, Big: true, Sum: true}, {Version: 3}, {Version: 4}} {
		f.Add(wiretest.Join(w.Connreq(), w.Hello(false, 1, 2), w.Put(64, 100), w.LNet(false, wiretest.Get, 8, 65, nil), w.Noop(0, 5)),
			wiretest.Join(w.Hello(true, 3), w.LNet(true, wiretest.Reply, 0, 0, make([]byte, 40)), w.LNet(true, wiretest.Ack, 0, 64, nil)))
	}
	f.Fuzz(func(t *testing.T, there, back []byte) {
		var tree Tree
		d := New(Options{Handle: func(m *Message) {
			tree.Build(m)
			size := len(m.Data) + len(m.Content)
			must.That(t, len(tree.Nodes) <= 64+4*size, "%s: %d nodes of %d bytes", m.Kind, len(tree.Nodes), size)
		}})
		tc := wiretest.NewConn().Open()
		for len(there)+len(back) > 0 {
			n, k := min(len(there), 700), min(len(back), 500)
			if tc.Send(false, there[:n]); k > 0 {
				tc.Send(true, back[:k])
			}
			there, back = there[n:], back[k:]
		}
		wiretest.Play(d, tc.Frames)
	})
}
