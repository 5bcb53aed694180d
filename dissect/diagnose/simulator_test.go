package diagnose_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/simulator"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
)

var (
	seeds     = flag.Uint64("seeds", 60, "how many scenes TestSimulator plays")
	firstSeed = flag.Uint64("seed", 0, "the first of the scenes that TestSimulator plays")
	fault     = flag.String("fault", "", "the fault of all scenes of TestSimulator; A+B: two; all: each kind in turn")
	writeDir  = flag.String("write", "", "a folder for the captures of the scenes that TestSimulator plays")
)

// mostShown is how many breaches of a promise TestSimulator shows.
const mostShown = 20

func TestMain(m *testing.M) { wiretest.Main(m) }

// What a finding has to explain: an RPC that waits so long, or many that wait less, in nanoseconds.
const (
	longWait  = int64(5e9)
	shortWait = int64(5e8)
	manyRPCs  = 10
)

// isPlace reports whether a place of a finding is the one of a fault. What the finding does not
// know is not compared.
func isPlace(found diagnose.Place, truth simulator.Place) bool {
	if found.Kind.String() != truth.Kind || truth.Target != "" && !strings.HasSuffix(truth.Target, found.Target) {
		return false
	}
	for _, n := range []lnet.NID{found.Node, found.Peer} {
		if n.Len > 0 && !slices.Contains(truth.Nodes, n) {
			return false
		}
	}
	if found.Direction == 0 || !truth.Directed {
		return true
	}
	return found == diagnose.From(truth.Nodes[0], truth.Nodes[1])
}

// isAny reports whether a place of a finding is where a fault is. A holder of a lock and another
// server that the capture does not show stand for whatever is wrong with them.
func isAny(s *simulator.Scene, found diagnose.Place, list []simulator.Place) bool {
	return slices.ContainsFunc(list, func(p simulator.Place) bool {
		return isPlace(found, p) || slices.ContainsFunc(p.Nodes, func(n lnet.NID) bool {
			switch found.Kind {
			case diagnose.AtHolder:
				return found.Node.Len == 0 && !s.IsServer(n)
			case diagnose.AtOtherServer:
				return found.Node != n && s.IsServer(n)
			}
			return false
		})
	})
}

// allCleared reports whether all names of a place are cleared.
func allCleared(truth []simulator.Place, cleared []diagnose.Clearance) bool {
	for _, p := range truth {
		if !slices.ContainsFunc(cleared, func(c diagnose.Clearance) bool { return isPlace(c.Place, p) }) {
			return false
		}
	}
	return true
}

// diagnoseFrames returns what all rules find in frames, as lshark diagnose does.
func diagnoseFrames(frames []capture.Frame) []*diagnose.Finding {
	lookAhead := func() (track.Known, *targets.Evidence) {
		e := targets.New(nil)
		t := track.NewPairing(track.Options{Sent: e.Sent, Answered: e.Answered})
		d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
			if m.Kind == lnet.Request || m.Kind == lnet.Reply {
				t.Message(m)
			}
		}})
		wiretest.Play(d, frames)
		e.Conclude()
		return t.Known(), nil
	}
	var d *dissect.Dissector
	e := diagnose.New(diagnose.Options{Rules: rules.All(), Follow: follow.Options{LookAhead: lookAhead},
		Capture: func() diagnose.Capture { return diagnose.Capture{Stats: d.Stats()} }})
	d = dissect.New(dissect.Options{Handle: e.Message, TransferUpdate: e.TransferUpdate, Lost: e.Lost, TCPEvent: e.TCPEvent, Active: e.Active()})
	wiretest.Play(d, frames)
	e.Close()
	return e.Findings()
}

// verdict counts what became of scenes.
type verdict struct {
	scenes, visible, found map[string]int      // by fault
	wrong                  map[string][]string // by the promise that was broken, once for each view
	views                  int
	latest                 map[string]int // view in which a promise was broken
}

func newVerdict() *verdict {
	return &verdict{scenes: make(map[string]int), visible: make(map[string]int), found: make(map[string]int), wrong: make(map[string][]string),
		latest: make(map[string]int)}
}

