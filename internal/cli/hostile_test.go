package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/hostile"
)

// hostileForms are the commands and forms whose output has names of the wire.
var hostileForms = []string{
	"", "-V", "-x", "-T json", "-T flags", "-T fields -e pb_jobid -e name -e mti_svname -e target_uuid",
	"rpcs", "rpcs -T json", "rpcs -T fields -e rpc.job -e rpc.name -e rpc.target",
	"stats --by op,target", "stats --by job -T json", "stats --by job,target -T tsv",
	"imports", "imports -T json", "imports --timeline", "diagnose -v", "diagnose -T json", "locks", "locks -T json",
	"files", "files -T json", "files --by dir", "recovery -v", "recovery -T json", "config", "config -T json",
	"ladder", "ladder -T svg", "ladder -T json", "report -o -", "imports --timeline -T json", "imports -v", "locks --blockers", "monitor",
}

// TestHostileText puts hostile text into all texts of messages and runs every command in
// every form: whatever is printed is UTF-8 without control characters, and JSON or XML
// where it should be.
func TestHostileText(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at text that many runs print")
	}
	samples := []string{"mount.pcap", "hsm.pcap.zst", "layouts.pcap.zst", "changelog.pcap.zst", "../dissect/diagnose/rules/testdata/jobs.pcap.zst"}
	if !wiretest.All {
		samples = samples[:2]
	}
	for _, sample := range samples {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			t.Parallel()
			checkForms(t, hostile.Sample(t, filepath.Join(wiretest.Repo("pcaps"), sample)), hostileForms)
		})
	}
	t.Run("operations", func(t *testing.T) {
		t.Parallel()
		checkForms(t, hostile.Operations(t, 50), hostileForms)
	})
	t.Run("long", func(t *testing.T) {
		t.Parallel()
		checkForms(t, hostile.Operations(t, 16<<10), hostileForms)
	})
}

// checkForms runs commands over a capture.
func checkForms(t *testing.T, frames []capture.Frame, forms []string) {
	t.Helper()
	path := wiretest.SaveFrames(t, frames)
	for _, form := range forms {
		var out, errs bytes.Buffer
		status := Run(testSystem(&out, &errs), append(words(form), path))
		if status == exit.Usage || status == exit.Failure {
			t.Fatalf("%s: exit status %d: %s", form, status, &errs)
		}
		hostile.Check(t, form, out.Bytes())
		hostile.Check(t, form+" (errors)", errs.Bytes())
		checkSyntax(t, form, out.Bytes())
	}
	checkPackets(t, path)
}

// checkPackets checks the JSON that Wireshark is given.
func checkPackets(t *testing.T, path string) {
	t.Helper()
	saved := filepath.Join(t.TempDir(), "pdu.pcapng")
	succeeds(t, "diagnose", "-q", "-w", saved, "--pdu", path)
	file, err := os.ReadFile(saved)
	must.NoError(t, err)
	if escape := []byte(hostile.Text[:4]); bytes.Contains(file, escape) { // comments of packets, too
		t.Errorf("%s has %q", saved, escape)
	}
	n := 0
	begin := regexp.MustCompile(`\{"(frame|code)"`) // of a message, or of a finding
	for _, f := range wiretest.ReadSample(t, saved) {
		if at := begin.FindIndex(f.Data); at != nil {
			n++
			text := f.Data[at[0]:]
			hostile.Check(t, "--pdu", text)
			if !json.Valid(text) {
				t.Errorf("no JSON: %q", text[:min(len(text), 200)])
			}
		}
	}
	if n < 10 {
		t.Errorf("%d packets of JSON", n)
	}
}

// checkSyntax checks output that a program reads.
func checkSyntax(t *testing.T, form string, out []byte) {
	t.Helper()
	switch {
	case strings.Contains(form, "json"):
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var v any
			if err := d.Decode(&v); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
		}
	case strings.HasPrefix(form, "report"):
		if bytes.Contains(out, []byte(`'</script>`)) {
			t.Errorf("%s: a tag of the wire", form)
		}
	case strings.Contains(form, "svg"):
		for d := xml.NewDecoder(bytes.NewReader(out)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
		}
	case strings.Contains(form, "fields"), strings.Contains(form, "tsv"):
		columns := -1
		for line := range strings.Lines(string(out)) {
			if n := strings.Count(line, "\t"); columns < 0 {
				columns = n
			} else if n != columns {
				t.Errorf("%s: %d columns, before %d: %q", form, n+1, columns+1, line)
			}
		}
	}
}
