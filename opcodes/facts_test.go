package opcodes

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/facts"
	"github.com/lshark/lshark/internal/must"
	. "github.com/lshark/lshark/opcodes/schema"
)

// The facts about the wire stand in testdata as numbers. These tests compare
// the declarations with them.

// howTo ends the messages of tests that a forgotten step of a new message fails.
const howTo = "; see docs/adding-a-message.md"

// readFacts reads all tables, and those of the toy message in toy_test.go.
func readFacts(t *testing.T) *facts.Tables {
	t.Helper()
	all, err := facts.Read("testdata", "testdata/toy")
	must.NoError(t, err)
	return all
}

func number10(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	must.NoError(t, err)
	return n
}

func sinceOf(text string) Since {
	if text == "<=2.12" {
		return ""
	}
	return Since(text)
}

// compareSince compares the release of a declaration with that of the facts.
func compareSince(t *testing.T, name string, got Since, text string) {
	t.Helper()
	switch want := sinceOf(text); {
	case got == want:
	case got == "":
		t.Errorf("%s has no Since: the facts have %s; add Since: %q (to a field: Since(%q))", name, text, want, want)
	case want == "":
		t.Errorf("%s is since %s: the facts have %s; remove its Since", name, got, text)
	default:
		t.Errorf("%s is since %s: the facts have %s", name, got, text)
	}
}

func TestStructs(t *testing.T) {
	structs := make(map[string]*Struct)
	for _, s := range Protocol.Structs() {
		assert.That(t, structs[s.Name] == nil, "%s is listed twice", s.Name)
		structs[s.Name] = s
	}
	rows := readFacts(t).Structs
	// A union whose members have no key of their own stands for itself in no
	// table: its members do.
	unions := make(map[string]bool)
	for _, row := range rows {
		if name, _, ok := strings.Cut(row[1], "."); ok {
			unions[row[0]+"."+name] = true
		}
	}
	// A struct with a part of variable length has in the facts the least or the usual size of that. What is declared as
	// fixed ends where the first field behind it lies.
	ends := make(map[string]int)
	for _, row := range slices.Backward(rows) {
		if s := structs[row[0]]; row[2] != "-1" && s != nil && hasField(s, row[1]) && s.Field(row[1]).Off < 0 {
			ends[s.Name] = number10(t, row[2])
		}
	}
	for _, row := range rows {
		where := row[0] + "." + row[1]
		s := structs[row[0]]
		if unions[where] && s != nil && !hasField(s, row[1]) {
			continue
		}
		offset, size := number10(t, row[2]), number10(t, row[3])
		switch {
		case s == nil:
			t.Errorf("struct %s is in the facts and not declared, or in no buffer: declare it in the file of its service, and use it in a buffer"+howTo, row[0])
		case row[1] == "*":
			if end, ok := ends[s.Name]; ok {
				size = end
			}
			assert.Equal(t, s.Size, size, s.Name, "bytes")
			compareSince(t, s.Name, s.Since, row[6])
			compareOrder(t, s, row[7])
		default:
			compareField(t, s, row[1], offset, size, row)
		}
	}
}

// compareOrder compares the byte order of a struct with the beginning of its note. One that is
// found out by a magic number has none.
func compareOrder(t *testing.T, s *Struct, note string) {
	t.Helper()
	want := Inherit
	switch {
	case s.Detect != nil || strings.Contains(note, "accept swapped magic"):
	case strings.HasPrefix(note, "little-endian"):
		want = Little
	case strings.HasPrefix(note, "network"):
		want = Big
	}
	assert.Equal(t, s.Order, want, s.Name, "byte order, by its note", strconv.Quote(note))
}

