package render_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// views is every way to show what is in a capture.
type views struct {
	t     testing.TB
	tree  dissect.Tree
	lines map[string]render.Renderer // text, a line ends with a newline
	names *track.Names
	flags *render.Flags
	pair  *track.Connects
	json  *render.JSON
	rpcs  map[string]func(dst []byte, r *track.RPC) []byte
	out   []byte
	first int64
	bytes int // of the messages so far

	pairs   *track.Pairing
	imports *track.Imports
	files   *files.Files
	stats   *track.Stats
	by      []track.Dimension
}

type fieldRenderer struct {
	*render.RecordFields[*records.Message]
}

func (r fieldRenderer) Append(dst []byte, m *dissect.Message, at render.Moment) []byte {
	var msg records.Message
	msg.Set(m, at.First)
	return r.RecordFields.Append(dst, &msg)
}

func newViews(t testing.TB) *views {
	c := render.NewColors(false)
	fields, unknown := render.NewFields([]string{"frame", "opcode", "mbo_valid", "name", "ocd_connect_flags", "lnet.src_nid", "content"})
	must.Equal(t, unknown, "")
	pairs, unknown := render.NewRecordFields(&records.RPCs, render.KeyNames(&records.RPCs))
	must.Equal(t, unknown, "")
	names := track.NewNames()
	v := &views{t: t, json: render.NewJSON(), flags: render.NewFlags(render.SummaryOptions{}), names: names,
		lines: map[string]render.Renderer{
			"summary": c.Renderer(render.NewSummary(render.SummaryOptions{Names: names})),
			"narrow":  c.Renderer(render.NewSummary(render.SummaryOptions{Names: names, Width: 60})),
			"tree":    c.Renderer(render.NewTree(render.TreeOptions{Width: 80})),
			"hex":     c.Renderer(render.NewTree(render.TreeOptions{Hex: true})),
			"fields":  fieldRenderer{fields},
		},
		rpcs: map[string]func(dst []byte, r *track.RPC) []byte{
			"rpcs json":   render.NewRecordJSON(&records.RPCs).AppendLine,
			"rpcs fields": pairs.Append,
		},
		imports: track.NewImports(),
	}
	lines := render.NewRPCSummary(render.SummaryOptions{})
	v.rpcs["rpcs"] = func(_ []byte, r *track.RPC) []byte {
		return []byte(wiretest.Shown(func(dst *schema.Marked, r *track.RPC) { lines.AppendRPC(dst, r, render.Moment{First: v.first}) }, r))
	}
	for d := range track.DimensionNames() {
		v.by = append(v.by, track.Dimension(d))
	}
	v.files = files.New()
	v.stats = track.NewStats(track.StatsOptions{By: v.by, Subject: v.files.Subject, Path: v.files.Path})
	v.pairs = track.NewPairing(track.Options{
		Sent: func(r *track.RPC, m *dissect.Message) { v.imports.Sent(r, m); v.files.Sent(r, m); v.stats.Sent(r, m) },
		Answered: func(r *track.RPC, m *dissect.Message) {
			v.imports.Answered(r, m)
			v.files.Answered(r, m)
			v.stats.Answered(r, m)
		},
		Done: func(r *track.RPC) { v.imports.Done(r); v.stats.Done(r); v.files.Done(r); v.rpc(r) },
		Bulk: v.files.Bulk,
	})
	v.pair = track.NewConnects(func(p *track.ConnectPair) {
		v.out = []byte(wiretest.Shown(func(dst *schema.Marked, p *track.ConnectPair) { v.flags.AppendConnect(dst, p, v.first) }, p))
		v.text("flags", v.bytes)
	})
	v.tree.Remarks = true
	return v
}

// nodesPerByte bounds a tree: more parts than this no message has.
const nodesPerByte = 4

