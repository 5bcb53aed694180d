package tables

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/config"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
)

// hostile is a name from the wire that would control a terminal.
const hostile = "a\x1b[31m\nb"

// hostileEntries returns an entry of each kind, with names from the wire that would
// control a terminal.
func hostileEntries() []*config.Entry {
	l := &config.Log{Name: hostile, Last: 2, Created: 1, Missing: []config.Range{{First: 1, Last: 1}, {First: 3, Last: 9}}}
	step := opcodes.ConfigStep{Event: "attach", Arguments: []opcodes.ConfigArgument{{Name: "device", Value: hostile}, {Name: "UUID", Value: strings.Repeat("u", 30)}}}
	marker := opcodes.ConfigStep{Event: "marker", Marker: &opcodes.ConfigMarker{Flags: 5, Text: "marker 1 start skip " + hostile + " 'a comment that is so long that the line is wrapped'"}}
	device := &config.Device{Name: hostile, Type: hostile, UUID: hostile, Status: config.Inactive, Nodes: []config.Node{{Name: hostile, NIDs: []string{hostile}}, {Name: "n2"}}}
	active := true
	at := track.Point{Frame: 7, Time: 1e9}
	return []*config.Entry{
		{Kind: config.KindLog, Log: l},
		{Kind: config.KindStep, Log: l, Step: &config.Step{ConfigStep: step, Index: 1, State: config.Skipped, At: at}},
		{Kind: config.KindStep, Log: l, Step: &config.Step{ConfigStep: step, Index: 2, State: config.Cancelled, At: at, Earlier: []config.Version{{ConfigStep: step, At: at}}}},
		{Kind: config.KindStep, Log: l, Step: &config.Step{ConfigStep: step, Index: 3, State: config.Unproven, At: at}},
		{Kind: config.KindStep, Log: l, Step: &config.Step{ConfigStep: step, Index: 4, At: at}},
		{Kind: config.KindStep, Log: l, Step: &config.Step{ConfigStep: marker, Index: 5, State: config.Skipped, At: at}},
		{Kind: config.KindDevice, Log: l, Device: device},
		{Kind: config.KindTarget, Log: l, Target: &config.Target{UUID: hostile, Number: hostile, Device: device}},
		{Kind: config.KindPool, Log: l, Pool: &config.Pool{FSName: hostile, Name: hostile, Members: []string{hostile}}},
		{Kind: config.KindParameter, Log: l, Parameter: &config.Parameter{Device: hostile, Name: hostile, Value: hostile}},
		{Kind: config.KindNodemapState, Active: &active},
		{Kind: config.KindNodemap, Nodemap: &config.Nodemap{Name: hostile, Properties: []opcodes.ConfigArgument{{Name: "rbac", Value: hostile}}, Ranges: []opcodes.NodemapRange{{Start: hostile, End: hostile}},
			IDMaps: []opcodes.NodemapIDMap{{Type: hostile}}, Filesets: []config.Fileset{{Path: hostile}}}},
		{Kind: config.KindRunningTarget, RunningTarget: &config.RunningTarget{RunningTarget: opcodes.RunningTarget{Kind: "OST", NIDs: []string{hostile}}, Table: hostile + "-cliir", From: 8}},
		{Kind: config.KindRegistration, Registration: &config.Registration{Registration: opcodes.Registration{Name: hostile, Parameters: hostile, NIDs: []string{hostile}}}},
		{Kind: config.KindSentParameter, SentParameter: &config.SentParameter{Parameter: hostile}},
	}
}

// TestConfigurationEscapes: text from the wire cannot control a terminal, and lines have at
// most its width.
func TestConfigurationEscapes(t *testing.T) {
	for _, full := range []bool{true, false} {
		s := NewConfiguration(render.SummaryOptions{Colors: render.NewColors(false), Width: 60}, 0, full)
		text := string(s.Append(nil, hostileEntries()))
		if strings.Contains(text, "\x1b") {
			t.Errorf("an escape sequence is in %q", text)
		}
		for line := range strings.Lines(text) {
			if n := render.Width([]byte(strings.TrimSuffix(line, "\n"))); n > 60 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		for _, part := range []string{"# skipped: - {", "# cancelled: - {", "# unproven: - {", "changed in frame 7", "records 1,3-9 of 2", "IN", "failover", "nodemap.active=1", "changes from version 8 on", "no reply"} {
			state := strings.HasPrefix(part, "#") || strings.HasPrefix(part, "changed")
			if strings.Contains(strings.ReplaceAll(text, "\n", " "), part) != (full || !state) {
				t.Errorf("full %v: %s is missing, or is too much", full, part)
			}
		}
	}
}
