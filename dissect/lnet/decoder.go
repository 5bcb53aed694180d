package lnet

import (
	"reflect"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/link"
)

// Options are the settings of a Decoder.
type Options struct {
	// Ports are the TCP ports that carry LNet; without any, DefaultPort.
	Ports []uint16

	// Want returns how many bytes of the LNet payload of m are needed. It is
	// called when the headers of m were read: addresses, NIDs, LNet, Kind and
	// Size are set, Data holds the headers. The payload behind these bytes is
	// skipped without a copy. Without Want the whole payload is kept.
	Want func(m *Message) int

	// Frames is set to fill Message.Frames.
	Frames bool

	// Handle receives each message, which is valid until it returns.
	Handle func(m *Message)

	// TransferUpdate receives what TCP did for a message after Handle got it: its segments
	// were sent again, or acknowledged late. number is its Message.Number; t is valid
	// until the func returns.
	TransferUpdate func(number int64, t *Transfer)

	// Lost receives the runs of bytes that were not captured and in which
	// messages may have begun. l is valid until it returns.
	Lost func(l *Loss)

	// TCPEvent receives each TCP segment that was sent again, came out of order, closes or
	// opens a receive window, or aborts a connection. It is valid until the func returns.
	TCPEvent func(m *TCPEvent)

	// Active receives, for each direction of a connection, the first segment or packet of each second,
	// and each segment that opens, closes or aborts a TCP connection. It is valid until the func returns.
	Active func(*Activity)

	// IBEvent receives the negative acknowledgements of InfiniBand packets, and those that
	// were sent again. It is valid until the func returns.
	IBEvent func(*IBEvent)

	// MaxStream and MaxTotal bound the bytes held of one stream and of all
	// together; by default 8 MiB and 256 MiB. The total includes the records
	// kept about these bytes.
	MaxStream, MaxTotal int
}

// Stats are the counts of a Decoder.
type Stats struct {
	Frames       int64 // given to Frame
	Messages     int64 // given to Handle
	RDMA         int64 // InfiniBand packets, which no transport takes yet
	Unaffordable int64 // messages truncated because too much was held
	Held         int   // bytes held now, with the records kept about them
	TCP          TCPStats
	IB           IBStats
}

// Since returns the counts less those of before, an earlier state of the same counts. What
// counts what is there now, Held and Live, stays: it is an int.
func (s Stats) Since(before *Stats) Stats {
	subtract(reflect.ValueOf(&s).Elem(), reflect.ValueOf(before).Elem())
	return s
}

func subtract(now, before reflect.Value) {
	for i := range now.NumField() {
		switch f := now.Field(i); f.Kind() {
		case reflect.Struct:
			subtract(f, before.Field(i))
		case reflect.Int64:
			f.SetInt(f.Int() - before.Field(i).Int())
		}
	}
}

// Decoder turns frames into LNet messages. It finds the packets of each
// transport in them and passes these on to the transport.
//
// Messages of one direction of a connection are handed out in their order. The
// memory that is held until they are complete is bounded.
type Decoder struct {
	link link.Decoder
	tcp  tcp
	ib   infiniband
	out  output
}

// NewDecoder returns a Decoder with the given options.
func NewDecoder(o Options) *Decoder {
	if len(o.Ports) == 0 {
		o.Ports = []uint16{DefaultPort}
	}
	if o.MaxStream == 0 {
		o.MaxStream = 8 << 20
	}
	if o.MaxTotal == 0 {
		o.MaxTotal = 256 << 20
	}
	d := &Decoder{out: output{opt: o, gets: newPendingGets(), ending: Lost}}
	d.tcp.init(&d.out)
	d.ib.init(&d.out)
	return d
}

// Frame takes the next frame of the capture. It calls Handle for the messages
// that the frame completes.
func (d *Decoder) Frame(f *capture.Frame) {
	d.out.stats.Frames++
	src := d.tcp.frame(f)
	switch d.link.Decode(f) {
	case link.TCP:
		d.tcp.segment(src, &d.link.Segment)
	case link.InfiniBand:
		d.out.stats.RDMA++
		d.ib.packet(src, &d.link.Packet)
	case link.None:
	}
}

// Flush is called when no frame has arrived for a while, as in a live capture. It
// hands out the messages that wait only for late frames.
func (d *Decoder) Flush() { d.tcp.quiet() }

// Close ends the input and hands out what is held.
func (d *Decoder) Close() {
	d.out.ending = EndOfFile
	d.tcp.close()
	d.ib.close()
}

// Held returns the order of the first frame of which bytes are held, behind a
// gap or until a SYN comes, as in Message.Order; 0 means none. All messages that earlier frames
// completed were handed out, except those that resynchronization has not found
// yet.
func (d *Decoder) Held() int64 { return d.tcp.heldFrame() }

// Stats returns the counts so far.
func (d *Decoder) Stats() Stats {
	st := d.out.stats
	st.Held = d.out.pool.lent
	st.TCP = d.tcp.stats
	st.TCP.Live = d.tcp.conns.live()
	st.IB = d.ib.stats
	st.IB.Live = len(d.ib.table.pairs)
	return st
}

// output is shared by all transports: the memory that messages are kept in, and
// what is known about messages whatever transport they came by.
type output struct {
	opt      Options
	pool     pool
	gets     pendingGets
	msg      Message // the one being handed out
	stats    Stats
	conns    int      // connections so far, of all transports
	transfer Transfer // given to Options.TransferUpdate
	loss     Loss     // given to Options.Lost
	tcpEvent TCPEvent // given to Options.TCPEvent
	activity Activity // given to Options.Active
	ibEvent  IBEvent  // given to Options.IBEvent
	ending   Why      // why messages that are cut off now end: Lost, or EndOfFile
	gaps     gapHeap
	begins   map[int]int64 // times of the first frames of the capture points

	histories []*history // of connections that have forgotten them, for others
}

// full reports whether more is held than the options allow.
func (o *output) full() bool { return o.pool.lent > o.opt.MaxTotal }

// affordable limits the bytes kept of a message when too much is held.
func (o *output) affordable(keep int) int {
	if keep > maxHeader && o.pool.lent+keep > o.opt.MaxTotal {
		o.stats.Unaffordable++
		return min(keep, maxHeader)
	}
	return keep
}

// classify sets the kind of the LNet message in o.msg, which is complete.
func (o *output) classify() {
	m := &o.msg
	m.Kind = o.gets.kind(&m.LNet)
	if m.Kind == GetReply && isPingInfo(m.Payload()) {
		m.Kind = PingReply
	}
}

// deliver hands out the message in o.msg.
func (o *output) deliver() {
	o.stats.Messages++
	if o.opt.Handle != nil {
		o.opt.Handle(&o.msg)
	}
}