// message shows a message in all forms and checks what must hold of each.
func (v *views) message(m *dissect.Message) {
	v.t.Helper()
	if v.first == 0 {
		v.first = m.Time
	}
	size := len(m.Data) + len(m.Content)
	v.bytes += size
	v.tree.Build(m)
	if n := len(v.tree.Nodes); n > 64+nodesPerByte*size {
		v.t.Fatalf("%s: %d nodes of %d bytes", m.Kind, n, size)
	}
	at := render.Moment{First: v.first}
	v.names.Message(m)
	for name, r := range v.lines {
		v.out = r.Append(v.out[:0], m, at)
		v.text(name, size)
	}
	if !v.pair.Message(m, v.first) {
		v.out = []byte(wiretest.Shown(func(dst *schema.Marked, m *dissect.Message) { v.flags.Append(dst, m, at) }, m))
		v.text("flags", size)
	}
	v.out = v.json.Append(v.out[:0], m, at)
	v.valid("json", size)
	v.pairs.Message(m)
}

func (v *views) rpc(r *track.RPC) {
	for name, add := range v.rpcs {
		v.out = add(v.out[:0], r)
		if name == "rpcs json" {
			v.valid(name, v.bytes)
		} else {
			v.text(name, v.bytes)
		}
	}
}

// finish shows what there is at the end of a capture.
func (v *views) finish() {
	v.pairs.Close()
	v.imports.Close()
	o := render.SummaryOptions{}
	v.pair.Close()
	if list := v.files.List(); len(list) > 0 {
		one := render.NewRecordJSON(&records.Files)
		for _, f := range list {
			v.out = append(one.Append(v.out[:0], f), '\n')
			v.valid("files json", v.bytes)
		}
		v.out = []byte(wiretest.Shown(tables.Files.New(o, 0).Append, list))
		v.text("files", v.bytes)
	}
	if list := v.imports.List(); len(list) > 0 {
		v.out = []byte(wiretest.Shown(tables.Imports.New(o, v.first).Append, tables.ImportRecords(list)))
		v.text("imports", v.bytes)
		v.out = []byte(wiretest.Shown(tables.NewTimeline(o, v.first).Append, list))
		v.text("timeline", v.bytes)
		v.out = render.NewRecordJSON(&records.Imports).AppendLines(v.out[:0], tables.ImportRecords(list))
		v.valid("imports json", v.bytes)
	}
	so := tables.StatsOptions{By: v.by, Sort: "count", Bars: true}
	for _, i := range v.stats.Intervals() {
		v.out = []byte(wiretest.Shown(tables.NewStatsTable(so).AppendInterval, i))
		v.text("stats", v.bytes)
		tsv := tables.NewStatsTSV(&so)
		v.out = v.out[:0]
		for _, r := range so.Rows(i) {
			v.out = tsv.Append(v.out, r)
		}
		v.text("stats tsv", v.bytes)
		v.out = render.NewRecordJSON(so.Keys()).AppendLines(v.out[:0], so.Rows(i))
		v.valid("stats json", v.bytes)
	}
}

// text checks what a terminal may get to see.
func (v *views) text(name string, size int) {
	v.t.Helper()
	v.bounded(name, size)
	if at := bytes.IndexFunc(v.out, func(r rune) bool { return r != '\n' && r != '\t' && schema.NeedsEscape(r) }); at >= 0 {
		v.t.Fatalf("%s: a control character at %d: %q", name, at, v.out)
	}
	if !utf8.Valid(v.out) {
		v.t.Fatalf("%s: not UTF-8: %q", name, v.out)
	}
}

// valid checks records in JSON.
func (v *views) valid(name string, size int) {
	v.t.Helper()
	v.text(name, size)
	for line := range bytes.Lines(v.out) {
		if !json.Valid(line) {
			v.t.Fatalf("%s: %q", name, line)
		}
	}
}

func (v *views) bounded(name string, size int) {
	v.t.Helper()
	if len(v.out) > 64<<10+600*size {
		v.t.Fatalf("%s: %d bytes shown of %d", name, len(v.out), size)
	}
}

