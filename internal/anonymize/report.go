package anonymize

import (
	"fmt"

	"github.com/lshark/lshark/internal/anonymize/values"
)

// Report is what an Anonymizer did, in numbers. It has no original value.
type Report struct {
	Frames   int64          `json:"frames"`
	Messages int64          `json:"messages"`
	Late     int64          `json:"late_messages"` // whose first frames were written before they were complete: with zeros
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
	r := &Report{Frames: a.frames, Messages: a.messages, Late: a.late}
	for c := values.Name; c <= values.Identity; c++ {
		r.Replaced = append(r.Replaced, ReplacedRow{Class: c.String()})
	}
	a.values.Each(func(m *values.Mapping) {
		row := &r.Replaced[m.Class]
		row.Values++
		row.Places += m.Count
	})
	f, m := &a.headers.removed, a.values.Removed()
	for _, row := range [...]RemovedBytes{
		{"data of files, keys and tokens", m.Data + a.skipped},
		{"undecoded parts of messages", m.Undecoded},
		{"encrypted messages", m.Encrypted},
		{"incomplete fields of messages", m.Truncated},
		{"bytes between messages", a.dissector.Stats().TCP.SkippedBytes},
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

// AppendText appends what was found, a line for each original.
func (r *CheckResult) AppendText(dst []byte) []byte {
	for i := range r.Found {
		f := &r.Found[i]
		dst = fmt.Appendf(dst, "%s %q as %s, %d times, first in frame %d at offset %d\n", f.Class, f.Original, f.Form, f.Count, f.Frame, f.Off)
	}
	if r.Different != "" {
		dst = fmt.Appendf(dst, "not made from this original: %s\n", r.Different)
	} else {
		dst = fmt.Appendf(dst, "%d of %d originals found in %d frames\n", len(r.Found), r.Originals, r.Frames)
	}
	if r.Coincidences > 0 {
		dst = fmt.Appendf(dst, "short originals that are a part of another value's replacement by chance: %d\n", r.Coincidences)
	}
	return dst
}