// TestFieldsNamed holds each field that shows its value by the names of a group, or has a byte order
// of its own, to fields.tsv.
func TestFieldsNamed(t *testing.T) {
	facts, declared := make(map[string]bool), make(map[string]bool)
	for _, row := range readFacts(t).Fields {
		for name := range strings.FieldsSeq(row[1]) {
			facts[row[0]+" "+name] = true
		}
	}
	seen := make(map[*Field]bool)
	var note func(in string, f *Field)
	note = func(in string, f *Field) {
		if f == nil || seen[f] {
			return
		}
		seen[f] = true
		if f.Name != "" {
			in += f.Name
		}
		if f.Names != nil {
			declared[f.Names.Group+" "+in] = true
		}
		switch f.Order {
		case Little:
			declared["little-endian "+in] = true
		case Big:
			declared["big-endian "+in] = true
		}
		note(in+".", f.Elem)
		for _, o := range f.Options {
			note(in+".", o)
			if f.Kind == Union {
				note(in+".", f.Option(o))
			}
		}
	}
	for _, s := range Protocol.Structs() {
		for _, f := range s.Fields {
			note(s.Name+".", f)
		}
	}
	for _, r := range Protocol.RPCs() {
		for _, v := range r.Variants {
			for _, f := range slices.Concat(v.Request, v.Reply) {
				note("", f)
				if f.Type != nil && f.Type != StructNamed(f.Type.Name) { // in this message, fields mean something else
					for _, m := range f.Type.Fields {
						note(r.Name+"."+f.Name+".", m)
					}
				}
			}
		}
	}
	for key := range declared {
		group, field, _ := strings.Cut(key, " ")
		assert.That(t, facts[key], "%s has %s, and no row of fields.tsv says so: add it to the one of %[2]s, or \"%[2]s<tab>%[1]s\" below the headings \"names<tab>fields\" of your table%[3]s", field, group, howTo)
	}
	for key := range facts {
		group, field, _ := strings.Cut(key, " ")
		assert.That(t, declared[key], "%s has not %s, as fields.tsv says", field, group)
	}
}

func compareField(t *testing.T, s *Struct, name string, offset, size int, row []string) {
	t.Helper()
	f, off := find(s, name, offset)
	if f == nil {
		t.Errorf("struct %s has no field %s, which is in the facts: add it to its Fields", s.Name, name)
		return
	}
	assert.That(t, off == offset || off < 0, "%s.%s lies at %d, not %d", s.Name, name, off, offset)
	flexible := off < 0 || row[5] != "" && !isNumber(row[5]) || size == 0
	assert.That(t, f.Size == size || flexible && f.Size == 0, "%s.%s has %d bytes, not %d", s.Name, name, f.Size, size)
	if s.Since != sinceOf(row[6]) {
		compareSince(t, s.Name+"."+name, f.Since, row[6])
	}
}

func hasField(s *Struct, name string) bool {
	return slices.ContainsFunc(s.Fields, func(f *Field) bool { return f.Name == name })
}

// find follows a dotted path into the structs and unions inside a struct and
// adds up the offsets. Of several fields with a name it is the one at the offset that is looked for.
func find(s *Struct, path string, at int) (*Field, int) {
	named := func(f *Field) bool { return f.Name == path }
	if i := slices.IndexFunc(s.Fields, func(f *Field) bool { return named(f) && f.Off == at }); i >= 0 {
		return s.Fields[i], at
	}
	if i := slices.IndexFunc(s.Fields, named); i >= 0 {
		return s.Fields[i], s.Fields[i].Off
	}
	for _, f := range s.Fields {
		rest, ok := strings.CutPrefix(path, f.Name+".")
		if !ok || f.Name == "" {
			continue
		}
		if inner, off := findInside(f, rest, at-f.Off); inner != nil {
			return inner, f.Off + off
		}
	}
	// A dotted name stands for a member of a union without a key of its own.
	if _, member, ok := strings.Cut(path, "."); ok {
		return find(s, member, at)
	}
	return nil, 0
}

