package diagnose_test

import (
	"fmt"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
)

// run passes a capture to rules and returns the findings.
func run(t *testing.T, path string, list ...*diagnose.Rule) []*diagnose.Finding {
	t.Helper()
	var d *dissect.Dissector
	e := diagnose.New(diagnose.Options{Rules: list, Capture: func() diagnose.Capture { return diagnose.Capture{Stats: d.Stats()} }})
	d = dissect.New(dissect.Options{Handle: e.Message, TransferUpdate: e.TransferUpdate, Lost: e.Lost, TCPEvent: e.TCPEvent})
	wiretest.Play(d, wiretest.ReadSample(t, path))
	e.Close()
	return e.Findings()
}

const sample = "../../pcaps/recovery.pcap.zst"

// TestTrackersShareConnections checks that a request counts once for its connection,
// though several trackers follow connections.
func TestTrackersShareConnections(t *testing.T) {
	sent, counted := int64(0), int64(0)
	run(t, sample, &diagnose.Rule{Code: "test.requests", Severity: diagnose.Note, Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{
			Sent: func(r *track.RPC, _ *dissect.Message) {
				if r.Connection != nil && !opcodes.IsCallback(r.Opcode) {
					sent++
				}
			},
			End: func() {
				for _, i := range r.Imports() {
					counted += i.Requests
				}
			},
		}
	}})
	assert.That(t, sent != 0 && counted == sent, "%d requests, connections have %d", sent, counted)
}

// TestRecoveriesAreAnnounced checks that rules learn when the MGS announced restarts: it
// does in bulk data.
func TestRecoveriesAreAnnounced(t *testing.T) {
	announced := 0
	run(t, sample, &diagnose.Rule{Code: "test.recoveries", Severity: diagnose.Note, Start: func(*diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{Recovery: func(r *recovery.Recovery) {
			if r.Announced.Frame != 0 {
				announced++
			}
		}}
	}})
	assert.Equal(t, announced, 3, "restarts were announced, want 3")
}

// TestFindingsOrder checks that the worst comes first, and what the capture lacks last,
// and that a finding replaces the one with the same subject.
func TestFindingsOrder(t *testing.T) {
	rule := func(code string, s diagnose.Severity, list ...diagnose.Finding) *diagnose.Rule {
		return &diagnose.Rule{Code: code, Severity: s, Noun: "trouble", Next: "next", Start: func(r *diagnose.Reporter) diagnose.Hooks {
			return diagnose.Hooks{End: func() {
				for _, f := range list {
					r.Report(f)
				}
			}}
		}}
	}
	found := run(t, sample,
		rule("slow.a", diagnose.Warning, diagnose.Finding{First: 5, Text: "late"}),
		rule("slow.b", diagnose.Warning, diagnose.Finding{First: 3, Text: "early"}, diagnose.Finding{First: 3, Text: "earlier", Count: 2}),
		rule("io.c", diagnose.Error, diagnose.Finding{First: 9, Text: "worst"}),
		rule("capture.d", diagnose.Note, diagnose.Finding{First: 9, Text: "first", Severity: diagnose.Error}))
	want := []string{"worst", "earlier", "late", "first"}
	for i, f := range found {
		if i >= len(want) || f.Text != want[i] || f.Next != "next" || f.Count < 1 || f.Severity > f.Rule.Severity {
			t.Errorf("finding %d: %+v", i, f)
		}
	}
	assert.Equal(t, len(found), len(want), "findings")
}

// warns returns a rule that has a finding at the end.
func warns(code string, f diagnose.Finding) *diagnose.Rule {
	return &diagnose.Rule{Code: code, Severity: diagnose.Warning, Noun: "trouble", Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{End: func() { r.Report(f) }}
	}}
}

