package capture

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	estimateFrames = 20000            // frames read of each file, at most
	estimateTotal  = 1 << 20          // frames read of all files together, at most
	maxSightings   = 8                // the first ones of a segment are kept
	longestDelay   = time.Second      // between two capture points, at most
	maxNegative    = time.Millisecond // a delay may be as far below zero, because clocks drift
)

// EstimateOffsets compares the clocks of several captures by the TCP segments and
// packets of RoCEv2 that two of them have in common. It returns the offsets for Options.Offset:
// what to add to the times of a file so that they agree with those of the first
// file that has segments in common with it. Files without such segments get no
// offset. The notes are lines of text, one for each pair of files that was
// compared. Only regular files are read, and only their first frames: the more
// files, the fewer frames of each. Damage is ignored here; the Reader reports it.
func EstimateOffsets(paths []string) (map[string]time.Duration, []string, error) {
	clocks, notes, err := CompareClocks(paths)
	if err != nil {
		return nil, nil, err
	}
	offsets := map[string]time.Duration{}
	for path, clock := range clocks {
		if clock.Of != path {
			offsets[path] = clock.Offset
		}
	}
	return offsets, notes, nil
}

// Clock is the clock of a capture, compared with that of another one.
type Clock struct {
	Offset time.Duration // to add to the times of the capture
	Of     string        // path of the capture with whose times they then agree
}

// CompareClocks returns the clocks of captures by their paths, in the way of EstimateOffsets. Captures with
// the same Clock.Of can be compared; one that has nothing in common with another has no
// Clock.
func CompareClocks(paths []string) (map[string]Clock, []string, error) {
	clocks := map[string]Clock{}
	var notes []string
	s := newSightings()
	frames := min(estimateFrames, estimateTotal/max(len(paths), 1))
	read := func(i int) *fileSegments { return firstSegments(paths[i], frames) }
	for i, list := range inOrder(len(paths), read) {
		if list.err != nil {
			return nil, nil, list.err
		}
		path, shared := paths[i], s.add(int32(i), list)
		list.release()
		for _, j := range slices.Sorted(maps.Keys(shared)) {
			skew, delay, err := compareClocks(shared[j])
			if errors.Is(err, errNothingShared) {
				continue
			}
			if err != nil {
				notes = append(notes, fmt.Sprintf("%s and %s: %v", printable(paths[j]), printable(path), err))
				continue
			}
			other, compared := clocks[paths[j]]
			if !compared {
				other = Clock{Of: paths[j]}
				clocks[paths[j]] = other
			}
			clocks[path] = Clock{other.Offset - skew, other.Of}
			notes = append(notes, fmt.Sprintf("%s: its clock is %v ahead of that of %s (network delay %v)",
				printable(path), skew, printable(paths[j]), delay))
			break
		}
	}
	return clocks, notes, nil
}

// sightings lists for each segment the files that have it, and its times there.
// So each of hundreds of files is compared only with those that have segments in
// common with it.
type sightings struct {
	flows map[flow]int32 // number of each flow; the opposite direction differs in the lowest bit
	pairs int32
	segmentTable
	last pages[int32] // the latest sighting of each segment, by its place in the table
	all  pages[sighting]
}

func newSightings() *sightings { return &sightings{flows: map[flow]int32{}} }

// sighting is a segment in a file.
type sighting struct {
	time    int64
	file    int32
	earlier int32 // index of the previous sighting of the same segment, or -1
}

// inOrder yields f(0) to f(n-1), of which it computes as many at a time as there are cores.
func inOrder[T any](n int, f func(int) T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		cores := runtime.GOMAXPROCS(0)
		results := make([]chan T, n)
		for i := range n + cores {
			if done := i - cores; done >= 0 && done < n && !yield(done, <-results[done]) {
				return
			}
			if i < n {
				results[i] = make(chan T, 1)
				go func() { results[i] <- f(i) }()
			}
		}
	}
}

// fileSegments are the segments in the first frames of a file.
type fileSegments struct {
	segmentTable // with the index of the flow in flows
	flows        []flow
	times        pages[int64] // of each segment; sentAgain of one that was sent more than once
	err          error
}

const sentAgain = math.MinInt64

