package cli

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
)

// sceneFile is a capture or a log of a scene.
type sceneFile struct {
	path, scene, node string
	log               bool
	lines             []consoleLine // of a console log
}

func (f sceneFile) kind() string {
	if f.log {
		return "log"
	}
	return "pcap"
}

// sceneFiles returns the captures of the scenes in a folder, and the logs behind them, by scene.
func sceneFiles(t *testing.T, folder string) map[string][]sceneFile {
	t.Helper()
	files := make(map[string][]sceneFile)
	logs, err := filepath.Glob(filepath.Join(folder, "*.dk.gz"))
	must.NoError(t, err)
	for _, path := range append(glob(t, filepath.Join(folder, "*.pcap*")), logs...) {
		words := strings.Split(filepath.Base(path), ".")
		f := sceneFile{path: path, scene: words[0], node: words[1], log: strings.HasSuffix(path, ".dk.gz")}
		if f.node == "pcap" {
			f.node = "client"
			if strings.HasSuffix(f.scene, "_c215") {
				f.node = "client2"
			}
		}
		files[f.scene] = append(files[f.scene], f)
	}
	return files
}

// nid returns the NID of the node of a log.
func (f sceneFile) nid() string {
	for number, node := range loggedNodes {
		switch server := node == "mds" || node == "oss"; {
		case node != f.node:
		case f.scene == "ip6_mount":
			return "fd00:2::" + number + "@tcp"
		case strings.HasPrefix(f.scene, "rdma_") || f.scene == "router" && server:
			return "192.0.2." + number + "@o2ib"
		default:
			return "192.0.2." + number + "@tcp"
		}
	}
	return ""
}

// commandLine returns the arguments of lshark that diagnose files.
func commandLine(files []sceneFile, name func(path string) string) []string {
	args := []string{"diagnose"}
	for _, f := range files {
		if f.log {
			args = append(args, "--log", f.nid()+"="+name(f.path))
		} else {
			args = append(args, name(f.path))
		}
	}
	return args
}

func diagnoseFiles(t *testing.T, files []sceneFile) []*finding {
	t.Helper()
	args := append(commandLine(files, strings.Clone), "-q", "-T", "json", "-j", "1")
	out, errs, status := run(t, args...)
	assert.That(t, status == exit.OK, "%q: status %d: %s", args, status, errs)
	return parseFindings(t, out)
}

