package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// followed runs a command that follows a log with some lines. Each time it waits for more, the next step does something; behind the last
// one the command ends.
func followed(t *testing.T, path, lines string, steps []func(out, errs string), args ...string) (out, errs string) {
	t.Helper()
	must.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
	var o, e bytes.Buffer
	sys := testSystem(&o, &e)
	sys.AwaitLogs = func(<-chan struct{}) bool {
		if len(steps) == 0 {
			return false
		}
		steps[0](o.String(), e.String())
		steps = steps[1:]
		return true
	}
	must.Equal(t, Run(sys, args), exit.OK, args, e.String())
	return o.String(), e.String()
}

// TestFollowLogs: findings of a log that grows and is rotated come when they are proven: that of a wait when nothing more happens.
func TestFollowLogs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "messages")
	const (
		evicted = "2026-11-24T10:00:00+00:00 oss1 kernel: LustreError: 0:0:(ldlm_lockd.c:256:expired_lock_main()) ### lock callback timer expired after 30s: evicting client at " +
			"192.0.2.4@tcp  ns: filter-lustre-OST0000_UUID lock: 01/0xf lrc: 3/0,0 mode: PW/PW res: [0x280000401:0x41:0x0].0x0 rrc: 3 type: EXT\n"
		waited = "2026-11-24T10:00:10+00:00 oss1 kernel: Lustre: 1:0:(client.c:1:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 1795514380/real 1795514380]  " +
			"req@1 x1883031475000832/t0(0) o104->lustre-OST0000@192.0.2.5@tcp:15/16 lens 328/224 e 0 to 1 dl 1795514410 ref 1 fl Rpc:XQr/0/ffffffff rc 0/-1\n"
		broken = "2026-11-24T10:00:09+00:00 oss1 kernel: blk_update_request: I/O error, dev sdc, sector 4711 op 0x0:(READ)\n"
		panics = "2026-11-24T11:00:00+00:00 oss1 kernel: Kernel panic - not syncing: softlockup: hung tasks\n"
	)
	shows := func(out string, codes ...string) {
		t.Helper()
		var got []string
		for _, f := range parseFindings(t, out) {
			got = append(got, f.Code)
		}
		assert.Equal(t, strings.Join(got, " "), strings.Join(codes, " "), "findings")
	}
	steps := []func(out, errs string){
		func(out, _ string) {
			shows(out)
			f := must.Value(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
			must.Value(f.WriteString(broken + waited))(t)
			must.NoError(t, f.Close())
		},
		func(out, _ string) { shows(out, "io.device", "evicted.lock_callback") },
	}
	for range 90 { // seconds in which nothing happens
		steps = append(steps, func(string, string) {})
	}
	steps = append(steps, func(out, _ string) {
		shows(out, "io.device", "evicted.lock_callback", "slow.wait")
		must.NoError(t, os.Rename(path, path+".1"))
		must.NoError(t, os.WriteFile(path, []byte(panics), 0o600))
	}, func(string, string) {}, func(out, _ string) { shows(out, "io.device", "evicted.lock_callback", "slow.wait", "node.fault") })
	out, _ := followed(t, path, evicted, steps, "diagnose", "-q", "-T", "json", "--log", path, "--follow")
	shows(out, "io.device", "evicted.lock_callback", "slow.wait", "node.fault")

	count := func(want string) func(out, errs string) {
		return func(_, errs string) {
			t.Helper()
			url := regexp.MustCompile(`http://\S+/metrics`).FindString(errs)
			r := must.Value(http.Get(url))(t)
			defer r.Body.Close()
			text := string(must.Value(io.ReadAll(r.Body))(t))
			assert.That(t, strings.Contains(text, want), "no %s", want)
		}
	}
	followed(t, path, evicted+broken, []func(out, errs string){
		count(`lshark_findings_total{code="io.device",severity="error"} 1`),
		count(`lshark_log_lines_total 2`),
	}, "monitor", "--listen", "127.0.0.1:0", "--log", path)
	printed := succeeds(t, "monitor", path)
	assert.That(t, strings.Contains(printed, `lshark_evictions_total{target="lustre-OST0000",cause="lock_callback"} 1`), "%s", printed)
}

