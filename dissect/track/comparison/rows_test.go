package comparison

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

const ms = int64(1e6)

// traffic plays RPCs, one after the other, into a Stats.
type traffic struct {
	stats   *Stats
	pairing *track.Pairing
	begin   int64
	now     int64
	n       uint64
	target  string // of the RPCs; empty: unknown
	message dissect.Message
	body    schema.Msg
}

func newTraffic(by ...track.Dimension) *traffic {
	s := NewStats(by)
	t := &traffic{stats: s, begin: 1e18, now: 1e18, body: schema.Msg{Bufs: [][]byte{make([]byte, opcodes.PtlrpcBody.Size)}}}
	t.pairing = track.NewPairing(track.Options{Sent: s.Sent, Answered: s.Answered, Done: func(r *track.RPC) {
		if t.target != "" {
			r.Connection = &track.Connection{Target: t.target}
		}
		s.Done(r)
	}})
	return t
}

var nid = messages.NID

func (t *traffic) send(kind lnet.Kind, src, dst lnet.NID, opc uint32, status int32) {
	m := &t.message
	*m = dissect.Message{Message: lnet.Message{Frame: int64(t.n), Time: t.now, Kind: kind}, Msg: &t.body}
	m.Src, m.Dst = messages.Addr(src), messages.Addr(dst)
	m.LNet.Src, m.LNet.Dst = src, dst
	m.RPC.XID, m.RPC.HasXID, m.RPC.Opcode, m.RPC.HasOpcode = t.n<<6, true, opc, true
	m.RPC.Type, m.RPC.Bytes = dissect.TypeRequest, 300
	if kind == lnet.Reply {
		m.RPC.Type, m.RPC.Status = dissect.TypeReply, status
	}
	m.LNet.MatchBits = m.RPC.XID
	t.pairing.Message(m)
}

// rpc plays an RPC of a client, and the time until the next one.
func (t *traffic) rpc(client byte, opc uint32, latency int64, status int32) {
	t.n++
	t.send(lnet.Request, nid(client), nid(1), opc, 0)
	t.now += latency
	t.send(lnet.Reply, nid(1), nid(client), opc, status)
	t.now += 20 * ms
}

func (t *traffic) end() *Stats {
	t.pairing.Close()
	t.stats.SetTime(t.begin, t.now)
	return t.stats
}

// work plays reads and writes with latencies that vary as real ones do; factor
// is for those of the writes.
func work(seed uint64, n int, factor float64) *traffic {
	random := rand.New(rand.NewPCG(seed, 7))
	t := newTraffic(track.ByOp)
	latency := func(typical float64) int64 { return int64(typical * math.Exp(random.NormFloat64())) }
	for range n {
		t.rpc(3, opcodes.OST_READ, latency(5e6), 0)
		t.rpc(3, opcodes.OST_WRITE, latency(factor*8e6), 0)
	}
	return t
}

// changes returns what has changed in the row of an operation, 0: all of them.
func changes(rows []*Row, opc uint32) (list []string) {
	for _, r := range rows {
		if r.Opcode == opc {
			for _, m := range r.Changed {
				list = append(list, m.String())
			}
		}
	}
	return list
}

// TestNoise: runs of the same work have no changes, but for few of many.
func TestNoise(t *testing.T) {
	const runs = 60
	found := 0
	for seed := range uint64(runs) {
		for _, r := range Rows(work(2*seed, 150, 1).end(), work(2*seed+1, 200, 1).end()) {
			found += min(1, len(r.Changed))
		}
	}
	assert.That(t, found <= runs/20, "changes in %d rows of %d runs", found, runs)
}

func TestSlower(t *testing.T) {
	for seed := range uint64(10) {
		rows := Rows(work(2*seed, 150, 1).end(), work(2*seed+1, 150, 4).end())
		got := changes(rows, opcodes.OST_WRITE)
		assert.That(t, slices.Contains(got, "p50"), "run %d: changes of slow writes: %v", seed, got)
		if got := changes(rows, 0); !slices.Contains(got, "p50") {
			t.Errorf("run %d: changes of all: %v", seed, got)
		}
		if got := changes(rows, opcodes.OST_READ); len(got) > 0 {
			t.Errorf("run %d: changes of reads: %v", seed, got)
		}
	}
}

