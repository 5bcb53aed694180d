// Package clocks compares the clocks of several captures by the TCP segments and InfiniBand packets that two of
// them have in common.
package clocks

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/parallel"
)

const (
	maxFrames    = 20000            // frames read of each file, at most
	maxTotal     = 1 << 20          // frames read of all files together, at most
	maxSightings = 8                // the first ones of a segment are kept
	longestDelay = time.Second      // between two capture points, at most
	maxNegative  = time.Millisecond // a delay may be as far below zero, because clocks drift
)

// Clock is the clock of a capture, compared with that of another one.
type Clock struct {
	Offset time.Duration // to add to the times of the capture
	Of     string        // path of the capture with whose times they then agree
}

// Compare returns the clocks of captures by their paths. Each is compared with the first one that has segments in
// common with it; captures with the same Clock.Of can be compared, and one that has nothing in common with another
// has no Clock. The notes are lines of text, one for each pair of files that was compared. Only regular files are
// read, and only their first frames: the more files, the fewer frames of each. Damage is ignored here; the
// capture.Reader reports it.
func Compare(paths []string) (map[string]Clock, []string, error) {
	clocks := map[string]Clock{}
	var notes []string
	s := newSightings()
	frames := min(maxFrames, maxTotal/max(len(paths), 1))
	read := func(i int) *fileSegments { return firstSegments(paths[i], frames) }
	for i, list := range parallel.InOrder(len(paths), read) {
		if list.err != nil {
			return nil, nil, list.err
		}
		path, shared := paths[i], s.add(int32(i), list)
		list.release()
		for _, j := range slices.Sorted(maps.Keys(shared)) {
			skew, delay, err := compare(shared[j])
			if errors.Is(err, errNothingShared) {
				continue
			}
			if err != nil {
				notes = append(notes, fmt.Sprintf("%s and %s: %v", capture.Printable(paths[j]), capture.Printable(path), err))
				continue
			}
			other, compared := clocks[paths[j]]
			if !compared {
				other = Clock{Of: paths[j]}
				clocks[paths[j]] = other
			}
			clocks[path] = Clock{other.Offset - skew, other.Of}
			notes = append(notes, fmt.Sprintf("%s: its clock is %v ahead of that of %s (network delay %v)",
				capture.Printable(path), skew, capture.Printable(paths[j]), delay))
			break
		}
	}
	return clocks, notes, nil
}

// fileSegments are the segments in the first frames of a file.
type fileSegments struct {
	segmentTable // with the index of the flow in flows
	flows        []link.Flow
	times        pages[int64] // of each segment; sentAgain of one that was sent more than once
	err          error
}

const sentAgain = math.MinInt64

// segmentLists are those of files that were compared. Of hundreds of files each takes one.
var segmentLists = sync.Pool{New: func() any { return new(fileSegments) }}

func (l *fileSegments) release() {
	l.clear()
	l.flows, l.times.n, l.err = l.flows[:0], 0, nil
	segmentLists.Put(l)
}

// firstSegments returns the segments in the first frames of a file, in a list to be released.
func firstSegments(path string, frames int) *fileSegments {
	list := segmentLists.Get().(*fileSegments)
	if info, err := os.Stat(path); path == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return list // a pipe
	}
	r, err := capture.Open([]string{path}, capture.Options{})
	if err != nil {
		list.err = err
		return list
	}
	defer r.Close()
	numbers := map[link.Flow]int32{}
	var last link.Flow
	number := int32(-1)
	var d link.Decoder
	var f capture.Frame
	for range frames {
		if r.Next(&f) != nil {
			break
		}
		flow, s, ok := segmentOf(&d, &f)
		if !ok {
			continue
		}
		if number < 0 || flow != last {
			var known bool
			if number, known = numbers[flow]; !known {
				number = int32(len(list.flows))
				numbers[flow] = number
				list.flows = append(list.flows, flow)
			}
			last = flow
		}
		s.flow = number
		if i, isNew := list.place(s); isNew {
			list.times.add(f.Time)
		} else {
			*list.times.at(i) = sentAgain
		}
	}
	return list
}

// segmentOf returns the TCP segment of a frame, or its InfiniBand packet, and reports whether there is one with payload.
// Packets have the queue pair in place of the size, and the opcode is part of their number.
func segmentOf(d *link.Decoder, f *capture.Frame) (flow link.Flow, s segment, ok bool) {
	switch d.Decode(f) {
	case link.TCP:
		g := &d.Segment
		return g.Flow, segment{seq: g.Seq, size: uint32(g.Size)}, g.Size > 0
	case link.InfiniBand:
		p := &d.Packet
		opcode := p.BTH.Opcode
		s = segment{seq: uint32(opcode)<<24 | p.BTH.PSN, size: p.BTH.DestQP}
		ok = opcode.Service() == ib.RC && opcode.Operation() != ib.Acknowledge && len(p.Headers)+p.Size > ib.BTHSize
		return link.Flow{Src: p.Src, Dst: p.Dst}, s, ok
	}
	return flow, s, false
}

// sightings lists for each segment the files that have it, and its times there.
// So each of hundreds of files is compared only with those that have segments in
// common with it.
type sightings struct {
	flows map[link.Flow]int32 // number of each flow; the opposite direction differs in the lowest bit
	segmentTable
	last pages[int32] // the latest sighting of each segment, by its place in the table
	all  pages[sighting]
}

func newSightings() *sightings { return &sightings{flows: map[link.Flow]int32{}} }

// sighting is a segment in a file.
type sighting struct {
	time    int64
	file    int32
	earlier int32 // index of the previous sighting of the same segment, or -1
}

func (s *sightings) number(f link.Flow) int32 {
	n, known := s.flows[f]
	if !known {
		n = int32(len(s.flows)+1) &^ 1
		s.flows[f.Reverse()] = n + 1
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

// compare returns how far the clock of b, the second file, is ahead of
// that of a, the first, and how long a segment travels between them. The times
// in b are later by skew + delay for what the node of a sends, and by skew -
// delay for the opposite direction. The fastest segment of each direction had
// the least additional delay.
func compare(flows map[int32]spread) (skew, delay time.Duration, err error) {
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
