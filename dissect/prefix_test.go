package dissect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// leaf is a node without descendants, as far as it is compared.
type leaf struct {
	path  string
	off   int32
	len   int32
	val   uint64
	bytes string
}

// leaves returns the nodes of a tree without descendants, and those of them whose bytes
// are missing.
func leaves(t *Tree) (there []leaf, missing []Node) {
	var path [maxDepth + 2]string
	for i := range t.Nodes {
		n := &t.Nodes[i]
		path[n.Depth] = fmt.Sprint(n.Name(), n.Index)
		switch {
		case n.Src != InMessage || int(n.End) > i+1:
		case n.Field.Kind == schema.Record && n.Field.Type.Atom == schema.Plain:
		case n.Is(Missing):
			missing = append(missing, *n)
		case n.Len > 0:
			there = append(there, leaf{fmt.Sprint(path[:n.Depth+1]), n.Off, n.Len, n.Val, string(t.Bytes(n))})
		}
	}
	return there, missing
}

// fits reports whether a leaf of a cut message is one of the whole message, or the
// captured part of one.
func (l leaf) fits(whole map[leaf]bool, at map[int32]leaf, cut int) bool {
	if whole[l] {
		return true
	}
	w, ok := at[l.off]
	return ok && int(l.off+l.len) == cut && w.len > l.len && strings.HasPrefix(w.path, strings.TrimSuffix(l.path, "]")) && w.bytes[:l.len] == l.bytes
}

// dialogs returns the messages of a sample, one of each format, with the messages that
// it is read with.
func dialogs(t *testing.T, path string) map[string][]*Message {
	found := map[string][]*Message{}
	requests := map[uint64]*Message{}
	eachMessage(t, path, func(m *Message) {
		name := fmt.Sprint(m.Kind, m.RPC.Opcode)
		if m.RPC.Variant != nil {
			name += m.RPC.Variant.Name
		}
		if m.Kind == lnet.Request {
			requests[m.RPC.XID] = m.Clone()
		}
		// Bulk data that are cut mean nothing.
		if m.Kind == lnet.Bulk || m.Kind == lnet.GetReply || found[name] != nil || m.Size > 4096 || len(m.Data) < m.Size || len(m.Holes) > 0 {
			return
		}
		list := []*Message{}
		if q := requests[m.RPC.XID]; q != nil && m.Kind != lnet.Request {
			list = append(list, q)
		}
		found[name] = append(list, m.Clone())
	})
	return found
}

// TestCutMessages cuts a message of each format at every byte, as a snaplen does: its
// tree is the first part of that of the whole message, and has the reason why the rest
// is missing.
func TestCutMessages(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range wiretest.Samples(t) {
		for name, list := range dialogs(t, path) {
			// The sizes of an intent's attributes stand behind them.
			if !seen[name] && !strings.Contains(name, "GETXATTR") {
				seen[name] = true
				t.Run(name, func(t *testing.T) { cutEverywhere(t, list) })
			}
		}
	}
}

func cutEverywhere(t *testing.T, list []*Message) {
	last := list[len(list)-1]
	var whole Tree
	playThese(list, func(m *Message) { whole.Build(m) })
	all, _ := leaves(&whole)
	set, at := map[leaf]bool{}, map[int32]leaf{}
	for _, l := range all {
		set[l] = true
		if old, ok := at[l.off]; !ok || l.len > old.len {
			at[l.off] = l
		}
	}
	var tree Tree
	// Before its magic is there, a lustre_msg is none.
	for n := max(last.PayloadOff+offMagic+4, opcodes.KsockHdr.Size); n < last.Size; n += 1 + 2*min(n/wiretest.Rounds(400), 3) {
		c := *last
		c.Data, c.Tail, c.Notes = bytes.Clone(last.Data[:n]), lnet.Snaplen, nil
		playThese(append(append([]*Message(nil), list[:len(list)-1]...), &c), func(m *Message) { tree.Build(m) })
		there, missing := leaves(&tree)
		for _, l := range there {
			if !l.fits(set, at, n) {
				t.Fatalf("cut at %d of %d: %+v is not in the whole", n, last.Size, l)
			}
		}
		for _, m := range missing {
			if lnet.Why(m.Val) != lnet.Snaplen {
				t.Fatalf("cut at %d of %d: %s is missing: %s", n, last.Size, m.Name(), lnet.Why(m.Val))
			}
		}
		const header = 40 // bytes at most that tell what a part is
		if k := before(all, n-header); len(there) < k {
			t.Fatalf("cut at %d of %d: %d leaves of the %d that lie before, %+v", n, last.Size, len(there), k, firstOther(there, all))
		}
	}
}

// firstOther returns the first leaf of all that is missing in the others.
func firstOther(there, all []leaf) leaf {
	for i, l := range all {
		if i >= len(there) || there[i] != l {
			return l
		}
	}
	return leaf{}
}

// before returns the number of leaves that end at or before an offset.
func before(all []leaf, n int) int {
	k := 0
	for _, l := range all {
		if int(l.off+l.len) <= n {
			k++
		}
	}
	return k
}

// playThese gives messages to a new Dissector, and calls show for the last one.
func playThese(list []*Message, show func(*Message)) {
	n := 0
	d := New(Options{Handle: func(m *Message) {
		if n++; n == len(list) {
			show(m)
		}
	}})
	for _, m := range list {
		c := m.Message
		c.Kind = c.LNet.Kind()
		if m.LNetOff < 0 || m.Kind == lnet.PingReply || m.Kind == lnet.Selftest {
			c.Kind = m.Kind
		}
		d.message(&c)
	}
	d.release(true)
}
