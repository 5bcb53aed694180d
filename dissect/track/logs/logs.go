// Package logs joins what the debug logs of nodes have about RPCs: with the RPCs of a
// capture, and with each other.
//
// A [Logs] reads the logs beside a capture. Open compares their clocks with that of the
// capture, by its first RPCs (Head). Then a Pairing or follow.Follower feeds it: Sent takes
// the requests, and Attach sets track.RPC.Log of an RPC that has ended. The logs are read no
// further than the capture, so that one of any size needs bounded memory. An RPC that only a
// log has goes to Unseen. ReadLines reads
// the logs once more for the lines about some RPCs (Subject). A [Recent] is for those that show
// messages: it holds the lines that were read last, and Of returns those about a message.
//
// A [Merge] reads logs without a capture: Open, then Read, which joins what both nodes of an
// RPC have and passes it on.
//
// clocks.go finds the node of each log and how far its clock is ahead, threads.go follows the
// threads of servers, wire.go decides what was sent and is not in the capture.
package logs

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// File is a log.
type File struct {
	Path string
	Name string   // as in records
	Node lnet.NID // whose log it is, as far as it was given
}

// log is a log that is read.
type log struct {
	File
	clock
	number int
	reader *debuglog.Reader // nil while the log is closed: before its first event is due, and after its last
	stats  debuglog.Stats   // of the reader, when that was closed
	next   debuglog.Event
	ended  bool // as yet, of a log that is followed
	failed bool // by an error
}

// The bounds of what is held.
const (
	maxOpen = 1 << 14 // calls without an end
	maxOver = 1 << 16
	margin  = int64(500 * time.Millisecond) // a line may be later than what it is about
)

// table holds what logs have about RPCs until it is joined.
type table struct {
	logs  []*log
	byXID map[uint64]*call // the newest, which leads to older ones
	open  fifo.Queue[call]
	over  fifo.Queue[call]
	free  *call

	hosts    map[string]*host // of logs of the console
	finder   *hostFinder
	follows  bool // the logs grow
	learns   bool // lines are read that findHosts has not seen
	mentions bool
	threads  *fifo.Map[debuglog.Thread, taken] // what service threads have begun with; nil: not needed
	gone     func(*debuglog.Call)              // gets those that are removed because there are too many
	errors   []error

	connections *fifo.Map[connection, *track.Connection]
	rpc         debuglog.RPC // that is passed on

	// Line, if it is set, gets each line about a connection, and each with which a node gives
	// up waiting for a reply.
	Line func(*track.LogLine)

	// GivenUp: a line about a request that was given up makes an RPC where the log has no other line about it.
	GivenUp bool

	// Locks, if it is set, gets each line about a lock, and those about the ends of RPCs
	// that say what a thread does meanwhile.
	Locks func(*track.LogLine)
	line  track.LogLine

	// HostNID, if it is set, returns the NID of a host by its name in logs of the console.
	HostNID func(name string) (lnet.NID, bool)
}

// call is a debuglog.Call in the table.
type call struct {
	debuglog.Call
	place  fifo.Element[call]
	older  *call // with the same xid
	serves taken // what the thread was serving when it sent the request, in logs beside a capture
}

func newTable(files []File, gone func(*debuglog.Call)) table {
	t := table{byXID: map[uint64]*call{}, gone: gone, connections: fifo.NewMap[connection, *track.Connection](maxConnections)}
	for i, f := range files {
		l := &log{File: f, number: i}
		if f.Node != (lnet.NID{}) {
			l.given = true
			l.self.add(f.Node)
		}
		t.logs = append(t.logs, l)
	}
	return t
}

// connection is who sends RPCs to whom, as far as it is known.
type connection struct {
	client, server lnet.NID
	uuid, target   string
}

const maxConnections = 1 << 12

// made returns an RPC of what logs have about it.
func (t *table) made(l *debuglog.RPC, client, server lnet.NID) *track.RPC {
	r := track.FromLog(l, client, server)
	c := r.Connection
	k := connection{c.Client, c.Server, c.ClientUUID, c.Target}
	r.Connection = fifo.GetOrMake(t.connections, k, func() *track.Connection { return c })
	return r
}

