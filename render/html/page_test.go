package html

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/journal"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/dissect/track/sizes"
	"github.com/lshark/lshark/dissect/track/slowest"
	"github.com/lshark/lshark/dissect/track/timeline"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/ladder"
)

// hostile is text that breaks out of HTML, a terminal or a line, where it can.
const hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&lt; \x1b[31m\x00\u202e\xff\n"

// pageOf returns the page of a sample.
func pageOf(t testing.TB, path string) *Page {
	t.Helper()
	p := &Page{Program: "lshark test", Timeline: timeline.New(), Sizes: &sizes.Sizes{}}
	slow := slowest.New(5)
	hooks := []diagnose.Hooks{
		{Sent: p.Sizes.Sent, Done: p.Sizes.Done},
		{Sent: slow.Sent, Answered: slow.Answered, Done: slow.Done},
		{Done: p.Timeline.Done},
	}
	var all []*track.Stats
	for _, d := range []track.Dimension{track.ByOp, track.ByJob, track.ByClient, track.ByTarget} {
		s := track.NewStats(track.StatsOptions{By: []track.Dimension{d}})
		all = append(all, s)
		hooks = append(hooks, diagnose.Hooks{Done: s.Done})
	}
	var holders locks.Blockers
	hooks = append(hooks, diagnose.Hooks{Lock: func(l *locks.Lock) {
		holders.Add(l)
		p.Locks.Count++
		if l.Blocked {
			p.Locks.Waiting++
			p.Locks.Slowest = append(p.Locks.Slowest, l)
		}
	}})
	e := diagnose.New(diagnose.Options{Rules: rules.All(), Hooks: hooks, Capture: func() diagnose.Capture { return p.Capture.Capture }})
	f := e.Files()
	d := dissect.New(dissect.Options{Handle: e.Message, Lost: e.Lost, TCPEvent: e.TCPEvent, TransferUpdate: e.TransferUpdate})
	frames := wiretest.ReadSample(t, path)
	wiretest.Play(d, frames)
	p.Capture = Capture{Sources: []string{path}}
	if len(frames) > 0 {
		p.Capture.First, p.Capture.Last = frames[0].Time, frames[len(frames)-1].Time
	}
	p.Capture.Stats = d.Stats()
	e.Close()
	p.Findings.List, p.Slowest, p.Connections.List, p.Locks.Holders = e.Findings(), slow.List(), e.Imports().List(), holders.List()
	p.Files.List = f.List()
	p.Files.Count = int64(len(p.Files.List))
	for i, to := range []**track.Interval{&p.Operations, &p.Jobs, &p.Clients, &p.Targets} {
		if list := all[i].Intervals(); len(list) > 0 {
			*to = list[0]
		}
	}
	return p
}

// check parses a page and reports what a page must not have.
func check(t *testing.T, text []byte) *html.Node {
	t.Helper()
	root := must.Value(html.Parse(bytes.NewReader(text)))(t)
	ids, references := make(map[string]bool), make(map[string]bool)
	count := make(map[string]int)
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		names := make(map[string]bool)
		for _, a := range n.Attr {
			assert.That(t, !names[a.Key], "%s has two attributes %s", n.Data, a.Key)
			names[a.Key] = true
			switch {
			case a.Key == "id":
				assert.That(t, !ids[a.Val], "two elements have the id %s", a.Val)
				ids[a.Val] = true
			case a.Key == "aria-labelledby":
				references[a.Val] = true
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				references[a.Val[1:]] = true
			case a.Key == "href", a.Key == "src", a.Key == "style", strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s has the attribute %s=%q", n.Data, a.Key, a.Val)
			case strings.ContainsAny(a.Key, "<>\"'&"):
				t.Errorf("%s has the attribute %q", n.Data, a.Key)
			}
		}
		switch {
		case n.Data == "th" && !names["scope"], n.Data == "section" && !names["aria-labelledby"], n.Data == "svg" && !names["aria-label"] && !names["aria-hidden"]:
			t.Errorf("%s lacks an attribute: %v", n.Data, n.Attr)
		case n.Data == "table" && (n.FirstChild == nil || n.FirstChild.Data != "caption"):
			t.Error("a table has no caption")
		case n.Data == "tr":
			cells := 0
			for c := range n.ChildNodes() {
				if c.Data == "th" || c.Data == "td" {
					cells++
				}
			}
			assert.Equal(t, cells, columnsOf(n), "cells in a table columns")
		}
	}
	for id := range references {
		assert.That(t, ids[id], "nothing has the id %s", id)
	}
	if count["script"] != 1 || count["style"] != 1 || count["meta"] != 5 || count["h1"] != 1 || count["main"] != 1 || count["section"] != len(sections) || count["img"]+count["iframe"]+count["link"] > 0 {
		t.Errorf("elements %v", count)
	}
	for _, c := range text {
		if c < ' ' && c != '\n' || c == 0x7f {
			t.Fatalf("character %#x", c)
		}
	}
	if bytes.ContainsAny(text, "\u202e\ufeff") || bytes.Contains(text, []byte("http://")) || bytes.Contains(text, []byte("https://")) {
		t.Error("text that changes direction, or an address")
	}
	return root
}

