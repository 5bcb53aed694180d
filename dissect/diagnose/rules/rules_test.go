package rules

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

func TestMain(m *testing.M) { wiretest.Main(m) }

// subjects are what a code may begin with.
var subjects = []string{"node", "target", "capture", "evicted", "connect", "mount", "gss", "restart", "recovery", "slow", "tcp", "rdma", "lock", "io",
	"checksum", "space", "quota", "metadata", "version", "clock", "path", "lnet", "rpc"}

// ruleCode matches the code in the declaration of a rule.
var ruleCode = regexp.MustCompile(`diagnose\.Rule\{[^{}]*?\bCode:\s*"([^"]*)"`)

// TestRulesAreComplete checks that each rule in the sources is registered, and the texts of each rule, its file, and its samples.
func TestRulesAreComplete(t *testing.T) {
	codes := make(map[string]bool)
	files := make(map[string][][]byte) // by what their names begin with
	for name, text := range readFiles(t, "*.go") {
		subject, _, _ := strings.Cut(strings.TrimSuffix(name, ".go"), "_")
		files[subject] = append(files[subject], text)
		for _, m := range ruleCode.FindAllSubmatch(text, -1) {
			registered := slices.ContainsFunc(All(), func(r *diagnose.Rule) bool { return r.Code == string(m[1]) })
			if !registered && !strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s: rule %s is not registered: pass it to add", name, m[1])
			}
		}
	}
	for _, r := range All() {
		subject, rest, _ := strings.Cut(r.Code, ".")
		if !slices.Contains(subjects, subject) || rest == "" || codes[r.Code] {
			t.Errorf("%s: the code must be new, and begin with one of %v and a dot", r.Code, subjects)
		}
		codes[r.Code] = true
		if !slices.ContainsFunc(files[subject], func(text []byte) bool { return bytes.Contains(text, []byte(`"`+r.Code+`"`)) }) {
			t.Errorf("%s: the rule must be in a file whose name begins with %s", r.Code, subject)
		}
		for name, text := range map[string]string{"Summary": r.Summary, "Meaning": r.Meaning, "Next": r.Next} {
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %s must be one or more sentences: %q", r.Code, name, text)
			}
		}
		if r.Severity < diagnose.Note || r.Severity > diagnose.Error {
			t.Errorf("%s: needs a Severity", r.Code)
		}
		if r.Noun == "" && slices.Contains([]string{"node", "evicted", "connect", "mount", "restart", "recovery", "slow", "tcp", "rdma", "lock", "metadata"}, subject) && !r.Background {
			t.Errorf("%s: needs a Noun, as it may follow from others", r.Code)
		}
		if strings.Contains(r.Noun, " that was ") {
			t.Errorf("%s: %q has no plural", r.Code, r.Noun)
		}
		for _, threshold := range r.Thresholds {
			if threshold.Name == "" || threshold.Unit == "" || threshold.Reason == "" {
				t.Errorf("%s: threshold %+v needs a name, a unit and a reason", r.Code, *threshold)
			}
		}
		for _, sample := range r.Samples {
			if samplePath(sample) == "" {
				t.Errorf("%s: sample %s is neither in testdata nor in pcaps", r.Code, sample)
			}
		}
	}
}

// TestEveryRuleIsTested checks that each rule has a sample or is named by a test with a built
// scene in which it has a finding.
func TestEveryRuleIsTested(t *testing.T) {
	tests := slices.Concat(slices.Collect(maps.Values(readFiles(t, "*_test.go")))...)
	for _, r := range All() {
		if len(r.Samples) == 0 && !bytes.Contains(tests, []byte(r.Code)) {
			t.Errorf("%s: add a capture in which it has a finding to testdata, and its name to Samples, or a test with a scene", r.Code)
		}
	}
}

// readFiles returns the files that match, by their names.
func readFiles(t *testing.T, pattern string) map[string][]byte {
	names, err := filepath.Glob(pattern)
	must.NoError(t, err)
	files := make(map[string][]byte)
	for _, name := range names {
		files[name] = must.ReadFile(t, name)
	}
	return files
}

// samplePath returns where a sample is, empty if there is no such file.
func samplePath(name string) string {
	for _, dir := range []string{"testdata/", "../../../pcaps/"} {
		if _, err := os.Stat(dir + name); err == nil {
			return dir + name
		}
	}
	return ""
}

// TestCodesInTexts checks that the codes that texts of rules name are those of rules.
func TestCodesInTexts(t *testing.T) {
	codes, families := make(map[string]bool), make(map[string]bool)
	for _, r := range All() {
		family, _, _ := strings.Cut(r.Code, ".")
		codes[r.Code], families[family] = true, true
	}
	code := regexp.MustCompile(`(?:^|[^\w.*/-])([a-z]+)\.([a-z_]+)\b[^.*(]`)
	for _, r := range All() {
		for _, named := range code.FindAllStringSubmatch(r.Meaning+" "+r.Limits+" "+r.Next+" ", -1) {
			if name := named[1] + "." + named[2]; families[named[1]] && !codes[name] {
				t.Errorf("%s: the text names %s, which is no rule", r.Code, name)
			}
		}
	}
}