// TestFailoverOfDeadNode checks that targets that moved are linked to the silence of the node that had them.
func TestFailoverOfDeadNode(t *testing.T) {
	dead, partner := messages.NID(2), messages.NID(1)
	gone := []diagnose.Place{{Kind: diagnose.AtTarget, Target: "lustre-OST0000", Node: dead}, {Kind: diagnose.AtNode, Node: dead}}
	found := run(t, sample,
		warns("restart.target", diagnose.Finding{Subject: diagnose.Subject{Target: "lustre-OST0000", Server: partner}, Suspects: gone, First: 12e9, Last: 60e9}),
		warns("restart.together", diagnose.Finding{Subject: diagnose.Subject{Server: partner}, Suspects: gone, First: 12e9, Last: 60e9}),
		warns("node.silent", diagnose.Finding{Subject: diagnose.Subject{Server: dead}, Node: dead, Suspects: gone[1:], First: 10e9, Last: 100e9}))
	if len(found) != 3 || found[0].Rule.Code != "node.silent" || found[1].Root() != found[0] || found[2].Root() != found[0] {
		t.Errorf("%v", found)
	}
}

// TestSilentClient checks that the restart of a target does not follow from the silence of a client.
func TestSilentClient(t *testing.T) {
	client, server := messages.NID(3), messages.NID(2)
	found := run(t, sample,
		warns("restart.target", diagnose.Finding{Subject: diagnose.Subject{Target: "lustre-OST0000", Client: client, Server: server}, First: 20e9, Last: 30e9}),
		warns("node.silent", diagnose.Finding{Subject: diagnose.Subject{Client: client}, Node: client,
			Suspects: []diagnose.Place{{Kind: diagnose.AtNode, Node: client}}, First: 10e9, Last: 25e9}))
	assert.That(t, len(found) == 2 && found[0].Cause == nil && found[1].Cause == nil, "%v", found)
}

// TestUnexplained checks that a finding does not say that its cause is unknown where it is known.
func TestUnexplained(t *testing.T) {
	client, server := messages.NID(3), messages.NID(2)
	eviction := warns("evicted.unknown", diagnose.Finding{Subject: diagnose.Subject{Client: client, Server: server}, First: 20e9, Text: "It was evicted.", Unexplained: " Nobody knows why."})
	if found := run(t, sample, eviction); found[0].Text != "It was evicted. Nobody knows why." {
		t.Error(found[0].Text)
	}
	found := run(t, sample, eviction, warns("node.silent", diagnose.Finding{Subject: diagnose.Subject{Client: client}, Node: client,
		Suspects: []diagnose.Place{{Kind: diagnose.AtNode, Node: client}}, First: 10e9, Last: 25e9}))
	if found[1].Text != "It was evicted." {
		t.Error(found[1].Text)
	}
}

