package model_test

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/render"
)

// TestFindingTree shows what followed from a finding below it, each line with the frame
// that Enter goes to.
func TestFindingTree(t *testing.T) {
	root := &diagnose.Finding{Rule: &diagnose.Rule{Code: "node.restarted"}, Severity: diagnose.Warning, Text: "It was restarted."}
	gone := &diagnose.Finding{Cause: root, Count: 1, Rule: &diagnose.Rule{Code: "restart.x", Noun: "restarted target"}, Text: "A target was gone."}
	later := &diagnose.Finding{Cause: root, Count: 1, Rule: &diagnose.Rule{Code: "tcp.x", Noun: "refused connection"}, Text: "A connect was refused."}
	slow := &diagnose.Finding{Cause: gone, Count: 1, Rule: &diagnose.Rule{Code: "slow.x", Noun: "slow RPC"}, Text: "An RPC waited for a long time.",
		Evidence: []diagnose.Evidence{{Point: track.Point{Frame: 42}, Text: "the request"}},
		Suspects: []diagnose.Place{{Kind: diagnose.AtStorage, Target: "OST0000"}, {Kind: diagnose.AtLoad, Target: "OST0000"}},
		Cleared:  []diagnose.Clearance{{Place: diagnose.Place{Kind: diagnose.AtQueue}, Evidence: diagnose.Evidence{Point: track.Point{Frame: 43}, Text: "served"}}}}
	var text []string
	frames := make(map[int64]int)
	for _, l := range model.FindingLines([]*diagnose.Finding{root, gone, later, slow}, render.SummaryOptions{Width: 40}, 0) {
		text = append(text, string(l.Text))
		frames[l.At.Frame]++
	}
	want := `It was restarted. It led to 1 restarted
target, 1 refused connection and 1 slow
RPC.

warning  node.restarted
  It was restarted.
  └─         restart.x
      A target was gone.
      └─         slow.x
          An RPC waited for a long time.
            42  0.000000  the request
          suspects: storage of OST0000, or load of OST0000
          excluded: queue, by frame 43 at 0.000000: served
  └─         tcp.x
      A connect was refused.`
	var got []string
	for _, l := range text {
		got = append(got, strings.TrimRight(l, " "))
	}
	if strings.TrimSpace(strings.Join(got, "\n")) != want {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if frames[42] != 2 {
		t.Errorf("%d lines lead to the frame", frames[42])
	}
	if frames[43] != 1 {
		t.Errorf("%d lines lead to the frame that excludes the queue", frames[43])
	}
}
