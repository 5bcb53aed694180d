package facts

import (
	"math/bits"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Target is a target: by its name, else by kind and index at a server, else by a connection.
type Target struct {
	Name   string // without "_UUID"
	Index  string // as in OST0001
	Server lnet.NID
	Handle uint64 // where neither name nor index is known
}

// TargetOf returns the target of a connection.
func TargetOf(c *track.Connection, server lnet.NID) Target {
	switch {
	case c == nil:
		return Target{Server: server}
	case c.Target != "":
		return Target{Name: c.Target}
	case c.TargetIndex != "":
		return Target{Index: c.TargetIndex, Server: server}
	}
	return Target{Server: server, Handle: c.Handle}
}

// Label returns the name, or kind and index; empty where neither is known.
func (t Target) Label() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Index
}

// IsKnown reports whether name or index are known.
func (t Target) IsKnown() bool { return t.Name != "" || t.Index != "" }

// Operation is what a server does for a request.
type Operation struct {
	Opcode  uint32
	Variant *schema.Variant
}

// String returns the name, with the variant.
func (o Operation) String() string {
	name := opcodes.Opcodes.Name(uint64(o.Opcode))
	if o.Variant != nil && o.Variant.Name != "" {
		name += " " + o.Variant.Name
	}
	return name
}

// Does reports whether the operation does one of some actions.
func (o Operation) Does(any schema.Actions) bool {
	return opcodes.ActionsOf(o.Opcode, o.Variant)&any != 0
}

// IsPing reports whether the operation asks only whether the target is there.
func (o Operation) IsPing() bool { return o.Opcode == opcodes.OBD_PING }

// Stream is what a client got of a target for an operation of a job, over time.
type Stream struct {
	Connection *track.Connection
	Client     lnet.NID
	Server     lnet.NID
	Operation
	Job    string
	HasJob bool   // its requests have a field for a job, which was captured
	Portal uint32 // of the service whose threads do it
	Time   Span   // of its replies
	Bins   []Bin
	wide   int64   // nanoseconds of a bin
	file   *string // of the last reply that was the slowest of a bin
}

// Sums are nanoseconds of several RPCs.
type Sums struct {
	Sum      int64 // of all latencies
	Transfer int64 // from the first to the last message of bulk data
	Wire     int64 // between the capture points, of all that two of them saw
	Queued   int64 // for which they waited for a thread, by the log of the server
	Worked   int64 // for which threads worked for them, by the log of the server
	Logged   int64 // of how many that log says so
}

// Add adds others.
func (s *Sums) Add(o *Sums) {
	s.Sum, s.Transfer, s.Wire = s.Sum+o.Sum, s.Transfer+o.Transfer, s.Wire+o.Wire
	s.Queued, s.Worked, s.Logged = s.Queued+o.Queued, s.Worked+o.Worked, s.Logged+o.Logged
}

// Bin counts the replies in a stretch of time by latency.
type Bin struct {
	Span        // of the replies
	Start int64 // of the first of their requests
	Sums
	Slowest   int64 // nanoseconds
	Counts    [classes]uint16
	Times     [classes]float32 // nanoseconds of all of a class
	Disturbed uint16           // requests of which something was sent again

	// Of the slowest: the frames of request (0: in another file) and reply, their file, and the time of the reply.
	request, reply, replied int64
	file                    *string
}

// Request returns where the slowest request is; its Frame is 0 if it is not in the same file as its reply.
func (b *Bin) Request() Point {
	return Point{Frame: b.request, File: *b.file, Time: b.replied - b.Slowest}
}

// Reply returns where its reply is.
func (b *Bin) Reply() Point { return Point{Frame: b.reply, File: *b.file, Time: b.replied} }

// Latencies are counted in classes, each of twice the time of the one before; the first one
// ends at a millisecond.
const (
	classes    = 18
	firstClass = int64(1e6)
	minBin     = int64(1e9)
	maxBins    = 128
	maxServed  = 1 << 12
)

// class returns the class of a latency, Limit its end.
func class(ns int64) int { return min(bits.Len64(uint64(ns/firstClass)), classes-1) }

