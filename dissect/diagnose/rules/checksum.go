package rules

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "checksum.mismatch",
	Noun:     "checksum that did not match",
	Logs:     true,
	Severity: diagnose.Error,
	Summary:  "The data of reads or writes changed between client and server.",
	Meaning: "Client and server each compute a checksum over the data of a read or write. In a write, the request has that of the client " +
		"and the reply that of the server; when they differ, the client sends the data again. In a read, the reply has that of the server; a " +
		"client that computes another one reads again. " +
		"The rule compares the checksums of request and reply, and looks for reads and writes that are sent again after a reply without an error. " +
		"With --checksums it also computes the checksum of the data in the capture, and so finds out on which side of the capture point they changed.",
	Limits: "Without --checksums no checksum is computed. With it, the data of a read or write must be in the capture as a whole. Which " +
		"checksum a client computes of what it reads does not show on the network.",
	Next: "lshark diagnose --checksums on captures of both sides shows whether the network or a node changes data. A client may also " +
		"change data while it is written: mapped files (mmap), or an application that uses its buffer during direct I/O. " +
		"If the network does it, look at network cards and their offloads (ethtool -K … rx off tx off), cables and switches.",
	Samples: []string{"checksum.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		c := &checksums{report: r, ends: fifo.NewMap[targetClient, *badChecksums](maxTargets),
			replies: fifo.NewMap[transferKey, track.Point](maxFailedRanges), open: fifo.NewMap[transferKey, *badChecksums](maxFailedRanges)}
		h := diagnose.Hooks{Opcodes: []uint32{opcodes.OST_READ, opcodes.OST_WRITE}, Sent: c.sent, Answered: c.answered, Done: c.done, Line: c.line}
		if r.HasData() {
			h.Message = c.message
		}
		return h
	},
})

// checksums compares the checksums of reads and writes.
type checksums struct {
	report    *diagnose.Reporter
	ends      *fifo.Map[targetClient, *badChecksums]
	replies   *fifo.Map[transferKey, track.Point]   // reads that were answered without an error
	open      *fifo.Map[transferKey, *badChecksums] // whose data changed, and that were not repeated with success
	transfers track.Attached[checkedTransfer]
}

// checkedTransfer is a read or write under way.
type checkedTransfer struct {
	start     uint64
	requested opcodes.DataChecksum // of a write
	has       bool                 // requested is known
	again     bool                 // the client repeats it
	kind      uint64               // that the client uses
	ranges    []opcodes.DataRange  // with data
	captured  opcodes.DataChecksum // of the data in the capture
	length    int                  // of these data, 0: they were not captured
}

// transferKey is a range of an object that a client reads or writes.
type transferKey struct {
	client lnet.NID
	server lnet.NID
	file   track.FID
	start  uint64
}

// badChecksums counts the reads and writes whose data changed.
type badChecksums struct {
	tally
	client   lnet.NID
	server   lnet.NID
	target   targetKey
	lines    series           // of logs
	sides    [2]int64         // how many of them are of the log of the client, and of that of the server
	text     string           // about the first
	suspects []diagnose.Place // of the first
	ofClient bool             // a log says that the first changed on the client
	repeated int64            // of them with success
}

func (c *checksums) sent(r *track.RPC, m *dissect.Message) {
	if m.Msg == nil || r.Sends != 1 {
		return
	}
	t, ok := opcodes.TransferOf(m.Msg)
	if !ok {
		return
	}
	x := c.transfers.Of(r)
	x.start, x.again = t.Start, t.IsAgain
	sum, ok := opcodes.DataChecksumOf(m.Msg)
	x.kind = sum.Kind
	x.requested, x.has = sum, ok && r.Opcode == opcodes.OST_WRITE
	if c.report.HasData() {
		x.ranges = opcodes.DataRanges(m.Msg, x.ranges[:0])
		if data := opcodes.ShortData(m.Msg); len(data) > 0 {
			x.compute(data)
		}
	}
	if t.IsAgain && r.Opcode == opcodes.OST_READ {
		c.readAgain(r, x)
	}
}

// line takes a line of a node's log. Client and server each have one about the same data.
func (c *checksums) line(l *track.LogLine) {
	if l.Kind != debuglog.BadChecksum || strings.Contains(l.Text, "client returned csum 0 ") { // a read without data was sent again
		return
	}
	client, server, side := l.PeerNode(), l.Node, 1
	if l.Name != l.Target { // an import: the log is that of a client
		client, server, side = server, client, 0
	}
	b := c.bad(client, server, namedTarget(l.Target, "", lnet.NID{}))
	b.sides[side]++
	suspects := []diagnose.Place{atClient(client), onPath(client, server), atNode(server)}
	if strings.Contains(l.Text, "changed on the client after we checksummed it") {
		suspects = suspects[:1]
	}
	if len(b.suspects) == 0 || len(suspects) < len(b.suspects) && l.Time-cmp.Or(b.first, b.lines.first) < sameMismatch {
		b.suspects, b.ofClient = suspects, len(suspects) == 1
	}
	b.lines.note(l.Point(), "%s", l.Text)
	c.reportBad(b)
}

