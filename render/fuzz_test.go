package render_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
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
	rpcs  map[string]render.RPCRenderer
	out   []byte
	first int64
	bytes int // of the messages so far

	pairs   *track.Pairing
	imports *track.Imports
	files   *files.Files
	stats   *track.Stats
	by      []track.Dimension
}

func newViews(t testing.TB) *views {
	c := render.NewColors(false)
	fields, err := render.NewFields([]string{"frame", "opcode", "mbo_valid", "name", "ocd_connect_flags", "lnet.src_nid", "content"}, opcodes.NewIndex())
	must.NoError(t, err)
	pairs, unknown := render.NewRecordFields(&records.RPCs, render.KeyNames(&records.RPCs))
	if unknown != "" {
		t.Fatal(unknown)
	}
	names := track.NewNames()
	v := &views{t: t, json: render.NewJSON(), flags: render.NewFlags(render.FlagsOptions{Colors: c}), names: names,
		lines: map[string]render.Renderer{
			"summary": render.NewSummary(render.SummaryOptions{Colors: c, Names: names}),
			"narrow":  render.NewSummary(render.SummaryOptions{Colors: c, Names: names, Width: 60}),
			"tree":    render.NewTree(render.TreeOptions{Colors: c, Width: 80}),
			"hex":     render.NewTree(render.TreeOptions{Colors: c, Hex: true}),
			"fields":  fields,
		},
		rpcs: map[string]render.RPCRenderer{
			"rpcs":        render.NewRPCSummary(render.SummaryOptions{Colors: c}),
			"rpcs json":   render.RPCFunc(render.NewRecordJSON(records.RPCs.Keys(), false).AppendLine),
			"rpcs fields": render.RPCFunc(pairs.Append),
		},
		imports: track.NewImports(),
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
		v.out = v.flags.AppendConnect(v.out[:0], p, v.first)
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
		v.out = v.flags.Append(v.out[:0], m, at)
		v.text("flags", size)
	}
	v.out = v.json.Append(v.out[:0], m, at)
	v.valid("json", size)
	v.pairs.Message(m)
}

func (v *views) rpc(r *track.RPC) {
	for name, s := range v.rpcs {
		v.out = s.AppendRPC(v.out[:0], r, render.Moment{First: v.first})
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
	o := render.SummaryOptions{Colors: render.NewColors(false)}
	v.pair.Close()
	if list := v.files.List(); len(list) > 0 {
		one := render.NewRecordJSON(records.Files.Keys(), false)
		for _, f := range list {
			v.out = append(one.Append(v.out[:0], f), '\n')
			v.valid("files json", v.bytes)
		}
		v.out = tables.Files.New(o, 0).Append(v.out[:0], list)
		v.text("files", v.bytes)
	}
	if list := v.imports.List(); len(list) > 0 {
		v.out = tables.Imports.New(o, v.first).Append(v.out[:0], tables.ImportRecords(list))
		v.text("imports", v.bytes)
		v.out = tables.NewTimeline(o, v.first).Append(v.out[:0], list)
		v.text("timeline", v.bytes)
		v.out = render.NewRecordJSON(records.Imports.Keys(), false).AppendLines(v.out[:0], tables.ImportRecords(list))
		v.valid("imports json", v.bytes)
	}
	so := tables.StatsOptions{By: v.by, Sort: "count", Colors: render.NewColors(false), Bars: true}
	for _, i := range v.stats.Intervals() {
		v.out = tables.NewStatsTable(so).AppendInterval(v.out[:0], i)
		v.text("stats", v.bytes)
		v.out = tables.NewStatsTSV(so).AppendInterval(v.out[:0], i)
		v.text("stats tsv", v.bytes)
		v.out = tables.NewStatsJSON(so).AppendInterval(v.out[:0], i)
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
