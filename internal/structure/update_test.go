package structure

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// The flag is here so that `go test ./... -update` can be given to all packages.
var _ = flag.Bool("update", false, "has no effect here")

// TestUpdateFlag checks that `go test ./... -update` works: that the tests of
// every package have the flag.
func TestUpdateFlag(t *testing.T) {
	root := os.DirFS("../..")
	hasFlag := make(map[string]bool) // by folder of a package with tests
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipFolder(root, name):
			return fs.SkipDir
		case entry.IsDir(), !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		hasFlag[path.Dir(name)] = hasFlag[path.Dir(name)] || bytes.Contains(text, []byte(`flag.Bool("update",`))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, has := range hasFlag {
		if !has {
			t.Errorf("the tests of %s refuse -update, so `go test ./... -update` fails: copy update_test.go from another package", dir)
		}
	}
}