// TestSame: a capture has no changes to itself, whatever is in it.
func TestSame(t *testing.T) {
	for _, r := range Rows(work(1, 300, 1).end(), work(1, 300, 1).end()) {
		assert.That(t, len(r.Changed) <= 0, "%v: %v", r.Key, r.Changed)
	}
	rows := Rows(newTraffic(track.ByOp).end(), newTraffic(track.ByOp).end())
	assert.That(t, rows == nil, "%d rows of nothing", len(rows))
}

// TestOneStall: what happens once in a capture is not what it usually does.
func TestOneStall(t *testing.T) {
	steady := newTraffic(track.ByOp)
	stalled := newTraffic(track.ByOp)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		steady.rpc(3, opcodes.OST_READ, 5*ms+random.Int64N(ms), 0)
		latency := 5*ms + random.Int64N(ms)
		if i >= 200 && i < 260 {
			latency *= 10
		}
		stalled.rpc(3, opcodes.OST_READ, latency, 0)
	}
	got := changes(Rows(steady.end(), stalled.end()), opcodes.OST_READ)
	assert.That(t, !slices.Contains(got, "p90") && !slices.Contains(got, "p50"), "changes: %v", got)
}

func TestEvents(t *testing.T) {
	before, after := newTraffic(track.ByOp), newTraffic(track.ByOp)
	for i := range 300 {
		before.rpc(3, opcodes.OST_WRITE, ms, 0)
		status := int32(0)
		if i%10 == 0 {
			status = -28
		}
		after.rpc(3, opcodes.OST_WRITE, ms, status)
		if i%6 == 0 { // the work took twice as long, and has new operations
			after.now += 100 * ms
			after.rpc(3, opcodes.OST_SYNC, ms, 0)
		} else {
			after.now += 100 * ms
		}
	}
	rows := Rows(before.end(), after.end())
	assert.Slice(t, changes(rows, opcodes.OST_WRITE), []string{"errors"}, "changes of writes")
	assert.Slice(t, changes(rows, opcodes.OST_SYNC), []string{"count"}, "changes of syncs")
	for _, r := range rows {
		assert.That(t, r.Opcode != opcodes.OST_WRITE || slices.Equal(r.ChangedErrors, []int32{-28}), "changed errors: %v", r.ChangedErrors)
		if r.Opcode == opcodes.OST_SYNC && (r.Before != nil || r.After == nil || r.After.Value(Count) != 50) {
			t.Errorf("sides of a new operation: %+v", r)
		}
	}
}

// TestNodes: a client that comes or goes is a change, though it sends little.
func TestNodes(t *testing.T) {
	before, after := newTraffic(track.ByClient), newTraffic(track.ByClient)
	for range 50 {
		before.rpc(3, opcodes.OBD_PING, ms, 0)
		after.rpc(3, opcodes.OBD_PING, ms, 0)
	}
	after.rpc(4, opcodes.OBD_PING, ms, 0)
	for _, r := range Rows(before.end(), after.end()) {
		assert.Equal(t, r.Changes(Count), r.Client == nid(4), "client", r.Client, r.Changed)
	}
}

// TestUnknownTargets: RPCs of which one capture does not show the target have
// neither come nor gone.
func TestUnknownTargets(t *testing.T) {
	play := func(target string) *Stats {
		w := newTraffic(track.ByTarget, track.ByOp)
		for i := range 100 {
			w.target = target
			w.rpc(3, opcodes.OST_READ, ms, 0)
			if i%50 == 0 {
				w.target = "lustre-OST0001"
				w.rpc(3, opcodes.OST_SYNC, ms, 0)
			}
		}
		return w.end()
	}
	for _, r := range Rows(play("lustre-OST0000"), play("")) {
		assert.That(t, len(r.Changed) <= 0, "%s %d: %v", r.Target, r.Opcode, r.Changed)
	}
	without := newTraffic(track.ByTarget, track.ByOp)
	without.target = "lustre-OST0001"
	for range 100 {
		without.rpc(3, opcodes.OST_SYNC, ms, 0)
	}
	assert.Slice(t, changes(Rows(play("lustre-OST0000"), without.end()), opcodes.OST_READ), []string{"count"}, "a target that is gone")
}

// TestMaxSampled: keys beyond the maximum count in the totals.
func TestMaxSampled(t *testing.T) {
	s := NewStats([]track.Dimension{track.ByUID})
	r := &track.RPC{Request: track.Request{HasUser: true}}
	for n := range uint32(maxSampled + 10) {
		r.UID = n
		s.Done(r)
	}
	total := Rows(s, NewStats(nil))[0].Before
	if len(s.rows) != maxSampled || s.Dropped() != 10 || total.Count != maxSampled+10 {
		t.Errorf("%d rows, %d RPCs dropped of %d", len(s.rows), s.Dropped(), total.Count)
	}
}

