// Package render turns messages into what people and scripts read: summary
// lines, trees, JSON, field lists and flag tables. It decides nothing about
// what bytes mean; that is in the tree.
//
// All renderers append to a byte slice, so that one buffer serves a whole
// capture:
//
//	r := render.NewJSON()
//	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
//		buf = r.Append(buf[:0], m, moment)
//		os.Stdout.Write(buf)
//	}})
//
// A renderer remembers nothing about earlier messages but how wide its columns
// are, so that lines stay aligned; what only the course of a capture shows is
// in track.
//
// Text of the wire never reaches the output as it is: control characters,
// bytes that are not UTF-8 and characters that reorder a line are escaped. In
// JSON strings and in text a byte that is not part of valid UTF-8 is written
// as \xNN. A backslash of the wire in front of something that looks like such
// an escape is written as \x5c, so replacing every \xNN by its byte gives the
// bytes of the wire back.
package render

import "github.com/lshark/lshark/dissect"

// Renderer appends what it shows of a message to dst.
type Renderer interface {
	Append(dst []byte, m *dissect.Message, at Moment) []byte
}

// Moment places a message in its capture; times are nanoseconds since the
// epoch.
type Moment struct {
	First  int64 // time of the capture's first frame
	Before int64 // time of the message before, 0 for the first one
}