// TestCauses checks what makes one finding the cause of another.
func TestCauses(t *testing.T) {
	client, other, server, server2 := messages.NID(3), messages.NID(4), messages.NID(2), messages.NID(1)
	path, lnet := diagnose.Between(diagnose.AtPath, client, server), diagnose.Between(diagnose.AtLNet, client, server)
	target := diagnose.Place{Kind: diagnose.AtTarget, Target: "lustre-OST0000", Node: server}
	for name, tt := range map[string]struct {
		cause    string
		suspects []diagnose.Place
		locks    []uint64
		effect   string
		finding  diagnose.Finding
		want     bool
	}{
		"the same path":  {"path.cut", []diagnose.Place{path}, nil, "slow.wait", diagnose.Finding{Subject: diagnose.Subject{Client: client, Server: server}}, true},
		"another client": {"path.cut", []diagnose.Place{path}, nil, "slow.wait", diagnose.Finding{Subject: diagnose.Subject{Client: other, Server: server}}, false},
		"a restart meanwhile": {"path.cut", []diagnose.Place{path}, nil, "restart.target",
			diagnose.Finding{Subject: diagnose.Subject{Target: "lustre-OST0000", Client: client, Server: server}, Suspects: []diagnose.Place{target}}, false},
		"the node or the path, and another client": {"node.silent", []diagnose.Place{path, {Kind: diagnose.AtNode, Node: server}}, nil, "slow.wait",
			diagnose.Finding{Subject: diagnose.Subject{Client: other, Server: server}}, false},
		"the same target":           {"restart.target", []diagnose.Place{target}, nil, "evicted.recovery", diagnose.Finding{Subject: diagnose.Subject{Target: "lustre-OST0000", Client: client}}, true},
		"another target":            {"restart.target", []diagnose.Place{target}, nil, "evicted.recovery", diagnose.Finding{Subject: diagnose.Subject{Target: "lustre-OST0001", Client: client, Server: server}}, false},
		"another target that waits": {"restart.target", []diagnose.Place{target}, nil, "slow.wait", diagnose.Finding{Subject: diagnose.Subject{Server: server}, Wait: 5e9}, false},
		"another MGS":               {"restart.target", []diagnose.Place{{Kind: diagnose.AtTarget, Target: "MGS", Node: server}}, nil, "connect.unanswered", diagnose.Finding{Subject: diagnose.Subject{Target: "MGS", Server: server2}}, false},
		"an eviction by hand after a restart": {"restart.target", []diagnose.Place{target}, nil, "evicted.admin",
			diagnose.Finding{Subject: diagnose.Subject{Target: "lustre-OST0000", Client: client}, Suspects: []diagnose.Place{{Kind: diagnose.AtAdmin}}}, false},
		"an eviction by a target that ran on": {"restart.target", []diagnose.Place{target}, nil, "evicted.unknown",
			diagnose.Finding{Subject: diagnose.Subject{Target: "lustre-OST0000", Client: client}, Suspects: []diagnose.Place{{Kind: diagnose.AtAdmin}, target}}, false},
		"errors of a target by its index, after those by its name": {"io.error", []diagnose.Place{target}, nil, "io.error",
			diagnose.Finding{Subject: diagnose.Subject{TargetIndex: "OST0000", Server: server}, Suspects: []diagnose.Place{{Kind: diagnose.AtStorage, Target: "OST0000", Node: server}}}, true},
		"the same lock": {"evicted.lock_callback", nil, []uint64{7}, "lock.wait", diagnose.Finding{Subject: diagnose.Subject{Server: server}, Locks: []uint64{7}}, true},
		"after an eviction": {"evicted.unknown", []diagnose.Place{target}, nil, "slow.wait", diagnose.Finding{Subject: diagnose.Subject{Server: server}, First: 21e9,
			Suspects: []diagnose.Place{target}}, false},
		"another lock":          {"evicted.lock_callback", nil, []uint64{7}, "lock.wait", diagnose.Finding{Subject: diagnose.Subject{Server: server}, Locks: []uint64{8}}, false},
		"an effect is no cause": {"recovery.reconnect", []diagnose.Place{path}, nil, "path.cut", diagnose.Finding{Subject: diagnose.Subject{Client: client, Server: server}}, false},
		"replies that the server dropped, by its log": {"lnet.reply_dropped", []diagnose.Place{lnet}, nil, "rpc.reply_lost",
			diagnose.Finding{Subject: diagnose.Subject{Client: client, Server: server}, Suspects: []diagnose.Place{lnet}}, true},
		"a mount that fails": {"connect.denied", []diagnose.Place{{Kind: diagnose.AtConfig, Node: client}}, nil, "mount.failed", diagnose.Finding{Subject: diagnose.Subject{Client: client}}, true},
		"a mount from another MGS": {"connect.unanswered", []diagnose.Place{{Kind: diagnose.AtConfig, Node: client}}, nil, "mount.reported",
			diagnose.Finding{Subject: diagnose.Subject{Client: client, Server: server2}, Suspects: []diagnose.Place{{Kind: diagnose.AtConfig, Node: client}}}, false},
		"a mount from the same MGS": {"connect.unanswered", []diagnose.Place{{Kind: diagnose.AtConfig, Node: client}}, nil, "mount.reported",
			diagnose.Finding{Subject: diagnose.Subject{Client: client, Server: server}, Suspects: []diagnose.Place{{Kind: diagnose.AtConfig, Node: client}}}, true},
		"a wait of a client that was denied something": {"connect.denied", []diagnose.Place{{Kind: diagnose.AtConfig, Node: client}}, nil, "slow.wait",
			diagnose.Finding{Subject: diagnose.Subject{Client: client}}, false},
	} {
		f := tt.finding
		f.First, f.Last, f.Text = max(f.First, 12e9), 22e9, "effect"
		found := run(t, sample, warns(tt.effect, f),
			warns(tt.cause, diagnose.Finding{Subject: diagnose.Subject{Server: server, Target: nameOf(tt.suspects)}, Suspects: tt.suspects, Locks: tt.locks, First: 10e9, Last: 20e9}))
		for _, f := range found {
			if f.Text == "effect" {
				assert.Equal(t, f.Cause != nil, tt.want, name)
			}
		}
	}
}

