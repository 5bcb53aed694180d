package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lshark/lshark/internal/wiretest"
)

// TestPostponeCollection checks that only the first garbage collection waits.
func TestPostponeCollection(t *testing.T) {
	percent := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	const usual = 150
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	t.Setenv("GOGC", "off")
	postponeCollection()
	if got := percent(); got != usual {
		t.Errorf("with GOGC in the environment: %d", got)
	}
	t.Setenv("GOGC", "")
	postponeCollection()
	if got := percent(); got <= usual {
		t.Errorf("before the first collection: %d", got)
	}
	const tries = 10000 // the cleanup runs in a goroutine of its own
	for range tries {
		if runtime.GC(); percent() == usual {
			return
		}
	}
	t.Errorf("after the first collection: %d", percent())
}

// TestCores: what a command prints does not depend on the number of cores.
func TestCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, files := range [][]string{
		{recoverySample},
		{"../../pcaps/rdma_data.pcap.zst"},
		{"../../pcaps/mount.pcap", "../../pcaps/locks.pcap.zst"},
		{cutCapture(t, "../../pcaps/mount.pcap", 200)},
	} {
		for _, command := range [][]string{
			{}, {"-T", "json", "-v"}, {"rpcs", "-v"}, {"rpcs", "-c", "20", "-v"}, {"rpcs", "--slowest", "5"}, {"stats", "-v"}, {"stats", "--by", "target,job", "-T", "json"},
			{"imports", "--timeline"}, {"locks"}, {"files", "-T", "json"}, {"recovery", "-v"}, {"config"}, {"diagnose", "-v"},
		} {
			args := append(command, files...)
			runtime.GOMAXPROCS(1)
			want, wantErrs, wantStatus := run(t, args...)
			runtime.GOMAXPROCS(4)
			if got, errs, status := run(t, args...); got != want || errs != wantErrs || status != wantStatus {
				t.Errorf("%q: on four cores %d bytes, %q, status %d; on one %d bytes, %q, %d", args, len(got), errs, status, len(want), wantErrs, wantStatus)
			}
		}
	}
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // a small heap would be collected a thousand times
	testscript.Main(m, map[string]func(){"lshark": Main})
}

// TestScripts runs the command as users do: with pipes, exit statuses, broken
// files and the environment. $PCAPS has the samples, $NESTED those of
// nested RPCs.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		UpdateScripts: wiretest.Update(), // files that cmp compares
		Dir:           filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("PCAPS", wiretest.Repo("pcaps"))
			env.Setenv("NESTED", wiretest.Repo("dissect/track/nested/testdata"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": status,
			"head":   head,
		},
	})
}

// status runs lshark and checks its exit status: status 3 lshark ARGS.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N lshark ARG…")
	}
	script := `"$@"; test $? -eq ` + args[0]
	ts.Check(ts.Exec("sh", append([]string{"-c", script, "sh"}, args[1:]...)...))
}

// head copies the first bytes of a file: head BYTES FROM TO.
func head(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: head BYTES FROM TO")
	}
	data, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	n := 0
	for _, c := range args[0] {
		n = 10*n + int(c-'0')
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data[:min(n, len(data))], 0o600))
}
