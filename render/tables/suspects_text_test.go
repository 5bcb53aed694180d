package tables

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

func tcpNID(last byte) lnet.NID { return lnet.NID{Type: 2, Len: 4, Addr: [16]byte{192, 0, 2, last}} }

// waiting returns a finding with suspects.
func waiting() *diagnose.Finding {
	client, server := tcpNID(3), tcpNID(2)
	f := &diagnose.Finding{Rule: &diagnose.Rule{Code: "slow.x"}, Severity: diagnose.Warning, Text: "A write waited for 47.2 s."}
	f.Suspects = []diagnose.Place{diagnose.Between(diagnose.AtPath, client, server), diagnose.Between(diagnose.AtLNet, client, server),
		{Kind: diagnose.AtStorage, Node: server, Target: "lustre-OST0000"}}
	add := func(frame int64, text string, places ...diagnose.Place) {
		p := track.Point{Frame: frame, Time: 1e9}
		if frame < 0 {
			p.File = "oss.dk.gz"
		}
		for _, place := range places {
			f.Cleared = append(f.Cleared, diagnose.Clearance{Place: place, Evidence: diagnose.Evidence{Point: p, Text: text}})
		}
	}
	add(412, "pings were answered within 4 ms", diagnose.Place{Kind: diagnose.AtNode, Node: server}, diagnose.Place{Kind: diagnose.AtTarget, Target: "lustre-OST0000"})
	add(-7, "the service has idle threads", diagnose.Place{Kind: diagnose.AtQueue, Node: server})
	add(9, "others are served", diagnose.Place{Kind: diagnose.AtLoad, Target: "lustre-OST0000"})
	add(0, "nobody has the lock", diagnose.Place{Kind: diagnose.AtHolder})
	f.WouldTell = []string{"capture of 192.0.2.2@tcp", "log of 192.0.2.2@tcp"}
	return f
}

// TestSuspectsText checks the lines about suspects on a narrow terminal, with three and with all of those
// about what is excluded, and that a single suspect has none.
func TestSuspectsText(t *testing.T) {
	o := render.SummaryOptions{Width: 80}
	f := waiting()
	want := `warning  slow.x               
  A write waited for 47.2 s.
  suspects: path between 192.0.2.2@tcp and 192.0.2.3@tcp, LNet between
            192.0.2.2@tcp and 192.0.2.3@tcp, or storage of lustre-OST0000
  excluded: node 192.0.2.2@tcp and target lustre-OST0000, by frame 412 at
            1.000000: pings were answered within 4 ms
  excluded: queue of 192.0.2.2@tcp, by oss.dk.gz:7 at 1.000000: the service has
            idle threads
  excluded: load of lustre-OST0000, by frame 9 at 1.000000: others are served
  excluded: 1 more, which -v shows
  would tell: capture of 192.0.2.2@tcp; log of 192.0.2.2@tcp
`
	assert.Equal(t, wiretest.Shown(NewFindingsText(o, 0, false).Append, f), want)
	full := wiretest.Shown(NewFindingsText(o, 0, true).Append, f)
	assert.Equal(t, full, strings.Replace(want, "1 more, which -v shows", "holder of the lock: nobody has the lock", 1))

	f.Suspects = f.Suspects[:1]
	f.Cleared, f.WouldTell = nil, nil
	assert.Equal(t, wiretest.Shown(NewFindingsText(o, 0, false).Append, f), strings.Join(strings.SplitAfter(want, "\n")[:2], ""))
}

// TestPlaceText checks that each kind of place has words, with and without what it belongs to.
func TestPlaceText(t *testing.T) {
	seen := make(map[string]bool)
	for kind := diagnose.AtApplication; kind <= diagnose.AtCapture; kind++ {
		for _, p := range []diagnose.Place{{Kind: kind}, {Kind: kind, Node: tcpNID(2)}, {Kind: kind, Target: "lustre-OST0000"}} {
			text := p.String()
			assert.That(t, text != "" && strings.TrimSpace(text) == text && !strings.Contains(text, "  "), "%v: %q", kind, text)
		}
		bare := diagnose.Place{Kind: kind}.String()
		assert.That(t, !seen[bare], "two kinds are %q", bare)
		seen[bare] = true
	}
	broken := diagnose.From(tcpNID(3), tcpNID(2))
	assert.Equal(t, broken.String(), "path from 192.0.2.3@tcp to 192.0.2.2@tcp")
}