// begin reads the first event of each log. With mentions, lines that only name an xid are
// events, too. Where there are many logs, they were mostly written one after the other: each
// is open from its first event on, until its last.
func (t *table) begin(mentions bool) error {
	t.mentions = mentions
	t.findHosts()
	for _, l := range t.logs {
		if err := t.openLog(l); err != nil {
			return err
		}
		t.read(l)
		if len(t.logs) > maxAtOnce && l.reader != nil && !t.follows {
			l.close()
		}
	}
	return nil
}

// maxAtOnce logs may be open before their first events are due.
const maxAtOnce = 8

func (t *table) openLog(l *log) (err error) {
	open := debuglog.Open
	if t.follows {
		open = debuglog.Follow
	}
	if l.reader, err = open(l.Path); err == nil {
		l.reader.Locks, l.reader.Mentions = t.Locks != nil, t.mentions
	}
	return err
}

func (l *log) close() {
	l.stats = l.reader.Stats()
	l.reader.Close()
	l.reader = nil
}

// Lines returns the number of lines of all logs, and Skipped that of others in them.
func (t *table) Lines() (n int64)   { return t.sum(func(s debuglog.Stats) int64 { return s.Lines }) }
func (t *table) Skipped() (n int64) { return t.sum(func(s debuglog.Stats) int64 { return s.Skipped }) }

func (t *table) sum(of func(debuglog.Stats) int64) (n int64) {
	for _, l := range t.logs {
		if l.reader != nil {
			l.stats = l.reader.Stats()
		}
		n += of(l.stats)
	}
	return n
}

// Err closes the logs and returns the errors of reading them.
func (t *table) Err() error {
	for _, l := range t.logs {
		if l.reader != nil {
			l.close()
		}
	}
	return errors.Join(t.errors...)
}

// read reads the next event of a log.
func (t *table) read(l *log) {
	err := error(nil)
	if l.reader == nil { // the first event was read before
		if err = t.openLog(l); err == nil {
			err = l.reader.Next(&l.next)
		}
	}
	if err == nil {
		err = l.reader.Next(&l.next)
	}
	if err == nil {
		return
	}
	l.ended = true
	if err == debuglog.ErrNoMore {
		return
	}
	if l.failed = err != io.EOF; l.failed {
		t.errors = append(t.errors, fmt.Errorf("%s: %w", l.Path, err))
	}
	if l.reader != nil {
		l.close()
	}
}

// earliest returns the log with the next event, nil at the end of all.
func (t *table) earliest() (first *log) {
	for _, l := range t.logs {
		if !l.ended && (first == nil || l.next.Time+l.offset < first.next.Time+first.offset) {
			first = l
		}
	}
	return first
}

// take adds the next event of a log, and reads on.
func (t *table) take(l *log) {
	switch kind := l.next.Kind; {
	case kind >= debuglog.LockAsked:
		t.pass(l, t.Locks)
	case kind > debuglog.Note:
		t.pass(l, t.Line)
	default:
		t.takeCall(l)
	}
	t.read(l)
}

// takeCall adds the next event of a log, which is about an RPC.
func (t *table) takeCall(l *log) {
	e := &l.next
	if e.Kind < debuglog.Note {
		t.pass(l, t.Locks)
	}
	if e.Kind == debuglog.Note && (e.Reason != debuglog.NoReason || e.IsTimeout()) {
		t.timeOf(e, l)
		t.pass(l, t.Line)
	}
	var c *call
	for c = t.byXID[e.XID]; c != nil; c = c.older {
		if c.Log == l.number && c.Call.Take(e, l.offset) {
			break
		}
	}
	begins := e.Kind <= debuglog.Handled || c == nil && (e.IsConnect() || t.GivenUp && e.BeginsCall())
	if c == nil && begins {
		c = t.add(debuglog.NewCall(e, l.number, l.offset))
		c.File = l.Name
	}
	if t.threads != nil {
		t.noteThread(l, c)
	}
	switch {
	case c == nil:
	case c.Over():
		t.over.Push(&c.place, e.Time+l.offset)
	case begins:
		t.open.Push(&c.place, e.Time+l.offset)
	}
	for c := t.open.Overdue(0, 1, maxOpen); c != nil; c = t.open.Overdue(0, 1, maxOpen) {
		t.end(c)
	}
	for c := t.over.Overdue(0, 1, maxOver); c != nil; c = t.over.Overdue(0, 1, maxOver) {
		t.end(c)
	}
}

