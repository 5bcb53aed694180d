package anonymize

import (
	"encoding/json"
	"fmt"

	"github.com/lshark/lshark/anonymize/values"
)

// Report is what an Anonymizer did, in numbers. It has no original value.
type Report struct {
	Frames   int64          `json:"frames"`
	Messages int64          `json:"messages"`
	Late     int64          `json:"late_messages"`
	Replaced []ReplacedRow  `json:"replaced"`
	Removed  []RemovedBytes `json:"removed"`
}

// ReplacedRow counts the replacements of a class.
type ReplacedRow struct {
	Class  string `json:"class"`
	Values int64  `json:"values"` // different ones
	Places int64  `json:"places"` // at which they were replaced
}

// RemovedBytes counts bytes that were removed.
type RemovedBytes struct {
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
}

// Report returns the counts so far.
func (a *Anonymizer) Report() *Report {
	st := a.Stats()
	r := &Report{Frames: st.Frames, Messages: st.Messages, Late: st.Late}
	classes := [...]values.Class{values.Name, values.Address, values.Identity}
	for _, c := range classes {
		r.Replaced = append(r.Replaced, ReplacedRow{Class: ClassName(c)})
	}
	a.values.Each(func(m values.Mapping) {
		for i, c := range classes {
			if m.Class == c {
				r.Replaced[i].Values++
				r.Replaced[i].Places += m.Count
			}
		}
	})
	f, m := &st.Frame, &st.Message
	for _, row := range [...]RemovedBytes{
		{"data of files, keys and tokens", m.Data},
		{"undecoded parts of messages", m.Undecoded},
		{"encrypted messages", m.Encrypted},
		{"incomplete fields of messages", m.Truncated},
		{"bytes between messages", st.Dissect.TCP.SkippedBytes},
		{"other TCP connections", f.OtherTCP},
		{"other UDP datagrams", f.OtherUDP},
		{"other IP packets", f.OtherIP},
		{"IP fragments", f.Fragments},
		{"other RDMA packets", f.RDMA},
		{"other frames", f.Other},
	} {
		if row.Bytes > 0 {
			r.Removed = append(r.Removed, row)
		}
	}
	return r
}

// ClassName returns the name of a class of values.
func ClassName(c values.Class) string {
	switch c {
	case values.Name:
		return "name"
	case values.Address:
		return "address"
	case values.Identity:
		return "identity"
	case values.Data:
		return "data"
	case values.Harmless:
		return "harmless"
	case values.Unclassified:
	}
	return "unclassified"
}

// AppendText appends the report as tables.
func (r *Report) AppendText(dst []byte) []byte {
	dst = fmt.Appendf(dst, "%d frames, %d messages\n\n", r.Frames, r.Messages)
	dst = fmt.Appendf(dst, "%-10s %10s %10s\n", "replaced", "values", "places")
	for _, row := range r.Replaced {
		dst = fmt.Appendf(dst, "%-10s %10d %10d\n", row.Class, row.Values, row.Places)
	}
	if len(r.Removed) > 0 {
		dst = fmt.Appendf(dst, "\n%-32s %14s\n", "removed", "bytes")
	}
	for _, row := range r.Removed {
		dst = fmt.Appendf(dst, "%-32s %14d\n", row.What, row.Bytes)
	}
	return dst
}

// AppendJSON appends the report as one object.
func (r *Report) AppendJSON(dst []byte) []byte { return appendJSON(dst, r) }

// appendJSON appends a value without what cannot be encoded, and a line break.
func appendJSON(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // not of these types
	}
	return append(append(dst, b...), '\n')
}

// AppendText appends what was found, a line for each place.
func (r *CheckResult) AppendText(dst []byte) []byte {
	for i := range r.Found {
		f := &r.Found[i]
		form := ""
		if f.Binary {
			form = ", binary"
		}
		dst = fmt.Appendf(dst, "frame %d, offset %d: %s %q%s\n", f.Frame, f.Off, ClassName(f.Class), f.Original, form)
	}
	switch {
	case r.Different != "":
		dst = fmt.Appendf(dst, "not made from this original: %s\n", r.Different)
	case r.Count > 0:
		dst = fmt.Appendf(dst, "%d places with an original, of %d originals searched in %d frames\n", r.Count, r.Originals, r.Frames)
	default:
		dst = fmt.Appendf(dst, "none of %d originals found in %d frames\n", r.Originals, r.Frames)
	}
	if r.Coincidences > 0 {
		dst = fmt.Appendf(dst, "%d times a short original is by chance a part of the replacement of another value\n", r.Coincidences)
	}
	return dst
}

// AppendJSON appends the result as one object.
func (r *CheckResult) AppendJSON(dst []byte) []byte {
	type found struct {
		Frame    int64  `json:"frame"`
		Offset   int    `json:"offset"`
		Class    string `json:"class"`
		Original string `json:"original"`
		Binary   bool   `json:"binary"`
	}
	places := make([]found, 0, len(r.Found))
	for i := range r.Found {
		f := &r.Found[i]
		places = append(places, found{f.Frame, f.Off, ClassName(f.Class), f.Original, f.Binary})
	}
	return appendJSON(dst, struct {
		Frames       int64   `json:"frames"`
		Originals    int     `json:"originals"`
		Count        int64   `json:"count"`
		Found        []found `json:"found"`
		Coincidences int64   `json:"coincidences"`
		Different    string  `json:"different,omitempty"`
	}{r.Frames, r.Originals, r.Count, places, r.Coincidences, r.Different})
}
