package files

import "github.com/lshark/lshark/dissect/lnet"

// Pattern is how the ranges of reads or writes follow each other.
type Pattern uint8

// The patterns. Which one it is, is that of most ranges.
const (
	Unknown    Pattern = iota
	Sequential         // a range begins where another one ended, or at the beginning
	Strided            // ranges are at equal distances
	Random
	patterns
)

var patternNames = [patterns]string{"", "sequential", "strided", "random"}

// String returns the word in JSON, empty for Unknown.
func (p Pattern) String() string { return patternNames[p] }

// Accesses counts ranges by how they follow those before. Ranges of an RPC that
// touch count as one.
type Accesses struct {
	Sequential, Strided, Random int64
	Unaligned                   int64 // that begin within a page of 4096 bytes
}

// Add adds the ranges that another one counts.
func (a *Accesses) Add(b *Accesses) {
	a.Sequential += b.Sequential
	a.Strided += b.Strided
	a.Random += b.Random
	a.Unaligned += b.Unaligned
}

// Pattern returns what most ranges are.
func (a *Accesses) Pattern() Pattern {
	switch {
	case a.Sequential+a.Strided+a.Random == 0:
		return Unknown
	case a.Sequential >= a.Strided && a.Sequential >= a.Random:
		return Sequential
	case a.Strided >= a.Random:
		return Strided
	}
	return Random
}

// Transfer is what was read from a file, or written to it.
type Transfer struct {
	RPCs  int64
	Bytes int64 // that were moved
	Accesses
	sizes [4]sizeCount // of the RPCs
}

// sizeCount is how often an RPC asked for a number of bytes.
type sizeCount struct{ bytes, n int64 }

// TypicalSize returns the number of bytes that most RPCs ask for; ok is false
// without any.
func (t *Transfer) TypicalSize() (bytes int64, ok bool) {
	var most sizeCount
	for _, s := range t.sizes {
		if s.n > most.n || s.n == most.n && s.bytes > most.bytes {
			most = s
		}
	}
	return most.bytes, most.n > 0
}

// addSize counts the size of RPCs. When there are more sizes than it can keep, those
// that are rare are forgotten first.
func (t *Transfer) addSize(bytes, n int64) {
	if n == 0 {
		return
	}
	free := -1
	for i := range t.sizes {
		switch s := &t.sizes[i]; {
		case s.n > 0 && s.bytes == bytes:
			s.n += n
			return
		case s.n == 0:
			free = i
		}
	}
	if free >= 0 {
		t.sizes[free] = sizeCount{bytes, n}
		return
	}
	for i := range t.sizes {
		t.sizes[i].n = max(0, t.sizes[i].n-n)
	}
}

func (t *Transfer) add(o *Transfer) {
	t.RPCs += o.RPCs
	t.Bytes += o.Bytes
	t.Accesses.Add(&o.Accesses)
	for _, s := range o.sizes {
		t.addSize(s.bytes, s.n)
	}
}

// accessRange is a range of an object.
type accessRange struct{ from, to uint64 }

// stream is the last ranges of an object that a client read or wrote. Clients send
// several RPCs at once, and processes read several parts of a file at once, so a
// range may follow any of them.
type stream struct {
	client lnet.NID
	write  bool
	n      int // ranges there were
	recent [8]accessRange
	delta  uint64 // between the starts of the last two, modulo 1<<64
}

// maxStreams streams of an object are kept; further clients share the last one.
const maxStreams = 4

func (s *stream) add(a *Accesses, r accessRange) {
	const page = 4096
	if r.from%page != 0 {
		a.Unaligned++
	}
	if s.n == 0 {
		if r.from == 0 {
			a.Sequential++
		}
	} else {
		delta := r.from - s.recent[(s.n-1)%len(s.recent)].from
		switch {
		case r.from == 0, s.follows(r): // from the beginning again, or going on
			a.Sequential++
		case delta == s.delta && delta != 0:
			a.Strided++
		default:
			a.Random++
		}
		s.delta = delta
	}
	s.recent[s.n%len(s.recent)] = r
	s.n++
}

// follows reports whether a range begins where a recent one ended, or ends where
// one began: it was overtaken.
func (s *stream) follows(r accessRange) bool {
	for i := range min(s.n, len(s.recent)) {
		if o := &s.recent[i]; o.to == r.from || o.from == r.to {
			return true
		}
	}
	return false
}