// timeOf sets how long a request waited that is given up: the line has the second in which it was sent, and the line of the sending its time.
func (t *table) timeOf(e *debuglog.Event, l *log) {
	for c := t.byXID[e.XID]; c != nil && e.Service > 0; c = c.older {
		waited := e.Time + l.offset - c.Sent
		if c.Log == l.number && !c.Served && c.Sent != 0 && waited <= e.Service && e.Service-waited < int64(time.Second) {
			e.Service = waited
			return
		}
	}
}

// pass passes on the next event of a log.
func (t *table) pass(l *log, to func(*track.LogLine)) {
	if to != nil {
		t.line = l.line(&l.next, l.self.first())
		if h := l.next.Host; h != "" && !l.given {
			if t.ofHost(&t.line, h); t.learns {
				t.finder.take(&l.next)
			}
		}
		to(&t.line)
	}
}

// End passes on the RPCs of which no more is known.
func (t *table) End() {
	for _, q := range [...]*fifo.Queue[call]{&t.over, &t.open} {
		for c := q.First(); c != nil; c = q.First() {
			t.end(c)
		}
	}
}

func (t *table) add(of debuglog.Call) *call {
	c := t.free
	if c == nil {
		c = &call{}
	} else {
		t.free = c.older
	}
	*c = call{Call: of, older: t.byXID[of.XID]}
	c.place.Owner = c
	t.byXID[of.XID] = c
	return c
}

// isOther reports whether two calls are the two sides of an RPC. A node gives each xid to one
// request, which it may send to another server when the first one has failed.
func (t *table) isOther(c, o *debuglog.Call) bool {
	if c.Served {
		c, o = o, c
	}
	client, server := t.logs[c.Log], t.logs[o.Log]
	end := c.End()
	if c.Failed != 0 { // a server that stands still may get to it long after the client has given up
		end += lateFor
	}
	if c.Served || !o.Served || c.Opcode != o.Opcode || !sameUUID(uuid(c), uuid(o)) || !server.isAt(o, c.Begin(), end) && c.Over() {
		return false
	}
	if c.Peer.IsLoopback() || o.Peer.IsLoopback() {
		return c.Peer == o.Peer && client == server
	}
	return client != server && (client.self.has(o.Peer) || client.self.may(o.Peer) && server.self.may(c.Peer))
}

// end removes a call and passes it on.
func (t *table) end(c *call) {
	last := c.Call
	t.remove(c)
	t.gone(&last)
}

func (t *table) remove(c *call) {
	c.place.Remove()
	if first := t.byXID[c.XID]; first != c {
		for first.older != c {
			first = first.older
		}
		first.older = c.older
	} else if c.older != nil {
		t.byXID[c.XID] = c.older
	} else {
		delete(t.byXID, c.XID)
	}
	*c = call{older: t.free}
	t.free = c
}

// Logs are logs beside a capture.
type Logs struct {
	table
	wire    wire
	waiting map[uint64]int // RPCs of the capture that have not ended, by xid

	// Unseen gets each RPC that the log of a node has as sent, and its capture has not, and with Elsewhere also those
	// of nodes that were not captured.
	Unseen    func(*track.RPC)
	Elsewhere bool
}

// New returns the logs beside a capture. It opens none.
func New(files []File) *Logs {
	x := &Logs{waiting: map[uint64]int{}, wire: wire{pairs: map[[2]lnet.NID]bool{}, clients: map[lnet.NID]bool{}, lost: map[int]*track.Spans{}}}
	x.table = newTable(files, x.notJoined)
	x.threads = fifo.NewMap[debuglog.Thread, taken](maxThreads)
	return x
}

// Open opens the logs and compares their clocks with that of the capture, whose first RPCs
// are in head. The notes are lines of text about the clocks.
func (x *Logs) Open(head *Head) (notes []string, err error) {
	if notes, err = compare(x.logs, head); err != nil {
		return nil, err
	}
	return notes, x.begin(false)
}

// Sent takes a request of the capture, also when it is sent again.
func (x *Logs) Sent(r *track.RPC, m *dissect.Message) {
	if r.Sends <= 1 {
		x.waiting[r.XID]++
	}
	x.wire.add(m.Source, r.Opcode, r.Client, r.Server, m.Time)
}

// Lost takes a run of bytes that was not captured.
func (x *Logs) Lost(l *lnet.Loss) {
	lost := x.wire.lost[l.Source]
	if lost == nil {
		lost = new(track.Spans)
		x.wire.lost[l.Source] = lost
	}
	lost.Add(track.Span{From: l.From, To: l.To}, maxLost)
}

