package sql

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/render/parquet"
	"github.com/lshark/lshark/render/parquet/rows"
	"github.com/lshark/lshark/render/records"
)

// inputs are the files that the arguments name.
type inputs struct {
	files map[string][]string // paths by table, noTable for captures
	seen  map[string]bool     // absolute paths
}

const noTable = ""

// findInputs returns the files that the arguments name: captures, Parquet files of
// lshark, and folders with either.
func findInputs(args []string) (*inputs, error) {
	in := &inputs{files: make(map[string][]string), seen: make(map[string]bool)}
	for _, path := range args {
		info, err := os.Stat(path)
		before := len(in.seen)
		switch {
		case err != nil:
			return nil, explainMissing(path, err)
		case info.IsDir():
			if err = in.addFolder(path); err == nil && len(in.seen) == before {
				err = fmt.Errorf("%s: no captures and no Parquet files of lshark in this folder", path)
			}
		case !info.Mode().IsRegular():
			err = fmt.Errorf("%s: not a file or a folder; save the capture first", path)
		default:
			err = in.add(path, true)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(in.files) == 0 {
		return nil, exit.Usagef("no capture given: name captures, Parquet files of lshark, or folders with them")
	}
	return in, nil
}

func explainMissing(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, " \t\n") {
		return exit.Usagef("%s: neither a file nor a query, which begins with a word such as SELECT, FROM or WITH", path)
	}
	if _, unknown := named([]string{path}); errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(path, "./") {
		return fmt.Errorf("%s: no such file; %v (--list has all)", path, unknown)
	}
	return fmt.Errorf("open %s: %w", path, errors.Unwrap(err))
}

// add adds a file. Of those that no argument names, it ignores what is neither a capture nor a file of lshark.
func (in *inputs) add(path string, named bool) error {
	table, err := parquetTable(path)
	switch {
	case errors.Is(err, parquet.ErrFormat):
		if !named && !isCapture(path) { // if a named one is none, converting reports that
			return nil
		}
	case err != nil:
		return err
	case table == noTable && named:
		return fmt.Errorf("%s: a Parquet file, but not with records of lshark that it could query", path)
	case table == noTable:
		return nil
	}
	absolute, err := filepath.Abs(path)
	if err == nil && !in.seen[absolute] {
		in.seen[absolute] = true
		in.files[table] = append(in.files[table], path)
	}
	return err
}

// addFolder adds the files in a folder and its subfolders, but not those whose names begin with a dot, such as
// those that are not complete.
func (in *inputs) addFolder(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		hidden := path != folder && strings.HasPrefix(entry.Name(), ".")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && hidden:
			return filepath.SkipDir
		case entry.IsDir(), hidden:
			return nil
		}
		info, err := os.Stat(path) // of what a link leads to
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // a link to nowhere, or removed meanwhile
		}
		return in.add(path, false)
	})
}

// parquetTable returns the table of the records in a Parquet file, empty if they are
// of another kind or not of lshark. The error is parquet.ErrFormat for other files.
func parquetTable(path string) (string, error) {
	kind, err := parquet.ReadMetadata(path, rows.RecordsKey)
	if err != nil {
		return "", err
	}
	for _, t := range records.Kinds() {
		if t.Record == kind {
			return t.Name, nil
		}
	}
	return "", nil
}

// isCapture reports whether a file is a capture, by its content.
func isCapture(path string) bool {
	r, err := capture.Open([]string{path}, capture.Options{})
	if err != nil {
		return false
	}
	defer r.Close()
	var f capture.Frame
	if r.Next(&f) == nil {
		return true
	}
	_, known := r.Format()
	return known
}
