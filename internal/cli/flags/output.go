package flags

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/parquet/rows"
	"github.com/lshark/lshark/render/records"
)

// ParquetForm is the output form of Parquet files.
const ParquetForm = "parquet"

// Output holds the flags for where results are written.
type Output struct {
	path   string // empty: standard output
	sensor string
	cmd    *cobra.Command
}

// Register defines the flags for a command.
func (o *Output) Register(cmd *cobra.Command, f *pflag.FlagSet) {
	o.cmd = cmd
	f.StringVarP(&o.path, "output", "o", "", "write to `FILE` instead of standard output; in a folder, a file for each capture")
	f.StringVar(&o.sensor, "sensor", "", "with -T parquet, `NAME` of the node that captured, for the column sensor; live, the name of this host by default")
}

func (o *Output) check(form string) error {
	switch {
	case o.sensor != "" && form != ParquetForm:
		return exit.Usagef("--sensor needs -T parquet")
	}
	return nil
}

// NewWriter returns the Writer of the results in a form.
func (o *Output) NewWriter(sys *scan.System, in *scan.Input, form string) (*iostreams.Writer, error) {
	if (o.path == "" || o.path == "-") && form == ParquetForm && sys.OutTTY {
		return nil, exit.Usagef("-T parquet: the output is a terminal; name a file with -o, or redirect it")
	}
	return in.NewWriter(sys, "-o", o.path)
}

// MessageTable returns the keys of messages in Parquet files: those of every message,
// and the fields of the wire that need no tree.
func MessageTable() *records.Table[*records.Message] {
	return records.Messages.With(filter.ProbeKeys()...)
}

// ParquetFunc returns a func that adds a record to the Parquet file that w writes. It
// appends nothing to the text for w; its errors are those of w. The file is complete when w
// is closed. pass reads the input.
func ParquetFunc[R any](o *Output, w *iostreams.Writer, keys *records.Table[R], in *scan.Input, pass *scan.Pass) func(dst []byte,
	r R) []byte {
	sensor := o.sensor
	if sensor == "" && in.Live() {
		sensor, _ = os.Hostname() // without it the column is empty
	}
	source := ""
	if files := in.Files(); len(files) == 1 {
		source = o.source(files[0]) // before it is read: what is added meanwhile may be missing
	}
	file := rows.NewWriter(w.Stream(), keys, rows.Options{Release: Version(), Sensor: sensor, Capture: in.Name()})
	w.Finish(func() error {
		if source != "" && pass.Captured().Damaged == "" {
			file.SetMetadata(rows.SourceKey, source)
		}
		return file.Close()
	})
	return func(dst []byte, r R) []byte {
		_ = file.Append(r) // file.Close returns the error again
		return dst
	}
}

// source identifies a capture and the flags that decide what is made of it; empty
// when the capture, or a file that a flag names, is no regular file.
func (o *Output) source(path string) string {
	state, ok := fileState(path)
	text := fmt.Sprintf("lshark %s; %s", Version(), state)
	o.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed || slices.Contains([]string{"read", "output", "jobs", "quiet", "verbose"}, f.Name) {
			return
		}
		text += fmt.Sprintf("; --%s %s", f.Name, f.Value)
		if files, isList := f.Value.(pflag.SliceValue); isList && f.Name == "names" {
			for _, path := range files.GetSlice() {
				state, regular := fileState(path)
				text, ok = text+"; "+state, ok && regular
			}
		}
	})
	if !ok {
		return ""
	}
	return text
}

// fileState describes the content of a file without reading it. ok is false when it is no
// regular file.
func fileState(path string) (state string, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	return fmt.Sprintf("%s, %d bytes, %d", filepath.Base(path), info.Size(), info.ModTime().UnixNano()), true
}

