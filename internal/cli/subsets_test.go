package cli

import (
	"cmp"
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
)

// fileSet is some of the files of a scene, a bit each.
type fileSet uint

func (s fileSet) of(files []sceneFile) (list []sceneFile) {
	for i, f := range files {
		if s>>i&1 != 0 {
			list = append(list, f)
		}
	}
	return list
}

// sameTrouble reports whether two findings may be about the same: their codes begin with the
// same word, they overlap, and nothing that both say differs. A restart is about its target,
// whoever saw it from whichever server.
func (f *finding) sameTrouble(g *finding) bool {
	if family(f.Code) != family(g.Code) || !f.isNear(g, 1) || !may(f.target(), g.target()) {
		return false
	}
	return family(f.Code) == "restart" && f.target() != "" && f.target() == g.target() ||
		may(f.Client, g.Client) && may(f.Server, g.Server) && may(f.Node, g.Node)
}

// family returns what a code is about. What a wait turns out to be has other codes.
func family(code string) string {
	if slices.Contains([]string{"lnet.lost", "rpc.reply_lost", "lock.wait", "target.hung"}, code) {
		return "slow"
	}
	word, _, _ := strings.Cut(code, ".")
	return word
}

func may(a, b string) bool { return a == "" || b == "" || a == b }

// isNear reports whether a finding begins in the time of another one or so many seconds after.
func (f *finding) isNear(g *finding, after float64) bool {
	return f.begin() <= g.end()+after && f.end() >= g.begin()-1
}

// sharesNode reports whether two findings are about a node or a target in common.
func (f *finding) sharesNode(g *finding) bool {
	has := func(name string) bool {
		return name != "" && slices.Contains([]string{g.Client, g.Server, g.Node}, name)
	}
	return has(f.Client) || has(f.Server) || has(f.Node) || f.target() != "" && f.target() == g.target()
}

// aftermath is how many seconds after its cause a trouble may begin.
const aftermath = 30