func TestNoAllocations(t *testing.T) {
	w := work(1, 3000, 1)
	if n := testing.AllocsPerRun(2000, func() { w.rpc(3, opcodes.OST_READ, 5*ms, 0) }); n > .1 {
		t.Errorf("%g allocations for an RPC", n)
	}
}

// TestGroups checks that each independent value counts as one, and that similar values
// of the same period count as fewer.
func TestGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var independent, alike clusters
	for period := range maxPeriods {
		shift := 10 * random.NormFloat64()
		for range 100 {
			independent.add(period, random.NormFloat64())
			alike.add(period, shift+random.NormFloat64())
		}
	}
	for _, tt := range []struct {
		name        string
		c           *clusters
		least, most float64
	}{
		{"independent", &independent, 1, 4},
		{"alike", &alike, 90, 100},
		{"none", &clusters{}, 1, 1},
	} {
		var v variances
		v.add(tt.c)
		g := tt.c.group(v.correlation())
		assert.That(t, g >= tt.least && g <= tt.most, "%s: %g count as one", tt.name, g)
	}
	before := alike
	alike.fold()
	if n := alike.periods[0].n; n != 200 || alike.periods[maxPeriods/2].n != 0 || alike.periods[1].sum != before.periods[2].sum+before.periods[3].sum {
		t.Errorf("folded: %+v", alike)
	}
}

func TestBursts(t *testing.T) {
	even, burst := bursts{5, 5, 5, 5, 5, 5, 5, 5}, bursts{0, 0, 40}
	assert.Equal(t, even.group(8), 1, "even")
	assert.Equal(t, burst.group(8), 40, "one burst of 40")
	assert.Equal(t, burst.group(0), 1, "no period")
	burst.fold()
	assert.That(t, burst[1] == 40 && burst[0] == 0, "folded: %v", burst)
}

func TestTimeline(t *testing.T) {
	var l timeline
	folds := 0
	fold := func() { folds++ }
	const begin = int64(1_700_000_000e9)
	for _, tt := range []struct {
		after         int64
		period, folds int
	}{
		{0, 0, 0},
		{(maxPeriods - 1) * firstPeriod, maxPeriods - 1, 0},
		{-5, 0, 0}, // before the first: clocks of several captures differ
		{maxPeriods * firstPeriod, maxPeriods / 2, 1},
		{6 * maxPeriods * firstPeriod, 3 * maxPeriods / 4, 3},
	} {
		if got := l.number(begin+tt.after, fold); got != tt.period || folds != tt.folds {
			t.Errorf("%d: period %d after %d folds, want %d after %d", tt.after, got, folds, tt.period, tt.folds)
		}
	}
}

// plain plays reads, and three calls of another operation.
func plain(calls ...int64) *traffic {
	t := newTraffic(track.ByOp)
	for i := range 40 {
		t.rpc(3, opcodes.OST_READ, 5*ms+int64(i%5)*ms, 0)
	}
	for _, latency := range calls {
		t.rpc(3, opcodes.MDS_REINT, latency*ms, 0)
	}
	return t
}

func rowOf(t *testing.T, rows []*Row, opc uint32) *Row {
	t.Helper()
	for _, r := range rows {
		if r.Opcode == opc && !r.Total {
			return r
		}
	}
	t.Fatalf("no row of operation %d", opc)
	return nil
}

// TestFewCalls: three latencies that do not overlap are shown, and said to be few.
func TestFewCalls(t *testing.T) {
	for _, tt := range []struct {
		before, after []int64
		want          bool
	}{
		{[]int64{55, 58, 60}, []int64{600, 618, 640}, true},
		{[]int64{600, 618, 640}, []int64{55, 58, 60}, true},
		{[]int64{55, 58, 600}, []int64{61, 618, 640}, false}, // they overlap
		{[]int64{55, 58, 60}, []int64{90, 91, 92}, false},    // not long enough
		{[]int64{1, 1, 1}, []int64{4, 4, 4}, false},          // a few milliseconds
		{[]int64{55, 58}, []int64{600, 618}, false},
	} {
		r := rowOf(t, Rows(plain(tt.before...).end(), plain(tt.after...).end()), opcodes.MDS_REINT)
		if got := slices.Contains(r.Few, P50); got != tt.want || r.Changes(P50) != tt.want || !r.TooFew() {
			t.Errorf("%v and %v: changed %v, few %v", tt.before, tt.after, r.Changed, r.Few)
		}
	}
}