// perCapture reports whether each capture gets a file of its own: -o names a folder.
func (o *Output) perCapture() bool {
	if strings.HasSuffix(o.path, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(o.path)
	return err == nil && info.IsDir()
}

// endings are the endings of captures that their results do not have.
var endings = [...]string{".gz", ".zst", ".lz4", ".pcapng", ".pcap", ".cap"}

func (o *Output) result(capture, form string) string {
	name := filepath.Base(capture)
	for _, ending := range endings {
		name = strings.TrimSuffix(name, ending)
	}
	if form != ParquetForm && form != "json" {
		form = "txt"
	}
	records := o.cmd.Name()
	if !o.cmd.HasParent() {
		records = "messages"
	}
	return filepath.Join(o.path, name+"."+records+"."+form)
}

// Job is one run of a command that reads packets and writes to -o: with all captures, or with
// one of those for which -o names a folder.
type Job struct {
	Sys    *scan.System
	Input  scan.Flags
	View   View
	Output Output
	Args   []string
}

func (j *Job) job() *Job { return j }

// RunE returns the func of a command whose options embed a Job: it calls run with a copy of
// them, once for all captures, or for each when -o names a folder.
func RunE[C any, P interface {
	*C
	job() *Job
}](c P, run func(P) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		c.job().Args = args
		return c.job().each(func(j Job) error {
			one := *c
			*P(&one).job() = j
			return run(&one)
		})
	}
}

// each runs a job, or the jobs of all captures when -o names a folder, several at a time. It
// does not write Parquet files again that an earlier run has completed from the same captures
// with the same flags.
func (j Job) each(run func(Job) error) error {
	o, form := &j.Output, j.View.Form.Value
	if err := o.check(form); err != nil {
		return err
	}
	if o.path != "" && o.path != "-" {
		j.Sys = j.Sys.ToFile()
	}
	if !o.perCapture() {
		return run(j)
	}
	captures := slices.Concat(j.Input.Read, j.Args)
	if len(captures) == 0 || slices.Contains(captures, "-") {
		return exit.Usagef("-o %s: a folder needs capture files with names", o.path)
	}
	if f := o.cmd.Flags().Lookup("write"); f != nil && f.Changed {
		return exit.Usagef("-w needs a file for -o, not a folder")
	}
	results, total, err := o.results(captures, form)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.path, 0o777); err != nil {
		return err
	}
	var read iostreams.ReadBytes
	if !j.Input.Quiet {
		defer j.Sys.NewProgress(func() (int64, int64) { return read.Sum(), total }).Stop()
	}
	j.Sys.Reading = read.Reading
	j.Input.Read = nil
	var interrupted atomic.Bool
	return eachCapture(captures, max(j.Input.Cores, 1), func(i int) error {
		if info, err := os.Stat(captures[i]); err == nil {
			defer read.Add(info.Size())
		}
		if interrupted.Load() || form == ParquetForm && o.isComplete(results[i], captures[i]) {
			return nil
		}
		one := j
		one.Sys, one.Output.path, one.Args = j.Sys.About(filepath.Base(captures[i])), results[i], captures[i:i+1]
		err := run(one)
		if partial := (exit.Interrupted{}); errors.As(err, &partial) {
			interrupted.Store(true)
			partial.Result = "its result is not kept" // so that it is made the next time
			if err = os.Remove(results[i]); errors.Is(err, os.ErrNotExist) {
				err = nil
			}
			err = errors.Join(partial, err)
		}
		return err
	})
}

// results returns the files for the results of captures, which must be there and have
// different names, and the size of the captures.
func (o *Output) results(captures []string, form string) (results []string, total int64, err error) {
	for i, capture := range captures {
		info, err := os.Stat(capture)
		if err != nil {
			return nil, 0, err
		}
		total += info.Size()
		result := o.result(capture, form)
		if other := slices.Index(results, result); other >= 0 {
			return nil, 0, exit.Usagef("%s and %s would both be written to %s", captures[other], captures[i], result)
		}
		results = append(results, result)
	}
	return results, total, nil
}

// eachCapture calls convert with the index of every capture, for n at a time.
func eachCapture(captures []string, n int, convert func(i int) error) error {
	errs := make([]error, len(captures))
	Parallel(len(captures), n, func(i, _ int) { errs[i] = convert(i) })
	for _, err := range errs {
		if errors.As(err, new(exit.UsageError)) {
			return err // all others have the same
		}
	}
	return errors.Join(errs...)
}

// Parallel calls do for the numbers from 0 to n-1, by several workers at a time, which are
// numbered from 0 as well.
func Parallel(n, workers int, do func(i, worker int)) {
	next := make(chan int)
	var wait sync.WaitGroup
	for worker := range min(workers, n) {
		wait.Go(func() {
			for i := range next {
				do(i, worker)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

// isComplete reports whether a Parquet file was made from a capture as it is now, with
// these flags.
func (o *Output) isComplete(result, capture string) bool {
	source, err := rows.Source(result)
	return err == nil && source != "" && source == o.source(capture)
}