func (v *verdict) broken(promise string, s *simulator.Scene, view simulator.View, f *diagnose.Finding, text string) {
	if v.latest[promise] == v.views {
		return
	}
	v.latest[promise] = v.views
	line := fmt.Sprintf("seed %d: %s\n  %s", s.Seed, text, describe(s, view))
	if f != nil {
		line += fmt.Sprintf("\n  %s %s %.1f – %.1f s client %v server %v target %s: %s", f.Severity, f.Rule.Code, s.Seconds(f.First), s.Seconds(f.Last), f.Client, f.Server, f.Target, f.Text)
	}
	v.wrong[promise] = append(v.wrong[promise], line)
}

func describe(s *simulator.Scene, v simulator.View) string {
	var b strings.Builder
	for _, f := range s.Faults {
		fmt.Fprintf(&b, "%s %.1f – %.1f s", f.Name, s.Seconds(f.From), s.Seconds(f.Until))
		for _, p := range f.Places {
			fmt.Fprintf(&b, " [%s %v %s %s]", p.Kind, p.Nodes, p.Target, p.Job)
		}
		b.WriteString("; ")
	}
	fmt.Fprintf(&b, "nodes %v; seen from %v, from %.1f s on, loss %.3g, snaplen %d, swaps %.3g, twice %v, gap %v", s.Nodes, v.Points, float64(v.After)/1e9, v.Loss, v.Snaplen, v.Swaps, v.Twice, v.Gap)
	return b.String()
}

// consider compares findings with what was wrong.
func (v *verdict) consider(s *simulator.Scene, view simulator.View, findings []*diagnose.Finding) {
	var truth []simulator.Place
	name := "ordinary"
	for k, f := range s.Faults {
		truth = append(truth, f.Places...)
		if name = f.Name; k > 0 {
			name = "two faults"
		}
	}
	isOrdinary := len(truth) == 0
	v.scenes[name]++
	v.views++
	found := false
	for _, f := range findings {
		list := f.Suspects
		found = found || slices.ContainsFunc(list, func(p diagnose.Place) bool { return isAny(s, p, truth) })
		if f.Severity == diagnose.Note || f.AboutCapture() {
			continue
		}
		switch {
		case isOrdinary:
			v.broken("ordinary work is silent", s, view, f, "a finding about ordinary work")
		case f.Cause == nil && len(list) == 1 && !isAny(s, list[0], truth):
			v.broken("nothing is accused alone that is not the cause", s, view, f, "accused alone: "+list[0].Kind.String())
		}
		// Of two faults, a finding about one may exclude the other.
		if len(s.Faults) == 1 && !isOrdinary && f.First < s.Faults[0].Until && f.Last > s.Faults[0].From && allCleared(truth, f.Cleared) {
			v.broken("the cause is never cleared", s, view, f, "cleared")
		}
	}
	hurt := func(f *simulator.Fault) bool {
		return s.Hurt(f, view, longWait) > 0 || s.Hurt(f, view, shortWait) >= manyRPCs
	}
	if isOrdinary || !slices.ContainsFunc(s.Faults, hurt) {
		return
	}
	v.visible[name]++
	if found {
		v.found[name]++
	} else {
		v.broken("the cause is suspected", s, view, nil, "not suspected")
	}
}

// isAmong reports whether a place is one of those that were suspected with less input, which may
// have known less of it.
func isAmong(p diagnose.Place, before []diagnose.Place) bool {
	return slices.ContainsFunc(before, func(b diagnose.Place) bool {
		if b.Kind == diagnose.AtHolder && b.Node.Len == 0 { // a client that was not captured, whatever is wrong with it
			return true
		}
		unknown := b.Node.Len == 0 || p.Node == b.Node && p.Peer == b.Peer
		return p.Kind == b.Kind && unknown && strings.HasSuffix(p.Target, b.Target) && (b.Direction == 0 || p.Direction == b.Direction)
	})
}

