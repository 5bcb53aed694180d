package cli

import (
	"bytes"
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

// loggedNames are the names in lines of a debug log that others choose: process and client
// in front of the numbers, the job behind them, the device of a note; and what the line of
// a connection says at its end.
var loggedNames = regexp.MustCompile(`(opc:job )[^:]+:[^:+]+|(:\d+:)[\w.]+( Request processed|$)|( o\d+->)[^@ ]+|( was lost; )[^\n]+|( reconnecting)`)

// TestHostileLogs puts hostile text into the names of debug logs and runs every command
// that reads them.
func TestHostileLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at text that many runs print")
	}
	text := strings.ReplaceAll(hostile.Text, "\n", "") // it would end a line of the log
	for _, scene := range []string{"overload.client2", "overload.oss", "tcp_reset.client", "missed_recovery.client2", "missed_recovery.oss"} {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			from := wiretest.Repo("pcaps/logs/" + scene + ".dk.gz")
			f, err := os.Open(from)
			must.NoError(t, err)
			defer f.Close()
			plain, err := capture.Decompress(from, f)
			must.NoError(t, err)
			var log bytes.Buffer
			_, err = log.ReadFrom(plain)
			must.NoError(t, err)
			replaced := 0
			lines := loggedNames.ReplaceAllStringFunc(log.String(), func(s string) string {
				replaced++
				m := loggedNames.FindStringSubmatch(s)
				if m[1] != "" {
					return m[1] + text + ":" + text
				}
				return m[2] + m[4] + m[5] + m[6] + text + m[3]
			})
			if replaced < 100 {
				t.Fatalf("%d names", replaced)
			}
			path := filepath.Join(t.TempDir(), "hostile.dk")
			must.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
			forms := []string{"rpcs", "rpcs -T json", "rpcs -T fields -e rpc.job -e log.process -e log.thread -e rpc.client", "stats --by job,client",
				"stats --by job,target -T tsv", "stats --by log.thread -T json", "stats --by log.process"}
			inputs := []string{"--log " + path}
			if strings.HasPrefix(scene, "tcp_reset") || strings.HasSuffix(scene, "client2") {
				inputs = append(inputs, "--log client="+path+" "+wiretest.Repo("pcaps/logs/"+scene+".pcap.zst"))
			}
			hostileTexts := 0
			for _, input := range inputs {
				own := []string{"diagnose -v", "diagnose -T json"}
				if !strings.Contains(input, "=") {
					own = append(own, "imports", "imports --timeline", "imports --timeline -T json", "recovery -v", "recovery -T json", "locks",
						"locks -T json", "locks --blockers")
				}
				for _, form := range append(own, forms...) {
					var out, errs bytes.Buffer
					status := Run(testSystem(&out, &errs), append(words(form), words(input)...))
					if status == exit.Failure {
						t.Fatalf("%s %s: exit status %d: %s", form, input, status, &errs)
					}
					hostileTexts += strings.Count(out.String(), "</script>")
					hostile.Check(t, form, out.Bytes())
					hostile.Check(t, form+" (errors)", errs.Bytes())
					checkSyntax(t, form, out.Bytes())
				}
			}
			if hostileTexts < 20 {
				t.Errorf("only %d texts of the log were shown", hostileTexts)
			}
		})
	}
}
