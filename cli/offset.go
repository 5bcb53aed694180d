package cli

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/capture"
)

// offsets says what to add to the times of each file: as the flag says, for
// the others as the TCP segments say that two of the files have.
func (in *input) offsets() (map[string]time.Duration, error) {
	given := map[string]time.Duration{}
	for _, o := range in.offset {
		file, secs, ok := cutLast(o, "=")
		v, err := strconv.ParseFloat(secs, 64)
		if !ok || err != nil || v != v || v > 1e9 || v < -1e9 {
			return nil, usagef("--offset %s: must be FILE=SECS", o)
		}
		if !in.has(file) {
			return nil, usagef("--offset %s: %s is not among the files", o, file)
		}
		given[file] = time.Duration(v * float64(time.Second))
	}
	if len(in.files) < 2 {
		return given, nil
	}
	found, notes, err := capture.EstimateOffsets(in.files)
	if err != nil {
		return nil, err
	}
	if in.verbose {
		for _, n := range notes {
			in.sys.say("%s", n)
		}
	}
	maps.Copy(found, given)
	return found, nil
}

func (in *input) has(file string) bool {
	for _, f := range in.files {
		if f == file {
			return true
		}
	}
	return false
}

// cutLast cuts at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
