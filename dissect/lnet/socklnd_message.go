package lnet

import (
	"fmt"
	"hash/crc32"
)

// bytesToKeep returns how many bytes to keep of the message in out.msg, which is
// described; b begins with its headers. A message with a checksum is kept whole.
func (p *partial) bytesToKeep(b []byte, out *output) int {
	if p.lnetOff < 0 {
		return p.size
	}
	if out.opt.Want == nil || p.csum != 0 || p.size == p.payloadOff {
		return out.affordable(p.size)
	}
	out.msg.Data = b[:min(len(b), p.payloadOff)]
	want := out.opt.Want(&out.msg)
	return out.affordable(p.payloadOff + min(max(want, 0), p.size-p.payloadOff))
}

// describe sets the fields of the shared Message that the headers determine; b
// begins with them.
func (f *framer) describe(b []byte) {
	p, m, c := &f.msg, &f.tcp.out.msg, f.conn
	at := &f.at.Frame
	if f.cut() {
		at = f.cutAt
	}
	m.setFrame(at)
	m.Frames = f.frames
	m.Source, m.Conn = int(c.key.Source), c.number
	m.Src, m.Dst = c.ends(f.back)
	m.Transport, m.Version, m.IB = TCP, c.version(f.back), nil
	p.describe(m, b)
}

// describe sets the fields of m that the headers determine.
func (p *partial) describe(m *Message, b []byte) {
	m.Swapped, m.Seq = p.order == orderBig, p.seq
	m.Size, m.LNetOff, m.PayloadOff = p.size, p.lnetOff, p.payloadOff
	m.Holes, m.Notes, m.Tail = m.Holes[:0], m.Notes[:0], Present
	m.LNet = Header{}
	m.Kind = p.kind
	switch p.kind {
	case Hello:
		m.Version = p.version
		m.LNet.Type = TypeHello
		helloNIDs(&m.LNet, &p.head, b)
	case Connreq:
		m.Version = 0
		connreqNID(&m.LNet, &p.head, b)
	case Unknown:
		p.describeLNet(m, b[p.lnetOff:])
	}
}

// describeLNet reads the LNet header. Of one that is cut, the rest counts as
// zero.
func (p *partial) describeLNet(m *Message, b []byte) {
	if n := p.payloadOff - p.lnetOff; p.cut {
		var full [lnet16Size]byte
		copy(full[:n], b)
		decodeLNet(&m.LNet, p.form, full[:n])
		if len(b) < n-lnetCommand+portalEnd(m.LNet.Type) {
			return // the portal is missing
		}
	} else {
		decodeLNet(&m.LNet, p.form, b)
	}
	m.Kind = m.LNet.Kind()
}

const lnetCommand = 40 // bytes at the end of the header that depend on its type

// portalEnd is how many bytes of the command reach up to its portal.
func portalEnd(t Type) int {
	switch t {
	case TypePut:
		return 36
	case TypeGet:
		return 28
	}
	return 0
}

// finish hands out the current message: it is complete, or no more of its bytes
// will arrive.
func (f *framer) finish() {
	f.describe(f.msg.buf)
	f.emit(f.msg.buf)
}

// emit hands out the current message, which is described; data are the kept
// bytes.
func (f *framer) emit(data []byte) {
	p, out := &f.msg, f.tcp.out
	m := &out.msg
	m.Data = data
	if p.kind == Unknown && !p.cut {
		out.classify()
	}
	m.Holes = append(m.Holes, p.holes...)
	p.setTail(m, out.ending)
	if f.skipped > keepAliveBytes {
		f.tcp.stats.SkippedBytes += f.skipped
		m.Note("gap", fmt.Sprintf("%d bytes before this message could not be read", f.skipped))
	}
	f.skipped = 0
	if f.at.retransmitted {
		p.retransmitted = true
	}
	p.addNotes(m)
	f.learn()
	m.Number = out.stats.Messages + 1
	f.analysis().message(m, p.seq, p.seq+uint32(p.size))
	out.deliver()
	f.drop()
}

// setTail sets the reason why the data ends before the message does. If the kept
// bytes end with a hole, it is the reason of that hole.
func (p *partial) setTail(m *Message, ending Why) {
	if len(m.Data) == m.Size {
		return
	}
	m.Tail = Skipped
	if p.have < p.size {
		m.Tail = ending
	}
	for k := len(m.Holes); k > 0 && m.Holes[k-1].Off >= len(m.Data); k-- {
		m.Tail = m.Holes[k-1].Why
		m.Holes = m.Holes[:k-1]
	}
}

