package capture

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"
)

const (
	estimateFrames = 20000            // looked at in each file
	longestDelay   = time.Second      // believed between two capture points
	backwards      = time.Millisecond // by which a segment may seem to arrive before it was sent: clocks drift
)

// EstimateOffsets compares the clocks of several captures by the TCP segments
// that two of them saw. The result is fit for Options.Offset: what to add to
// the times of a file so that they agree with the first file it shares
// segments with. A file that shares none is not in it. The notes say in a line
// each what was found. Only files that can be read twice are looked at, and
// only their first frames; damage is left for the real reading to report.
func EstimateOffsets(paths []string) (map[string]time.Duration, []string, error) {
	offsets := map[string]time.Duration{}
	var notes []string
	seen := make([]map[segment]int64, len(paths))
	for i, path := range paths {
		var err error
		if seen[i], err = firstSegments(path); err != nil {
			return nil, nil, err
		}
		for j := range i {
			skew, delay, err := compareClocks(seen[j], seen[i])
			if errors.Is(err, errNothingShared) {
				continue
			}
			if err != nil {
				notes = append(notes, fmt.Sprintf("%s and %s: %v", printable(paths[j]), printable(path), err))
				continue
			}
			offsets[path] = offsets[paths[j]] - skew
			notes = append(notes, fmt.Sprintf("%s: its clock is %v ahead of that of %s (the way between them takes %v)",
				printable(path), skew, printable(paths[j]), delay))
			break
		}
	}
	return offsets, notes, nil
}

// firstSegments maps the segments of a file to their times, but for those that
// were sent more than once.
func firstSegments(path string) (map[segment]int64, error) {
	if info, err := os.Stat(path); path == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil // a pipe
	}
	r, err := Open([]string{path}, Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	const sentAgain = math.MinInt64
	list := map[segment]int64{}
	var f Frame
	for range estimateFrames {
		if r.Next(&f) != nil {
			break
		}
		if s, ok := segmentOf(&f); ok {
			if _, again := list[s]; again {
				list[s] = sentAgain
			} else {
				list[s] = f.Time
			}
		}
	}
	for s, t := range list {
		if t == sentAgain {
			delete(list, s)
		}
	}
	return list, nil
}

// spread is by how much the second file's times are later for one direction of
// a connection, in nanoseconds.
type spread struct{ least, most int64 }

var (
	errNothingShared = errors.New("they share no TCP segments of both directions")
	errNoSense       = errors.New("the times of the segments they share make no sense; the clocks are taken as equal")
)

// compareClocks returns how far b's clock is ahead of a's, and how long a
// segment travels between them. For what a's node sends, b's time is later by
// skew + delay; for the way back by skew - delay. The fastest segment of each
// direction was held up least.
func compareClocks(a, b map[segment]int64) (skew, delay time.Duration, err error) {
	flows := map[flow]spread{}
	for s, ta := range a {
		tb, both := b[s]
		if !both {
			continue
		}
		d := tb - ta
		w, known := flows[s.flow]
		if !known {
			w = spread{d, d}
		}
		flows[s.flow] = spread{min(w.least, d), max(w.most, d)}
	}
	found := false
	there, back := int64(math.MaxInt64), int64(math.MinInt64)
	for f, w := range flows {
		v, both := flows[f.back()]
		// The direction whose differences are greater leads from a to b;
		// the other one of the pair is found from here as well.
		if both && w.least/2+w.most/2 >= v.least/2+v.most/2 {
			found = true
			there, back = min(there, w.least), max(back, v.most)
		}
	}
	if !found {
		return 0, 0, errNothingShared
	}
	delay = time.Duration(there/2 - back/2)
	if delay > longestDelay || delay < -backwards {
		return 0, 0, errNoSense
	}
	return time.Duration(there/2 + back/2), max(delay, 0), nil
}