// inParallel calls do for 0 … n-1, as many at once as there are cores.
func inParallel(n int, do func(i int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}

// view is what diagnose is given of a scene.
type view struct {
	scene, name string
	group       string // views of the same kind
	files       []sceneFile
	findings    []*finding
}

// viewsOf returns each capture of a scene, all of them, these with all logs, and the logs alone.
func viewsOf(scene string, files []sceneFile) (views []*view) {
	logs := slices.IndexFunc(files, func(f sceneFile) bool { return f.log })
	if logs < 0 {
		logs = len(files)
	}
	add := func(name, group string, captures []sceneFile) {
		views = append(views, &view{scene: scene, name: name, group: group, files: captures})
		if logs < len(files) {
			views = append(views, &view{scene: scene, name: name + "+logs", group: "captures and logs", files: slices.Concat(captures, files[logs:])})
		}
	}
	for i := range logs {
		add(files[i].node, "one capture", files[i:i+1])
	}
	if logs > 1 {
		add("all", "all captures", files[:logs])
	}
	if logs < len(files) {
		views = append(views, &view{scene: scene, name: "logs", group: "logs", files: files[logs:]})
	}
	return views
}

// Verdicts on a view of a fault, and on ordinary scenes.
const (
	isAlone    = "alone"   // all suspects of a finding are the truth
	isIn       = "in"      // the truth is among the suspects
	isAccepted = "near"    // only places that are accepted
	isOut      = "out"     // there are other suspects only
	noSuspects = "none"    // something was found, without suspects
	isSilent   = "silent"  // nothing was found at that time
	wrongAlone = "WRONG"   // the only suspect is a place where nothing was wrong
	isCleared  = "CLEARED" // the truth is cleared
	warns      = "WARN"    // of an ordinary scene
	isOrdinary = "ok"
)

var verdicts = []string{isAlone, isIn, isAccepted, isOut, noSuspects, isSilent, wrongAlone, isCleared, warns, isOrdinary}

// judgment is a line of the table.
type judgment struct {
	of      *view
	verdict string
	about   string // the fault by its number, where there are several
	text    string
}

// judge compares the findings of a view with the truth.
func judge(v *view, truths []truth) (lines []judgment) {
	add := func(verdict, about, text string) {
		lines = append(lines, judgment{of: v, verdict: verdict, about: about, text: text})
	}
	if truths[0].kind == "ordinary" {
		alarms := slices.DeleteFunc(slices.Clone(v.findings), func(f *finding) bool {
			return strings.HasPrefix(f.Code, "capture.") || slices.ContainsFunc(truths, func(x truth) bool { return x.isSide(f) })
		})
		if len(alarms) > 0 {
			add(warns, "", opening(alarms))
		} else {
			add(isOrdinary, "", "")
		}
	}
	faults := slices.DeleteFunc(slices.Clone(truths), func(x truth) bool { return x.kind != "fault" })
	for i := range faults {
		x, about := &faults[i], ""
		if len(faults) > 1 {
			about = fmt.Sprintf("#%d ", i+1)
		}
		if x.isVisible(v.files) {
			found := slices.DeleteFunc(slices.Clone(v.findings), func(f *finding) bool { return !x.overlaps(f) })
			add(x.verdict(found), about, opening(found))
		}
		for _, f := range v.findings {
			for _, p := range f.cleared() {
				if x.overlaps(f) && anyCovers(x.places, p) && !isAboutOther(f, faults, i) {
					add(isCleared, about, fmt.Sprintf("%v cleared %v", f, p))
				}
			}
		}
	}
	for _, f := range v.findings {
		if s := f.suspects(); f.Cause == nil && len(s) == 1 && s[0].kind != "capture" &&
			!slices.ContainsFunc(truths, func(x truth) bool { return anyCovers(x.places, s[0]) || anyCovers(x.accepted, s[0]) }) {
			add(wrongAlone, "", f.String())
		}
	}
	return lines
}

// isSide reports whether a finding tells what is true and need not be found.
func (x *truth) isSide(f *finding) bool {
	if x.kind != "side" || !x.overlaps(f) {
		return false
	}
	about := f.suspects()
	if len(about) == 0 {
		about = []place{{kind: "target", target: f.target(), node: nodeName(f.Server)}}
	}
	return slices.ContainsFunc(about, func(p place) bool { return anyCovers(x.places, p) })
}

// isAboutOther reports whether a finding suspects another fault of that time, and not this one:
// it may clear the place of this one for its own.
func isAboutOther(f *finding, faults []truth, this int) bool {
	suspects := func(x *truth) bool {
		return slices.ContainsFunc(f.suspects(), func(p place) bool { return anyCovers(x.places, p) })
	}
	return !suspects(&faults[this]) && slices.ContainsFunc(faults, func(x truth) bool { return x.overlaps(f) && suspects(&x) })
}

// verdict is about the findings of the time of a fault.
func (x *truth) verdict(found []*finding) string {
	best := len(verdicts)
	for _, f := range found {
		in, accepted := 0, 0
		s := f.suspects()
		for _, p := range s {
			if anyCovers(x.places, p) {
				in++
			} else if anyCovers(x.accepted, p) {
				accepted++
			}
		}
		verdict := isOut
		switch {
		case len(s) == 0:
			verdict = noSuspects
		case in == len(s):
			verdict = isAlone
		case in > 0:
			verdict = isIn
		case accepted == len(s):
			verdict = isAccepted
		}
		best = min(best, slices.Index(verdicts, verdict))
	}
	if len(found) == 0 {
		return isSilent
	}
	return verdicts[best]
}

// opening returns the findings that follow from none of the others.
func opening(list []*finding) string {
	shown := make(map[string]bool)
	for _, f := range list {
		shown[f.ID] = true
	}
	var words []string
	for _, f := range list {
		if f.Cause == nil || !shown[*f.Cause] {
			if text := f.String(); !slices.Contains(words, text) {
				words = append(words, text)
			}
		}
	}
	return strings.Join(words, " ")
}

// judgeViews runs diagnose on views, prints the table, and reports what no view may say.
func judgeViews(t *testing.T, views []*view, truths map[string][]truth) {
	t.Helper()
	inParallel(len(views), func(i int) { views[i].findings = diagnoseFiles(t, views[i].files) })
	var lines []judgment
	for _, v := range views {
		lines = append(lines, judge(v, truths[v.scene])...)
	}
	out, width := t.Output(), 0
	for _, v := range views {
		width = max(width, len(v.name))
	}
	for _, l := range lines {
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-17s %-*s %-7s %s%s", l.of.scene, width, l.of.name, l.verdict, l.about, l.text), " "))
	}
	fmt.Fprintf(out, "\n%s", totals(lines))
	for _, l := range lines {
		if slices.Contains([]string{wrongAlone, isCleared, warns}, l.verdict) {
			t.Errorf("%s %s: %s: %s%s", l.of.scene, l.of.name, l.verdict, l.about, l.text)
		}
	}
}

// TestJudge compares what diagnose says of the scenes in the folder of -captures with what was
// wrong in them. With -v it prints the table: scene, view, verdict, and the findings with their suspects.
func TestJudge(t *testing.T) {
	if *captures == "" {
		t.Skip("needs -captures")
	}
	truths, _ := readTruths(t)
	files := sceneFiles(t, *captures)
	var views []*view
	for _, scene := range sortedScenes(t, files, truths) {
		views = append(views, viewsOf(scene, files[scene])...)
	}
	judgeViews(t, views, truths)
}

// TestJudgeSamples is TestJudge for the samples of rules that are parts of scenes.
func TestJudgeSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	t.Parallel()
	truths, samples := readTruths(t)
	var views []*view
	for i, f := range samples {
		name, _, _ := strings.Cut(filepath.Base(f.path), ".")
		views = append(views, &view{scene: f.scene, name: name, group: "one capture", files: samples[i : i+1]})
	}
	judgeViews(t, views, truths)
}

