package cli

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
)

// rpcSamples have names of files, targets, IPv6 nodes, errors, and RPCs without
// a reply.
var rpcSamples = []string{sampleFile, "../../pcaps/locks.pcap.zst", "../../pcaps/ip6_mount.pcap", "../../pcaps/recovery.pcap.zst",
	"../../pcaps/servers.pcap.zst", "../../pcaps/gss.pcap.zst"}

// TestRPCColumnsStay checks that the columns of rpcs are the same in all lines,
// and that lines fit the terminal.
func TestRPCColumnsStay(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	t.Parallel()
	xids, servers := regexp.MustCompile(` x[0-9]{16} `), regexp.MustCompile(` > `) // the latter where there is no room for xids
	ends := regexp.MustCompile(`^ (x[0-9]{16}|>)( .*?)? +([0-9.]+[mu]?s|end|unanswered|uncaptured|encrypted|one-way|no-request|-)`)
	for _, file := range rpcSamples {
		for _, columns := range []int{0, 80, 100, 120, 150, 200} {
			for _, flags := range []string{"", "-tu", "-td", "-n", "--slowest=10"} {
				var out, errs bytes.Buffer
				sys := testSystem(&out, &errs)
				sys.OutTTY, sys.Columns = columns > 0, columns
				must.Equal(t, Run(sys, strings.Fields("rpcs -q --color never "+flags+" "+file)), exit.OK, &errs)
				at := -1
				for line := range strings.Lines(out.String()) {
					place := fmt.Sprintf("%s %s %d columns: %s", file, flags, columns, line)
					n := utf8.RuneCountInString(line) - 1
					assert.That(t, columns <= 0 || n <= columns, "%d: %s", n, place)
					found := xids.FindStringIndex(line)
					if found == nil && columns > 0 {
						found = servers.FindStringIndex(line)
					}
					must.That(t, found != nil, "no xid: %s", place)
					xid := utf8.RuneCountInString(line[:found[0]])
					if at < 0 {
						at = xid
					}
					assert.Equal(t, xid, at, "xid in column", place)
					assert.That(t, ends.MatchString(line[found[0]:]), "no latency and no reason: %s", place)
				}
			}
		}
	}
}

// TestRPCFields checks that words of lines that are piped can be counted: each
// column has one, also where it has no value.
func TestRPCFields(t *testing.T) {
	column := []*regexp.Regexp{3: regexp.MustCompile(`^[0-9a-f.:]+$`), 4: regexp.MustCompile(`^(-|MGS|([a-z]+-)?(MDT|OST)[0-9]{4})$`),
		5: regexp.MustCompile(`^x[0-9]{16}$`), 6: regexp.MustCompile(`^[A-Z_]+|\(encrypted\)$`), 7: regexp.MustCompile(`^(-|[A-Za-z|_-]+|.*\))$`),
		8: regexp.MustCompile(`^([0-9.]+[mu]?s|end|unanswered|uncaptured|encrypted|one-way|no-request)$`),
		9: regexp.MustCompile(`^(ok|-|[0-9]+|\(?[A-Z_,]+\)?)$`)}
	targets := 0
	for _, file := range rpcSamples {
		out, _, _ := run(t, "rpcs", file)
		for line := range strings.Lines(out) {
			words := strings.Fields(line)
			for k, re := range column {
				if re != nil && !re.MatchString(words[k]) {
					t.Errorf("word %d is %s: %s", k+1, words[k], line)
				}
			}
			if words[4] != "-" {
				targets++
			}
		}
	}
	assert.That(t, targets != 0, "no line has a target")
	xid := strings.Fields(first(t, "rpcs", sampleFile))[5]
	assert.Contains(t, first(t, "rpcs", "-Y", "xid == "+xid, sampleFile), xid, "pasted into a filter")
}

// first returns the first line that a command prints.
func first(t *testing.T, args ...string) string {
	t.Helper()
	out := succeeds(t, args...)
	line, _, _ := strings.Cut(out, "\n")
	return line
}

// TestLockWaitsShown checks that lines of lock requests that had to wait have the
// wait on terminals of any usual width.
func TestLockWaitsShown(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	t.Parallel()
	waits := 0
	for _, columns := range []int{0, 80, 100, 120, 150, 200} {
		for _, file := range []string{"../../pcaps/io.pcap.zst", "../../pcaps/layouts.pcap.zst", recoverySample} {
			all, _, _ := run(t, "rpcs", "-Y", "rpc.lock_wait", "-T", "fields", "-e", "xid", file)
			var out, errs bytes.Buffer
			sys := testSystem(&out, &errs)
			sys.OutTTY, sys.Columns = columns > 0, columns
			Run(sys, []string{"rpcs", "--color", "never", "-Y", "rpc.lock_wait", file})
			want := strings.Count(all, "\n")
			waits += want
			got := strings.Count(out.String(), " waits")
			assert.That(t, got == want, "%s, %d columns: %d waits, want %d:\n%s", file, columns, got, want, &out)
		}
	}
	assert.That(t, waits != 0, "no lock had to wait")
}