// compare checks that a view with more capture points says no less.
func (v *verdict) compare(s *simulator.Scene, view simulator.View, few, more []*diagnose.Finding) {
	for _, f := range few {
		before := f.Suspects
		if f.Severity == diagnose.Note || f.AboutCapture() || f.Cause != nil || len(before) == 0 {
			continue
		}
		explained := slices.ContainsFunc(more, func(g *diagnose.Finding) bool {
			if g.First > f.Last || g.Last < f.First {
				return false
			}
			after := g.Suspects
			narrower := len(after) > 0 && !slices.ContainsFunc(after, func(p diagnose.Place) bool { return !isAmong(p, before) })
			return narrower || g.Cause != nil && g.Rule == f.Rule
		})
		if !explained {
			v.broken("more input says no less", s, view, f, "gone with more capture points")
		}
	}
}

// allowed is for how many of a thousand views a promise may be broken. What is left are two faults at once that meet, and faults
// that look like another one from where the captures were taken.
var allowed = map[string]int{
	"ordinary work is silent":                        0,
	"nothing is accused alone that is not the cause": 1,
	"the cause is suspected":                         10,
	"the cause is never cleared":                     1,
	"more input says no less":                        3,
}

// played is a scene, and what is found in a view of it: with one capture point, and with all if there are more.
type played struct {
	scene     *simulator.Scene
	few, more simulator.View
	found     []*diagnose.Finding
	all       []*diagnose.Finding
}

func play(seed uint64, faults []string) played {
	s := simulator.Play(seed, faults...)
	p := played{scene: s, more: s.View()}
	p.few = p.more
	p.few.Points = p.few.Points[:1]
	p.found = diagnoseFrames(s.Capture(p.few))
	if len(p.more.Points) > 1 {
		p.all = diagnoseFrames(s.Capture(p.more))
	}
	return p
}

// playAll plays scenes on all processors, and passes them on in their order.
func playAll(fault string, do func(played)) {
	scenes := make(chan chan played, runtime.GOMAXPROCS(0))
	go func() {
		defer close(scenes)
		for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
			scene := make(chan played, 1)
			scenes <- scene
			go func() { scene <- play(seed, faultList(fault, seed)) }()
		}
	}()
	for scene := range scenes {
		do(<-scene)
	}
}

// faultList returns the faults that a scene is to have; nil: none in particular.
func faultList(fault string, seed uint64) []string {
	switch fault {
	case "":
		return nil
	case "all":
		names := simulator.Faults()
		return names[seed%uint64(len(names)):][:1]
	}
	return strings.Split(fault, "+")
}

// add takes the verdict about the views of a scene.
func (v *verdict) add(p played) {
	v.consider(p.scene, p.few, p.found)
	if len(p.more.Points) > 1 {
		v.consider(p.scene, p.more, p.all)
		v.compare(p.scene, p.more, p.found, p.all)
	}
}

// TestSimulator plays random faults against all rules. It prints a table of the faults with -v.
func TestSimulator(t *testing.T) {
	v := newVerdict()
	playAll(*fault, func(p played) {
		v.add(p)
		if *writeDir != "" {
			writeViews(t, p.scene, p.more)
		}
	})
	for _, promise := range slices.Sorted(maps.Keys(allowed)) {
		list := v.wrong[promise]
		report := t.Logf
		if len(list)*1000 > allowed[promise]*max(v.views, 1000) {
			report = t.Errorf
		}
		report("%s: broken %d times in %d views\n%s", promise, len(list), v.views, strings.Join(list[:min(len(list), mostShown)], "\n"))
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(v.scenes)) {
		fmt.Fprintf(&b, "%-28s %4d views, it hurt RPCs in %4d, was suspected in %4d of these\n", name, v.scenes[name], v.visible[name], v.found[name])
	}
	t.Logf("\n%s", b.String())
}

// mended are seeds of scenes in which a promise was broken once, by the fault that is put into each; none: by chance.
var mended = map[string][]uint64{
	"":                        {79, 120, 207, 391, 623, 685, 849, 906, 913, 943, 1003, 1009, 1011, 1014, 1331, 1406, 1521, 1674, 1875, 1877, 1923, 1965, 2094, 2171, 2630, 2746, 2819, 8567},
	"client away in recovery": {296},
	"client dead in recovery": {297},
	"device hung":             {215},
	"holder late":             {37, 58, 199},
	"large frames lost":       {64, 203, 259},
	"late cancels":            {39},
	"link narrow":             {79},
	"no inodes":               {155},
	"path narrow":             {207},
}