// addNotes adds notes about retransmitted, missing and corrupt bytes.
func (p *partial) addNotes(m *Message) {
	if p.retransmitted {
		m.Note("retransmitted", "part of this message was sent again")
	}
	var lost, cut int
	for _, h := range p.holes {
		if h.Why == Lost {
			lost += h.Len
		} else {
			cut += h.Len
		}
	}
	if lost > 0 {
		m.Note("gap", fmt.Sprintf("%d bytes of this message are %s", lost, Lost))
	}
	if cut > 0 {
		m.Note("truncated", fmt.Sprintf("%d bytes of this message are %s", cut, Snaplen))
	}
	if m.Tail == EndOfFile || m.Tail == Lost && len(p.holes) == 0 {
		m.Note("truncated", fmt.Sprintf("%d bytes of this message are %s", p.size-p.have, m.Tail))
	}
	if p.csum != 0 && len(m.Data) == m.Size && len(p.holes) == 0 {
		verifyChecksum(m, p.csum)
	}
}

// learn records the properties of a message that help to parse the next ones.
func (f *framer) learn() {
	p, m := &f.msg, &f.tcp.out.msg
	switch p.kind {
	case Connreq:
		return
	case Hello:
		f.hello, f.format.form = p.version, formOf(p.version)
	case Unknown:
		f.format.form = p.form
		if !p.cut {
			f.learnNIDs(m)
		}
	}
	f.format.order = p.order
	f.format.first = false
}

// learnNIDs adds the NIDs of a message to those of the connection, unless they are those of the
// message before, which were added.
func (f *framer) learnNIDs(m *Message) {
	known := &f.conn.nids
	if f.msg.form != formLong {
		inHeader := [16]byte(m.Data[m.LNetOff:])
		if inHeader == f.nids && len(known.list) < maxRecentNIDs {
			return
		}
		f.nids = inHeader
	}
	known.add(m.LNet.Src)
	known.add(m.LNet.Dst)
}

// verifyChecksum compares ksh_csum with the data. Socklnd 2 sums headers and
// payload, 3 would sum the payload alone; when the version is unknown, either is
// correct.
func verifyChecksum(m *Message, sum uint32) {
	all := wholeSum(m.Data)
	payload := crcOn(^uint32(0), m.Data[m.PayloadOff:])
	should := all
	if m.Version >= 3 {
		should = payload
	}
	if sum == should || m.Version == 0 && sum == payload {
		return
	}
	m.Note("checksum", fmt.Sprintf("ksock checksum 0x%08x should be 0x%08x", sum, should))
}

// wholeSum returns the checksum of a message, for which the checksum itself
// counts as zero.
func wholeSum(b []byte) uint32 {
	var zero [4]byte
	return crcOn(crcOn(crcOn(^uint32(0), b[:4]), zero[:]), b[8:])
}

func noopSum(b []byte) uint32 { return wholeSum(b[:ksockSize]) }

// crcOn continues a CRC-32 that is not inverted at the end.
func crcOn(crc uint32, b []byte) uint32 {
	return ^crc32.Update(^crc, crc32.IEEETable, b)
}

// idleFrames is for how many frames the list of an idle stream may have room: a
// bulk transfer of 1 MiB takes 725 segments of Ethernet.
const idleFrames = 1024

// frameList collects the numbers of the frames that carry a message, for
// Message.Frames.
type frameList []int64

// add adds the frame that brought the next bytes, by its order; begun is set when
// the message has bytes already. When too much is held, only the first frames and the last
// one stay.
func (l *frameList) add(order int64, begun bool, out *output) {
	n := len(*l)
	switch {
	case !begun || n == 0:
		*l = append((*l)[:0], order)
	case n > 1 && out.full():
		(*l)[n-1] = order
	default:
		*l = append(*l, order)
		out.pool.lent += frameSize
	}
}

// keepLast keeps only the last frame, in which the next message may begin.
func (l *frameList) keepLast(pool *pool) {
	n := len(*l)
	if n <= 1 {
		return
	}
	pool.lent -= (n - 1) * frameSize
	last := (*l)[n-1]
	if cap(*l) > idleFrames {
		*l = nil
	}
	*l = append((*l)[:0], last)
}