// contradiction returns what is wrong with what became of a finding as there was more to see,
// empty if nothing is.
func (f *finding) contradiction(before, after []*finding) string {
	var same []*finding
	for _, g := range after {
		if f.sameTrouble(g) {
			same = append(same, g)
		}
	}
	likeness := func(g *finding) (n int) {
		for _, equal := range []bool{g.Code == f.Code, g.Client == f.Client, g.target() == f.target()} {
			if equal {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(same, func(g, h *finding) int { return cmp.Compare(likeness(h), likeness(g)) })
	isNew := func(g *finding) bool {
		return !slices.ContainsFunc(before, func(h *finding) bool { return h.Code == g.Code && h.sameTrouble(g) })
	}
	switch {
	case len(same) == 0 && slices.ContainsFunc(after, func(g *finding) bool {
		return g.Cause == nil && g.Code != f.Code && isNew(g) && f.isNear(g, aftermath) && f.sharesNode(g)
	}):
	case len(same) == 0:
		return "disappears"
	case len(f.Suspects) > 0 && !slices.ContainsFunc(same, func(g *finding) bool { return g.Cause != nil || isSubset(g.suspects(), f.suspects()) }):
		return "suspects => " + same[0].String()
	}
	return ""
}

// isSubset reports whether there are suspects left, and none that was not suspected before.
func isSubset(suspects, before []place) bool {
	return len(suspects) > 0 && !slices.ContainsFunc(suspects, func(p place) bool { return !anyCovers(before, p) })
}

// contradictions compares what diagnose says of each set of the files of a scene with what it
// says of that set and one more file. The same one of several sets is told once, for the
// smallest set.
func contradictions(files []sceneFile, findings []*[]*finding) (list []string) {
	sets := make([]fileSet, 0, len(findings))
	for s := range fileSet(len(findings)) {
		if s > 0 {
			sets = append(sets, s)
		}
	}
	slices.SortStableFunc(sets, func(a, b fileSet) int { return cmp.Compare(bits.OnesCount(uint(a)), bits.OnesCount(uint(b))) })
	type found struct {
		text  string
		count int
	}
	var order []string
	all := make(map[string]*found)
	for _, s := range sets {
		for i, added := range files {
			more := s | 1<<i
			if more == s {
				continue
			}
			for _, f := range *findings[s] {
				what := f.contradiction(*findings[s], *findings[more])
				if f.Severity == "note" || what == "" {
					continue
				}
				word, rest, _ := strings.Cut(what, " ")
				key := fmt.Sprint(added.path, word, f.Code, f.Client, f.target())
				if all[key] == nil {
					about := strings.Join(strings.Fields(f.target()+" "+nodeName(f.Client)+" "+nodeName(f.Node)), " ")
					order = append(order, key)
					all[key] = &found{text: fmt.Sprintf("%-17s %-10s +%s.%s: %s %s %s", files[0].scene, word, added.node, added.kind(), f, about, rest) +
						"\n    lshark " + strings.Join(commandLine(s.of(files), filepath.Base), " ") +
						"\n    lshark " + strings.Join(commandLine(more.of(files), filepath.Base), " ")}
				}
				all[key].count++
			}
		}
	}
	for _, key := range order {
		list = append(list, fmt.Sprintf("%s\n    in %d sets", strings.TrimRight(all[key].text, " "), all[key].count))
	}
	return list
}

// TestContradiction checks what is one on invented findings.
func TestContradiction(t *testing.T) {
	parse := func(lines ...string) (list []*finding) {
		for i, line := range lines {
			list = append(list, parseFindings(t, fmt.Sprintf(`{"severity":"warning","id":"%d","time":"2026-11-27T18:23:30Z","until":"2026-11-27T18:23:50Z",%s}`, i, line))...)
		}
		return list
	}
	const (
		slow      = `"code":"slow.server","client":"192.0.2.3@tcp","server":"192.0.2.2@tcp"`
		ofTarget  = slow + `,"target":"lustre-OST0000"`
		ofClient2 = `"code":"slow.server","client":"192.0.2.4@tcp","server":"192.0.2.2@tcp"`
		restart   = `"code":"restart.target","target":"lustre-OST0000"`
		silent    = `"code":"node.silent","node":"192.0.2.2@tcp"`
		mds       = `"code":"node.silent","node":"192.0.2.1@tcp"`
		either    = `,"suspects":[{"place":"path","nodes":["192.0.2.3@tcp","192.0.2.2@tcp"]},{"place":"node","node":"192.0.2.2@tcp"}]`
		path      = `,"suspects":[{"place":"path","nodes":["192.0.2.2@tcp","192.0.2.3@tcp"]}]`
		queue     = `,"suspects":[{"place":"queue","node":"192.0.2.2@tcp"}]`
		follows   = `,"cause":"1"`
	)
	for _, tt := range []struct {
		before, after []*finding
		want          string
	}{
		{parse(slow), parse(ofTarget), ""},
		{parse(slow), nil, "disappears"},
		{parse(slow), parse(ofClient2), "disappears"},
		{parse(restart + `,"client":"192.0.2.3@tcp"`), parse(restart + `,"client":"192.0.2.4@tcp"`), ""},
		{parse(slow), parse(silent), ""},
		{parse(slow), parse(mds), "disappears"},
		{parse(slow, silent), parse(silent), "disappears"}, // the cause was visible before
		{parse(slow + either), parse(slow + path), ""},
		{parse(slow + path), parse(slow + either), "suspects => slow.server{path client-oss | node oss}"},
		{parse(slow + either), parse(slow + queue), "suspects => slow.server{queue oss}"},
		{parse(slow + either), parse(slow), "suspects => slow.server{}"},
		{parse(slow + either), parse(slow+queue+follows, silent), ""},
	} {
		assert.Equal(t, tt.before[0].contradiction(tt.before, tt.after), tt.want, tt.before[0], tt.after)
	}
}

// TestSubsets checks that more captures and logs of a scene never make the answer worse: no
// finding disappears but for a cause that is only visible now, and suspects only get fewer.
func TestSubsets(t *testing.T) {
	if *captures == "" {
		t.Skip("needs -captures")
	}
	files := sceneFiles(t, *captures)
	truths, _ := readTruths(t)
	scenes := sortedScenes(t, files, truths)
	type job struct {
		files    []sceneFile
		findings *[]*finding
	}
	var jobs []job
	results := make(map[string][]*[]*finding)
	for _, scene := range scenes {
		for s := range fileSet(1) << len(files[scene]) {
			findings := new([]*finding)
			results[scene] = append(results[scene], findings)
			if s > 0 {
				jobs = append(jobs, job{s.of(files[scene]), findings})
			}
		}
	}
	inParallel(len(jobs), func(i int) { *jobs[i].findings = diagnoseFiles(t, jobs[i].files) })
	n := 0
	for _, scene := range scenes {
		list := contradictions(files[scene], results[scene])
		for _, text := range list {
			fmt.Fprintln(t.Output(), text)
		}
		n += len(list)
	}
	fmt.Fprintf(t.Output(), "\n%d contradictions in %d sets of files of %d scenes\n", n, len(jobs), len(scenes))
	if n > 0 {
		t.Errorf("%d contradictions", n)
	}
}
