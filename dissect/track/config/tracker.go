package config

import (
	"cmp"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Tracker collects configuration from messages.
type Tracker struct {
	// Dropped counts records and entries that were too many to keep.
	Dropped int

	// Changes counts records of logs that were added or changed, and headers.
	Changes int

	pending *fifo.Map[requestKey, request]

	logs     []*Log // in the order in which they appeared
	byName   map[nameKey]*Log
	byID     map[idKey]*Log
	records  int // of all logs
	bytes    int // of these
	nodemaps *fifo.Map[lnet.NID, *nodemapTables]
	running  *fifo.Map[runningKey, *RunningTarget]
	tables   *fifo.Map[tableKey, uint64] // first versions that were read
	targets  *fifo.Map[registrationKey, *Registration]
	sent     []*SentParameter
}

// Bounds of what is kept. The log of the clients of a file system has about six
// records for each target.
const (
	maxPending = 1 << 12 // requests without a reply
	maxLogs    = 1 << 12
	maxRecords = 1 << 18 // of all logs
	maxBytes   = 64 << 20
	maxEntries = 1 << 16 // of a table, and parameters that were sent
	maxTables  = 1 << 6  // servers with nodemaps, and readers of them
	maxReaders = 1 << 8  // of a log
	maxEarlier = 4       // versions of a record
)

// requestKey identifies a request until its reply.
type requestKey struct {
	client lnet.NID
	xid    uint64
}

// request is what its reply or its bulk data must be read with.
type request struct {
	log   opcodes.LogID
	name  string // of a log
	table opcodes.ReadTable
	start *Registration
	sent  *SentParameter
}

// nameKey is a log by its name.
type nameKey struct {
	mgs  lnet.NID
	name string
}

// idKey is a log by its object.
type idKey struct {
	mgs lnet.NID
	id  opcodes.LogID
}

// New returns a Tracker.
func New() *Tracker {
	return &Tracker{
		pending:  fifo.NewMap[requestKey, request](maxPending),
		byName:   make(map[nameKey]*Log),
		byID:     make(map[idKey]*Log),
		nodemaps: fifo.NewMap[lnet.NID, *nodemapTables](maxTables),
		running:  fifo.NewMap[runningKey, *RunningTarget](maxEntries),
		tables:   fifo.NewMap[tableKey, uint64](maxEntries),
		targets:  fifo.NewMap[registrationKey, *Registration](maxEntries),
	}
}

// Message takes a message of any kind.
func (t *Tracker) Message(m *dissect.Message) {
	if m.Req == nil {
		return
	}
	switch m.Req.Opcode {
	case opcodes.LLOG_ORIGIN_HANDLE_CREATE, opcodes.LLOG_ORIGIN_HANDLE_NEXT_BLOCK, opcodes.LLOG_ORIGIN_HANDLE_PREV_BLOCK,
		opcodes.LLOG_ORIGIN_HANDLE_READ_HEADER, opcodes.MGS_CONFIG_READ, opcodes.MGS_TARGET_REG, opcodes.MGS_SET_INFO:
	default:
		return
	}
	k := requestKey{m.Req.Client, m.Req.XID}
	switch {
	case m.Kind == lnet.Request && m.Msg != nil:
		t.request(k, m)
	case m.Kind == lnet.Reply && m.Msg != nil:
		if r, ok := fifo.Get(t.pending, k); ok {
			t.reply(r, m)
		}
	case len(m.Content) > 0:
		if r, ok := fifo.Get(t.pending, k); ok {
			t.content(r, m)
		}
	}
}

// request keeps what the reply to a request must be read with.
func (t *Tracker) request(k requestKey, m *dissect.Message) {
	if _, resent := fifo.Get(t.pending, k); resent {
		return
	}
	var r request
	switch m.Req.Opcode {
	case opcodes.MGS_CONFIG_READ:
		table, ok := opcodes.RequestedTable(m.Msg)
		if !ok {
			return
		}
		r.table = table
	case opcodes.MGS_TARGET_REG:
		r.start = t.register(m)
		if r.start == nil {
			return
		}
	case opcodes.MGS_SET_INFO:
		r.sent = t.send(m)
		if r.sent == nil {
			return
		}
	default:
		id, name, config, ok := opcodes.NamedLog(m.Msg)
		if !ok || !config {
			return
		}
		r.log, r.name = id, string(name)
	}
	fifo.Put(t.pending, k, r)
}

func (t *Tracker) reply(r request, m *dissect.Message) {
	switch m.Req.Opcode {
	case opcodes.MGS_CONFIG_READ:
		if r.table.Kind == nodemapTable {
			t.endNodemaps(m)
		}
	case opcodes.MGS_TARGET_REG:
		g := r.start
		g.Answered, g.Status = track.PointOf(m), m.RPC.Status
		if s, ok := opcodes.ReadRegistration(m.Msg); ok && m.RPC.Status >= 0 { // as the MGS has it
			g.Name, g.UUID, g.Index = cmp.Or(s.Name, g.Name), cmp.Or(s.UUID, g.UUID), s.Index
		}
	case opcodes.MGS_SET_INFO:
		r.sent.Answered, r.sent.Status = track.PointOf(m), m.RPC.Status
	case opcodes.LLOG_ORIGIN_HANDLE_CREATE:
		t.open(r, m)
	default:
		if m.RPC.Status < 0 {
			return
		}
		if m.Req.Opcode == opcodes.LLOG_ORIGIN_HANDLE_READ_HEADER {
			t.header(r.log, m)
		} else {
			t.block(r.log, m)
		}
	}
}

func (t *Tracker) content(r request, m *dissect.Message) {
	switch {
	case r.start != nil:
		r.start.NIDs = opcodes.RegisteredNIDs(m.Content)
	case r.table.Kind == runningTable:
		t.run(r, m)
	case r.table.Kind == nodemapTable:
		t.readNodemaps(r, m)
	}
}

// SentParameter is a parameter that a node asked the MGS to set.
type SentParameter struct {
	MGS, Client    lnet.NID
	Sent, Answered track.Point
	Parameter      string // key=value
	Status         int32
}

func (t *Tracker) send(m *dissect.Message) *SentParameter {
	text, ok := opcodes.SentParameter(m.Msg)
	if !ok {
		return nil
	}
	s := &SentParameter{MGS: m.Req.Server, Client: m.Req.Client, Sent: track.PointOf(m), Parameter: string(text)}
	if len(t.sent) < maxEntries {
		t.sent = append(t.sent, s)
	} else {
		t.Dropped++
	}
	return s
}