// columnsOf returns the number of columns of the table that a row is in.
func columnsOf(tr *html.Node) (n int) {
	head := tr.Parent.Parent.FirstChild.NextSibling // behind the caption
	for c := range head.FirstChild.ChildNodes() {
		if c.Data == "th" {
			n++
		}
	}
	return n
}

// TestPages checks the pages of all samples.
func TestPages(t *testing.T) {
	for _, path := range wiretest.Samples(t) {
		text := Append(nil, pageOf(t, path))
		check(t, text)
		for _, s := range sections {
			assert.That(t, bytes.Contains(text, []byte(`id="`+s.id+`"`)), "%s: no section %s", path, s.id)
		}
	}
}

// TestEmptyPage checks that each section without data says so.
func TestEmptyPage(t *testing.T) {
	text := Append(nil, &Page{Timeline: timeline.New(), Sizes: &sizes.Sizes{}, Capture: Capture{Sources: []string{"empty.pcap"}}})
	check(t, text)
	assert.Equal(t, bytes.Count(text, []byte(`<p class="none">`)), len(sections), "lines about missing data sections")
	assert.That(t, bytes.Contains(text, []byte("no RPCs of Lustre")), "%s", text)
}

// TestHostileText puts text that breaks out of HTML wherever a capture has text.
func TestHostileText(t *testing.T) {
	p := pageOf(t, "../../pcaps/io.pcap.zst")
	p.Program = hostile
	p.Capture.Sources = []string{hostile, hostile}
	p.Capture.Damaged = hostile
	p.Capture.Estimated = []diagnose.ClockOffset{{File: hostile, Offset: 1}}
	p.NIDs = render.NIDs{Name: func(lnet.NID) string { return hostile }}
	p.Findings.List = append(p.Findings.List, &diagnose.Finding{Subject: diagnose.Subject{Target: hostile, Job: hostile, Client: lnet.NID{Len: 4}, Server: lnet.NID{Len: 4}},
		Rule: &diagnose.Rule{Code: "slow.x"}, Severity: diagnose.Error, Text: hostile, Next: hostile, Evidence: []diagnose.Evidence{{Point: track.Point{Frame: 1, File: hostile}, Text: hostile}},
		Suspects: []diagnose.Place{{Kind: diagnose.AtStorage, Target: hostile}, {Kind: diagnose.AtQueue, Target: hostile}}, WouldTell: []string{hostile},
		Cleared: []diagnose.Clearance{{Place: diagnose.Place{Kind: diagnose.AtTarget, Target: hostile},
			Evidence: diagnose.Evidence{Point: track.Point{Frame: 1, File: hostile}, Text: hostile}}}})
	diagram := &ladder.Diagram{Title: hostile, NIDs: p.NIDs}
	diagram.Files = []string{hostile, "b"}
	diagram.AddTarget(lnet.NID{Len: 4}, hostile)
	var notes journal.Journal
	message := &dissect.Message{}
	message.Frame, message.File, message.LNet.Src, message.LNet.Dst = 1, hostile, lnet.NID{Len: 4, Type: 2}, lnet.NID{Len: 4, Type: 2, Num: 1}
	notes.Message(nil, message)
	ladder.Draw(&notes, []*ladder.Diagram{diagram}, [][]ladder.Remark{{{Point: track.Point{Frame: 1, File: hostile}, Text: hostile}}}, 9)
	must.Equal(t, diagram.Len(), 1, "the diagram is empty")
	p.Findings.Ladders = map[*diagnose.Finding]*ladder.Diagram{p.Findings.List[len(p.Findings.List)-1]: diagram}
	for _, i := range p.Connections.List {
		i.Target = hostile
	}
	for _, f := range p.Files.List {
		f.Users = append(f.Users, files.User{UserKey: files.UserKey{Job: hostile, HasJob: true}})
	}
	for _, row := range p.Jobs.List() {
		copy(row.Job[:], hostile)
	}
	for _, row := range p.Targets.List() {
		row.Target = hostile
	}
	p.Locks.Count, p.Locks.Waiting = 1, 1
	p.Locks.Slowest = []*locks.Lock{{Job: hostile, BlockedBy: []locks.Blocker{{Job: hostile}}, Asked: track.Point{Frame: 1, File: hostile, Time: 1}}}
	p.Locks.Holders = []*locks.Holder{{HolderKey: locks.HolderKey{Job: hostile}, Target: hostile, Waiters: make([]lnet.NID, 2)}}
	text := Append(nil, p)
	check(t, text)
	n := bytes.Count(text, []byte("alert(1)"))
	assert.That(t, n >= 40, "the text is there %d times", n)
	if !bytes.Contains(text, []byte(`&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&#34;&#39;&amp;lt; \x1b[31m\x00\xe2\x80\xae\xff\x0a`)) {
		t.Error("the text is not escaped as it should be")
	}
}

