// Package render writes messages and RPCs as text for people and scripts:
// summary lines, trees, JSON, field values, flag tables. It makes no decisions
// about what bytes mean; those are in the tree. Package records says which
// values a record has, package filter selects records, package tables writes statistics,
// connections and other lists, ladder the messages between nodes, html the page, explain the
// declarations of the protocol, parquet and pdu files for other programs.
//
// All renderers append to a byte slice, so that one buffer serves a whole
// capture:
//
//	r, buf := render.NewJSON(), []byte(nil)
//	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
//		buf = r.Append(buf[:0], m, render.Moment{First: first})
//		os.Stdout.Write(buf)
//	}})
//
// What people read is a schema.Marked: text of which pieces have a role, such as Node or Bad.
// No renderer knows colours. Colors paints the text for a terminal at the end; the TUI does so
// by the same Looks, and html and the SVG of ladder by the classes of their style sheets.
//
// A renderer keeps no state of the capture: only the widths of its columns, so
// that lines stay aligned. What takes more than one message is in track.
//
// Text of the wire is escaped: control characters, bytes that are not UTF-8 and
// characters that reorder a line. In JSON strings and in text a byte that is not
// part of valid UTF-8 is written as \xNN. A backslash of the wire in front of
// something that looks like such an escape is written as \x5c, so replacing
// every \xNN by its byte restores the bytes of the wire.
package render

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
)

// Renderer appends what it shows of a message to dst.
type Renderer interface {
	Append(dst []byte, m *dissect.Message, at Moment) []byte
}

// TextRenderer does the same as text of which pieces have a role.
type TextRenderer interface {
	Append(dst *schema.Marked, m *dissect.Message, at Moment)
}

// Moment is what is known of a message beside it; times are nanoseconds since the
// epoch.
type Moment struct {
	First  int64 // time of the capture's first frame
	Before int64 // time of the message before, 0 for the first one

	Log []*track.LogLine // lines of logs about the RPC of the message
}
