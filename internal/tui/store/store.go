package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/codec"
)

// Options are the settings of a Store.
type Options struct {
	Memory int   // bytes of messages and RPCs that are kept in memory, 0: 64 MiB
	Most   int64 // bytes of them that are kept in all, 0: any number; beyond them, the oldest are dropped

	// Frames keeps the frames too, for inputs that cannot be read again. They are kept
	// apart from the rows: up to Memory bytes in memory, and up to Most bytes in all.
	Frames bool

	// Distinct marks a message as a copy when another capture point has seen it before.
	// Views leave copies out.
	Distinct bool
}

const defaultMemory = 64 << 20

// Kind is a kind of rows.
type Kind uint8

// The kinds.
const (
	RPCs Kind = iota
	Messages
	frames
	kinds
)

// Store keeps rows. A row has a number, its ID, in the order of adding. The methods whose
// names begin with Add are for one goroutine, the others for any.
type Store struct {
	opt       Options
	known     codec.Tables // of messages and frames
	archive   track.Archive
	ofPending track.Attached[[]int64] // messages of an RPC that has not ended
	seen      track.Duplicates        // with Distinct
	buf       []byte
	kept      dissect.Message // the message that is added, as it is kept
	request   dissect.RequestInfo

	mu     sync.RWMutex
	tables [kinds]table
	err    error

	first atomic.Int64 // time of the first frame
	ended atomic.Bool
}

// table has the places of the rows of a kind.
type table struct {
	spool   *spool // of messages and RPCs, or of frames
	dropped int64  // rows before list[0]
	list    []entry
}

// entry is the place of a row.
type entry struct {
	position int64
	// of is the RPC of a message, noRPC when it has none or one that has not ended.
	// In a frame it is the number of the frame, in an RPC its first message.
	of int64
}

const (
	noRPC  = -1
	isCopy = -2 // in place of the RPC: another capture point has seen the message before
)

var (
	idsPlan   codec.Plan[[]int64] // messages of an RPC
	framePlan codec.Plan[capture.Frame]
)

// maxRPCMessages is the number of messages that are kept of an RPC.
const maxRPCMessages = 1 << 12

// New makes a Store.
func New(o Options) *Store {
	o.Memory = cmp.Or(o.Memory, defaultMemory)
	s := &Store{opt: o}
	rows := &spool{memory: o.Memory, most: o.Most}
	s.tables[RPCs].spool, s.tables[Messages].spool = rows, rows
	s.tables[frames].spool = &spool{memory: o.Memory, most: o.Most}
	return s
}

// Close removes the temporary files.
func (s *Store) Close() error {
	return errors.Join(s.tables[Messages].spool.close(), s.tables[frames].spool.close())
}

// SetFirst sets the time of the first frame of the capture.
func (s *Store) SetFirst(ns int64) { s.first.Store(ns) }

// First returns the time of the first frame of the capture.
func (s *Store) First() int64 { return s.first.Load() }

// End marks the rows as complete.
func (s *Store) End() { s.ended.Store(true) }

// Ended reports whether no more rows will be added.
func (s *Store) Ended() bool { return s.ended.Load() }

// Err returns why rows could not be kept, such as a full disk.
func (s *Store) Err() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.err
}

// Range returns the first ID of a kind that is kept, and the one behind the last. The
// first is the number of rows that were dropped.
func (s *Store) Range(k Kind) (from, to int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x := &s.tables[k]
	return x.dropped, x.dropped + int64(len(x.list))
}

// AddMessage adds a message, and the RPC that it belongs to, which may be nil.
func (s *Store) AddMessage(m *dissect.Message, r *track.RPC) error {
	s.buf = s.appendMessage(s.buf[:0], m)
	of := int64(noRPC)
	if s.opt.Distinct && s.seen.Seen(m) {
		of = isCopy
	}
	id, err := s.add(Messages, of)
	if r != nil && err == nil {
		if list := s.ofPending.Of(r); len(*list) < maxRPCMessages {
			*list = append(*list, id)
		}
	}
	return err
}

// AddRPC adds an RPC that has ended, in the Done hook of its Pairing.
func (s *Store) AddRPC(r *track.RPC) error {
	list := s.ofPending.Of(r)
	s.buf = s.archive.Append(idsPlan.Append(s.buf[:0], &s.known, list), r)
	first := int64(noRPC)
	if len(*list) > 0 {
		first = (*list)[0]
	}
	id, err := s.add(RPCs, first)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range *list {
		x := &s.tables[Messages]
		if i := m - x.dropped; i >= 0 && x.list[i].of == noRPC {
			x.list[i].of = id
		}
	}
	*list = (*list)[:0]
	return err
}

// AddFrame adds a frame. Without Options.Frames it does nothing.
func (s *Store) AddFrame(f *capture.Frame) error {
	if !s.opt.Frames {
		return nil
	}
	s.buf = framePlan.Append(s.buf[:0], &s.known, f)
	_, err := s.add(frames, f.Number)
	return err
}

// add adds the row whose record is in buf, and removes those that the spool no longer has.
func (s *Store) add(k Kind, of int64) (id int64, err error) {
	x := &s.tables[k]
	if len(s.buf) > segmentSize-binary.MaxVarintLen64 {
		s.buf = s.buf[:0] // too long for a segment; messages are not, see maxData
	}
	position, err := x.spool.append(s.buf)
	oldest := x.spool.oldest()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.err = err
		return 0, err
	}
	x.list = append(x.list, entry{position, of})
	id = x.dropped + int64(len(x.list)) - 1
	for i := range s.tables {
		if t := &s.tables[i]; t.spool == x.spool {
			n := 0
			for n < len(t.list) && t.list[n].position < oldest {
				n++
			}
			t.list, t.dropped = t.list[n:], t.dropped+int64(n)
		}
	}
	return id, nil
}

// entry returns the place of a row.
func (s *Store) entry(k Kind, id int64) (entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x := &s.tables[k]
	if i := id - x.dropped; i >= 0 && i < int64(len(x.list)) {
		return x.list[i], true
	}
	return entry{}, false
}