// Limit returns the end of a class in nanoseconds.
func Limit(class int) int64 { return firstClass << class }

type streamKey struct {
	conn *track.Connection
	Operation
	job string
}

// Target returns the target of a stream. Its name may be empty until a message has shown it.
func (s *Stream) Target() Target { return TargetOf(s.Connection, s.Server) }

func (f *Facts) answered(r *track.RPC, _ *dissect.Message) {
	if s, ns := f.served(r); s != nil {
		s.add(r, ns)
	}
}

// served returns the stream of an RPC and its latency, nil if it counts in none.
func (f *Facts) served(r *track.RPC) (s *Stream, ns int64) {
	ns, ok := r.Latency()
	if !ok || r.Connection == nil || !r.HasOpcode || r.Sends > 1 || r.Replay() {
		return nil, 0
	}
	return f.stream(r), ns
}

// stream returns the stream of an RPC.
func (f *Facts) stream(r *track.RPC) *Stream {
	s := f.lastStream
	if s != nil && s.Connection == r.Connection && s.Opcode == r.Opcode && s.Variant == r.Variant && s.Job == string(r.Job()) {
		return s
	}
	key := streamKey{r.Connection, Operation{r.Opcode, r.Variant}, f.job(r)}
	f.lastStream = fifo.GetOrMake(f.streams, key, func() *Stream {
		return &Stream{Connection: r.Connection, Client: r.Client, Server: r.Server, Operation: key.Operation, Job: key.job, HasJob: r.HasJob(), Portal: r.Portal,
			wide: minBin}
	})
	return f.lastStream
}

// job returns the job of an RPC; there is one string for each.
func (f *Facts) job(r *track.RPC) string {
	if job, ok := f.jobs[string(r.Job())]; ok {
		return job
	}
	job := string(r.Job())
	if len(f.jobs) < maxServed {
		f.jobs[job] = job
	}
	return job
}

func (s *Stream) add(r *track.RPC, ns int64) {
	at := r.Replied()
	s.Time.add(at.Time)
	n := len(s.Bins)
	if n == 0 || at.Time >= s.Bins[n-1].From+s.wide {
		if n == maxBins {
			s.widen()
			n = len(s.Bins)
		}
		s.Bins = append(s.Bins, Bin{Span: Span{at.Time, at.Time}, Start: at.Time})
		n++
	}
	b := &s.Bins[n-1]
	b.Start, b.To = min(b.Start, at.Time-ns), max(b.To, at.Time)
	if c := class(ns); b.Counts[c] < 1<<16-1 {
		b.Counts[c]++
		b.Times[c] += float32(ns)
	}
	b.Sum += ns
	if bulk, ok := r.BulkTime(); ok {
		b.Transfer += bulk
	}
	if node, ok := r.NodeTime(); ok {
		b.Wire += ns - min(ns, node)
	}
	if (r.Retransmits() > 0 || r.LossNotCaptured()) && b.Disturbed < 1<<16-1 {
		b.Disturbed++
	}
	if ns > b.Slowest || b.file == nil {
		b.Slowest, b.request, b.reply, b.replied = ns, 0, at.Frame, at.Time
		if p := r.Requested(); p.File == at.File {
			b.request = p.Frame
		}
		if s.file == nil || *s.file != at.File {
			s.file = &at.File
		}
		b.file = s.file
	}
}

// logged takes what the log of the server says about an RPC that add has taken.
func (s *Stream) logged(r *track.RPC) {
	i := len(s.Bins) - 1
	for i > 0 && s.Bins[i].From > r.Replied().Time {
		i--
	}
	if l := &r.Log.Server; i >= 0 {
		s.Bins[i].Queued += l.Queue()
		s.Bins[i].Worked += l.Service
		s.Bins[i].Logged++
	}
}

// widen joins each two bins.
func (s *Stream) widen() {
	s.wide *= 2
	keep := s.Bins[:0]
	for i := range s.Bins {
		b := &s.Bins[i]
		if n := len(keep); n > 0 && b.From < keep[n-1].From+s.wide {
			keep[n-1].join(b)
			continue
		}
		keep = append(keep, *b)
	}
	s.Bins = keep
}

