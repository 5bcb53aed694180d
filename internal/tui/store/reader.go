package store

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/track"
)

// Row is a row of a Store: an RPC or a message.
type Row struct {
	ID       int64
	First    int64            // time of the first frame of the capture
	RPC      *track.RPC       // of a row of RPCs
	Messages []int64          // IDs of its messages
	Message  *dissect.Message // of a row of messages
	Of       int64            // ID of its RPC, negative for a copy and when it belongs to none that has ended

	reader *Reader
}

// Reader reads rows. It is for one goroutine.
type Reader struct {
	store   *Store
	readers [kinds]reader
	rpc     track.RPC
	message dissect.Message
	ids     []int64
}

// NewReader makes a Reader.
func (s *Store) NewReader() *Reader {
	r := &Reader{store: s}
	for k := range r.readers {
		r.readers[k].spool = s.tables[k].spool
	}
	return r
}

// Row returns a row that stays valid.
func (s *Store) Row(k Kind, id int64) (*Row, error) {
	r, err := s.NewReader().Read(k, id)
	return &r, err
}

var errUnreadable = errors.New("the row cannot be read back")

// Read returns a row, valid until the next one of its kind is read.
func (r *Reader) Read(k Kind, id int64) (Row, error) {
	if k == Messages {
		return r.Message(id)
	}
	return r.RPC(id)
}

// open returns a row without its record, and the bytes of that.
func (r *Reader) open(k Kind, id int64) (row Row, record []byte, err error) {
	x, ok := r.store.entry(k, id)
	row = Row{ID: id, First: r.store.First(), Of: x.of, reader: r}
	if !ok {
		return row, nil, errDropped
	}
	record, err = r.readers[k].read(x.position)
	return row, record, err
}

// RPC returns a row of RPCs, valid until the next call of RPC.
func (r *Reader) RPC(id int64) (Row, error) {
	row, b, err := r.open(RPCs, id)
	if err != nil {
		return row, err
	}
	if b, err = idsPlan.Read(b, &r.store.known, &r.ids); err == nil {
		err = r.store.archive.Read(b, &r.rpc)
	}
	row.RPC, row.Messages = &r.rpc, r.ids
	return row, err
}

// Message returns a row of messages, valid until the next call of Message.
func (r *Reader) Message(id int64) (Row, error) {
	row, b, err := r.open(Messages, id)
	if err != nil {
		return row, err
	}
	row.Message = &r.message
	return row, r.store.readMessage(b, row.Message)
}

// Frame returns the frame with a number, which is kept only with Options.Frames. It is valid
// until the next call of Frame.
func (r *Reader) Frame(number int64) (f capture.Frame, err error) {
	s := r.store
	s.mu.RLock()
	x := &s.tables[frames]
	i, found := slices.BinarySearchFunc(x.list, number, func(e entry, number int64) int { return cmp.Compare(e.of, number) })
	id := x.dropped + int64(i)
	s.mu.RUnlock()
	if !found {
		return f, errDropped
	}
	_, b, err := r.open(frames, id)
	if err != nil {
		return f, err
	}
	_, err = framePlan.Read(b, &s.known, &f)
	return f, err
}
