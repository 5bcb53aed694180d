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
	Messages []int64          // IDs of its messages, of a message its own
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
	own     [1]int64
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
func (r *Reader) Read(k Kind, id int64) (row Row, err error) {
	x, b, err := r.record(k, id)
	row = Row{ID: id, First: r.store.First(), Of: x.of, reader: r}
	switch {
	case err != nil:
	case k == Messages:
		r.own[0] = id
		row.Message, row.Messages = &r.message, r.own[:]
		err = r.store.readMessage(b, row.Message)
	default:
		if b, err = idsPlan.Read(b, &r.store.known, &r.ids); err == nil {
			err = r.store.archive.Read(b, &r.rpc)
		}
		row.RPC, row.Messages = &r.rpc, r.ids
	}
	return row, err
}

// record returns the bytes of a row.
func (r *Reader) record(k Kind, id int64) (x entry, b []byte, err error) {
	x, ok := r.store.entry(k, id)
	if !ok {
		return x, nil, errDropped
	}
	b, err = r.readers[k].read(x.position)
	return x, b, err
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
	_, b, err := r.record(frames, id)
	if err != nil {
		return f, err
	}
	_, err = framePlan.Read(b, &s.known, &f)
	return f, err
}
