package dissect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// eachMessage runs a capture through a Dissector.
func eachMessage(t testing.TB, path string, handle func(*Message)) {
	t.Helper()
	wiretest.Play(New(Options{Handle: handle}), wiretest.ReadSample(t, path))
}

// TestSamplesAreReadWhole: no message of an intact capture has unknown bytes, a tail, or
// a field outside its buffer.
func TestSamplesAreReadWhole(t *testing.T) {
	for _, path := range wiretest.Samples(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var tree Tree
			messages := 0
			lines := lineOfFrame(t, strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".pcap")+".summary")
			eachMessage(t, path, func(m *Message) {
				messages++
				// The line may say of a lock what earlier messages told.
				for word := range strings.FieldsFuncSeq(summary(&tree, m), func(r rune) bool { return r == ' ' || r == ',' }) {
					assert.That(t, strings.Contains(lines[m.Frame], word), "frame %d: the summary has %q, and the line is %q", m.Frame, word, lines[m.Frame])
				}
				tree.Remarks = true
				tree.Build(m)
				assert.That(t, m.Kind != lnet.Unknown, "frame %d: a message of unknown kind", m.Frame)
				for _, n := range tree.Notes {
					switch n.Code {
					case "tail", "unknown", "short":
						t.Errorf("frame %d %s opcode %d: %s: %s", m.Frame, m.Kind, m.RPC.Opcode, n.Code, n.Text)
					}
				}
				checkNodes(t, m, &tree)
			})
			assert.That(t, messages != 0, "no messages")
		})
	}
}

// lineOfFrame reads the lines of a summary, by the number of the frame.
func lineOfFrame(t *testing.T, file string) map[int64]string {
	lines := make(map[int64]string)
	text, err := os.ReadFile(file)
	must.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 {
			if frame, err := strconv.ParseInt(words[0], 10, 64); err == nil {
				lines[frame] += line
			}
		}
	}
	return lines
}

// checkNodes checks the shape of a tree: descendants follow their node and are one level
// deeper.
func checkNodes(t *testing.T, m *Message, tree *Tree) {
	t.Helper()
	for i, n := range tree.Nodes {
		if int(n.End) <= i || int(n.End) > len(tree.Nodes) {
			t.Fatalf("frame %d: node %d %s ends at %d of %d", m.Frame, i, n.Name(), n.End, len(tree.Nodes))
		}
		if i > 0 && n.Depth > tree.Nodes[i-1].Depth+1 {
			t.Fatalf("frame %d: node %d %s is %d deep behind %d", m.Frame, i, n.Name(), n.Depth, tree.Nodes[i-1].Depth)
		}
	}
}

// metadata returns the messages of a client that works with many files.
func metadata(t testing.TB) *Arena {
	msgs := &Arena{}
	eachMessage(t, "../pcaps/metadata.pcap.zst", msgs.Add)
	return msgs
}

func BenchmarkProbe(b *testing.B) {
	msgs := metadata(b)
	var p rpcMsg
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m := msgs.At(i % msgs.Len())
		probe(m, &p)
	}
}

func BenchmarkTree(b *testing.B) {
	msgs := metadata(b)
	var t Tree
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t.Build(msgs.At(i % msgs.Len()))
	}
}

// TestBuildAllocatesNothing: a tree that is large enough is reused.
func TestBuildAllocatesNothing(t *testing.T) {
	msgs := metadata(t)
	var p rpcMsg
	var tree Tree
	n := testing.AllocsPerRun(3, func() {
		for i := range msgs.Len() {
			probe(msgs.At(i), &p)
			tree.Build(msgs.At(i))
		}
	})
	assert.That(t, n == 0, "%v allocations for %d messages", n, msgs.Len())
}