// TestCauseInTime checks that a finding follows from what happened at its time, of a target that moved twice.
func TestCauseInTime(t *testing.T) {
	server, client := messages.NID(2), messages.NID(3)
	of := diagnose.Subject{Target: "lustre-MDT0000", Server: server}
	moved := func(at int64) *diagnose.Rule {
		return warns("restart.target", diagnose.Finding{Subject: of, First: at, Last: at + 10e9, Text: fmt.Sprint(at / 1e9), Requests: []diagnose.Request{{Server: server, XID: 7}},
			Suspects: []diagnose.Place{{Kind: diagnose.AtTarget, Target: of.Target, Node: server}, {Kind: diagnose.AtNode, Node: server}}})
	}
	ofClient, node := diagnose.Subject{Client: client, Server: server}, []diagnose.Place{{Kind: diagnose.AtNode, Node: server}}
	for name, tt := range map[string]struct {
		effect string
		f      diagnose.Finding
		want   string
	}{
		"the first move":                {"recovery.late", diagnose.Finding{Subject: of, First: 10e9, Last: 20e9}, "10"},
		"soon after it":                 {"recovery.late", diagnose.Finding{Subject: of, First: 22e9, Last: 24e9}, "10"},
		"the second move":               {"recovery.late", diagnose.Finding{Subject: of, First: 40e9, Last: 50e9}, "40"},
		"in the second move":            {"connect.starting", diagnose.Finding{Subject: of, First: 42e9, Last: 42e9}, "40"},
		"just before the second move":   {"recovery.late", diagnose.Finding{Subject: of, First: 39e9, Last: 45e9}, "40"},
		"both moves":                    {"recovery.late", diagnose.Finding{Subject: of, First: 11e9, Last: 45e9}, "10"},
		"over before its request waits": {"recovery.reconnect", diagnose.Finding{Subject: of, First: 2e9, Last: 3e9, Requests: []diagnose.Request{{Server: server, XID: 7}}}, ""},
		"resets by a node that is up":   {"tcp.reset", diagnose.Finding{Subject: ofClient, Suspects: node, First: 12e9, Last: 40e9}, "10"},
		"resets when targets are back":  {"tcp.reset", diagnose.Finding{Subject: ofClient, Suspects: node, First: 22e9, Last: 23e9}, ""},
	} {
		got := ""
		for _, f := range run(t, sample, moved(10e9), moved(40e9), warns(tt.effect, tt.f)) {
			if f.Rule.Code == tt.effect && f.Cause != nil {
				got = f.Cause.Text
			}
		}
		assert.Equal(t, got, tt.want, name)
	}
}

func nameOf(list []diagnose.Place) (name string) {
	for _, p := range list {
		name = p.Target
	}
	return name
}