// TestInputLine checks what findings begin with.
func TestInputLine(t *testing.T) {
	const first = int64(1795712910e9)
	note := func(code, text string) *diagnose.Finding {
		return &diagnose.Finding{Rule: &diagnose.Rule{Code: code}, Severity: diagnose.Note, Text: text}
	}
	connects := note("capture.no_connect", "The capture does not have the connects of 2 of 6 connections. The targets are known.")
	waits := note("slow.timeouts", "192.0.2.2@tcp expects up to 30 s: some took that long. Clients wait.")
	snaplen := &diagnose.Finding{Rule: &diagnose.Rule{Code: "capture.snaplen"}, Severity: diagnose.Warning, Text: "Cut."}
	slow := &diagnose.Finding{Rule: &diagnose.Rule{Code: "slow.x"}, Severity: diagnose.Warning, Text: "Slow."}
	in := Input{First: first, Last: first + 91.6e9, RPCs: 12345, Clients: []lnet.NID{tcpNID(3), tcpNID(4), tcpNID(5), tcpNID(6)}, Servers: []lnet.NID{tcpNID(1)}}
	const begin, nodes = "2026-11-26 17:08:30 +0000, 92 s, ", "12,345 RPCs of 4 clients and 1 server (192.0.2.1)"
	const notes = "  The capture does not have the connects of 2 of 6 connections.\n  192.0.2.2@tcp expects up to 30 s (and 1 other).\n"
	for _, c := range []struct {
		list   []*diagnose.Finding
		chosen bool
		inFull bool
		want   string
	}{
		{nil, false, false, "no errors or warnings in " + nodes + "\n"},
		{nil, true, false, "no such findings in " + nodes + "\n"},
		{[]*diagnose.Finding{slow}, true, false, nodes + "\n"},
		{[]*diagnose.Finding{waits, connects, waits}, false, false, "no errors or warnings in " + nodes + "\n" + notes},
		{[]*diagnose.Finding{slow, waits, connects, waits}, false, false, nodes + "\n" + notes},
		{[]*diagnose.Finding{slow, waits, connects}, false, true, nodes + "\n"},
		{[]*diagnose.Finding{snaplen}, false, false, "no errors or warnings in " + nodes + ", except about the capture itself\n"},
	} {
		text := NewFindingsText(render.SummaryOptions{Time: render.UTC}, first, c.inFull)
		assert.Equal(t, shownInput(text, &in, c.list, c.chosen), begin+c.want)
	}
	text := NewFindingsText(render.SummaryOptions{Time: render.UTC}, first, false)
	assert.Equal(t, shownInput(text, &Input{First: first, Last: first + 1.5e9}, nil, false), "2026-11-26 17:08:30 +0000, 1.5 s, no RPCs\n")
}

// TestFindingsWidths checks that suspects and the line about the input fit terminals.
func TestFindingsWidths(t *testing.T) {
	for _, width := range []int{40, 80, 120, 200} {
		text := NewFindingsText(render.SummaryOptions{Width: width}, 0, true)
		in := Input{Last: 1e9, RPCs: 7, Clients: []lnet.NID{tcpNID(3), tcpNID(4)}, Servers: []lnet.NID{tcpNID(1), tcpNID(2)}}
		out := shownInput(text, &in, nil, false) + wiretest.Shown(text.Append, waiting())
		for line := range strings.Lines(string(out)) {
			assert.That(t, utf8.RuneCountInString(line)-1 <= width, fmt.Sprintf("%d columns: %%s", width), line)
		}
	}
}

func shownInput(text *FindingsText, in *Input, list []*diagnose.Finding, chosen bool) string {
	return wiretest.Shown(func(dst *schema.Marked, in *Input) { text.AppendInput(dst, in, list, chosen) }, in)
}
