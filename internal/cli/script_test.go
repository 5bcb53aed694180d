package cli

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // a small heap would be collected a thousand times
	testscript.Main(m, map[string]func(){"lshark": Main})
}

// TestScripts runs the command as users do: with pipes, exit statuses, broken
// files and the environment. $PCAPS has the samples.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		UpdateScripts: wiretest.Update(), // files that cmp compares
		Dir:           filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("PCAPS", wiretest.Repo("pcaps"))
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
