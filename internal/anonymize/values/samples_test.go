package values

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes/schema"
)

// comparison compares messages with their replacements.
type comparison struct {
	t         testing.TB
	p         *Mapper
	old, new  dissect.Tree
	unchanged map[string]bool // texts of names that stay, with their fields
	written   []byte          // all messages that were written
}

// message replaces the values of a message and compares all fields.
func (c *comparison) message(m *dissect.Message) {
	dst := make([]byte, len(m.Data))
	c.p.Message(dst, m)
	c.written = append(c.written, dst...)
	r := *m
	r.Data, r.Msg = dst, nil
	if len(m.Content) > 0 {
		r.Content = make([]byte, len(m.Content))
		if len(m.Content) == m.Size-m.PayloadOff {
			copy(r.Content, dst[m.PayloadOff:])
		}
	}
	c.old.Build(m)
	c.new.Build(&r)
	c.fields(m)
}

// fieldAt identifies a field in a tree.
type fieldAt struct {
	field *schema.Field
	src   dissect.Source
	off   int32
}

// fields compares the values of both trees.
func (c *comparison) fields(m *dissect.Message) {
	after := map[fieldAt][]byte{}
	for i := range c.new.Nodes {
		n := &c.new.Nodes[i]
		if n.Len == 0 {
			continue
		}
		after[fieldAt{n.Field, n.Src, n.Off}] = c.new.Bytes(n)
	}
	for i := 0; i < len(c.old.Nodes); i++ {
		n := &c.old.Nodes[i]
		if n.Field.Kind == schema.Record && n.Field.Type.Name == "ldlm_res_id" {
			i = int(n.End) - 1
			continue
		}
		if isLeaf(n, i) && n.Len > 0 && n.State&(dissect.Missing|dissect.Undecoded) == 0 && n.Src <= dissect.InContent {
			c.leaf(m, n, c.name(i), after[fieldAt{n.Field, n.Src, n.Off}])
		}
	}
}

// name returns the name of a node with that of the struct around it.
func (c *comparison) name(i int) string {
	name, depth := "", c.old.Nodes[i].Depth
	for ; i >= 0; i-- {
		n := &c.old.Nodes[i]
		isAround := n.Depth < depth
		if n.Depth > depth || name != "" && !isAround {
			continue
		}
		depth = n.Depth
		switch {
		case isAround && n.Field.Kind == schema.Record && n.Field.Type.Atom == schema.Plain:
			return n.Field.Type.Name + "." + name
		case isAround && n.Field.Kind == schema.Message:
			return name
		case name == "":
			name = n.Field.Name
		}
	}
	return name
}

// leaf compares one value with its replacement.
func (c *comparison) leaf(m *dissect.Message, n *dissect.Node, name string, after []byte) {
	before := c.old.Bytes(n)
	class := n.Field.Class
	where := fmt.Sprintf("frame %d: %s", m.Frame, name)
	isText := n.Field.Kind == schema.Text || n.Field.Kind == schema.Strings || n.Field.Kind == schema.Record && n.Field.Type.Atom == schema.UUID
	switch {
	case class == schema.Unclassified:
		c.t.Errorf("%s has no class", where)
	case class == schema.Removed:
		if len(bytes.Trim(after, "\x00")) > 0 {
			c.t.Errorf("%s is not removed: %q", where, after)
		}
	case class == schema.DataSum, class == schema.MessageSum, class == schema.TransportSum:
	case class < schema.Removed:
		if !bytes.Equal(before, after) {
			c.t.Errorf("%s is % x, want % x", where, after, before)
		}
	case isText:
		c.text(strings.TrimPrefix(where[strings.Index(where, ":"):], ": "), schema.TrimNUL(before), schema.TrimNUL(after))
	case n.Field.Format == schema.NID4 && bytes.Equal(before, after):
		if n := lnet.NID4(schema.ReadUint(before, n.Is(dissect.BigEndian))); n.Len > 0 && n.Type != lndLoopback && n.Type != lndAny {
			c.t.Errorf("%s is not replaced: %s", where, n)
		}
	case class == schema.UserID && !keptID(schema.ReadUint(before, false)) && bytes.Equal(before, after):
		c.t.Errorf("%s is not replaced: % x", where, after)
	}
}

// text compares a text with its replacement.
func (c *comparison) text(where string, before, after []byte) {
	if len(before) != len(after) {
		c.t.Errorf("%s: %q became %q, of another length", where, before, after)
	}
	if bytes.Equal(before, after) && len(before) > 0 {
		c.unchanged[fmt.Sprintf("%s %q", where, before)] = true
	}
}

// left looks for originals in what was written. Letters of replacements may happen to be
// an original.
func (c *comparison) left() {
	var replacements []byte
	c.p.Each(func(m *Mapping) { replacements = append(append(replacements, m.Replacement...), 0) })
	c.p.Each(func(m *Mapping) {
		if len(m.Original) < minUnique || m.Class == Identity && len(m.Original) < 36 || c.p.IsConstant(m.Original) {
			return
		}
		if bytes.Contains(replacements, []byte(m.Original)) {
			return
		}
		for at := 0; ; at++ {
			i := bytes.Index(c.written[at:], []byte(m.Original))
			if i < 0 {
				return
			}
			at += i
			if word := wordAround(c.written, at, len(m.Original)); !c.p.IsConstant(word) {
				c.t.Errorf("%q is still there: %q", m.Original, word)
				return
			}
		}
	})
}

// wordAround returns the printable text around the n bytes at an offset.
func wordAround(b []byte, at, n int) string {
	isPrintable := func(c byte) bool { return c > ' ' && c <= '~' }
	first, end := at, at+n
	for first > 0 && isPrintable(b[first-1]) {
		first--
	}
	for end < len(b) && isPrintable(b[end]) {
		end++
	}
	return string(b[first:end])
}

// TestSamples replaces the values of all sample captures, decodes the results again, and
// compares every field.
func TestSamples(t *testing.T) {
	unchanged := make(map[string]bool)
	for _, path := range wiretest.Samples(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c := &comparison{t: t, p: New([]byte("key")), unchanged: unchanged}
			wiretest.Play(dissect.New(dissect.Options{Handle: c.message}), wiretest.ReadSample(t, path))
			c.left()
		})
	}
	checkGolden(t, "unchanged.txt", strings.Join(slices.Sorted(maps.Keys(unchanged)), "\n")+"\n")
}

// TestWholeData does the same with all bulk data, as they may be given too.
func TestWholeData(t *testing.T) {
	c := &comparison{t: t, p: New(nil), unchanged: make(map[string]bool)}
	wiretest.Play(dissect.New(dissect.Options{Data: true, Join: true, Handle: c.message}), wiretest.ReadSample(t, sample(t, "io.pcap.zst")))
	c.left()
}

func sample(t testing.TB, name string) string {
	t.Helper()
	for _, path := range wiretest.Samples(t) {
		if filepath.Base(path) == name {
			return path
		}
	}
	t.Fatalf("no sample %s", name)
	return ""
}

// checkGolden compares a text with the file of that name in testdata.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	wiretest.Golden(t, path, got)
}
