package flags

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/parquet"
	"github.com/lshark/lshark/render/parquet/rows"
	"github.com/lshark/lshark/render/records"
)

// ParquetForm is the output form of Parquet files.
const ParquetForm = "parquet"

// FlushPolicy returns when what is written is flushed.
func (j *Job) FlushPolicy() iostreams.FlushPolicy {
	switch {
	case j.toFile():
		return iostreams.FlushWhenFull
	case j.Sys.OutTTY:
		return iostreams.FlushEachWrite
	}
	return j.In.FlushPolicy()
}

func (j *Job) toFile() bool { return j.Output != "" && j.Output != "-" }

// MessageTable returns the keys of messages in Parquet files: those of every message,
// and the fields of the wire that need no tree.
func MessageTable() *records.Table[*records.Message] {
	return records.Messages.With(filter.ProbeKeys()...)
}

// ParquetFunc returns a func that adds a record to the Parquet file that Out writes. It
// appends nothing to the text; its errors are those of Out. The file is complete when Out
// is closed.
func ParquetFunc[R any](x *Reading, keys *records.Table[R]) func(dst []byte, r R) []byte {
	sensor := x.job.sensor
	if sensor == "" && x.In.Live() {
		sensor, _ = os.Hostname() // without it the column is empty
	}
	source := ""
	if files := x.In.Files(); len(files) == 1 {
		source = x.job.source(files[0]) // before it is read: what is added meanwhile may be missing
	}
	file := rows.NewWriter(x.Out.Stream(), keys, rows.Options{Release: Version(), Sensor: sensor, Capture: x.In.Name()})
	x.Out.Finish(func() error {
		damage := damageOf(x.err)
		if source != "" && (x.err == nil || damage != nil) {
			file.SetMetadata(rows.SourceKey, source)
		}
		if damage != nil {
			text, _ := json.Marshal(damage) // of texts and a number
			file.SetMetadata(rows.DamageKey, string(text))
		}
		return file.Close()
	})
	return func(dst []byte, r R) []byte {
		_ = file.Append(r) // file.Close returns the error again
		return dst
	}
}

// damageOf returns the damage of a capture, nil if err has another error, too.
func damageOf(err error) *capture.DamageError {
	damage, ok := errors.AsType[*capture.DamageError](err)
	if !ok || err.Error() != damage.Error() {
		return nil
	}
	return damage
}

// source identifies a capture and the flags that decide what is made of it; empty
// when the capture, or a file that a flag names, is no regular file.
func (j *Job) source(path string) string {
	state, ok := FileState(path)
	text := fmt.Sprintf("lshark %s; %s", Version(), state)
	j.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed || slices.Contains([]string{"read", "output", "jobs", "quiet", "verbose"}, f.Name) {
			return
		}
		text += fmt.Sprintf("; --%s %s", f.Name, f.Value)
		if files, isList := f.Value.(pflag.SliceValue); isList && f.Name == "names" {
			for _, path := range files.GetSlice() {
				state, regular := FileState(path)
				text, ok = text+"; "+state, ok && regular
			}
		}
	})
	if !ok {
		return ""
	}
	return text
}

// FileState describes the content of a file without reading it. ok is false when it is no
// regular file.
func FileState(path string) (state string, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	return fmt.Sprintf("%s, %d bytes, %d", filepath.Base(path), info.Size(), info.ModTime().UnixNano()), true
}