// advance reads the logs up to a time of the capture.
func (x *Logs) advance(until int64) {
	for l := x.earliest(); l != nil && l.next.Time+l.offset <= until; l = x.earliest() {
		now := l.next.Time + l.offset
		x.take(l)
		for c := x.over.Overdue(now, unjoinedFor, maxOver); c != nil; c = x.over.Overdue(now, unjoinedFor, maxOver) {
			if x.waiting[c.XID] > 0 || x.isUnseen(&c.Call) {
				x.over.Push(&c.place, now)
			} else {
				x.end(c)
			}
		}
	}
}

// unjoinedFor is how long a call that is over waits for its RPC, or one that it has caused, to
// end in the capture.
const unjoinedFor = int64(time.Minute)

// Attach sets the Log of an RPC of the capture that has ended. It is valid until the next
// call.
func (x *Logs) Attach(r *track.RPC) {
	begin, end := r.Begin(), x.wire.last
	if r.HasReply {
		end = r.Replied().Time
	}
	x.advance(max(end+margin, x.wire.last))
	if n := x.waiting[r.XID]; n > 1 {
		x.waiting[r.XID] = n - 1
	} else {
		delete(x.waiting, r.XID)
	}
	x.rpc = debuglog.RPC{}
	subject := Subject{r.XID, r.Opcode, r.HasOpcode, r.Client, r.Server}
	var client, server *call
	for c := x.byXID[r.XID]; c != nil; c = c.older {
		l := x.logs[c.Log]
		switch {
		case !l.isAbout(c.Served, c.Peer, c.Opcode, &subject) || !l.isAt(&c.Call, begin, end):
		case c.Served:
			x.rpc.Handled++
			if server == nil || later(&c.Call, &server.Call, end) {
				server = c
			}
		case client == nil || absolute(c.Begin()-begin) < absolute(client.Begin()-begin):
			client = c
		}
	}
	if client != nil {
		x.findCause(client)
		x.logs[client.Log].self.add(r.Client)
		x.rpc.Client, x.rpc.HasClient = client.Call, true
		x.remove(client)
	}
	if server != nil {
		l := x.logs[server.Log]
		l.serves = true
		l.self.add(r.Server)
		x.rpc.Server, x.rpc.HasServer = server.Call, true
		x.remove(server)
	}
	if x.rpc.HasServer && r.Missing == track.Unanswered && x.rpc.Server.ReplyStatus != debuglog.NoReply && x.wire.views.IsAt(r.Server) {
		x.rpc.NotOnWire = debuglog.ReplyUnseen
	}
	if x.rpc.HasClient || x.rpc.HasServer {
		r.Log = &x.rpc
	}
}

func absolute(n int64) int64 { return max(n, -n) }

// later reports whether a is the later of two calls of a server that had begun by a time.
func later(a, b *debuglog.Call, until int64) bool {
	if over := b.Begin() > until; over != (a.Begin() > until) {
		return over
	}
	return a.Begin() > b.Begin()
}

// Close ends the capture.
func (x *Logs) Close() {
	x.advance(x.wire.last + margin)
	x.End()
	x.free = nil // ReadLines needs memory, too
}

// isUnseen reports whether the capture must have a request that a log has as sent, and has not.
func (x *Logs) isUnseen(c *debuglog.Call) bool {
	return !c.Served && c.IsSent() && x.waiting[c.XID] == 0 && x.wire.covers(x.logs[c.Log], c)
}

// notJoined takes a call with which no RPC of the capture was joined so far.
func (x *Logs) notJoined(c *debuglog.Call) {
	client, server := x.logs[c.Log].self.first(), x.logs[c.Log].peer(c)
	if c.Served {
		client, server = server, client
	}
	switch {
	case x.isUnseen(c):
		x.rpc = debuglog.RPC{Client: *c, HasClient: true, NotOnWire: debuglog.RequestUnseen}
	case x.Elsewhere && x.wire.isElsewhere(client, server, c.Begin()):
		hasClientLog := slices.ContainsFunc(x.logs, func(l *log) bool { return l.self.has(client) }) // which has the requests of that node
		if x.gather(c); !x.rpc.HasClient && hasClientLog {
			return
		}
	default:
		return
	}
	x.Unseen(x.made(&x.rpc, client, server))
}
