package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestDictionary compares the dictionary in contrib with the tables.
func TestDictionary(t *testing.T) {
	wiretest.Golden(t, wiretest.Repo("contrib/oss-fuzz/lshark.dict"), string(dictionary()))
}

// TestPackages checks that contrib/oss-fuzz/build.sh builds targets of the packages that fuzz runs.
func TestPackages(t *testing.T) {
	sh, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dirs := must.Value(packages(wiretest.Repo(".")))(t)
	must.That(t, len(dirs) >= 10, "only %q", dirs)
	cmd := exec.Command(sh, "-eu", "-c", `compile_native_go_fuzzer_v2() { echo "$@"; }; cp() { :; }; . contrib/oss-fuzz/build.sh`)
	cmd.Dir, cmd.Env = wiretest.Repo("."), append(cmd.Environ(), "OUT="+t.TempDir())
	out, err := cmd.Output()
	must.NoError(t, err)
	for _, dir := range dirs {
		rel := must.Value(filepath.Rel(wiretest.Repo("."), dir))(t)
		assert.Contains(t, string(out), "github.com/lshark/lshark/"+filepath.ToSlash(rel)+" Fuzz", "build.sh builds no target", rel)
	}
}