// TestClearedByCause checks that a finding does not exclude the place that its cause is in.
func TestClearedByCause(t *testing.T) {
	client, server := messages.NID(3), messages.NID(2)
	holder, path := diagnose.Place{Kind: diagnose.AtHolder, Node: client}, diagnose.Between(diagnose.AtPath, client, server)
	wait := warns("slow.wait", diagnose.Finding{Subject: diagnose.Subject{Client: server, Server: client}, First: 12e9, Last: 20e9, Locks: []uint64{7},
		Cleared: []diagnose.Clearance{{Place: holder}, {Place: path}}})
	assert.Equal(t, len(run(t, sample, wait)[0].Cleared), 2)
	found := run(t, sample, wait, warns("evicted.lock_callback", diagnose.Finding{Subject: diagnose.Subject{Client: client, Server: client}, Locks: []uint64{7},
		Suspects: []diagnose.Place{holder}, First: 10e9, Last: 20e9}))
	assert.That(t, len(found) == 2 && found[1].Cause == found[0] && len(found[1].Cleared) == 1 && found[1].Cleared[0].Place == path, "%+v", found[1])
}

// TestEvidenceOnly checks that resets near a story are a note below it, and a warning where they are all that happened.
func TestEvidenceOnly(t *testing.T) {
	client, server := messages.NID(3), messages.NID(2)
	reset := warns("tcp.reset", diagnose.Finding{Subject: diagnose.Subject{Client: client, Server: server}, First: 12e9})
	found := run(t, sample, reset, warns("node.silent", diagnose.Finding{Subject: diagnose.Subject{Server: server}, Node: server,
		Suspects: []diagnose.Place{{Kind: diagnose.AtNode, Node: server}}, First: 10e9, Last: 25e9}))
	assert.That(t, len(found) == 2 && found[1].Severity == diagnose.Note && found[1].Cause == found[0], "%v", found)
	assert.Equal(t, run(t, sample, reset)[0].Severity, diagnose.Warning)
}

// TestRequestsOfEvidence checks that what the log of a server says of late requests follows from what these waited for: the same XIDs, or threads
// that worked as long.
func TestRequestsOfEvidence(t *testing.T) {
	client, server := messages.NID(3), messages.NID(2)
	cause := warns("node.silent", diagnose.Finding{Subject: diagnose.Subject{Client: client}, Node: client, First: 10e9, Last: 110e9,
		Suspects: []diagnose.Place{{Kind: diagnose.AtNode, Node: client}}, Requests: []diagnose.Request{{Server: server, XID: 7, From: 10e9, To: 109e9}}})
	for name, tt := range map[string]struct {
		requests []diagnose.Request
		follows  bool
	}{
		"the same":    {[]diagnose.Request{{Server: server, XID: 7}}, true},
		"a thread":    {[]diagnose.Request{{Server: server, From: 10e9, To: 109e9}}, true},
		"another":     {[]diagnose.Request{{Server: server, XID: 7}, {Server: server, XID: 8}}, false},
		"another end": {[]diagnose.Request{{Server: server, From: 10e9, To: 50e9}}, false},
		"unknown":     {[]diagnose.Request{{Server: server}}, false},
	} {
		found := run(t, sample, cause, warns("slow.service", diagnose.Finding{Subject: diagnose.Subject{Server: server}, First: 30e9, Last: 31e9, Requests: tt.requests}))
		assert.Equal(t, found[1].Cause == found[0], tt.follows, name)
	}
}

// TestLiveFindings checks that Options.Found gets each finding when it is reported, and
// a second time at the end of the capture if it has changed.
func TestLiveFindings(t *testing.T) {
	var got []string
	ending := false
	rule := &diagnose.Rule{Code: "slow.a", Severity: diagnose.Warning, Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{End: func() { r.Report(diagnose.Finding{Text: "changed", Count: 2}) },
			Tick: func(int64) { r.Report(diagnose.Finding{Text: "made"}) }}
	}}
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{rule}, Found: func(f *diagnose.Finding) {
		if got = append(got, f.Text); ending != (f.Text == "changed") {
			t.Errorf("%q at the wrong time", f.Text)
		}
	}})
	var m dissect.Message
	for k := range int64(5) {
		m.Time = 1e18 + k*60e9
		e.Message(&m)
	}
	ending = true
	e.Close()
	assert.Equal(t, len(got), 2, "findings", got)
}