// TestSizeIsBounded checks that many rows do not make the page large.
func TestSizeIsBounded(t *testing.T) {
	p := pageOf(t, "../../pcaps/io.pcap.zst")
	connection := p.Connections.List[0]
	history, events := make([]track.Transition, 1000), make([]track.Event, 1000)
	for k := range events {
		at := track.Point{Frame: 1, Time: p.Capture.First + int64(k)*(p.Capture.Last-p.Capture.First)/1000}
		events[k] = track.Event{Point: at, Kind: track.EventEvicted}
		history[k] = track.Transition{Point: at, State: track.ImportState(k % 12)}
	}
	rule := rules.All()[0]
	for n := range 5000 {
		if len(p.Connections.List) < 100 { // more need much memory
			i := *connection
			i.Connection = &track.Connection{Target: fmt.Sprintf("fs-OST%04x", n)}
			i.History, i.Events = history, events
			p.Connections.List = append(p.Connections.List, &i)
		}
		p.Findings.List = append(p.Findings.List, &diagnose.Finding{ID: strconv.Itoa(n), Rule: rule, Severity: diagnose.Note, Text: strings.Repeat("text ", 100)})
	}
	text := Append(nil, p)
	check(t, text)
	assert.That(t, len(text) <= 3<<19, "%d bytes", len(text))
}

// TestStory checks that the page begins with the opening of each cause, folds what
// followed from it, links each step to the one before, and ends with the capture.
func TestStory(t *testing.T) {
	p := &Page{Timeline: timeline.New(), Sizes: &sizes.Sizes{}}
	root := &diagnose.Finding{ID: "node.restarted-1", Rule: &diagnose.Rule{Code: "node.restarted"}, Severity: diagnose.Warning, Text: "It was restarted. More."}
	gone := &diagnose.Finding{ID: "restart-1", Cause: root, Count: 1, Rule: &diagnose.Rule{Code: "restart.x", Noun: "restarted target"}, Severity: diagnose.Warning, Text: "A target was gone."}
	slow := &diagnose.Finding{ID: "slow-1", Cause: gone, Count: 2, Rule: &diagnose.Rule{Code: "slow.x", Noun: "RPC that waited"}, Severity: diagnose.Warning, Text: "RPCs waited."}
	p.Findings.List = []*diagnose.Finding{root, gone, slow}
	text := string(Append(nil, p))
	check(t, []byte(text))
	at := 0
	for _, want := range []string{`<p class="opening"><a href="#finding-node.restarted-1">`, "<strong>It was restarted.</strong> More. It led to 1 restarted target and 2 RPCs that waited.",
		`class="lead"`, `id="finding-node.restarted-1"`, "<details class=\"followed\"><summary>Followed from it: 1 restarted target and 2 RPCs that waited</summary>",
		`id="finding-restart-1"`, `It follows from <a href="#finding-restart-1">restart.x</a>.`, "</details>", `<section id="slowest"`, `<section id="capture"`} {
		i := strings.Index(text[at:], want)
		must.That(t, i >= 0, "%s is not there, or not where it should be", want)
		at += i
	}
}

// TestNumbers checks how numbers are written.
func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{render.Thousands(0), "0"}, {render.Thousands(999), "999"}, {render.Thousands(1000), "1,000"}, {render.Thousands(1234567), "1,234,567"}, {render.Thousands(-123456), "-123,456"},
		{render.Counted(1, "RPC"), "1 RPC"}, {render.Counted(2, "RPC"), "2 RPCs"}, {render.Counted(2, "search"), "2 searches"}, {render.Counted(0, "entry"), "0 entries"},
		{latency(12_345), "12\u202fµs"}, {latency(2_900_000), "2.9\u202fms"}, {latency(1.25e9), "1.2\u202fs"},
		{span(4.25e9), "4.25\u202fs"}, {span(200e9), "3\u202fmin 20\u202fs"}, {span(7500e9), "2\u202fh 5\u202fmin"}, {span(64e6), "64\u202fms"}, {span(7000), "7\u202fµs"},
		{size(0), "0\u202fB"}, {size(1023), "1023\u202fB"}, {size(1536), "1.5\u202fKiB"}, {size(1 << 20), "1\u202fMiB"},
		{seconds(1), "0.000000001"}, {seconds(12_345_678_901), "12.345678901"}, {seconds(-1_500_000_000), "-1.500000000"},
	} {
		assert.Equal(t, tt.got, tt.want)
	}
}