func (b *Bin) join(o *Bin) {
	b.Start, b.To = min(b.Start, o.Start), max(b.To, o.To)
	b.Sums.Add(&o.Sums)
	b.Disturbed += min(o.Disturbed, 1<<16-1-b.Disturbed)
	for i := range b.Counts {
		b.Counts[i] = uint16(min(1<<16-1, int(b.Counts[i])+int(o.Counts[i])))
		b.Times[i] += o.Times[i]
	}
	if o.Slowest > b.Slowest {
		b.Slowest, b.request, b.reply, b.replied, b.file = o.Slowest, o.request, o.reply, o.replied, o.file
	}
}

// N returns the number of replies.
func (b *Bin) N() (n int) {
	for _, c := range b.Counts {
		n += int(c)
	}
	return n
}

// Replies returns the number of replies.
func (s *Stream) Replies() (n int) {
	for i := range s.Bins {
		n += s.Bins[i].N()
	}
	return n
}

// Within returns the number of replies with a latency below a limit, or in its class.
func (b *Bin) Within(limit int64) (n int) {
	for c := range class(limit-1) + 1 {
		n += int(b.Counts[c])
	}
	return n
}

// Beyond returns the number of the other replies, and all their latencies in nanoseconds.
func (b *Bin) Beyond(limit int64) (n int, ns int64) {
	for c := class(limit-1) + 1; c < classes; c++ {
		n, ns = n+int(b.Counts[c]), ns+int64(b.Times[c])
	}
	return n, ns
}

// Streams calls f for each stream, until it returns false.
func (f *Facts) Streams(yield func(*Stream) bool) {
	for _, s := range fifo.All(f.streams) {
		if !yield(s) {
			return
		}
	}
}

// Usual returns the latency below which three of ten replies of an operation are that a target gave to anybody, 0 if it gave none: a
// fault may fill most of a capture. Where logs do not name the target, each client may use other targets of the server: the fastest counts.
func (f *Facts) Usual(t Target, o Operation) int64 {
	if u, ok := f.usual[Kind{t, o}]; ok {
		return u
	}
	all := make(map[*track.Connection]*[classes]int)
	for _, s := range fifo.All(f.streams) {
		if s.Operation != o || s.Target() != t {
			continue
		}
		var c *track.Connection
		if !t.IsKnown() && t.Handle == 0 {
			c = s.Connection
		}
		counts := all[c]
		if counts == nil {
			counts = new([classes]int)
			all[c] = counts
		}
		for i := range s.Bins {
			for c, n := range s.Bins[i].Counts {
				counts[c] += int(n)
			}
		}
	}
	u := int64(0)
	for _, counts := range all {
		if q := quantile(counts); u == 0 || q < u {
			u = q
		}
	}
	f.usual[Kind{t, o}] = u
	return u
}

// Pair are a client and a server.
type Pair struct{ Client, Server lnet.NID }

// Nearest returns how long the fastest reply of a server to a client took at least, by captures; 0 is less than a millisecond.
func (f *Facts) Nearest() map[Pair]int64 {
	nearest := make(map[Pair]int64)
	for _, s := range fifo.All(f.streams) {
		if s.Connection.IsLog() { // its times may be those of the server
			continue
		}
		for i := range s.Bins {
			c := slices.IndexFunc(s.Bins[i].Counts[:], func(n uint16) bool { return n > 0 })
			least := Limit(c) / 2
			if c == 0 {
				least = 0
			}
			if ns, known := nearest[Pair{s.Client, s.Server}]; !known || least < ns {
				nearest[Pair{s.Client, s.Server}] = least
			}
		}
	}
	return nearest
}

// quantile returns the end of the class in which the third of ten is.
func quantile(counts *[classes]int) int64 {
	total := 0
	for _, n := range counts {
		total += n
	}
	c := 0
	for sum := counts[0]; 10*sum < 3*total; sum += counts[c] {
		c++
	}
	return Limit(c)
}

// Kind are the replies of a target to requests for an operation.
type Kind struct {
	Target
	Operation
}
