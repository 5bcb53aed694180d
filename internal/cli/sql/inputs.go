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
	captures []string
	parquet  map[string][]string // paths by table
}

func (in *inputs) isEmpty() bool { return len(in.captures) == 0 && len(in.parquet) == 0 }

// findInputs returns the files that the arguments name: captures, Parquet files of
// lshark, and folders with either.
func findInputs(args []string) (*inputs, error) {
	in := &inputs{parquet: make(map[string][]string)}
	seen := make(map[string]bool)
	isNew := func(path string) bool {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		known := seen[path]
		seen[path] = true
		return !known
	}
	for _, path := range args {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, explainMissing(path, err)
		case info.IsDir():
			before := len(seen)
			if err := in.addFolder(path, isNew); err != nil {
				return nil, err
			}
			if len(seen) == before {
				return nil, fmt.Errorf("%s: no captures and no Parquet files of lshark in this folder", path)
			}
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: not a file or a folder; save the capture first", path)
		case isNew(path):
			if err := in.addFile(path); err != nil {
				return nil, err
			}
		}
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
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("open %s: %w", path, err)
}

func (in *inputs) addFile(path string) error {
	switch table, err := parquetTable(path); {
	case errors.Is(err, parquet.ErrFormat):
		in.captures = append(in.captures, path) // if it is none, converting reports that
	case err != nil:
		return err
	case table == "":
		return fmt.Errorf("%s: a Parquet file, but not with records of lshark that it could query", path)
	default:
		in.parquet[table] = append(in.parquet[table], path)
	}
	return nil
}

// addFolder adds the files in a folder and its subfolders; other files are ignored, and
// those whose names begin with a dot, such as those that are not complete.
func (in *inputs) addFolder(folder string, isNew func(string) bool) error {
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
		table, err := parquetTable(path)
		switch {
		case errors.Is(err, parquet.ErrFormat):
			if isCapture(path) && isNew(path) {
				in.captures = append(in.captures, path)
			}
		case err != nil:
			return err
		case table != "" && isNew(path):
			in.parquet[table] = append(in.parquet[table], path)
		}
		return nil
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