// play runs frames through a Dissector and shows all messages.
func play(t testing.TB, frames []capture.Frame) {
	v := newViews(t)
	wiretest.Play(dissect.New(dissect.Options{Handle: v.message}), frames)
	v.finish()
}

// FuzzDialog shows a request and its answer in all forms: a reply or bulk
// data, with or without the request, whole or in part.
func FuzzDialog(f *testing.F) {
	for _, d := range append(sampleDialogs(f), tableDialogs()...) {
		if len(d.request)+len(d.answer) > 16<<10 {
			continue
		}
		f.Add(uint8(d.way), d.request, d.answer)
	}
	f.Fuzz(func(t *testing.T, way uint8, request, answer []byte) {
		if len(request)+len(answer) > 1<<16 {
			return
		}
		play(t, wiretest.Dialog(wiretest.Way(way), request, answer))
	})
}

// FuzzContent shows bulk data of each kind.
func FuzzContent(f *testing.F) {
	var kinds []bulk
	for i, c := range contents(f) {
		kinds = append(kinds, c)
		f.Add(uint8(i), c.request, c.answer)
	}
	f.Fuzz(func(t *testing.T, kind uint8, request, data []byte) {
		if len(request)+len(data) > 1<<16 {
			return
		}
		b := kinds[int(kind)%len(kinds)]
		b.request = request
		v := newViews(t)
		v.message(b.message(data))
		v.finish()
	})
}

// TestBuiltDialogsAreUnderstood holds the builders of this package: what they
// make is what the other tests think it is.
func TestBuiltDialogsAreUnderstood(t *testing.T) {
	dialogs := append(sampleDialogs(t), tableDialogs()...)
	if len(dialogs) < 150 {
		t.Fatal(len(dialogs), "dialogs")
	}
	contents := 0
	for _, d := range dialogs {
		var kinds []lnet.Kind
		dd := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
			kinds = append(kinds, m.Kind)
			if len(m.Content) > 0 {
				contents++
			}
		}})
		wiretest.Play(dd, wiretest.Dialog(d.way, d.request, d.answer))
		assert.That(t, len(kinds) >= 3 && kinds[0] == lnet.Request, "%s: %v", d.name, kinds)
	}
	if contents < 5 {
		t.Error(contents, "with content")
	}
}

// TestClaimsCostNothing sets each length, count and offset of a message to
// what it cannot be, one after the other: the messages are shown without
// panic, in no more than they deserve.
func TestClaimsCostNothing(t *testing.T) {
	b := newTrees(t)
	for _, d := range append(sampleDialogs(t), tableDialogs()...) {
		if len(d.request) > 2000 || len(d.answer) > 2000 {
			continue
		}
		b.name = d.name
		claims(d.request, func(lie []byte) { b.play(d.way, lie, d.answer) })
		claims(d.answer, func(lie []byte) { b.play(d.way, d.request, lie) })
	}
	for _, c := range contents(t) {
		if len(c.answer) <= 4096 {
			b.name = c.name
			claims(c.answer, func(lie []byte) { b.message(c.message(lie)) })
		}
	}
}

// claims calls try with b in which one integer lies: without the tag all every fifth, another one
// in messages of other lengths, as headers and structs repeat in them.
func claims(b []byte, try func([]byte)) {
	lies := [...]uint32{0, 1, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff}
	b = append([]byte(nil), b...)
	for off := 0; off+4 <= len(b); off += 4 {
		if !wiretest.All && (off+len(b))/4%5 != 0 {
			continue
		}
		old := binary.LittleEndian.Uint32(b[off:])
		binary.LittleEndian.PutUint32(b[off:], lies[off/4%len(lies)])
		try(b)
		binary.LittleEndian.PutUint32(b[off:], old)
	}
}

// trees builds the trees of conversations and holds what they may cost.
type trees struct {
	t    *testing.T
	name string
	tree dissect.Tree
	sum  *render.Summary
	json *render.JSON
	out  []byte
}

