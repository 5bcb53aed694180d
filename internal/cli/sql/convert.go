package sql

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/render/records"
)

// file is a Parquet file that a view reads.
type file struct {
	path    string
	capture string // path of the capture that it was made of, empty if it was given as it is
}

// conversion is what a capture was made into.
type conversion struct {
	folder  string // with the files of the tables
	damaged error
	err     error
}

// passed returns the flags for what is made of captures.
func (c *command) passed() (args []string) {
	if c.input.Filter != "" {
		args = append(args, "--filter="+c.input.Filter)
	}
	for _, port := range c.input.Ports {
		args = append(args, fmt.Sprintf("--port=%d", port))
	}
	for _, path := range c.input.Names {
		args = append(args, "--names="+path)
	}
	return args
}

func (c *command) arguments(capture, table, result string) (args []string) {
	for _, t := range records.Kinds() {
		if t.Name == table && t.Command != "" {
			args = append(args, t.Command)
		}
	}
	args = append(args, "-q", "-T", flags.ParquetForm, "-o", result)
	return append(append(args, c.passed()...), "--", capture)
}

// convert makes the files of tables for captures that the cache does not have. damaged has an error
// for each damaged capture.
func (c *command) convert(captures, tables []string) (files map[string][]file, damaged, err error) {
	sizes := make([]int64, len(captures))
	var total int64
	for i, path := range captures {
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, err
		}
		sizes[i] = info.Size()
		total += sizes[i] * int64(len(tables))
	}
	if !c.input.Quiet {
		defer c.sys.NewProgress(func() (int64, int64) { return c.read.Sum(), total }).Stop()
	}
	all := make([]conversion, len(captures))
	var failed atomic.Bool
	flags.Parallel(len(captures), min(c.input.Cores, 4*runtime.GOMAXPROCS(0)), func(i int) {
		if !failed.Load() {
			if all[i] = c.convertCapture(captures[i], sizes[i], tables); all[i].err != nil {
				failed.Store(true)
			}
		}
	})
	files = make(map[string][]file)
	var errs, damages []error
	for i, j := range all {
		if errors.As(j.err, new(exit.Interrupted)) {
			return nil, nil, exit.Interrupted{Result: "the query was not run"}
		}
		errs, damages = append(errs, j.err), append(damages, j.damaged)
		for _, table := range tables {
			files[table] = append(files[table], file{j.file(table), captures[i]})
		}
	}
	return files, errors.Join(damages...), errors.Join(errs...)
}

// convertCapture converts the tables of one capture.
func (c *command) convertCapture(path string, size int64, tables []string) (j conversion) {
	if j.folder, j.err = c.cache.use(path, c.passed()); j.err != nil {
		return j
	}
	sys := c.sys.With(func(s *iostreams.IO) { s.OutTTY, s.ErrTTY, s.Reading = false, false, c.read.Reading })
	sys.KeepComplete = true
	for _, table := range tables {
		err := c.run(sys, c.arguments(path, table, j.file(table)))
		if _, missing := os.Stat(j.file(table)); missing == nil && errors.As(err, new(*capture.DamageError)) {
			j.damaged, err = err, nil
		}
		if err != nil {
			j.err = err
			return j
		}
		c.read.Add(size)
	}
	return j
}

func (j *conversion) file(table string) string { return filepath.Join(j.folder, table+".parquet") }
