package suspects

import (
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest/messages"
)

// TestSlowIn checks how many requests must be late, for how long, and after how many that were in time, until a stream is slow.
func TestSlowIn(t *testing.T) {
	class := func(latency int64) (c int) {
		for facts.Limit(c) <= latency {
			c++
		}
		return c
	}
	bin := func(ms, latency int64) (b facts.Bin) {
		b.Span, b.Slowest = facts.Span{From: ms * 1e6, To: ms * 1e6}, latency*1e6
		b.Start = b.From - b.Slowest
		b.Counts[class(b.Slowest)]++
		return b
	}
	for name, x := range map[string]struct {
		inTime, late []int64 // when, in ms
		slow, before int
	}{
		"six in 3 s":      {nil, []int64{20000, 20500, 21000, 21500, 22000, 22500}, 1, 0},
		"five":            {nil, []int64{20000, 20500, 21000, 21500, 22500}, 0, 0},
		"for less":        {nil, []int64{20000, 20500, 21000, 21500, 22000, 22499}, 0, 0},
		"with a pause":    {nil, []int64{20000, 20500, 21000, 27000, 27500, 28000}, 1, 0},
		"with a long one": {nil, []int64{20000, 20500, 21000, 27001, 27500, 28000}, 0, 0},
		"after five":      {[]int64{1000, 1100, 1200, 1300, 1400}, []int64{20000, 20500, 21000, 21500, 22000, 22500}, 1, 1},
		"after four":      {[]int64{1000, 1100, 1200, 1300}, []int64{20000, 20500, 21000, 21500, 22000, 22500}, 1, 0},
	} {
		s := &facts.Stream{}
		for _, ms := range x.inTime {
			s.Bins = append(s.Bins, bin(ms, 1))
		}
		for _, ms := range x.late {
			s.Bins = append(s.Bins, bin(ms, 500))
		}
		j := &Judge{usual: map[facts.Kind]int64{{Target: s.Target(), Operation: s.Operation}: 10e6}}
		before := 0
		list := slices.DeleteFunc(j.slowIn(s), func(x *SlowStream) bool { return !x.isEnough() })
		for _, slow := range list {
			if j.within(s, slow.Span).Before {
				before++
			}
		}
		assert.That(t, len(list) == x.slow && before == x.before, "%s: slow %d, after others %d", name, len(list), before)
	}
}

// TestFewOfEach checks that several streams with few late requests each are slow together.
func TestFewOfEach(t *testing.T) {
	few := func(n, late int) *Trouble { return &Trouble{Slow: &SlowStream{N: n, Late: late}} }
	at := facts.Span{From: 20e9, To: 23e9}
	assert.That(t, (&Group{Span: at, Troubles: []*Trouble{few(4, 4), few(2, 2)}}).isEnough(), "six in 3 s")
	assert.That(t, !(&Group{Span: at, Troubles: []*Trouble{few(3, 3), few(2, 2)}}).isEnough(), "five")
	assert.That(t, !(&Group{Span: at, Troubles: []*Trouble{few(4, 4), few(5, 2)}}).isEnough(), "with others in time")
	assert.That(t, !(&Group{Span: facts.Span{From: 20e9, To: 22e9}, Troubles: []*Trouble{few(4, 4), few(2, 2)}}).isEnough(), "for less")
}

// TestNarrow checks that what is suspected of slow requests, and not of their longest waits, or the other way round, is not the cause.
func TestNarrow(t *testing.T) {
	client, server := messages.NID(3), messages.NID(1)
	queue, storage, holder := diagnose.Place{Kind: diagnose.AtQueue, Node: server}, diagnose.Place{Kind: diagnose.AtStorage, Node: server}, diagnose.Place{Kind: diagnose.AtHolder}
	for _, tt := range []struct {
		job  string
		want []diagnose.Place
	}{{"dd.0", []diagnose.Place{queue}}, {"other", []diagnose.Place{queue, storage}}} {
		w := &facts.Wait{Span: facts.Span{From: 5e9, To: 9e9}, Client: client, Server: server, Job: tt.job}
		g := &Group{Troubles: []*Trouble{{Wait: w, Span: w.Span}}, Suspects: []diagnose.Place{queue, storage}, Cleared: []diagnose.Clearance{{Place: holder}}}
		s := &Group{Span: facts.Span{From: 1e9, To: 20e9}, Troubles: []*Trouble{{Slow: &SlowStream{Stream: &facts.Stream{Client: client, Server: server, Job: "dd.0"}}}},
			Suspects: []diagnose.Place{queue, holder}, Cleared: []diagnose.Clearance{{Place: storage}}}
		Narrow([]*Group{g}, []*Group{s})
		assert.That(t, slices.Equal(g.Suspects, tt.want), "of %s: %v", tt.job, g.Suspects)
		assert.That(t, (len(s.Suspects) == 1) == (tt.job == "dd.0"), "of all: %v", s.Suspects)
	}
}

// TestSilentToTwo checks that a node which is silent to two others has lost more than the path to one of them.
func TestSilentToTwo(t *testing.T) {
	mds, oss, client := messages.NID(1), messages.NID(2), messages.NID(4)
	silence := func(from lnet.NID, seconds int64) *Trouble {
		return &Trouble{Span: facts.Span{To: seconds * 1e9}, Silence: &facts.Unacknowledged{}, From: from, To: client,
			Suspects: []diagnose.Place{diagnose.Between(diagnose.AtPath, from, client), {Kind: diagnose.AtNode, Node: client}}}
	}
	for n, want := range map[int]int{1: 2, 2: 1} {
		g := &Group{Troubles: []*Trouble{silence(oss, 100), silence(mds, 5)}[:n]}
		g.intersect()
		assert.That(t, len(g.Suspects) == want && g.Suspects[want-1] == diagnose.Place{Kind: diagnose.AtNode, Node: client}, "%d: %v", n, g.Suspects)
	}
}

// TestTargetsOfServer checks that all targets of a server are suspected, where several have no answers and its node may be the cause.
func TestTargetsOfServer(t *testing.T) {
	server := messages.NID(2)
	at := func(target string, more ...diagnose.Place) *Trouble {
		return &Trouble{Span: facts.Span{To: 10 * second}, Suspects: append(more, diagnose.Place{Kind: diagnose.AtTarget, Node: server, Target: target})}
	}
	node, targets := diagnose.Place{Kind: diagnose.AtNode, Node: server}, diagnose.Place{Kind: diagnose.AtTarget, Node: server}
	for _, tt := range []struct {
		troubles []*Trouble
		all      bool
	}{
		{[]*Trouble{at("OST0000", node), at("OST0001", node)}, true},
		{[]*Trouble{at("OST0000", node), at("OST0000", node)}, false},
		{[]*Trouble{at("OST0000", node), at("OST0001")}, false},
		{[]*Trouble{at("OST0000", node), {Span: facts.Span{To: 10 * second}, Suspects: []diagnose.Place{node}}}, false},
	} {
		g := Group{Troubles: tt.troubles}
		g.intersect()
		assert.Equal(t, slices.Contains(g.Suspects, targets), tt.all, g.Suspects)
	}
}
