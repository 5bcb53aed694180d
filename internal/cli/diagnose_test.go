package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

const ruleSamples = "../../dissect/diagnose/rules/testdata/"

// TestFindingsOfSamples checks that each rule has findings in its samples and in no
// others, and that they have a time and evidence.
func TestFindingsOfSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	t.Parallel()
	for _, sample := range slices.Concat(glob(t, ruleSamples+"*.pcap*"), glob(t, "../../pcaps/*.pcap*")) {
		name := filepath.Base(sample)
		found := make(map[string]int)
		out := quiet(t, "diagnose", "-q", "-T", "json", sample)
		for line := range strings.Lines(out) {
			var f struct {
				Code, Time string
				Evidence   []json.RawMessage
			}
			must.NoError(t, json.Unmarshal([]byte(line), &f))
			found[f.Code]++
			if len(f.Evidence) == 0 && !background(f.Code) {
				t.Errorf("%s: a finding of %s has no evidence: call Prove, or set Background", name, f.Code)
			}
			assert.That(t, f.Time != "" || background(f.Code), "%s: a finding of %s has no time: set First, or set Background", name, f.Code)
		}
		for _, r := range rules.All() {
			switch want, got := slices.Contains(r.Samples, name), found[r.Code]; {
			case want && got == 0:
				t.Errorf("%s: no finding of %s, which has it in its Samples", name, r.Code)
			case got > 0 && !want && !r.Common:
				t.Errorf("%s: %d findings of %s: make the rule narrower, add the file to its Samples, or set Common", name, got, r.Code)
			}
		}
	}
}

// background reports whether findings with a code say how things are: they need no evidence.
func background(code string) bool {
	return strings.HasPrefix(code, "capture.") ||
		slices.ContainsFunc(rules.All(), func(r *diagnose.Rule) bool { return r.Code == code && r.Background })
}

// TestFindingsFit checks that paragraphs fit a terminal, and that no evidence is there twice.
func TestFindingsFit(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	t.Parallel()
	for _, sample := range glob(t, ruleSamples+"*.pcap*") {
		var out bytes.Buffer
		must.Equal(t, Run(onTerminal(&out, 80), []string{"diagnose", "-v", "--color", "never", sample}), exit.OK, sample, "status")
		for paragraph := range strings.SplitSeq(out.String(), "\n\n") {
			seen := make(map[string]bool)
			for line := range strings.Lines(paragraph) {
				if n := utf8.RuneCountInString(line) - 1; n > 80 && !strings.HasPrefix(line, "next: lshark ") {
					t.Errorf("%s: %d columns: %s", sample, n, line)
				}
			}
			for _, evidence := range regexp.MustCompile(`(?m)^ {4,}[0-9]+  .*(\n {12,}.*)*`).FindAllString(paragraph, -1) {
				assert.That(t, !seen[evidence], "%s: twice:\n%s", sample, evidence)
				seen[evidence] = true
			}
		}
	}
}

// TestNextCommand checks that the command at the end draws what the first finding is about.
func TestNextCommand(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"evicted": "ladder --lock 0x", "failover": "ladder -Y 'frame in {", "slow_target": "ladder -Y 'frame in {"} {
		var out bytes.Buffer
		must.Equal(t, Run(onTerminal(&out, 80), []string{"diagnose", ruleSamples + name + ".pcap.zst"}), exit.OK, name, "status")
		_, next, _ := strings.Cut(out.String(), "\nnext: lshark ")
		must.That(t, strings.HasPrefix(next, want), "%s: next %q", name, next)
		var args []string
		for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(next, -1) {
			args = append(args, strings.Trim(word, "'"))
		}
		assert.That(t, strings.Count(quiet(t, args...), "\n") > 5, "%s: %q draws nothing", name, args)
	}
}

// TestFindingsText compares the paragraphs of the samples of rules with those that
// are stored beside them.
func TestFindingsText(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	t.Parallel()
	for _, sample := range glob(t, ruleSamples+"*.pcap*") {
		text, _, _ := strings.Cut(sample[len(ruleSamples):], ".pcap")
		t.Run(text, func(t *testing.T) { golden(t, ruleSamples+text+".txt", []string{"diagnose", sample}) })
	}
}