// TestVariantsOfCutRequests cuts requests of the samples at each byte: their variant is
// the same, or unknown.
func TestVariantsOfCutRequests(t *testing.T) {
	const enough = 2 // requests of each variant
	seen := map[*schema.Variant]int{}
	cut := func(whole *Message) {
		op := opcodes.ByOpcode(whole.RPC.Opcode)
		if whole.Kind != lnet.Request || whole.RPC.Variant == nil || op.Pick == nil || seen[whole.RPC.Variant] == enough {
			return
		}
		seen[whole.RPC.Variant]++
		for n := whole.PayloadOff; n < len(whole.Data); n++ {
			m, p := *whole, rpcMsg{}
			m.Data, m.Tail, m.RPC = whole.Data[:n], lnet.Snaplen, RPC{}
			if probe(&m, &p); !m.RPC.HasOpcode {
				continue
			}
			p.identify(m.RPC.Opcode, false, nil)
			if p.Variant != whole.RPC.Variant && p.Variant != op.Common {
				t.Errorf("%s %q, %d of %d bytes: %+v", op.Name, whole.RPC.Variant.Name, n, whole.Size, p.Variant)
				return
			}
		}
	}
	for _, path := range wiretest.Samples(t) {
		wiretest.Play(New(Options{Handle: cut}), wiretest.ReadSample(t, path))
	}
	assert.That(t, len(seen) >= 20, "%d variants", len(seen))
}

// TestBuffersInTrees checks that a tree for people has a node of each buffer
// with bytes, and that one for programs leaves out only those of zeros.
func TestBuffersInTrees(t *testing.T) {
	people, programs := &Tree{Remarks: true}, &Tree{}
	zeros := 0
	for _, path := range wiretest.Samples(t) {
		eachMessage(t, path, func(m *Message) {
			if !m.RPC.HasOpcode || m.Msg == nil {
				return
			}
			people.Build(m)
			programs.Build(m)
			p := &people.rpc
			for k := 1; k < len(p.starts); k++ {
				n, other := bufferNode(people, p.starts[k]), bufferNode(programs, p.starts[k])
				isZero := other == nil && p.lens[k] > 0
				switch {
				case p.lens[k] == 0 || len(p.Bufs[k]) < p.lens[k]:
				case n == nil || n.Is(Zeros) != isZero || isZero && (int(n.Len) != p.lens[k] || !allZero(people.Bytes(n))):
					t.Errorf("%s: frame %d: buffer %d of %d bytes is %+v", path, m.Frame, k, p.lens[k], n)
				case isZero:
					zeros++
				}
			}
		})
	}
	assert.That(t, zeros != 0, "no buffer of zeros")
}

// bufferNode returns the node of the buffer at an offset.
func bufferNode(t *Tree, off int) *Node {
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Depth == 1 && n.Src == InMessage && int(n.Off) == off && n.Field.Kind != schema.Virtual {
			return n
		}
	}
	return nil
}

// TestExtraBufferOfZeros checks that a buffer behind the declared ones, of
// zeros, is treated as one of those.
func TestExtraBufferOfZeros(t *testing.T) {
	for _, remarks := range []bool{true, false} {
		tree := Tree{Remarks: remarks}
		data := make([]byte, 24)
		m := &Message{}
		m.Data, m.Size = data, len(data)
		tree.walker.reset(&tree, m)
		tree.src[InMessage] = data
		p := &rpcMsg{starts: []int{0, 8}, lens: []int{8, 16}}
		tree.extraBuffer(1, p, len(data))
		if n := len(tree.Nodes); n != 0 && !remarks || n != 1 && remarks || len(tree.Notes) != 0 {
			t.Errorf("for people %v: %d nodes, notes %v", remarks, n, tree.Notes)
		}
		data[20] = 1
		tree.extraBuffer(1, p, len(data))
		if n := len(tree.Nodes); len(tree.Notes) != 1 || !tree.Nodes[n-1].Is(Undecoded) {
			t.Errorf("for people %v: %d nodes, notes %v", remarks, n, tree.Notes)
		}
	}
}

// TestSectionNames compares the sections of trees with those that the index of
// the protocol has.
func TestSectionNames(t *testing.T) {
	found := 0
	for _, f := range slices.Concat(TransportSections(), MessageSections()) {
		structs := opcodes.Protocol.Sections[f.Name]
		if len(structs) == 0 {
			continue
		}
		found++
		if !slices.Contains(structs, f.Type) {
			t.Errorf("section %s is a struct %s, which opcodes does not have under that name", f.Name, f.Type.Name)
		}
	}
	assert.Equal(t, found, len(opcodes.Protocol.Sections), "opcodes sections, trees have of them")
}

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
			must.That(t, l.fits(set, at, n), "cut at %d of %d: %+v is not in the whole", n, last.Size, l)
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
