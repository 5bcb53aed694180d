package comparison

import (
	"math/rand/v2"
	"testing"
)

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
		if g := tt.c.group(v.correlation()); g < tt.least || g > tt.most {
			t.Errorf("%s: %g count as one", tt.name, g)
		}
	}
	before := alike
	alike.fold()
	if n := alike.periods[0].n; n != 200 || alike.periods[maxPeriods/2].n != 0 || alike.periods[1].sum != before.periods[2].sum+before.periods[3].sum {
		t.Errorf("folded: %+v", alike)
	}
}

func TestBursts(t *testing.T) {
	even, burst := bursts{5, 5, 5, 5, 5, 5, 5, 5}, bursts{0, 0, 40}
	if g := even.group(8); g != 1 {
		t.Errorf("even: %g", g)
	}
	if g := burst.group(8); g != 40 {
		t.Errorf("one burst of 40: %g", g)
	}
	if g := burst.group(0); g != 1 {
		t.Errorf("no period: %g", g)
	}
	burst.fold()
	if burst[1] != 40 || burst[0] != 0 {
		t.Errorf("folded: %v", burst)
	}
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