// TestShortTimes checks that the cause and the suspects of an eviction are found where all times are
// a tenth: what is long is measured by the pings of the capture.
func TestShortTimes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"evicted", "evicted_ping", "evicted_by_hand"} {
		frames := wiretest.ReadSample(t, ruleSamples+name+".pcap.zst")
		begin := frames[0].Time
		for i := range frames {
			frames[i].Time = begin + (frames[i].Time-begin)/10
		}
		found := func(path string) string {
			return quiet(t, "diagnose", "-q", "--only", "evicted", "-T", "fields", "-e", "code", "-e", "severity", "-e", "suspects", path)
		}
		assert.Equal(t, found(wiretest.SaveFrames(t, frames)), found(ruleSamples+name+".pcap.zst"), name)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	must.That(t, err == nil && len(list) != 0, "%s: %d files, %v", pattern, len(list), err)
	return list
}

// TestExplainRules checks that explain has a page for every rule.
func TestExplainRules(t *testing.T) {
	t.Parallel()
	for _, r := range rules.All() {
		if out, errs, status := run(t, "explain", r.Code); status != exit.OK || !strings.Contains(out, r.Code) || !strings.Contains(out, r.Severity.String()) {
			t.Errorf("explain %s: status %d, %s%s", r.Code, status, out, errs)
		}
	}
	if out, _, _ := run(t, "explain", "evicted"); !strings.Contains(out, "evicted.lock_callback") {
		t.Errorf("explain evicted: %s", out)
	}
}

// TestChooseFindings checks --only, --severity and -Y.
func TestChooseFindings(t *testing.T) {
	sample := ruleSamples + "evicted.pcap.zst"
	for _, tt := range []struct {
		args []string
		want int // findings of evictions
	}{
		{nil, 2},
		{[]string{"--only", "evicted"}, 2},
		{[]string{"--only", "evicted.lock_callback"}, 2},
		{[]string{"--severity", "error"}, 2},
		{[]string{"-Y", "finding.code == evicted.lock_callback && finding.severity >= error"}, 2},
		{[]string{"-Y", "client == 192.0.2.3@tcp"}, 0},
		{[]string{"-Y", "evidence.frame == 335"}, 1},
	} {
		out, _, status := run(t, append([]string{"diagnose", "-T", "fields", "-e", "code", sample}, tt.args...)...)
		if n := strings.Count(out, "evicted.lock_callback"); status != exit.OK || n != tt.want {
			t.Errorf("%q: status %d, %d evictions, want %d", tt.args, status, n, tt.want)
		}
	}
	for _, args := range [][]string{{"--only", "evict"}, {"--severity", "bad"}, {"-Y", "finding.nothing"}, {"-c", "-1"}} {
		if _, errs, status := run(t, append([]string{"diagnose", sample}, args...)...); status != exit.Usage {
			t.Errorf("%q: status %d: %s", args, status, errs)
		}
	}
}

var captures = flag.String("captures", "", "folder of captures, for TestOpenings, TestJudge, TestSubsets and (with the tag all) for TestMutants beside the samples")

var consoleForm = flag.String("console", "iso", "form of the console logs of TestJudgeConsole: syslog, iso, dmesg or journal")

// TestOpenings compares what diagnose says first of each of the captures in testdata/openings.txt,
// which are too large for the repository.
func TestOpenings(t *testing.T) {
	if *captures == "" {
		t.Skip("needs -captures")
	}
	var b strings.Builder
	for _, file := range glob(t, filepath.Join(*captures, "*.pcap*")) {
		out, _, _ := run(t, "diagnose", "-q", file)
		_, out, _ = strings.Cut(out, "\n\n") // behind the lines about the input
		opening, _, _ := strings.Cut(out, "\n\n")
		if strings.HasPrefix(opening, "note") { // there are notes only
			opening, _, _ = strings.Cut(opening, "\n")
		}
		fmt.Fprintf(&b, "%s\n%s\n\n", filepath.Base(file), cmp.Or(opening, "nothing"))
	}
	wiretest.Golden(t, "testdata/openings.txt", b.String())
}

// TestRulesAreIndependent checks that a rule that has findings in a sample has the same
// ones alone as together with all others.
func TestRulesAreIndependent(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compares results of many runs")
	}
	for i, sample := range glob(t, ruleSamples+"*.pcap*") {
		if !wiretest.All && i%4 > 0 {
			continue
		}
		together, _, _ := run(t, "diagnose", "-q", "-T", "json", sample)
		for _, r := range rules.All() {
			want := linesOf(together, r)
			if want == "" || slices.Contains(evidenceOnly, r.Code) {
				continue
			}
			alone, _, _ := run(t, "diagnose", "-q", "-T", "json", "--only", r.Code, sample)
			if alone = linesOf(alone, r); alone != want {
				t.Errorf("%s: %s alone:\n%s\ntogether:\n%s", sample, r.Code, alone, want)
			}
		}
	}
}