// sameMismatch is how long after the first one a line is about the same data.
const sameMismatch = int64(time.Second)

// message takes the data of a read or write.
func (c *checksums) message(r *track.RPC, m *dissect.Message) {
	if r == nil || len(m.Content) == 0 || r.Opcode != opcodes.OST_READ && r.Opcode != opcodes.OST_WRITE {
		return
	}
	c.transfers.Of(r).compute(m.Content)
}

// compute sets the checksum of the data in the capture.
func (x *checkedTransfer) compute(data []byte) {
	if sum, ok := opcodes.SumData(x.kind, data, x.ranges); ok {
		x.captured, x.length = sum, len(data)
	}
}

func (c *checksums) answered(r *track.RPC, m *dissect.Message) {
	if r.Status < 0 || m.Msg == nil {
		return
	}
	replied, ok := opcodes.DataChecksumOf(m.Msg)
	if !ok {
		return
	}
	x := c.transfers.Of(r)
	if x.again && (r.Opcode == opcodes.OST_READ || x.requested == replied) {
		c.repeated(r, x)
	}
	if r.Opcode == opcodes.OST_READ {
		c.read(r, m, x, replied)
		return
	}
	if !x.has || x.requested.Kind != replied.Kind || x.requested == replied {
		return
	}
	client, path, server := atClient(r.Client), onPath(r.Client, r.Server), atNode(r.Server)
	suspects := []diagnose.Place{client, path, server}
	text := fmt.Sprintf("the client computed %s, the server %s (%s)", sumText(x.requested), sumText(replied), replied.Name())
	switch {
	case x.length == 0:
	case x.captured == x.requested:
		text += "; the data in the capture have that of the client, so they changed later, between the capture point and the server"
		suspects = []diagnose.Place{path, server}
	case x.captured == replied:
		text += "; the data in the capture have that of the server, so they changed before, between the client's checksum and the capture point"
		suspects = []diagnose.Place{client, path}
	default:
		text += fmt.Sprintf("; the data in the capture have %s, so they changed before and after the capture point", sumText(x.captured))
	}
	b := c.bad(r.Client, r.Server, targetOf(r))
	b.prove(r.Requested(), "write of %s at %d with the checksum %s", r.Client, x.start, sumText(x.requested))
	b.prove(r.Replied(), "reply with the checksum %s", sumText(replied))
	c.add(b, r, x, text, suspects)
}

func (c *checksums) read(r *track.RPC, m *dissect.Message, x *checkedTransfer, replied opcodes.DataChecksum) {
	if r.HasFID {
		fifo.Put(c.replies, x.key(r), r.Replied())
	}
	if !c.report.HasData() {
		return
	}
	if short := opcodes.ShortData(m.Msg); len(short) > 0 {
		x.compute(short)
	}
	if r.HasFID && x.length > 0 && x.length == int(r.Status) && x.captured.Kind == replied.Kind && x.captured != replied {
		c.altered(r, x, replied)
	}
}

// altered notes a read whose data in the capture do not have the checksum of the
// reply. It counts when the client reads again.
func (c *checksums) altered(r *track.RPC, x *checkedTransfer, replied opcodes.DataChecksum) {
	b := c.bad(r.Client, r.Server, targetOf(r))
	if b.text == "" {
		b.suspects = []diagnose.Place{onPath(r.Client, r.Server), atNode(r.Server)}
		b.text = fmt.Sprintf("the server computed %s (%s), but the data in the capture have %s, so they changed before, between the server's "+
			"checksum and the capture point", sumText(replied), replied.Name(), sumText(x.captured))
	}
}

// readAgain takes a read that a client repeats after a reply without an error.
func (c *checksums) readAgain(r *track.RPC, x *checkedTransfer) {
	before, ok := fifo.Get(c.replies, x.key(r))
	if !ok || !r.HasFID {
		return
	}
	b := c.bad(r.Client, r.Server, targetOf(r))
	b.prove(before, "reply to a read of %s at %d", r.Client, x.start)
	b.prove(r.Requested(), "the client reads it again")
	c.add(b, r, x, "the client did not accept what it got", []diagnose.Place{atClient(r.Client), onPath(r.Client, r.Server), atNode(r.Server)})
}