// TestTrouble: what is an error, and is in one capture only, is never noise.
func TestTrouble(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(t *traffic)
		want string
	}{
		"nothing":     {func(*traffic) {}, ""},
		"an answer":   {func(t *traffic) { t.rpc(3, opcodes.OST_READ, 5*ms, -2) }, ""},
		"a full disk": {func(t *traffic) { t.rpc(3, opcodes.OST_READ, 5*ms, -28) }, "errors"},
		"a hang":      {func(t *traffic) { t.rpc(3, opcodes.OST_READ, 70_000*ms, 0) }, "max"},
		"a hang at its end": {func(t *traffic) {
			t.n++
			t.send(lnet.Request, nid(3), nid(1), opcodes.OST_READ, 0)
			t.now += 70_000 * ms
		}, "max"},
	} {
		trouble := plain()
		tt.play(trouble)
		for i, rows := range [][]*Row{Rows(plain().end(), trouble.end()), Rows(trouble.end(), plain().end())} {
			assert.Equal(t, strings.Join(changes(rows, opcodes.OST_READ), " "), tt.want, name, i)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b)) }

// TestTails compares the exact tests with values computed by hand.
func TestTails(t *testing.T) {
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"8 of 10 coins", binomialTail(8, 10, .5), 56. / 1024},
		{"no more than expected", binomialTail(5, 10, .5), 1},
		{"all of 3", binomialTail(3, 3, .2), .008},
		{"lady tasting tea", hypergeometricTail(4, 4, 4, 8), 1. / 70},
		{"3 of 4 cups", hypergeometricTail(3, 4, 4, 8), 17. / 70},
		{"nothing marked", hypergeometricTail(0, 4, 0, 8), 1},
		{"nothing at all", hypergeometricTail(0, 0, 0, 0), 1},
		{"1.96", normalTail(1.959963985), .025},
	} {
		assert.That(t, near(tt.got, tt.want), "%s: %g, want %g", tt.name, tt.got, tt.want)
	}
	// Millions of events take no longer than their deviation.
	p := binomialTail(5_010_000, 10_000_000, .5)
	assert.That(t, p >= 1e-12 && p <= 1e-8, "tail of ten million: %g", p)
}

func TestRates(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		k1, w1, k2, w2, group float64
		least, most           float64 // bounds of p
	}{
		{"same rate, twice as long", 100, 10, 200, 20, 1, .9, 1},
		{"twice the rate", 100, 10, 200, 10, 1, 0, 1e-6},
		{"half the rate", 200, 10, 100, 10, 1, 0, 1e-6},
		{"twice, in bursts of 20", 100, 10, 200, 10, 20, .1, 1},
		{"none, then 10", 0, 1000, 10, 1000, 1, 0, .002},
		{"nothing", 0, 10, 0, 10, 1, 1, 1},
		{"no time", 5, 0, 5, 10, 1, 1, 1},
	} {
		r := testRates(tt.k1, tt.w1, tt.k2, tt.w2, tt.group)
		assert.That(t, r.p >= tt.least && r.p <= tt.most && r.least <= r.p, "%s: %+v", tt.name, r)
	}
}

// sampleOf makes a sample of independent values.
func sampleOf(values ...int64) *sample {
	s := &sample{group: 1}
	for _, v := range values {
		s.add(v, 1)
	}
	return s
}

func TestLocations(t *testing.T) {
	low, high := sampleOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), sampleOf(11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
	assert.Equal(t, superiority(low, high), 1, "superiority of greater values")
	assert.Equal(t, superiority(low, low), .5, "superiority of the same values")
	apart := compareLocations(low, high).test()
	assert.That(t, apart.p <= 1e-3 && apart.p == apart.least && apart.sign > 0, "apart: %+v", apart)
	back := compareLocations(high, low).test()
	assert.That(t, near(back.p, apart.p) && back.sign < 0, "in the other direction: %+v, want %+v", back, apart)
	assert.Equal(t, superiority(sampleOf(1, 2, 2, 2, 3), sampleOf(2, 2)), .5, "superiority among equal values")
	assert.Equal(t, compareLocations(low, low).test().p, 1, "the same")
	low.group, high.group = 5, 5
	few := compareLocations(low, high).test()
	assert.That(t, few.p >= falseDiscoveryRate, "of two groups each: %+v", few)
}