// ofCause are the parts of a finding that depend on the one from which it follows: which it is, and what is excluded, as nothing is that
// the other one suspects.
var ofCause = regexp.MustCompile(`"cause":("[^"]*"|null)|"cleared":\[.*\],("would_tell"|"id")`)

// evidenceOnly are findings that are warnings where they follow from no other one, else notes.
var evidenceOnly = []string{"tcp.refused", "tcp.reset", "recovery.reconnect", "connect.unanswered"}

// linesOf returns the lines of JSON that are findings of a rule, without their causes and the
// order by these.
func linesOf(out string, r *diagnose.Rule) string {
	var list []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, `{"code":"`+r.Code+`"`) {
			list = append(list, ofCause.ReplaceAllString(line, ""))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

// TestFindingsOfIndexedTargets checks findings about targets of which only the index
// is known.
func TestFindingsOfIndexedTargets(t *testing.T) {
	out := quiet(t, "diagnose", "-q", "-T", "json", "-Y", "finding.target_index == OST0000", ruleSamples+"lock_contention.pcap.zst")
	found := 0
	for line := range strings.Lines(out) {
		var f struct {
			Code, Server string
			Target       *string
			TargetIndex  string `json:"target_index"`
		}
		must.NoError(t, json.Unmarshal([]byte(line), &f))
		assert.That(t, f.Target == nil && f.TargetIndex == "OST0000" && f.Server == "192.0.2.2@tcp", "%+v", f)
		if f.Code == "slow.wait" {
			found++
		}
	}
	assert.That(t, found != 0, "no slow.wait in\n%s", out)
	if out, _, _ = run(t, "diagnose", "-q", "--only", "slow.wait", ruleSamples+"lock_contention.pcap.zst"); !strings.Contains(out, "OST0000  client 192.0.2.3  server 192.0.2.2") {
		t.Errorf("the index is missing in\n%s", out)
	}
}

// TestFindingsInTshark checks that tshark with the plugin, where it is installed, shows the findings behind the
// messages, and links them with the messages that prove them.
func TestFindingsInTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	plugin, saved := filepath.Join(dir, "lshark.lua"), filepath.Join(dir, "out.pcapng")
	must.NoError(t, os.WriteFile(plugin, []byte(succeeds(t, "extcap", "--lua")), 0o644))
	var want []string
	for line := range strings.Lines(succeeds(t, "diagnose", "-q", "-T", "json", "-w", saved, "--pdu", ruleSamples+"evicted.pcap.zst")) {
		var f struct {
			Code, Severity string
			Evidence       []struct{ Frame int }
		}
		must.NoError(t, json.Unmarshal([]byte(line), &f))
		var frames []string
		for _, e := range f.Evidence {
			frames = append(frames, fmt.Sprint(e.Frame))
		}
		want = append(want, f.Code+"\t"+f.Severity+"\t"+strings.Join(frames, ","))
	}
	args := []string{"-2", "-X", "lua_script:" + plugin, "-r", saved, "-T", "fields"}
	for _, name := range []string{"exported_pdu.orig_fno", "lshark.kind", "_ws.expert.severity",
		"lshark.finding.code", "lshark.finding.severity", "lshark.finding.evidence.frame", "lshark.finding.packet"} {
		args = append(args, "-e", name)
	}
	var packets [][]string
	for line := range strings.Lines(string(must.Value(exec.Command("tshark", args...).Output())(t))) {
		packets = append(packets, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	const expertError = "8388608" // a severity of Wireshark's expert information
	severities := map[string]string{"1": "note", "2": "warning", "3": "error"}
	proofs := 0
	var got []string
	for _, p := range packets {
		if p[1] != "" && slices.Contains(strings.Split(p[2], ","), expertError) {
			proofs++
		}
		code, frames := p[3], p[5]
		if code == "" {
			continue
		}
		got = append(got, code+"\t"+severities[p[4]]+"\t"+frames)
		for _, packet := range strings.Split(p[6], ",") {
			number := must.Value(strconv.Atoi(packet))(t)
			frame := packets[number-1][0]
			assert.That(t, slices.Contains(strings.Split(frames, ","), frame), "%s: packet %d, of frame %s, proves nothing", code, number, frame)
		}
	}
	assert.Slice(t, got, want, "findings")
	assert.That(t, proofs >= 6, "%d messages show that they prove an error", proofs)
}
