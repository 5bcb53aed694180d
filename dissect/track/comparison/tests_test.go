package comparison

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/track"
)

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
		if !near(tt.got, tt.want) {
			t.Errorf("%s: %g, want %g", tt.name, tt.got, tt.want)
		}
	}
	// Millions of events take no longer than their deviation.
	if p := binomialTail(5_010_000, 10_000_000, .5); p < 1e-12 || p > 1e-8 {
		t.Errorf("tail of ten million: %g", p)
	}
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
		if r.p < tt.least || r.p > tt.most || r.least > r.p {
			t.Errorf("%s: %+v", tt.name, r)
		}
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
	if p := superiority(low, high); p != 1 {
		t.Errorf("superiority of greater values: %g", p)
	}
	if p := superiority(low, low); p != .5 {
		t.Errorf("superiority of the same values: %g", p)
	}
	apart := compareLocations(low, high).test()
	if apart.p > 1e-3 || apart.p != apart.least || apart.sign <= 0 {
		t.Errorf("apart: %+v", apart)
	}
	if back := compareLocations(high, low).test(); !near(back.p, apart.p) || back.sign >= 0 {
		t.Errorf("in the other direction: %+v, want %+v", back, apart)
	}
	if p := superiority(sampleOf(1, 2, 2, 2, 3), sampleOf(2, 2)); p != .5 {
		t.Errorf("superiority among equal values: %g", p)
	}
	if same := compareLocations(low, low).test(); same.p != 1 {
		t.Errorf("the same: %+v", same)
	}
	low.group, high.group = 5, 5
	if few := compareLocations(low, high).test(); few.p < falseDiscoveryRate {
		t.Errorf("of two groups each: %+v", few)
	}
}

func TestQuantiles(t *testing.T) {
	low, high := sampleOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), sampleOf(11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
	e := compareQuantiles(low, high, .5)
	if e != (exceedances{0, 10, 10, 10}) {
		t.Errorf("%+v", e)
	}
	if r := e.test(); !near(r.p, 2./184756) || !near(r.p, r.least) {
		t.Errorf("%+v", r)
	}
	if e := compareQuantiles(sampleOf(1, 5, 5, 5), sampleOf(5, 5, 5, 7), .5); e != (exceedances{0, 4, 1, 4}) {
		t.Errorf("equal values: %+v", e)
	}
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
	if r := l.test(); r.p > falseDiscoveryRate || r.sign <= 0 {
		t.Errorf("locations: %+v", r)
	}
	if r := q.test(); r.p > falseDiscoveryRate || r.sign <= 0 {
		t.Errorf("tables: %+v", r)
	}
	if r := (&locations{}).test(); r != noTest {
		t.Errorf("no locations: %+v", r)
	}
	if r := (&tables{}).test(); r != noTest {
		t.Errorf("no tables: %+v", r)
	}
}

// TestDiscoveryLimit: among many tests of noise, one small p is no change.
func TestDiscoveryLimit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []result
	for range 100 {
		all = append(all, result{p: .01 + .99*random.Float64()})
	}
	if limit := discoveryLimit(append(all, result{p: .005})); limit >= 0 {
		t.Errorf("noise up to %g is found", limit)
	}
	if limit := discoveryLimit([]result{{p: .005}}); limit != .005 {
		t.Errorf("limit of one test: %g", limit)
	}
	for range 20 {
		all = append(all, result{p: 1e-6})
	}
	if limit := discoveryLimit(all); limit != 1e-6 {
		t.Errorf("limit %g", limit)
	}
	// Tests that could not find anything are no tests.
	many := []result{{p: .008}}
	for range 1000 {
		many = append(many, noTest)
	}
	if limit := discoveryLimit(many); limit != .008 {
		t.Errorf("limit with tests of nothing: %g", limit)
	}
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
		if len(list) != 1 || list[0].Target != "a" || !slices.Equal(list[0].Changed, tt.want) {
			t.Errorf("%s: %+v", tt.name, list)
		}
	}
	unknown := []*track.Import{connection("", plain, plain), connection("a", track.ConnectData{}, track.ConnectData{})}
	if list := Connections(unknown, unknown); len(list) != 0 {
		t.Errorf("connections without a target or connect: %+v", list)
	}
}