func TestQuantiles(t *testing.T) {
	low, high := sampleOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), sampleOf(11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
	e := compareQuantiles(low, high, .5)
	assert.Equal(t, e, exceedances{0, 10, 10, 10})
	r := e.test()
	assert.That(t, near(r.p, 2./184756) && near(r.p, r.least), "%+v", r)
	assert.Equal(t, compareQuantiles(sampleOf(1, 5, 5, 5), sampleOf(5, 5, 5, 7), .5), exceedances{0, 4, 1, 4}, "equal values")
	if e := compareQuantiles(low, low, .9); e != (exceedances{1, 10, 1, 10}) || e.test().p != 1 {
		t.Errorf("the same: %+v, %+v", e, e.test())
	}
}

// TestStrata: a difference that no operation proves alone can be proven by all, and
// one that is only due to other operations is none.
func TestStrata(t *testing.T) {
	var l locations
	var q tables
	for i := range int64(12) {
		before, after := sampleOf(i, i+2, i+4, i+6), sampleOf(i+3, i+5, i+7, i+9)
		one := compareLocations(before, after)
		if one.test().p < .05 {
			t.Fatalf("one is enough: %+v", one.test())
		}
		l.add(one)
		q.add(compareQuantiles(before, after, .5))
	}
	r := l.test()
	assert.That(t, r.p <= falseDiscoveryRate && r.sign > 0, "locations: %+v", r)
	if r := q.test(); r.p > falseDiscoveryRate || r.sign <= 0 {
		t.Errorf("tables: %+v", r)
	}
	assert.Equal(t, (&locations{}).test(), noTest, "no locations")
	assert.Equal(t, (&tables{}).test(), noTest, "no tables")
}

// TestDiscoveryLimit: among many tests of noise, one small p is no change.
func TestDiscoveryLimit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []result
	for range 100 {
		all = append(all, result{p: .01 + .99*random.Float64()})
	}
	limit := discoveryLimit(append(all, result{p: .005}))
	assert.That(t, limit < 0, "noise up to %g is found", limit)
	assert.Equal(t, discoveryLimit([]result{{p: .005}}), .005, "limit of one test")
	for range 20 {
		all = append(all, result{p: 1e-6})
	}
	assert.Equal(t, discoveryLimit(all), 1e-6, "limit")
	// Tests that could not find anything are no tests.
	many := []result{{p: .008}}
	for range 1000 {
		many = append(many, noTest)
	}
	assert.Equal(t, discoveryLimit(many), .008, "limit with tests of nothing")
}

// connection makes a connection with the parameters of its connect.
func connection(target string, asked, granted track.ConnectData) *track.Import {
	return &track.Import{Connection: &track.Connection{Target: target}, ConnectParameters: track.ConnectParameters{
		Asked: asked, Granted: granted, HasAsked: asked != track.ConnectData{}, HasGranted: granted != track.ConnectData{}}}
}

func TestConnections(t *testing.T) {
	const old, recent = 0x020f0800, 0x02110000
	plain := track.ConnectData{Flags: 1, Version: recent}
	for _, tt := range []struct {
		name          string
		before, after []*track.Import
		want          []Part
	}{
		{"the same", []*track.Import{connection("a", plain, plain)}, []*track.Import{connection("a", plain, plain)}, nil},
		{"asked for more", []*track.Import{connection("a", plain, plain)},
			[]*track.Import{connection("a", track.ConnectData{Flags: 1, Flags2: 4, Version: recent}, plain)}, []Part{Asked}},
		{"granted to one of two clients", []*track.Import{connection("a", plain, plain)},
			[]*track.Import{connection("a", plain, plain), connection("a", plain, track.ConnectData{Flags: 3, Version: recent})}, []Part{Granted}},
		{"another release", []*track.Import{connection("a", plain, plain)},
			[]*track.Import{connection("a", track.ConnectData{Flags: 1, Version: old}, plain)}, []Part{ClientVersion}},
		{"no reply captured", []*track.Import{connection("a", plain, plain)}, []*track.Import{connection("a", plain, track.ConnectData{})}, nil},
		{"in one only", []*track.Import{connection("a", plain, plain)}, nil, nil},
	} {
		list := Connections(tt.before, tt.after)
		assert.That(t, len(list) == 1 && list[0].Target == "a" && slices.Equal(list[0].Changed, tt.want), "%s: %+v", tt.name, list)
	}
	unknown := []*track.Import{connection("", plain, plain), connection("a", track.ConnectData{}, track.ConnectData{})}
	assert.Equal(t, len(Connections(unknown, unknown)), 0, "connections without a target or connect")
}
