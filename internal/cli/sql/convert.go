package sql

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

type conversion struct {
	capture string
	table   string
	bytes   int64 // of the capture
	result  string
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
func (c *converter) settings() (string, error) {
	texts := []string{c.flags.Filter, fmt.Sprint(c.flags.Ports)}
	for _, path := range c.flags.Names {
		names, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("--names: %w", err)
		}
		texts = append(texts, string(names))
	}
	return hashOf(texts...), nil
}

// commandOf returns the name of the command that writes a table, empty for that without a name.
func commandOf(table string) string {
	for _, t := range records.Kinds() {
		if t.Name == table {
			return t.Command
		}
	}
	return ""
}

func (c *converter) arguments(j *conversion, result string) []string {
	var args []string
	if name := commandOf(j.table); name != "" {
		args = append(args, name)
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
	return append(args, "--", j.capture)
}

// convert makes the files of tables for captures that the cache does not have. damaged has an error
// for each damaged capture.
func (c *converter) convert(captures, tables []string) (files map[string][]file, damaged, err error) {
	settings, err := c.settings()
	if err != nil {
		return nil, nil, err
	}
	var all []*conversion
	for _, path := range captures {
		for _, table := range tables {
			all = append(all, &conversion{capture: path, table: table})
		}
	}
	var total int64
	for _, j := range all {
		info, err := os.Stat(j.capture)
		if err != nil {
			return nil, nil, err
		}
		j.bytes = info.Size()
		total += j.bytes
	}
	progress := c.progress(total)
	groups := slices.Collect(slices.Chunk(all, max(1, len(tables))))
	var failed atomic.Bool
	flags.Parallel(len(groups), c.workers, func(i, worker int) {
		if !failed.Load() && !c.convertCapture(groups[i], settings, worker) {
			failed.Store(true)
		}
	})
	progress.Stop()
	for _, j := range all {
		if errors.As(j.err, new(exit.Interrupted)) {
			return nil, nil, exit.Interrupted{Result: "the query was not run"}
		}
	}
	files = make(map[string][]file)
	var errs, damages []error
	for _, j := range all {
		errs = append(errs, j.err)
		if j.damaged != nil && !slices.ContainsFunc(damages, func(d error) bool { return d.Error() == j.damaged.Error() }) {
			damages = append(damages, j.damaged)
		}
		files[j.table] = append(files[j.table], file{j.result, j.capture})
	}
	return files, errors.Join(damages...), errors.Join(errs...)
}

// progress shows a line while conversion goes on; with -q it does not.
func (c *converter) progress(total int64) *iostreams.Progress {
	if c.flags.Quiet {
		return nil
	}
	return c.sys.NewProgress(func() (int64, int64) { return c.read.Sum(), total })
}

// convertCapture converts the tables of one capture. worker is the number of the worker. It reports whether all
// succeeded; damage of the capture is no failure.
func (c *converter) convertCapture(tables []*conversion, settings string, worker int) bool {
	if len(tables) == 0 {
		return true
	}
	path := tables[0].capture
	before, err := fileState(path)
	if err != nil {
		tables[0].err = err
		return false
	}
	key := c.cache.key(before, settings)
	for _, j := range tables {
		result, damaged, ok := c.cache.find(key, j.table, path)
		j.result, j.damaged = result, damaged
		if !ok {
			if j.err = c.make(j, key, before, worker); j.err != nil {
				return false
			}
		}
		c.read.Add(j.bytes)
	}
	return true
}

// make converts a table of a capture and moves the result into the cache, unless the capture has grown
// meanwhile.
func (c *converter) make(j *conversion, key, before string, worker int) error {
	made := filepath.Join(c.temp, fmt.Sprintf("%d-%s.parquet", worker, j.table))
	streams := *c.sys.IO
	streams.OutTTY, streams.ErrTTY, streams.Reading = false, false, c.read.Reading
	err := c.run(&scan.System{IO: &streams, Open: c.sys.Open, Harden: c.sys.Harden}, c.arguments(j, made))
	var d *capture.DamageError
	if err != nil && !errors.As(err, &d) || errors.As(err, new(exit.Interrupted)) {
		return err
	}
	if _, missing := os.Stat(made); missing != nil {
		return errors.Join(err, missing)
	}
	if d != nil {
		j.damaged = d
	}
	after, err := fileState(j.capture)
	if err != nil {
		return err
	}
	if after == before {
		j.result, err = c.cache.add(key, j.table, made, j.capture, d)
		return err
	}
	j.result = filepath.Join(c.temp, "growing-"+key+"."+j.table+".parquet")
	return os.Rename(made, j.result)
}