// sortedScenes returns the scenes of a folder, and reports what has no truth.
func sortedScenes(t *testing.T, files map[string][]sceneFile, truths map[string][]truth) (scenes []string) {
	t.Helper()
	for scene := range files {
		if truths[scene] == nil {
			t.Errorf("%s is not in testdata/truths.tsv", scene)
			continue
		}
		scenes = append(scenes, scene)
	}
	slices.Sort(scenes)
	return scenes
}

// totals returns a table of how many views have which verdict.
func totals(lines []judgment) string {
	groups := []string{"one capture", "all captures", "captures and logs", "logs", "one console", "consoles", "total"}
	counts := make(map[[2]string]int)
	for _, l := range lines {
		counts[[2]string{l.of.group, l.verdict}]++
		counts[[2]string{"total", l.verdict}]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s %7s %7s %7s", "views of faults", "all", "% in", "% alone")
	for _, verdict := range verdicts {
		fmt.Fprintf(&b, " %7s", verdict)
	}
	for _, group := range groups {
		all := 0
		for _, verdict := range verdicts[:slices.Index(verdicts, wrongAlone)] {
			all += counts[[2]string{group, verdict}]
		}
		alone := counts[[2]string{group, isAlone}]
		in := alone + counts[[2]string{group, isIn}]
		percent := func(n int) float64 { return 100 * float64(n) / float64(max(1, all)) }
		fmt.Fprintf(&b, "\n%-18s %7d %7.1f %7.1f", group, all, percent(in), percent(alone))
		for _, verdict := range verdicts {
			fmt.Fprintf(&b, " %7d", counts[[2]string{group, verdict}])
		}
	}
	return b.String() + "\n"
}

// TestJudgment checks verdicts on invented findings.
func TestJudgment(t *testing.T) {
	truths, _ := readTruths(t)
	const (
		storage = `{"place":"storage","target":"lustre-OST0001","node":"192.0.2.2@tcp"}`
		lossy   = `{"place":"path","nodes":["192.0.2.4@tcp","192.0.2.2@tcp"],"direction":"192.0.2.4@tcp > 192.0.2.2@tcp"}`
		queue   = `{"place":"queue","node":"192.0.2.2@tcp"}`
		client2 = `{"place":"node","node":"192.0.2.4@tcp"}`
	)
	v := func(scene, suspects, cleared string) *view {
		line := `{"code":"slow.server","severity":"warning","id":"1","cause":null,"time":"2026-11-27T18:23:30Z","until":"2026-11-27T18:23:50Z",` +
			`"suspects":[` + suspects + `],"cleared":[` + cleared + `]}`
		return &view{scene: scene, files: []sceneFile{{scene: scene, node: "client2"}}, findings: parseFindings(t, line)}
	}
	for _, tt := range []struct {
		view *view
		want string
	}{
		{v("two_faults2", storage, lossy), "alone, out"},
		{v("two_faults2", storage+","+queue, ""), "in, out"},
		{v("two_faults2", queue, storage), "out, CLEARED, out, WRONG"},
		{v("two_faults2", client2, ""), "out, near"},
		{v("two_faults2", lossy, lossy), "out, alone, CLEARED"},
		{v("two_faults2", "", ""), "none, none"},
		{v("quiet_mix2", "", ""), "WARN"},
		{v("quiet_mix2", storage, ""), "WARN, WRONG"},
		{v("mdt_slow", storage, ""), "silent, WRONG"}, // of another time
		{v("mgs_down", `{"place":"capture"}`, ""), "silent"},
	} {
		var got []string
		for _, l := range judge(tt.view, truths[tt.view.scene]) {
			got = append(got, l.verdict)
		}
		assert.Equal(t, strings.Join(got, ", "), tt.want, tt.view.scene, tt.view.findings[0])
	}
}
