package anonymize

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/anonymize/values"
)

const (
	minOriginal = 4  // bytes of an original that is searched
	byChance    = 12 // originals of fewer bytes may appear in a replacement by chance
)

// Form is how a value is written.
type Form string

// The forms.
const (
	Text     Form = "text"
	Binary   Form = "binary"   // as in headers
	Reversed Form = "reversed" // as in binary, the last byte first
)

// Found is an original value in a rewritten capture.
type Found struct {
	Class    values.Class `json:"class"`
	Original string       `json:"original"` // as text
	Form     Form         `json:"form"`     // in which it was found
	Count    int64        `json:"count"`    // of places
	Frame    int64        `json:"frame"`    // of the first place: the number of the frame
	Off      int          `json:"offset"`   // and the offset in it
}

// CheckResult is what Check found.
type CheckResult struct {
	Frames    int64   `json:"frames"`
	Originals int     `json:"originals"` // values that were searched
	Found     []Found `json:"found"`     // in the order of their first places

	// Coincidences are places where a short original appears, but the original capture has
	// something else there: it is a part of the replacement of another value.
	Coincidences int64 `json:"coincidences"`

	// Different describes the first difference in number, times or lengths of frames, which
	// shows that result was not made from this original. Empty if there is no difference.
	Different string `json:"different,omitempty"`
}

// Clean reports whether nothing was found.
func (r *CheckResult) Clean() bool { return len(r.Found) == 0 && r.Different == "" }

// Check searches the frames of result for the names, addresses and UUIDs of the original
// capture, and compares the number, times and lengths of frames. It reads the original
// twice: each call of open returns a new reader of it. When a capture is damaged, Check returns
// both the error and the result for the frames before the damage.
func Check(ctx context.Context, open func() (*capture.Reader, error), result *capture.Reader, o Options) (*CheckResult, error) {
	original, err := open()
	if err != nil {
		return nil, err
	}
	o.Write = func(*capture.Frame) error { return nil }
	a := New(o)
	err = a.read(ctx, original)
	damage := errors.As(err, new(*capture.DamageError))
	if err = errors.Join(err, original.Close()); err != nil && !damage {
		return nil, err
	}
	if err := a.Close(); err != nil {
		return nil, err
	}
	s := newSearch(a.values)
	if original, err = open(); err != nil {
		return nil, err
	}
	defer original.Close()
	return s.compare(ctx, original, result)
}

func (s *search) compare(ctx context.Context, original, result *capture.Reader) (*CheckResult, error) {
	r := &CheckResult{Originals: s.originals, Found: []Found{}}
	var before, after capture.Frame
	for ctx.Err() == nil {
		err, other := original.Next(&before), result.Next(&after)
		ended := err == io.EOF || errors.As(err, new(*capture.DamageError))
		switch {
		case ended && other == io.EOF:
			if err == io.EOF {
				err = nil
			}
			return r, err
		case err != nil && !ended:
			return r, err
		case other != nil && other != io.EOF:
			return r, other
		case ended:
			r.Different = fmt.Sprintf("the result has more than the %d frames of the original", r.Frames)
			return r, nil
		case other == io.EOF:
			r.Different = fmt.Sprintf("the result has only %d frames, the original has more", r.Frames)
			return r, nil
		}
		r.Frames++
		if before.Time != after.Time || before.Len != after.Len || len(before.Data) != len(after.Data) {
			r.Different = fmt.Sprintf("frame %d differs in its time or length", r.Frames)
			return r, nil
		}
		s.frame(r, &before, &after)
	}
	return r, ctx.Err()
}

// search finds originals in frames.
type search struct {
	values    *values.Mapper
	patterns  map[uint32][]pattern // by their first four bytes
	seen      [1 << 16 / 64]uint64 // bits: the first two bytes of patterns
	originals int
}

// pattern is what an original looks like.
type pattern struct {
	bytes []byte
	of    *values.Mapping
	form  Form
	found int // index in CheckResult.Found, from 1; 0 while it was not found
}