func findInside(f *Field, path string, at int) (*Field, int) {
	if f.Type != nil {
		return find(f.Type, path, at)
	}
	for _, o := range f.Options {
		if o.Name == path {
			return o, 0
		}
		rest, ok := strings.CutPrefix(path, o.Name+".")
		if !ok {
			continue
		}
		if inner, off := findInside(o, rest, at); inner != nil {
			return inner, off
		}
	}
	return nil, 0
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

// TestFieldsInside holds that fields of fixed size lie inside their struct and
// that those behind one another leave no hole that is not declared.
func TestFieldsInside(t *testing.T) {
	for _, s := range Protocol.Structs() {
		names := make(map[string]bool)
		for _, f := range s.Fields {
			assert.That(t, f.Name == "" || !names[f.Name] || f.If != nil, "%s has two fields %s", s.Name, f.Name)
			names[f.Name] = true
			assert.That(t, f.Off < 0 || f.Off+f.Size <= s.Size, "%s.%s reaches to %d of %d bytes", s.Name, f.Name, f.Off+f.Size, s.Size)
		}
	}
}

func TestConstants(t *testing.T) {
	loadFailLocs()
	groups := make(map[string]*Names)
	for _, g := range Protocol.Groups() {
		assert.That(t, groups[g.Group] == nil, "%s is listed twice", g.Group)
		groups[g.Group] = g
	}
	for _, row := range readFacts(t).Constants {
		group, name := row[0], row[1]
		value, err := strconv.ParseUint(row[2], 0, 64)
		must.NoError(t, err)
		if strings.HasPrefix(group, "opcode") {
			compareOpcode(t, group, name, value, row[4])
			continue
		}
		g := groups[group]
		if g == nil {
			t.Errorf("group %s is in the facts and not declared: declare it with Bits or Enum in the file of its service"+howTo, group)
			continue
		}
		i := slices.IndexFunc(g.Values, func(v Value) bool {
			return g.Full(v) == name && v.Value == value
		})
		if i < 0 {
			t.Errorf("group %s has no value %s = %#x, which is in the facts: add it to its Bits or Enum (prefix and Name, or with NoPrefix the Name alone, are %[2]s), an intent with DefineIntent", group, name, value)
			continue
		}
		compareSince(t, name, g.Values[i].Since, row[4])
	}
}

func compareOpcode(t *testing.T, group, name string, value uint64, since string) {
	t.Helper()
	for _, v := range Protocol.UnusedOpcodes {
		if v.Name == name {
			assert.Equal(t, v.Value, value, name)
			return
		}
	}
	if r := rpcNamed(name); r != nil {
		assert.Equal(t, uint64(r.Opcode), value, name, r.Opcode)
		assert.That(t, slices.ContainsFunc(Opcodes.Values, func(v Value) bool { return Opcodes.Full(v) == name && v.Value == value }), "opcode has no %s", name)
		compareSince(t, name, r.Since, since)
		return
	}
	t.Errorf("%s: operation %s is in the facts and not declared: declare it with DefineRPC in the file of its service"+howTo, group, name)
}

func TestMessages(t *testing.T) {
	all := readFacts(t)
	for _, row := range all.Messages {
		r := rpcNamed(row[0])
		assert.That(t, r != nil, "%s: there is no such operation: declare it with DefineRPC in the file of its service"+howTo, row[0])
		assert.That(t, r == nil || r.Retired == (row[1] == "not-on-wire"), "%s is retired, or not-on-wire in the facts, but not both", row[0])
	}
	buffers, err := all.MessageBuffers()
	must.NoError(t, err)
	for _, b := range buffers {
		if r := rpcNamed(b.Operation); r != nil {
			if problem := compareBuffer(r, b); problem != "" {
				t.Errorf("%s %s %s %d: %s", b.Operation, b.Variant, direction(b.Reply), b.Index, problem)
			}
		}
	}
}

// rpcNamed looks an operation up by its name. It returns nil if the protocol has no such operation.
func rpcNamed(name string) *RPC {
	i := slices.IndexFunc(Protocol.RPCs(), func(r *RPC) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return Protocol.RPCs()[i]
}

func direction(reply bool) string {
	if reply {
		return "reply"
	}
	return "request"
}

// compareBuffer looks for a variant of that name whose buffer is as given; it
// says what is wrong with the last one if none is.
func compareBuffer(r *RPC, b facts.Buffer) string {
	variant := variantName(b.Variant)
	problem := "no variant " + strconv.Quote(variant) + ": add it to the Variants of its DefineRPC, an intent with DefineIntent" + howTo
	for _, v := range r.Variants {
		if v.Name != variant {
			continue
		}
		bufs := v.Request
		if b.Reply {
			bufs = v.Reply
		}
		switch {
		case b.Index >= len(bufs):
			problem = "has no such buffer: add it to Request or Reply of the variant"
		case bufs[b.Index].Name != b.Name:
			problem = fmt.Sprintf("is %s, not %s", bufs[b.Index].Name, b.Name)
		case !holds(bufs[b.Index], b.Holds):
			problem = fmt.Sprintf("%s does not hold %s", b.Name, b.Holds)
		default:
			return ""
		}
	}
	return problem
}

var structName = regexp.MustCompile(`struct (\w+)`)

// holds reports whether a buffer's declaration has room for what the facts say is
// in it.
func holds(f *Field, kind string) bool {
	switch {
	case kind == "opaque" || strings.HasPrefix(kind, "opaque;"):
		return true
	case kind == "string":
		return anyForm(f, func(f *Field) bool { return f.Kind == Text || f.Kind == Strings })
	case kind == "__u32" || kind == "array of __u32":
		return anyForm(f, func(f *Field) bool { return f.Kind <= Int && f.Size == 4 })
	case kind == "__u64":
		return anyForm(f, func(f *Field) bool { return f.Kind <= Int && f.Size == 8 })
	}
	for _, name := range structNames(kind) {
		if !anyForm(f, func(f *Field) bool { return f.Type != nil && f.Type.Name == name }) {
			return false
		}
	}
	return true
}

func structNames(kind string) []string {
	var names []string
	for _, m := range structName.FindAllStringSubmatch(kind, -1) {
		names = append(names, m[1])
	}
	if rest, ok := strings.CutPrefix(kind, "union: "); ok {
		for _, name := range strings.Split(rest, " | ") {
			if !strings.Contains(name, " ") {
				names = append(names, name)
			}
		}
	}
	return names
}

// anyForm tries a buffer, its elements and its forms.
func anyForm(f *Field, is func(*Field) bool) bool {
	seen := make(map[*Field]bool)
	var try func(f *Field) bool
	try = func(f *Field) bool {
		if f == nil || seen[f] {
			return false
		}
		seen[f] = true
		if is(f) || try(f.Elem) || slices.ContainsFunc(f.Options, try) {
			return true
		}
		return f.Type != nil && slices.ContainsFunc(f.Type.Fields, try)
	}
	return try(f)
}

func TestTexts(t *testing.T) {
	rows := make(map[string][]string)
	for _, row := range readFacts(t).Texts {
		rows[row[0]] = row
	}
	for _, text := range Protocol.Texts {
		row := rows[text.Name]
		switch delete(rows, text.Name); {
		case row == nil:
			t.Errorf("%s is declared and not in the facts: add it to a table in opcodes/testdata"+howTo, text.Name)
		case text.Value != row[1]:
			t.Errorf("%s is %q, not %q", text.Name, text.Value, row[1])
		case text.Doc == "":
			t.Errorf("%s has no Doc: add what it is the name of, for lshark explain", text.Name)
		default:
			compareSince(t, text.Name, text.Since, row[2])
		}
	}
	for name := range rows {
		t.Errorf("%s is in the facts and not declared: add it to xattrNames", name)
	}
}