// segmentLists are those of files that were compared. Of hundreds of files each takes one.
var segmentLists = sync.Pool{New: func() any { return new(fileSegments) }}

func (l *fileSegments) release() {
	l.clear()
	l.flows, l.times.n = l.flows[:0], 0
	segmentLists.Put(l)
}

// firstSegments returns the segments in the first frames of a file, in a list to be released.
func firstSegments(path string, frames int) *fileSegments {
	list := segmentLists.Get().(*fileSegments)
	if info, err := os.Stat(path); path == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return list // a pipe
	}
	r, err := Open([]string{path}, Options{})
	if err != nil {
		list.err = err
		return list
	}
	defer r.Close()
	numbers := map[flow]int32{}
	var f Frame
	var last segment
	number := int32(-1)
	for range frames {
		if r.Next(&f) != nil {
			break
		}
		seg, ok := segmentOf(&f)
		if !ok {
			continue
		}
		if number < 0 || seg.flow != last.flow {
			var known bool
			if number, known = numbers[seg.flow]; !known {
				number = int32(len(list.flows))
				numbers[seg.flow] = number
				list.flows = append(list.flows, seg.flow)
			}
		}
		last = seg
		if i, isNew := list.place(flowSegment{number, seg.seq, seg.size}); isNew {
			list.times.add(f.Time)
		} else {
			*list.times.at(i) = sentAgain
		}
	}
	r.files[0].releaseInput()
	return list
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

// add adds the segments of a file. It returns by how much their times are later
// than in each of the earlier files that have them too, by file and flow.
func (s *sightings) add(file int32, list *fileSegments) map[int32]map[int32]spread {
	shared := map[int32]map[int32]spread{} // by file, by flow
	numbers := make([]int32, len(list.flows))
	for i, f := range list.flows {
		numbers[i] = s.number(f)
	}
	for k := range int32(list.segments.n) {
		key, t := *list.segments.at(k), *list.times.at(k)
		if t == sentAgain {
			continue
		}
		key.flow = numbers[key.flow]
		place, isNew := s.place(key)
		if isNew {
			s.last.add(-1)
		}
		latest, n := s.last.at(place), 0
		for i := *latest; i >= 0; {
			earlier := s.all.at(i)
			n++
			with := shared[earlier.file]
			if with == nil {
				with = map[int32]spread{}
				shared[earlier.file] = with
			}
			widen(with, key.flow, t-earlier.time)
			i = earlier.earlier
		}
		if n < maxSightings {
			s.all.add(sighting{t, file, *latest})
			*latest = int32(s.all.n - 1)
		}
	}
	return shared
}

// spread is the range of the time differences of the segments of one flow: time
// in the second file less time in the first, in nanoseconds.
type spread struct{ least, most int64 }

// widen extends the spread of a flow to d.
func widen(spreads map[int32]spread, flow int32, d int64) {
	w, known := spreads[flow]
	if !known {
		w = spread{d, d}
	}
	spreads[flow] = spread{min(w.least, d), max(w.most, d)}
}

var (
	errNothingShared = errors.New("they share no TCP segments or RoCE packets of both directions")
	errInconsistent  = errors.New("the times of the segments they share are inconsistent; the clocks are assumed equal")
)

// compareClocks returns how far the clock of b, the second file, is ahead of
// that of a, the first, and how long a segment travels between them. The times
// in b are later by skew + delay for what the node of a sends, and by skew -
// delay for the opposite direction. The fastest segment of each direction had
// the least additional delay.
func compareClocks(flows map[int32]spread) (skew, delay time.Duration, err error) {
	found := false
	there, back := int64(math.MaxInt64), int64(math.MinInt64)
	for f, w := range flows {
		v, both := flows[f^1]
		// The flow with the greater differences is the one from a to b; v is
		// the opposite one.
		if both && w.least/2+w.most/2 >= v.least/2+v.most/2 {
			found = true
			there, back = min(there, w.least), max(back, v.most)
		}
	}
	if !found {
		return 0, 0, errNothingShared
	}
	delay = time.Duration(there/2 - back/2)
	if delay > longestDelay || delay < -maxNegative {
		return 0, 0, errInconsistent
	}
	return time.Duration(there/2 + back/2), max(delay, 0), nil
}
