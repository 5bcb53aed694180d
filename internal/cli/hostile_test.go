package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes/schema"
)

// hostile is what a name may have that a terminal, a page or a table acts on: escape
// sequences in one byte and in two, ends of lines and of columns, quotes, tags, text from
// right to left, what does not show, and bytes that are not UTF-8.
const hostile = "\x1b]52;c;\x07\n\t\"'</script>\u009b\u202e\u00ad\xff\\x1b\r{}"

// hostileForms are the commands and forms whose output has names of the wire.
var hostileForms = []string{
	"", "-V", "-x", "-T json", "-T flags", "-T fields -e pb_jobid -e name -e mti_svname -e target_uuid",
	"rpcs", "rpcs -T json", "rpcs -T fields -e rpc.job -e rpc.name -e rpc.target",
	"stats --by op,target", "stats --by job -T json", "stats --by job,target -T tsv",
	"imports", "imports -T json", "imports --timeline", "diagnose -v", "diagnose -T json", "locks", "locks -T json",
	"files", "files -T json", "files --by dir", "recovery -v", "recovery -T json", "config", "config -T json",
	"ladder", "ladder -T svg", "report -o -",
}

// TestHostileText puts hostile text into all texts of messages and runs every command in
// every form: whatever is printed is UTF-8 without control characters, and JSON or XML
// where it should be.
func TestHostileText(t *testing.T) {
	for _, sample := range []string{"mount.pcap", "layouts.pcap.zst", "hsm.pcap.zst", "changelog.pcap.zst", "../dissect/diagnose/rules/testdata/jobs.pcap.zst"} {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			t.Parallel()
			path := hostileCapture(t, filepath.Join(wiretest.Repo("pcaps"), sample))
			for _, form := range hostileForms {
				var out, errs bytes.Buffer
				status := Run(testSystem(&out, &errs), append(words(form), path))
				if status == exit.Usage || status == exit.Failure {
					t.Fatalf("%s: exit status %d: %s", form, status, &errs)
				}
				checkHarmless(t, form, out.Bytes())
				checkHarmless(t, form+" (errors)", errs.Bytes())
			}
		})
	}
}

// hostileCapture writes a copy of a capture in which all texts are hostile, of the same
// length.
func hostileCapture(t *testing.T, path string) string {
	t.Helper()
	frames := wiretest.ReadSample(t, path)
	texts := make(map[string]bool)
	var tree dissect.Tree
	wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		tree.Build(m)
		for i := range tree.Nodes {
			n := &tree.Nodes[i]
			if n.Src != dissect.InMessage || n.State&dissect.Missing != 0 || keywords[n.Field.Name] ||
				n.Field.Kind != schema.Text && n.Field.Kind != schema.Strings {
				continue
			}
			for _, text := range strings.Split(string(tree.Bytes(n)), "\x00") {
				const least = 4 // shorter ones are in other bytes, too
				if len(text) >= least {
					texts[text] = true
				}
			}
		}
	}}), frames)
	var replace []string
	for k, text := range slices.SortedFunc(maps.Keys(texts), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		bad := strings.Repeat(hostile, 2+len(text)/len(hostile))
		at := k % len(hostile)
		replace = append(replace, text, bad[at:at+len(text)])
	}
	replacer := strings.NewReplacer(replace...)
	out := filepath.Join(t.TempDir(), "hostile.pcapng")
	file, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	w := capture.NewWriter(file)
	for i := range frames {
		frames[i].Data = []byte(replacer.Replace(string(frames[i].Data)))
		if err := w.Write(&frames[i], ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

// keywords are fields that keep their text: it decides how the rest of the message is read.
var keywords = map[string]bool{"setinfo_key": true, "getinfo_key": true}

func checkHarmless(t *testing.T, form string, out []byte) {
	t.Helper()
	if !utf8.Valid(out) {
		t.Errorf("%s: not UTF-8", form)
	}
	for _, line := range bytes.Split(out, []byte("\n")) {
		for _, c := range string(line) {
			if c != '\t' && schema.NeedsEscape(c) {
				t.Errorf("%s: %q in %q", form, c, line[:min(len(line), 200)])
				break
			}
		}
	}
	switch {
	case strings.Contains(form, "json") && !strings.Contains(form, "errors"):
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var v any
			if err := d.Decode(&v); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
		}
	case strings.Contains(form, "svg") && !strings.Contains(form, "errors"):
		for d := xml.NewDecoder(bytes.NewReader(out)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
		}
	}
}
