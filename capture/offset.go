package capture

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"time"
)

const (
	estimateFrames = 20000            // looked at in each file
	estimateTotal  = 1 << 20          // looked at in all files together
	maxSightings   = 8                // kept of a segment, the first ones
	longestDelay   = time.Second      // believed between two capture points
	backwards      = time.Millisecond // by which a segment may seem to arrive before it was sent: clocks drift
)

// EstimateOffsets compares the clocks of several captures by the TCP segments
// that two of them saw. The result is fit for Options.Offset: what to add to
// the times of a file so that they agree with the first file it shares
// segments with. A file that shares none is not in it. The notes say in a line
// each what was found. Only files that can be read twice are looked at, and
// only their first frames, the fewer of each the more files there are; damage
// is left for the real reading to report.
func EstimateOffsets(paths []string) (map[string]time.Duration, []string, error) {
	offsets := map[string]time.Duration{}
	var notes []string
	s := newSightings()
	frames := min(estimateFrames, estimateTotal/max(len(paths), 1))
	for i, path := range paths {
		list, err := s.firstSegments(path, frames)
		if err != nil {
			return nil, nil, err
		}
		shared := s.add(int32(i), list)
		for _, j := range slices.Sorted(maps.Keys(shared)) {
			skew, delay, err := compareClocks(shared[j])
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

// sightings tells which files saw a segment, and when. Of hundreds of files
// each is compared only with those that it shares segments with.
type sightings struct {
	flows map[flow]int32 // a number for each; that of the way back differs in the lowest bit
	pairs int32
	last  map[flowSegment]int32
	all   []sighting
}

func newSightings() *sightings {
	return &sightings{flows: map[flow]int32{}, last: map[flowSegment]int32{}}
}

// flowSegment is a segment of a numbered flow.
type flowSegment struct {
	flow      int32
	seq, size uint32
}

// sighting is a segment in a file.
type sighting struct {
	time    int64
	file    int32
	earlier int32 // the sighting of the same segment before this one, -1: none
}

// firstSegments maps the segments among the first frames of a file to their
// times, but for those that were sent more than once.
func (s *sightings) firstSegments(path string, frames int) (map[flowSegment]int64, error) {
	if info, err := os.Stat(path); path == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil // a pipe
	}
	r, err := Open([]string{path}, Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	const sentAgain = math.MinInt64
	list := map[flowSegment]int64{}
	var f Frame
	for range frames {
		if r.Next(&f) != nil {
			break
		}
		if seg, ok := segmentOf(&f); ok {
			key := flowSegment{s.number(seg.flow), seg.seq, seg.size}
			if _, again := list[key]; again {
				list[key] = sentAgain
			} else {
				list[key] = f.Time
			}
		}
	}
	for key, t := range list {
		if t == sentAgain {
			delete(list, key)
		}
	}
	return list, nil
}

func (s *sightings) number(f flow) int32 {
	n, known := s.flows[f]
	if !known {
		n = 2 * s.pairs
		s.pairs++
		s.flows[f.back()] = n + 1
		s.flows[f] = n
	}
	return n
}

// add files the segments of a file. It returns by how much their times are
// later than in each of the earlier files that saw them too.
func (s *sightings) add(file int32, list map[flowSegment]int64) map[int32]map[int32]spread {
	shared := map[int32]map[int32]spread{} // by file, by flow
	for key, t := range list {
		last, seen := s.last[key]
		if !seen {
			last = -1
		}
		n := 0
		for i := last; i >= 0; i = s.all[i].earlier {
			n++
			with := shared[s.all[i].file]
			if with == nil {
				with = map[int32]spread{}
				shared[s.all[i].file] = with
			}
			widen(with, key.flow, t-s.all[i].time)
		}
		if n < maxSightings {
			s.last[key] = int32(len(s.all))
			s.all = append(s.all, sighting{t, file, last})
		}
	}
	return shared
}

// spread is by how much the second file's times are later for one direction of
// a connection, in nanoseconds.
type spread struct{ least, most int64 }

func widen(spreads map[int32]spread, flow int32, d int64) {
	w, known := spreads[flow]
	if !known {
		w = spread{d, d}
	}
	spreads[flow] = spread{min(w.least, d), max(w.most, d)}
}

var (
	errNothingShared = errors.New("they share no TCP segments of both directions")
	errNoSense       = errors.New("the times of the segments they share make no sense; the clocks are taken as equal")
)

// compareClocks returns how far the clock of b, the second file, is ahead of
// that of a, the first, and how long a segment travels between them. For what
// a's node sends, b's time is later by skew + delay; for the way back by skew -
// delay. The fastest segment of each direction was held up least.
func compareClocks(flows map[int32]spread) (skew, delay time.Duration, err error) {
	found := false
	there, back := int64(math.MaxInt64), int64(math.MinInt64)
	for f, w := range flows {
		v, both := flows[f^1]
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
