package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestMain runs the tests with lshark in the PATH: a link to the test binary, which is the
// program where it has that name.
func TestMain(m *testing.M) {
	time.Local = time.UTC // goldens have local times
	const name = "lshark"
	if filepath.Base(os.Args[0]) == name {
		Main()
	}
	debug.SetGCPercent(400) // a small heap would be collected a thousand times
	dir, err := os.MkdirTemp("", "lshark-tests-")
	if err != nil {
		panic(err)
	}
	binary, err := os.Executable()
	err = errors.Join(err, os.Symlink(binary, filepath.Join(dir, name)), os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")))
	if err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// TestScripts runs command lines as users do: with exit statuses, broken files and the
// environment. $PCAPS has the samples, $NESTED those of nested RPCs. "exec lshark" is a process
// of its own, with the standard input and the PATH of the script; "lshark" is none, as most of what
// a short command takes is its start.
func TestScripts(t *testing.T) {
	testscript.RunT(oneByOne{t}, testscript.Params{
		UpdateScripts: wiretest.Update(), // files that cmp compares
		Dir:           filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("PCAPS", wiretest.Repo("pcaps"))
			env.Setenv("NESTED", wiretest.Repo("dissect/track/nested/testdata"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"lshark": lshark,
			"status": status,
			"head":   head,
		},
	})
	if t.Failed() {
		t.Logf("where cmp found a difference and the new output is right: %s", wiretest.UpdateHint(t))
	}
}

// oneByOne runs scripts one after the other, as each runs commands in its own folder.
type oneByOne struct{ *testing.T }

func (t oneByOne) Run(name string, f func(t testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(oneByOne{t}) })
}

func (oneByOne) Parallel()     {}
func (oneByOne) Verbose() bool { return testing.Verbose() }

// lshark runs lshark, which must succeed, or fail after "!".
func lshark(ts *testscript.TestScript, neg bool, args []string) {
	if got := scriptRun(ts, args, false); neg != (got != 0) {
		ts.Fatalf("exit status %d", got)
	}
}

// status runs lshark and checks its exit status: status 3 lshark ARGS, or status 3 exec lshark ARGS.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N [exec] lshark ARG…")
	}
	want, args := args[0], args[1:]
	process := args[0] == "exec"
	if process {
		args = args[1:]
	}
	if got := scriptRun(ts, args[1:], process); strconv.Itoa(got) != want {
		ts.Fatalf("exit status %d", got)
	}
}

// scriptRun runs lshark for a script and returns its exit status.
func scriptRun(ts *testscript.TestScript, args []string, process bool) int {
	if process {
		err := ts.Exec("lshark", args...)
		var ended *exec.ExitError
		if errors.As(err, &ended) && ended.Exited() {
			return ended.ExitCode()
		}
		ts.Check(err)
		return 0
	}
	before, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(before)) }()
	return Run(&scan.System{IO: &iostreams.IO{Out: ts.Stdout(), Err: ts.Stderr(), Env: ts.Getenv}}, args)
}

// head copies the first bytes of a file: head BYTES FROM TO.
func head(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: head BYTES FROM TO")
	}
	data, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data[:min(n, len(data))], 0o600))
}