func newTrees(t *testing.T) *trees {
	b := &trees{t: t, sum: render.NewSummary(render.SummaryOptions{}), json: render.NewJSON()}
	b.tree.Remarks = true
	return b
}

func (b *trees) play(way wiretest.Way, request, answer []byte) {
	wiretest.Play(dissect.New(dissect.Options{Handle: b.message}), wiretest.Dialog(way, request, answer))
}

func (b *trees) message(m *dissect.Message) {
	size := len(m.Data) + len(m.Content)
	b.tree.Build(m)
	if n := len(b.tree.Nodes); n > 64+nodesPerByte*size {
		b.t.Fatalf("%s: %s: %d nodes of %d bytes", b.name, m.Kind, n, size)
	}
	b.out = []byte(shownMessage(b.sum, m))
	b.out = b.json.Append(b.out, m, render.Moment{})
	if len(b.out) > 16<<10+200*size {
		b.t.Fatalf("%s: %s: %d bytes shown of %d", b.name, m.Kind, len(b.out), size)
	}
}

// TestComponentsShareNoBytes has a composite layout whose components claim the
// same bytes over and over: they are read once.
func TestComponentsShareNoBytes(t *testing.T) {
	le := binary.LittleEndian
	const entries, room = 400, 30 << 10
	b := make([]byte, 32+48*entries+room)
	le.PutUint32(b, 0x0bd60bd0)
	le.PutUint32(b[4:], uint32(len(b)))
	le.PutUint16(b[14:], entries)
	for i := range entries {
		e := b[32+48*i:]
		le.PutUint32(e, uint32(i+1))
		if i%2 == 0 { // else none, so that the next may seem the first
			le.PutUint32(e[24:], 32+48*entries)
			le.PutUint32(e[28:], room)
		}
	}
	layout := b[32+48*entries:]
	le.PutUint32(layout, 0x0bd10bd0)
	le.PutUint16(layout[28:], room/24)
	var tree dissect.Tree
	s := opcodes.StructNamed("lov_comp_md_v1")
	tree.BuildField(schema.Sub(s.Name, &s).Resolve(), nil, b, false)
	n := len(tree.Nodes)
	assert.That(t, n <= len(b) && n >= entries, "%d nodes of %d bytes", n, len(b))
}

// eachSample calls handle for each message of the samples.
func eachSample(t testing.TB, handle func(*dissect.Message)) {
	t.Helper()
	for _, path := range wiretest.Samples(t) {
		wiretest.Play(dissect.New(dissect.Options{Handle: handle}), wiretest.ReadSample(t, path))
	}
}

// dialog is a request and what answers it.
type dialog struct {
	name            string
	request, answer []byte // lustre_msg, or the bulk data
	way             wiretest.Way
}

// sampleDialogs are one dialog a message format from the samples.
func sampleDialogs(t testing.TB) []dialog {
	var list []dialog
	seen := map[string]bool{}
	requests := map[uint64][]byte{}
	eachSample(t, func(m *dissect.Message) {
		way := wiretest.ByReply
		switch m.Kind {
		case lnet.Request:
			requests[m.RPC.XID] = append([]byte(nil), m.Payload()...)
			return
		case lnet.Reply:
		case lnet.Bulk:
			way = wiretest.ByBulkPut
		case lnet.GetReply:
			way = wiretest.ByBulkGet
		default:
			return
		}
		name := m.Kind.String() + " " + opcodes.Opcodes.Name(uint64(m.RPC.Opcode))
		if v := m.RPC.Variant; v != nil {
			name += " " + v.Name
		}
		if q := requests[m.RPC.XID]; !seen[name] && q != nil {
			seen[name] = true
			// The bulk goes by the match bits of the xid alone.
			list = append(list, dialog{name, q, append([]byte(nil), m.Payload()...), way})
		}
	})
	return list
}