// bad returns what is counted for a client and a target, of which a capture may not have the name that logs have.
func (c *checksums) bad(client, server lnet.NID, target targetKey) *badChecksums {
	key := targetClient{client, target}
	if _, ok := fifo.Get(c.ends, key); !ok {
		for _, b := range fifo.All(c.ends) {
			if b.client == client && b.server == server && (b.target.Name == "" || target.Name == "") {
				return b
			}
		}
	}
	return fifo.GetOrMake(c.ends, key, func() *badChecksums { return &badChecksums{client: client, server: server, target: target} })
}

// add counts a read or write whose data changed, and reports it.
func (c *checksums) add(b *badChecksums, r *track.RPC, x *checkedTransfer, text string, suspects []diagnose.Place) {
	if b.text == "" {
		b.text = text
		if len(b.suspects) == 0 || len(b.suspects) > len(suspects) {
			b.suspects = suspects
		}
	}
	at := r.Requested()
	if p := r.Replied(); p.Frame != 0 {
		at = p
	}
	b.tally.add(r, at)
	if r.HasFID {
		fifo.Put(c.open, x.key(r), b)
	}
	c.reportBad(b)
}

// repeated takes a read or write that was repeated with success.
func (c *checksums) repeated(r *track.RPC, x *checkedTransfer) {
	if b, ok := fifo.Get(c.open, x.key(r)); ok {
		fifo.Delete(c.open, x.key(r))
		b.repeated++
		c.reportBad(b)
	}
}

func (x *checkedTransfer) key(r *track.RPC) transferKey {
	return transferKey{r.Client, r.Server, r.FID, x.start}
}

func (c *checksums) reportBad(b *badChecksums) {
	about := b.target.subject()
	about.Client = b.client
	where := ""
	if b.ofClient {
		where = "; those of the first changed on the client after it had computed their checksum, which its log says"
	}
	if b.count == 0 { // no packets
		f := b.lines.finding(about)
		f.Suspects, f.Count = b.suspects, max(b.sides[0], b.sides[1])
		who := "clients"
		if b.client.Len > 0 {
			who = b.client.String()
		}
		f.Text = fmt.Sprintf("The data of reads or writes changed between %s and %s, by %s of the logs%s.", who, b.target, plural(b.lines.count, "line"), where)
		c.report.Report(f)
		return
	}
	f := b.finding(about)
	f.Suspects = b.suspects
	f.Evidence = append(f.Evidence, b.lines.proofs...)
	first, each := "in the first, ", "Each"
	if b.count == 1 {
		first, each = "", "It"
	}
	f.Text = fmt.Sprintf("The checksums of %s differed between %s and %s: %s%s%s.", b.operationsText(), b.senders(), b.target, first, b.text, where)
	if b.repeated == b.count {
		f.Text += " " + each + " was repeated with success: applications got no error."
	}
	c.report.Report(f)
}

func (c *checksums) done(r *track.RPC) {
	x := c.transfers.Of(r)
	*x = checkedTransfer{ranges: x.ranges[:0]}
}

func sumText(c opcodes.DataChecksum) string { return fmt.Sprintf("0x%08x", c.Value) }

var _ = add(diagnose.Rule{
	Code:     "checksum.message",
	Noun:     "corrupt message",
	Severity: diagnose.Error,
	Summary:  "Messages of the network driver have a wrong checksum: the network or a node changes bytes.",
	Meaning: "The drivers for TCP (ksocklnd) and InfiniBand (ko2iblnd) may send a checksum of each message. The receiver drops a message " +
		"whose checksum is wrong, and the connection. " +
		"The rule computes the checksums of all messages that have one and are in the capture as a whole.",
	Limits: "Checksums are off by default, and ksocklnd has none on connections of its protocol version 3. Whether the bytes changed " +
		"before or after the capture point is unknown: they did before, or the sender computed a wrong checksum.",
	Next: "Network cards and their offloads (ethtool -K … rx off tx off), cables, switches, and memory of the sender. A capture on the " +
		"other side shows whether it received what was sent.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		senders := fifo.NewMap[nodePair, *series](maxTargets)
		return diagnose.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
			for i := range m.Notes {
				if m.Notes[i].Code == "checksum" {
					b := fifo.GetOrNew(senders, nodePair{m.LNet.Src, m.LNet.Dst})
					b.note(track.PointOf(m), "%s", m.Notes[i].Text)
					f := b.finding(diagnose.Subject{Client: m.LNet.Src, Server: m.LNet.Dst})
					f.Text = fmt.Sprintf("The checksums of %d messages from %s to %s are wrong.", b.count, m.LNet.Src, m.LNet.Dst)
					if b.count == 1 {
						f.Text = fmt.Sprintf("The checksum of a message from %s to %s is wrong.", m.LNet.Src, m.LNet.Dst)
					}
					suspect(&f, onPath(m.LNet.Src, m.LNet.Dst), atNode(m.LNet.Src))
					r.Report(f)
					return
				}
			}
		}}
	},
})
