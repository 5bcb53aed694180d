package lnet

import (
	"fmt"
	"hash/crc32"
)

// wanted describes the message in hand as far as its header tells, asks how
// much of its payload anyone needs, and returns how many bytes to keep.
// b begins with the header.
func (st *stream) wanted(b []byte) int {
	p, s := &st.msg, st.s
	if p.lnet < 0 {
		return p.size
	}
	if s.opt.Want == nil || p.csum != 0 || p.size == p.payload {
		return st.affordable(p.size)
	}
	st.describe(b)
	s.msg.Data = b[:min(len(b), p.payload)]
	want := s.opt.Want(&s.msg)
	return st.affordable(p.payload + min(max(want, 0), p.size-p.payload))
}

// affordable cuts what is kept of a message when all streams together hold
// too much.
func (st *stream) affordable(keep int) int {
	if keep > maxHeader && st.s.pool.lent+keep > st.s.opt.MaxTotal {
		st.s.stats.Unaffordable++
		return min(keep, maxHeader)
	}
	return keep
}

// describe fills the one Message with what b, the start of the message in
// hand, tells about it.
func (st *stream) describe(b []byte) {
	p, m := &st.msg, &st.s.msg
	m.Frame, m.Time = st.frame, st.time
	if p.cutFrame != 0 {
		m.Frame, m.Time = p.cutFrame, p.cutTime
	}
	m.Source, m.Conn = int(st.conn.key.source), st.conn.number
	m.Src, m.Dst = st.ends()
	m.Transport, m.Version, m.Swapped, m.Seq = TCP, st.version(), p.order == orderBig, p.seq
	m.Size, m.LNetOff, m.PayloadOff = p.size, p.lnet, p.payload
	m.Frames = st.carriers
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
		st.describeLNet(b[p.lnet:])
	}
}

func (st *stream) describeLNet(b []byte) {
	p, m := &st.msg, &st.s.msg
	if n := p.payload - p.lnet; p.cut {
		var full [lnet16Size]byte
		copy(full[:n], b)
		decodeLNet(&m.LNet, p.form, full[:n])
		if len(b) < n-lnetCommand+portalEnd(m.LNet.Type) {
			return // the portal is not there
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

// emit hands out the message in hand; data are the kept bytes.
func (st *stream) emit(data []byte) {
	p, s := &st.msg, st.s
	m := &s.msg
	st.describe(data)
	if p.kind == Unknown && !p.cut {
		m.Kind = s.asked.kind(&m.LNet)
		if m.Kind == GetReply && len(data) > p.payload && isPingInfo(data[p.payload:]) {
			m.Kind = PingReply
		}
	}
	m.Data = data
	m.Holes = append(m.Holes, p.holes...)
	st.tail()
	st.remark()
	st.learn()
	s.stats.Messages++
	if s.opt.Handle != nil {
		s.opt.Handle(m)
	}
	st.drop()
}

// tail says why the data end before the message does. A hole at the very end
// of the kept bytes is the reason itself.
func (st *stream) tail() {
	p, m := &st.msg, &st.s.msg
	if len(m.Data) == m.Size {
		return
	}
	m.Tail = Skipped
	if p.have < p.size {
		m.Tail = st.s.ending
	}
	for k := len(m.Holes); k > 0 && m.Holes[k-1].Off >= len(m.Data); k-- {
		m.Tail = m.Holes[k-1].Why
		m.Holes = m.Holes[:k-1]
	}
}

// remark adds the notes that the stream knows of.
func (st *stream) remark() {
	p, m := &st.msg, &st.s.msg
	if st.skipped > 0 {
		st.s.stats.SkippedBytes += st.skipped
		m.Note("gap", fmt.Sprintf("%d bytes before this message could not be read", st.skipped))
		st.skipped = 0
	}
	if p.late || st.late {
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
		st.checksum()
	}
}

// learn takes from a message what helps to read the next ones.
func (st *stream) learn() {
	p := &st.msg
	switch p.kind {
	case Connreq:
		return
	case Hello:
		st.hello, st.order, st.form = p.version, p.order, formOf(p.version)
	case Unknown:
		st.form = p.form
		if !p.cut {
			st.conn.nids.add(st.s.msg.LNet.Src)
			st.conn.nids.add(st.s.msg.LNet.Dst)
		}
	}
	st.order = p.order
	st.fresh = false
}

// checksum verifies ksh_csum. Socklnd 2 sums headers and payload, 3 would sum
// the payload alone; when the version is not known either will do.
func (st *stream) checksum() {
	p, m := &st.msg, &st.s.msg
	all := wholeSum(m.Data)
	payload := crcOn(^uint32(0), m.Data[p.payload:])
	should := all
	if m.Version >= 3 {
		should = payload
	}
	if p.csum == should || m.Version == 0 && p.csum == payload {
		return
	}
	m.Note("checksum", fmt.Sprintf("ksock checksum 0x%08x should be 0x%08x", p.csum, should))
}

// wholeSum sums a message with the checksum itself as zero.
func wholeSum(b []byte) uint32 {
	var zero [4]byte
	return crcOn(crcOn(crcOn(^uint32(0), b[:4]), zero[:]), b[8:])
}

func noopSum(b []byte) uint32 { return wholeSum(b[:ksockSize]) }

// crcOn continues a CRC32 that is never inverted at the end.
func crcOn(crc uint32, b []byte) uint32 {
	return ^crc32.Update(^crc, crc32.IEEETable, b)
}