// TestContrast computes the contrasts of the style sheet's colours, light and dark: 3:1 of what is
// drawn, 4.5:1 of text. What is slow has an outline with more contrast than any number of RPCs.
func TestContrast(t *testing.T) {
	colors := make(map[string][2]float64) // relative luminance, light and dark
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+):light-dark\(#(\w{3,6}),#(\w{3,6})\)`).FindAllStringSubmatch(string(style), -1) {
		colors[m[1]] = [2]float64{luminance(t, m[2]), luminance(t, m[3])}
	}
	contrast := func(a, b string, mode int) float64 {
		x, y := colors[a], colors[b]
		must.That(t, x != y, "no colours %s and %s", a, b)
		return (max(x[mode], y[mode]) + .05) / (min(x[mode], y[mode]) + .05)
	}
	shown := []string{"slow"}
	for k := 1; k <= shades; k++ {
		shown = append(shown, fmt.Sprintf("h%d", k))
	}
	for k := 0; k <= maxMixed; k++ {
		shown = append(shown, fmt.Sprintf("c%d", k))
	}
	texts := map[string][]string{"ink": {"bg", "panel", "note-bg"}, "soft": {"bg", "panel", "note-bg"}, "accent": {"bg", "panel"},
		"bad": {"bg", "panel", "bad-bg"}, "warn": {"bg", "warn-bg"}, "note": {"note-bg"}}
	for mode, name := range []string{"light", "dark"} {
		for _, c := range shown {
			for _, bg := range []string{"bg", "panel"} {
				if x := contrast(c, bg, mode); x < 3 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, c, bg, x)
				}
			}
			if contrast(c, "bg", mode) > contrast("ink", "bg", mode) {
				t.Errorf("%s: %s has more contrast than the outline of what is slow", name, c)
			}
		}
		for c, list := range texts {
			for _, bg := range list {
				if x := contrast(c, bg, mode); x < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, c, bg, x)
				}
			}
		}
	}
	assert.Contains(t, string(style), ".slow{fill:var(--slow);stroke:var(--ink)", "what is slow has no outline")
}

// luminance returns the relative luminance of a colour, as WCAG defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	rgb := must.Value(strconv.ParseUint(hex, 16, 32))(t)
	linear := func(shift int) float64 {
		c := float64(rgb>>shift&255) / 255
		if c <= .04045 {
			return c / 12.92
		}
		return math.Pow((c+.055)/1.055, 2.4)
	}
	return .2126*linear(16) + .7152*linear(8) + .0722*linear(0)
}

// TestSlowRows checks which rows of a heat map are marked: few RPCs that took much longer.
func TestSlowRows(t *testing.T) {
	bounds := timeline.LatencyBounds()
	for _, tt := range []struct {
		rows map[int64]int64 // RPCs by bound
		want int64           // first bound that is marked, 0: none
	}{
		{map[int64]int64{5e6: 400, 10e6: 30, 100e9: 1}, 50e6},
		{map[int64]int64{5e6: 400, 10e6: 3}, 50e6}, // the rows above are empty
		{map[int64]int64{5e6: 400, 20e9: 40, 100e9: 2}, 50e9},
		{map[int64]int64{5e6: 400, 100e9: 40}, 0},
		{map[int64]int64{5e6: 40000, 1e9: 399}, 50e6},
	} {
		rows := make([]int64, len(bounds))
		for k, b := range bounds {
			rows[k] = tt.rows[b]
		}
		var got int64
		if k := slowRows(rows, bounds, 5e6); k < len(rows) {
			got = bounds[k]
		}
		assert.That(t, got == tt.want || tt.want == 0 && got > 100e9, "%v: marked from %v on, want %v", tt.rows, got, tt.want)
	}
}

// TestShades checks that shades grow with the counts and that all are used.
func TestShades(t *testing.T) {
	for _, most := range []int64{1, 2, 9, 1000, 1e9} {
		assert.Equal(t, shade(most, most), shades, most, most, "has shade")
		last := 0
		for n := int64(1); n <= min(most, 2000); n++ {
			s := shade(n, most)
			assert.That(t, s >= max(1, last) && s <= shades, "%d of %d has shade %d after %d", n, most, s, last)
			end := afterShade(s, most) - 1
			assert.That(t, shade(end, most) == s && (end >= most || shade(end+1, most) != s), "shade %d of %d goes to %d", s, most, end)
			last = s
		}
	}
}