// tableDialogs are dialogs built from the declarations: every buffer of every
// variant is there, with bytes that are neither zero nor the same.
func tableDialogs() []dialog {
	var list []dialog
	for _, r := range opcodes.Protocol.RPCs() {
		for _, v := range r.Variants {
			d := dialog{r.Name + " " + v.Name, builtMsg(r.Opcode, wiretest.TypeRequest, v.Request), builtMsg(r.Opcode, wiretest.TypeReply, v.Reply), wiretest.ByReply}
			list = append(list, d)
			if b := v.Bulk; b != nil {
				d.way, d.answer = wiretest.ByBulkPut, pattern(4096)
				if b.Get {
					d.way = wiretest.ByBulkGet
				}
				list = append(list, d)
			}
		}
	}
	return list
}

// builtMsg builds a message with all its buffers, of which the first is the
// ptlrpc_body.
func builtMsg(opc, typ uint32, fields []*schema.Field) []byte {
	bufs := [][]byte{wiretest.Body(typ, opc)}
	for _, f := range fields[min(1, len(fields)):] {
		bufs = append(bufs, pattern(builtSize(f)))
	}
	return wiretest.Msg(bufs...)
}

func builtSize(f *schema.Field) int {
	switch {
	case f.Size > 0:
		return f.Size
	case f.Type != nil:
		return f.Type.Size + 32
	case f.Elem != nil && f.Elem.Type != nil:
		return 3 * f.Elem.Type.Size
	}
	return 96
}

// pattern is bytes that stand for small numbers.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4 {
		b[i] = byte(i/4 + 1)
	}
	return b
}

// bulk is what a request asks to be transferred: bytes with a meaning.
type bulk struct {
	dialog
	opcode  uint32
	variant *schema.Variant
}

// message is that of the part that completes the bulk.
func (b *bulk) message(data []byte) *dissect.Message {
	req := &dissect.RequestInfo{Opcode: b.opcode, Variant: b.variant, Data: b.request}
	m := &dissect.Message{Message: lnet.Message{Kind: lnet.Bulk, LNetOff: -1}, Req: req, Content: data}
	m.RPC = dissect.RPC{Opcode: b.opcode, HasOpcode: true, Variant: b.variant}
	return m
}

// contents are bulk data of all kinds: from the samples, and zeros and small
// numbers.
func contents(t testing.TB) []bulk {
	var list []bulk
	for _, r := range opcodes.Protocol.RPCs() {
		for _, v := range r.Variants {
			if v.Bulk != nil && v.Bulk.Type != nil {
				b := bulk{dialog{name: r.Name + " " + v.Name, request: builtMsg(r.Opcode, wiretest.TypeRequest, v.Request)}, r.Opcode, v}
				for _, b.answer = range [][]byte{pattern(4096), make([]byte, 512), {}} {
					list = append(list, b)
				}
			}
		}
	}
	seen := map[*schema.Variant]int{}
	eachSample(t, func(m *dissect.Message) {
		if v := m.RPC.Variant; len(m.Content) > 0 && m.Req != nil && seen[v] < 3 {
			seen[v]++
			list = append(list, bulk{dialog{name: m.Kind.String() + " " + v.Name, request: append([]byte(nil), m.Req.Data...),
				answer: append([]byte(nil), m.Content...)}, m.RPC.Opcode, v})
		}
	})
	return list
}

// TestContentInSummary: the line of the part that completes a bulk says what
// came.
func TestContentInSummary(t *testing.T) {
	s := render.NewSummary(render.SummaryOptions{})
	pages := 0
	for _, b := range contents(t) {
		line := shownMessage(s, b.message(b.answer))
		names := strings.Count(line, " names\n")
		if pages += names; names > 0 && b.opcode != opcodes.MDS_READPAGE {
			t.Errorf("%s: %s", b.name, line)
		}
	}
	assert.That(t, pages != 0, "no directory pages")
}

func shownMessage(r render.TextRenderer, m *dissect.Message) string {
	return wiretest.Shown(func(dst *schema.Marked, m *dissect.Message) { r.Append(dst, m, render.Moment{}) }, m)
}
