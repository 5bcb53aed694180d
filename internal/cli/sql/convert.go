package sql

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render/records"
)

// file is a Parquet file that a view reads.
type file struct {
	path    string
	capture string // path of the capture that it was made of, empty if it was given as it is
}

// conversion is what a capture was made into.
type conversion struct {
	files   map[string]string // by table
	damaged error
	err     error
}

type converter struct {
	sys     *scan.System
	run     Run
	cache   *cache
	flags   scan.Flags // those that decide what is made of captures
	workers int        // captures converted at a time
	temp    string     // directory for files that are not complete, and of captures that grow
	read    iostreams.ReadBytes
}

// settings returns what decides, apart from the content of a capture, what is made of it.
func (c *converter) settings() ([]string, error) {
	texts := []string{c.flags.Filter, fmt.Sprint(c.flags.Ports)}
	for _, path := range c.flags.Names {
		names, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("--names: %w", err)
		}
		texts = append(texts, string(names))
	}
	return texts, nil
}

func (c *converter) arguments(capture, table, result string) []string {
	var args []string
	for _, t := range records.Kinds() {
		if t.Name == table && t.Command != "" {
			args = append(args, t.Command)
		}
	}
	args = append(args, "-q", "-T", "parquet", "-o", result)
	if c.flags.Filter != "" {
		args = append(args, "--filter="+c.flags.Filter)
	}
	for _, port := range c.flags.Ports {
		args = append(args, fmt.Sprintf("--port=%d", port))
	}
	for _, path := range c.flags.Names {
		args = append(args, "--names="+path)
	}
	return append(args, "--", capture)
}

// convert makes the files of tables for captures that the cache does not have. damaged has an error
// for each damaged capture.
func (c *converter) convert(captures, tables []string) (files map[string][]file, damaged, err error) {
	settings, err := c.settings()
	if err != nil {
		return nil, nil, err
	}
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
	var progress *iostreams.Progress
	if !c.flags.Quiet {
		progress = c.sys.NewProgress(func() (int64, int64) { return c.read.Sum(), total })
	}
	all := make([]conversion, len(captures))
	var failed atomic.Bool
	flags.Parallel(len(captures), c.workers, func(i, worker int) {
		if !failed.Load() {
			if all[i] = c.convertCapture(captures[i], sizes[i], tables, settings, worker); all[i].err != nil {
				failed.Store(true)
			}
		}
	})
	progress.Stop()
	files = make(map[string][]file)
	var errs, damages []error
	for i, j := range all {
		if errors.As(j.err, new(exit.Interrupted)) {
			return nil, nil, exit.Interrupted{Result: "the query was not run"}
		}
		errs, damages = append(errs, j.err), append(damages, j.damaged)
		for _, table := range tables {
			files[table] = append(files[table], file{j.files[table], captures[i]})
		}
	}
	return files, errors.Join(damages...), errors.Join(errs...)
}

// convertCapture converts the tables of one capture. worker is the number of the worker.
func (c *converter) convertCapture(path string, size int64, tables, settings []string, worker int) conversion {
	j := conversion{files: make(map[string]string)}
	before, err := fileState(path)
	if err != nil {
		j.err = err
		return j
	}
	folder := c.cache.entry(before, settings)
	for _, table := range tables {
		result, damaged, ok := c.cache.find(folder, table, path)
		if !ok {
			if result, damaged, j.err = c.make(path, table, folder, before, worker); j.err != nil {
				return j
			}
		}
		j.files[table], j.damaged = result, cmp.Or(damaged, j.damaged)
		c.read.Add(size)
	}
	return j
}

// make converts a table of a capture and moves the result into the cache, unless the capture has grown
// meanwhile.
func (c *converter) make(path, table, folder, before string, worker int) (result string, damaged, err error) {
	made := filepath.Join(c.temp, fmt.Sprintf("%d-%s.parquet", worker, table))
	streams := *c.sys.IO
	streams.OutTTY, streams.ErrTTY, streams.Reading = false, false, c.read.Reading
	err = c.run(&scan.System{IO: &streams, Open: c.sys.Open, Harden: c.sys.Harden}, c.arguments(path, table, made))
	var d *capture.DamageError
	if errors.As(err, &d) && !errors.As(err, new(exit.Interrupted)) {
		damaged, err = d, nil
	}
	if err != nil {
		return "", nil, err
	}
	if _, err := os.Stat(made); err != nil {
		return "", nil, errors.Join(damaged, err)
	}
	after, err := fileState(path)
	if err == nil && after == before {
		result, err = c.cache.add(folder, table, made, path, d)
		return result, damaged, err
	}
	result = filepath.Join(c.temp, "growing-"+filepath.Base(folder)+"."+table+".parquet")
	return result, damaged, errors.Join(err, os.Rename(made, result))
}