// perCapture reports whether each capture gets a file of its own: -o names a folder.
func (j *Job) perCapture() bool {
	if strings.HasSuffix(j.Output, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(j.Output)
	return err == nil && info.IsDir()
}

// endings are the endings of captures that their results do not have.
var endings = [...]string{".gz", ".zst", ".lz4", ".pcapng", ".pcap", ".cap"}

func (j *Job) result(path string) string {
	name := filepath.Base(path)
	for _, ending := range endings {
		name = strings.TrimSuffix(name, ending)
	}
	form := j.Form.Value
	if !slices.Contains([]string{ParquetForm, "json", "svg", "tsv", "html"}, form) {
		form = "txt"
	}
	records := j.cmd.Name()
	if !j.cmd.HasParent() {
		records = "messages"
	}
	return filepath.Join(j.Output, name+"."+records+"."+form)
}

// each runs a job, or the jobs of all captures when -o names a folder, several at a time.
func (j Job) each(run func(Job) error) error {
	if j.sensor != "" && j.Form.Value != ParquetForm {
		return exit.Usagef("--sensor needs -T parquet")
	}
	if j.toFile() {
		j.Sys = j.Sys.ToFile()
	}
	switch {
	case j.perCapture():
	case j.Sys.KeepComplete:
		return j.once(run)
	default:
		return run(j)
	}
	captures := slices.Concat(j.Input.Read, j.Args)
	if len(captures) == 0 || slices.Contains(captures, "-") {
		return exit.Usagef("-o %s: a folder needs capture files with names", j.Output)
	}
	if f := j.cmd.Flags().Lookup("write"); f != nil && f.Changed {
		return exit.Usagef("-w needs a file for -o, not a folder")
	}
	var results []string
	var sizes []int64
	var total int64
	for _, path := range captures {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		sizes = append(sizes, info.Size())
		total += info.Size()
		result := j.result(path)
		if other := slices.Index(results, result); other >= 0 {
			return exit.Usagef("%s and %s would both be written to %s", captures[other], path, result)
		}
		results = append(results, result)
	}
	if err := os.MkdirAll(j.Output, 0o777); err != nil {
		return err
	}
	var read iostreams.ReadBytes
	if !j.Input.Quiet {
		defer j.Sys.NewProgress(func() (int64, int64) { return read.Sum(), total }).Stop()
	}
	j.Sys.Reading = read.Reading
	j.Input.Read = nil
	var interrupted atomic.Bool
	errs := make([]error, len(captures))
	Parallel(len(captures), j.Input.Cores, func(i int) {
		defer read.Add(sizes[i])
		if interrupted.Load() {
			return
		}
		one := j
		one.Sys = j.Sys.With(func(s *iostreams.IO) { s.About = filepath.Base(captures[i]) })
		one.Output, one.Args = results[i], captures[i:i+1]
		if errs[i] = one.once(run); errors.As(errs[i], new(exit.Interrupted)) {
			interrupted.Store(true)
		}
	})
	return errors.Join(errs...)
}

// Parallel calls do for the numbers from 0 to n-1, at least one and at most atOnce at a time.
func Parallel(n, atOnce int, do func(i int)) {
	var wait sync.WaitGroup
	free := make(chan struct{}, max(1, atOnce))
	for i := range n {
		free <- struct{}{}
		wait.Go(func() {
			do(i)
			<-free
		})
	}
	wait.Wait()
}

// once runs a job for one capture, whose result is complete or not there. A Parquet file that an earlier
// run has completed from the same capture with the same flags is not written again.
func (j Job) once(run func(Job) error) error {
	if j.Form.Value == ParquetForm {
		if damaged, ok := j.isComplete(j.Output, j.Args[0]); ok {
			return damaged
		}
	}
	err := run(j)
	if partial := (exit.Interrupted{}); errors.As(err, &partial) {
		partial.Result = "its result is not kept" // so that it is made the next time
		err = partial
		if failed := os.Remove(j.Output); !errors.Is(failed, os.ErrNotExist) {
			err = errors.Join(partial, failed)
		}
	}
	return err
}

// isComplete reports whether a Parquet file was made from a capture as it is now, with
// these flags, and returns the damage of the capture.
func (j *Job) isComplete(result, path string) (damaged error, ok bool) {
	source, err := parquet.ReadMetadata(result, rows.SourceKey)
	if err != nil || source == "" || source != j.source(path) {
		return nil, false
	}
	text, err := parquet.ReadMetadata(result, rows.DamageKey)
	if err != nil || text == "" {
		return nil, err == nil
	}
	damage := new(capture.DamageError)
	err = json.Unmarshal([]byte(text), damage)
	damage.File = path // the capture may have had another name
	return damage, err == nil
}