// TestSimulatorMended checks that the promises hold where they were broken once.
func TestSimulatorMended(t *testing.T) {
	v := newVerdict()
	for fault, seeds := range mended {
		for _, seed := range seeds {
			v.add(play(seed, faultList(fault, seed)))
		}
	}
	for promise, list := range v.wrong {
		t.Errorf("%s: broken\n%s", promise, strings.Join(list, "\n"))
	}
}

// TestSimulatorNotices checks that each broken promise is noticed, with findings that no rule has.
func TestSimulatorNotices(t *testing.T) {
	view := simulator.View{Points: []string{simulator.Switch}}
	s := simulator.Play(0, "device hung")
	for seed := uint64(1); s.Hurt(s.Faults[0], view, longWait) == 0; seed++ {
		s = simulator.Play(seed, "device hung")
	}
	f := s.Faults[0]
	truth := f.Places[0]
	storage := diagnose.Place{Kind: diagnose.AtStorage, Node: truth.Nodes[0], Target: truth.Target}
	path := diagnose.Between(diagnose.AtPath, truth.Nodes[0], messages.NID(9))
	finding := func(suspects []diagnose.Place, cleared ...diagnose.Place) *diagnose.Finding {
		g := &diagnose.Finding{Rule: &diagnose.Rule{Code: "slow.test"}, Severity: diagnose.Warning, First: f.From, Last: f.Until, Suspects: suspects}
		for _, p := range cleared {
			g.Cleared = append(g.Cleared, diagnose.Clearance{Place: p})
		}
		return g
	}
	good := finding([]diagnose.Place{storage, path})
	for _, tt := range []struct {
		name string
		few  *diagnose.Finding
		more *diagnose.Finding
		want string // the promise that is broken
	}{
		{"good", good, finding([]diagnose.Place{storage}), ""},
		{"accused alone", finding([]diagnose.Place{path}), good, "nothing is accused alone that is not the cause"},
		{"cleared", finding([]diagnose.Place{path, {Kind: diagnose.AtLoad}}, storage), nil, "the cause is never cleared"},
		{"other suspects", finding([]diagnose.Place{path, {Kind: diagnose.AtLoad}}), nil, "the cause is suspected"},
		{"gone", good, finding([]diagnose.Place{path, {Kind: diagnose.AtQueue, Node: truth.Nodes[0]}}), "more input says no less"},
	} {
		v := newVerdict()
		v.consider(s, view, []*diagnose.Finding{tt.few})
		if tt.more != nil {
			v.compare(s, view, []*diagnose.Finding{tt.few}, []*diagnose.Finding{tt.more})
		}
		if tt.want == "" {
			assert.Equal(t, len(v.wrong), 0, tt.name, v.wrong)
		} else {
			assert.Equal(t, len(v.wrong[tt.want]), 1, tt.name, v.wrong)
		}
	}
	v := newVerdict()
	v.consider(simulator.Play(0), view, []*diagnose.Finding{good})
	assert.Equal(t, len(v.wrong["ordinary work is silent"]), 1)
}

// writeViews writes the captures of a view, one for each point, and a complete one of the switch.
func writeViews(t *testing.T, s *simulator.Scene, v simulator.View) {
	t.Helper()
	t.Log(describe(s, v))
	views := map[string]simulator.View{"all": {Points: []string{simulator.Switch}}}
	for _, point := range v.Points {
		one := v
		one.Points = []string{point}
		views[point] = one
	}
	for name, one := range views {
		file, err := os.Create(filepath.Join(*writeDir, fmt.Sprintf("%d.%s.pcapng", s.Seed, name)))
		must.NoError(t, err)
		w := capture.NewWriter(file)
		frames := s.Capture(one)
		for i := range frames {
			must.NoError(t, w.Write(&frames[i], ""))
		}
		must.NoError(t, w.Flush())
		must.NoError(t, file.Close())
	}
}
