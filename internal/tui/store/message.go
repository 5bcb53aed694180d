package store

import (
	"bytes"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/codec"
)

// maxData is how many bytes of a message are kept at most, so that it fits into a
// segment with the rest of it.
const maxData = 1 << 20

var messagePlan codec.Plan[dissect.Message]

// appendMessage appends a message, without Msg, which readers get from
// dissect.Tree.ParseRPC. Of the bytes beyond maxData only the number is kept. A request
// has its own bytes in Req too; they are not written a second time.
func (s *Store) appendMessage(dst []byte, m *dissect.Message) []byte {
	kept := &s.kept // no allocation
	*kept = *m
	if len(m.Data) > maxData {
		kept.Data, kept.Tail = m.Data[:maxData], lnet.Skipped
	}
	kept.Content = m.Content[:min(len(m.Content), maxData)]
	isOwn := byte(0)
	if m.Req != nil {
		request := &s.request
		*request = *m.Req
		kept.Req = request
		if request.Data != nil && len(m.Data) <= maxData && bytes.Equal(request.Data, m.Payload()) {
			isOwn, request.Data = 1, nil
		}
		request.Data = request.Data[:min(len(request.Data), maxData)]
	}
	return messagePlan.Append(append(dst, isOwn), &s.known, kept)
}

// readMessage reads a message into m, of which it uses the arrays of slices.
func (s *Store) readMessage(b []byte, m *dissect.Message) error {
	if len(b) == 0 {
		return errUnreadable
	}
	*m = dissect.Message{Message: lnet.Message{Frames: m.Frames, Holes: m.Holes, Notes: m.Notes}}
	if _, err := messagePlan.Read(b[1:], &s.known, m); err != nil {
		return err
	}
	if b[0] != 0 {
		m.Req.Data = m.Payload()
	}
	return nil
}