func newSearch(m *values.Mapper) *search {
	s := &search{values: m, patterns: make(map[uint32][]pattern)}
	m.Each(func(v *values.Mapping) {
		if v.Original != v.Replacement && s.add(v) {
			s.originals++
		}
	})
	return s
}

// add adds the patterns of a value: its text, and the bytes that it stands for, for IPv4 also reversed as
// in NIDs. It reports whether there are any.
func (s *search) add(v *values.Mapping) bool {
	const shortestUUID = 16
	var b, reversed []byte
	switch {
	case v.Class == values.Name && !isText(v.Original):
		return false // no name, but other data in its place
	case v.Class == values.Identity && len(v.Original) < shortestUUID:
		return false // a number, which cannot be told from other ones
	case v.Class != values.Name:
		text, _, _ := strings.Cut(v.Original, "@")
		if ip, err := netip.ParseAddr(text); err == nil {
			b = ip.AsSlice()
			if ip.Is4() {
				reversed = []byte{b[3], b[2], b[1], b[0]}
			}
		} else if b, err = hex.DecodeString(strings.NewReplacer("-", "", ":", "").Replace(text)); err != nil {
			b = nil
		}
	}
	found := s.addPattern(pattern{bytes: []byte(v.Original), of: v, form: Text})
	s.addPattern(pattern{bytes: reversed, of: v, form: Reversed})
	return s.addPattern(pattern{bytes: b, of: v, form: Binary}) || found
}

// isText reports whether a name has no control characters, and is UTF-8 or mostly ASCII.
func isText(name string) bool {
	ascii := 0
	for _, c := range []byte(name) {
		if c < ' ' {
			return false
		}
		if c < utf8.RuneSelf {
			ascii++
		}
	}
	return utf8.ValidString(name) || 2*ascii >= len(name)
}

// addPattern adds a pattern, unless it is so short or has so many zeros that it would be
// found everywhere, or is a constant of the protocol. It reports whether it is searched.
func (s *search) addPattern(p pattern) bool {
	zeros := bytes.Count(p.bytes, []byte{0})
	if len(p.bytes)-zeros < minOriginal-1 || len(p.bytes) < minOriginal || p.form == Text && s.values.IsConstant(string(p.bytes)) {
		return false
	}
	key := binary.BigEndian.Uint32(p.bytes)
	for _, have := range s.patterns[key] {
		if bytes.Equal(have.bytes, p.bytes) {
			return true
		}
	}
	s.patterns[key] = append(s.patterns[key], p)
	s.seen[key>>16/64] |= 1 << (key >> 16 % 64)
	return true
}

func (s *search) frame(r *CheckResult, before, after *capture.Frame) {
	b := after.Data
	for i := 0; i+minOriginal <= len(b); i++ {
		first := uint32(b[i])<<8 | uint32(b[i+1])
		if s.seen[first/64]>>(first%64)&1 == 0 {
			continue
		}
		list := s.patterns[binary.BigEndian.Uint32(b[i:])]
		for k := range list {
			p := &list[k]
			if !bytes.HasPrefix(b[i:], p.bytes) {
				continue
			}
			unchanged := bytes.Equal(before.Data[i:i+len(p.bytes)], p.bytes)
			switch {
			case unchanged && p.form == Text && s.inConstant(b, i, len(p.bytes)):
			case !unchanged && len(p.bytes) < byChance:
				r.Coincidences++
			default:
				if p.found == 0 {
					r.Found = append(r.Found, Found{p.of.Class, p.of.Original, p.form, 0, after.Number, i})
					p.found = len(r.Found)
				}
				r.Found[p.found-1].Count++
			}
		}
	}
}

// inConstant reports whether the n bytes at an offset are a part of a constant of the
// protocol, such as lost+found.
func (s *search) inConstant(b []byte, off, n int) bool {
	begin, end := off, off+n
	for begin > 0 && isWord(b[begin-1]) {
		begin--
	}
	for end < len(b) && isWord(b[end]) {
		end++
	}
	return s.values.IsConstant(string(b[begin:end]))
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' || c == '+'
}
