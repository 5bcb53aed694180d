package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestDictionary compares the dictionary in contrib with the tables.
func TestDictionary(t *testing.T) {
	wiretest.Golden(t, wiretest.Repo("contrib/oss-fuzz/lshark.dict"), string(dictionary()))
}

// TestPackages checks that contrib/oss-fuzz/build.sh builds targets of all packages that have some.
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

// packages returns the folders that have fuzz targets.
func packages(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if dir := filepath.Dir(path); bytes.Contains(text, []byte("\nfunc Fuzz")) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return err
	})
	return dirs, err
}
