package render_test

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

// TestSuspects checks the JSON of places, and that a finding without suspects has none of these keys.
func TestSuspects(t *testing.T) {
	client, server := lnet.NID{Type: 2, Len: 4, Addr: [16]byte{192, 0, 2, 3}}, lnet.NID{Type: 2, Len: 4, Addr: [16]byte{192, 0, 2, 2}}
	f := &diagnose.Finding{Rule: &diagnose.Rule{Code: "slow.x"}, ID: "slow.x-1"}
	text := string(render.NewRecordJSON(&records.Findings).Append(nil, f))
	for _, key := range []string{"suspects", "cleared", "would_tell"} {
		assert.That(t, !strings.Contains(text, key), "%s without suspects: %s", key, text)
	}

	f.Suspects = []diagnose.Place{
		{Kind: diagnose.AtStorage, Node: server, Target: "lustre-OST0000"},
		{Kind: diagnose.AtQueue, Node: server},
		diagnose.From(client, server),
		{Kind: diagnose.AtConfig},
	}
	f.Cleared = []diagnose.Clearance{
		{Place: diagnose.Between(diagnose.AtLNet, client, server), Evidence: diagnose.Evidence{Point: track.Point{Frame: 412, Time: 5}, Text: "pings were answered"}},
		{Place: diagnose.Place{Kind: diagnose.AtNode, Node: server}, Evidence: diagnose.Evidence{Point: track.Point{Frame: -7, File: "oss.log", Time: 1}, Text: "a line"}},
	}
	f.WouldTell = []string{"capture of 192.0.2.2@tcp", "log of 192.0.2.2@tcp"}
	text = string(render.NewRecordJSON(&records.Findings).Append(nil, f))
	_, text, _ = strings.Cut(text, `"evidence":[],`)
	text, _, _ = strings.Cut(text, `,"id":`)
	assert.Equal(t, text, `"suspects":[{"place":"storage","target":"lustre-OST0000","node":"192.0.2.2@tcp"},`+
		`{"place":"queue","node":"192.0.2.2@tcp"},`+
		`{"place":"path","nodes":["192.0.2.2@tcp","192.0.2.3@tcp"],"direction":"192.0.2.3@tcp > 192.0.2.2@tcp"},{"place":"config"}],`+
		`"cleared":[{"place":"lnet","nodes":["192.0.2.2@tcp","192.0.2.3@tcp"],"frame":412,"time":"1970-01-01T00:00:00.000000005Z","text":"pings were answered"},`+
		`{"place":"node","node":"192.0.2.2@tcp","file":"oss.log","frame":null,"time":"1970-01-01T00:00:00.000000001Z","line":7,"text":"a line"}],`+
		`"would_tell":["capture of 192.0.2.2@tcp","log of 192.0.2.2@tcp"]`, "JSON")

	for text, want := range map[string]bool{
		"finding.suspects.place == storage":        true,
		"suspects.place in {lnet, node}":           false,
		"cleared.place == node and cleared.line":   true,
		"suspects.nodes == '192.0.2.3@tcp'":        true,
		"suspects.node == 192.0.2.2@tcp":           true,
		"would_tell contains 'log of 192.0.2.3'":   false,
		"suspects.direction == 192.0.2.3@tcp":      false,
		"suspects.target == lustre-OST0000":        true,
		"not cleared.frame == 412 or cleared.time": true,
	} {
		chosen := must.Value(filter.CompileRecord(&records.Findings, text))(t)
		assert.Equal(t, chosen.Match(f), want, text)
	}

	path, _ := records.Findings.Find("suspects.nodes")
	var v records.Value
	must.That(t, path.Value(f, 2, &v), "the path has no nodes")
	assert.Equal(t, string(render.AppendValue(nil, &v)), "192.0.2.2@tcp,192.0.2.3@tcp", "-e suspects.nodes")
}