// TestConsoleAlone: what the commands that show messages and RPCs do with messages of the console, without a capture.
func TestConsoleAlone(t *testing.T) {
	t.Parallel()
	const folder = "pcaps/logs/"
	oss, client := wiretest.Repo(folder+"evicted.oss.log"), wiretest.Repo(folder+"evicted.client2.log")
	for _, tt := range []struct{ args, out, errs string }{
		{"ladder --lock 0xfec13fbea99209cd", "lock callback timer expired after 16s: evicting client", "from messages of the console alone"},
		{"ladder --fid 0x280000401:0x41:0x0", "[0x280000401:0x41:0x0]", ""},
		{"ladder --xid 1882522806034944", "L1:9 66.902014  •  Request took longer than estimated (30/2s); client may timeout", ""},
		{"report -o -", "because it did not give back a lock in time", "from messages of the console alone"},
		{"rpcs --no-reply", "LDLM_BL_CALLBACK", "from messages of the console alone"},
		{"locks", "", "messages of the console have nothing about locks"},
	} {
		out, errs, status := run(t, append(strings.Fields(tt.args), oss, client)...)
		assert.That(t, status == exit.OK && strings.Contains(out, tt.out) && strings.Contains(errs, tt.errs), "%s: %d %s%s", tt.args, status, out, errs)
	}
	for args, want := range map[string]string{
		"ladder -Y frame==1": "-Y selects messages, which logs do not have",
		"ladder --xid 7":     "no line is selected",
		"files":              "lshark diagnose, imports, recovery, ladder, report, rpcs, stats and tui read logs alone, and locks debug logs",
	} {
		_, errs, status := run(t, append(strings.Fields(args), oss)...)
		assert.That(t, status != exit.OK && strings.Contains(errs, want), "%s: %d %s", args, status, errs)
	}
}

// TestRecoveryBesideLog: logs add to a recovery what the capture of one client does not have: how many clients the target has, and to imports
// the connections of other nodes.
func TestRecoveryBesideLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "messages")
	const head = "2026-11-22T22:27:%s+00:00 oss kernel: Lustre: lustre-OST0001: %s\n"
	must.NoError(t, os.WriteFile(path, []byte(fmt.Sprintf(head, "57.359685", "Will be in recovery for at least 1:00, or until 3 clients reconnect")+
		fmt.Sprintf(head, "58.100000", "Client 3f2a (at 192.0.2.9@tcp) reconnecting")+
		fmt.Sprintf(head, "59.744902", "Recovery over after 0:02, of 3 clients 3 recovered and 0 were evicted.")), 0o600))
	sample := wiretest.Repo("dissect/diagnose/rules/testdata/failback.pcap.zst")
	alone := succeeds(t, "recovery", sample)
	beside := succeeds(t, "recovery", sample, "--log", "192.0.2.2@tcp="+path)
	assert.That(t, !strings.Contains(alone, "/3 ") && strings.Contains(beside, "/3 "), "alone:\n%sbeside:\n%s", alone, beside)
	beside = succeeds(t, "imports", sample, "--log", "192.0.2.2@tcp="+path)
	assert.That(t, strings.Contains(beside, "192.0.2.9"), "%s", beside)
}

// TestFollowUsage: what cannot be followed is refused.
func TestFollowUsage(t *testing.T) {
	t.Parallel()
	logSamples := wiretest.Repo("pcaps/logs/")
	for _, tt := range []struct{ args, want string }{
		{"diagnose --follow", "--follow needs --log"},
		{"diagnose --follow --log " + logSamples + "/evicted.oss.log x.pcap", "x.pcap: logs are followed without captures"},
		{"diagnose --follow --log " + logSamples + "/overload.oss.dk.gz", "is compressed, and does not grow"},
		{"diagnose --follow -a packets:7 --log " + logSamples + "/evicted.oss.log", "-a needs a live capture (-i)"},
		{"monitor --trouble " + t.TempDir() + " --log " + logSamples + "/evicted.oss.log", "--trouble writes frames, which logs do not have"},
	} {
		_, errs, status := run(t, strings.Fields(tt.args)...)
		assert.That(t, status == exit.Usage && strings.Contains(errs, tt.want), "%s: %d %s", tt.args, status, errs)
	}
}
