package simulator

import (
	"encoding/binary"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
)

// message is a message of socklnd: an LNet message, or a part of the handshake.
type message struct {
	from, to *host
	data     []byte
	cut      int // bytes that are in segments
	kind     kind
	arrived  func() // what the receiver does with it; nil: nothing
}

// kind is the kind of a message, by which LNet may discard some only.
type kind uint8

const (
	otherMessage kind = iota
	requestMessage
	replyMessage
	bulkMessage
)

// receive takes a message from a connection: LNet passes it on, or discards it.
func (h *host) receive(m *message) {
	if h.ignores != nil && m.kind != otherMessage && h.ignores(m) {
		return
	}
	m.arrived()
}

// The types of connections between two nodes, as the node that opens them sees it.
const (
	control = iota + 1
	bulkIn
	bulkOut
)

// smallMessage is how many bytes a message on the control connection has at most.
const smallMessage = 1024

// pair is the connections of a node with another one.
type pair struct {
	host, other *host
	ends        [bulkOut + 1]*end // of the node, by type; nil: none
	opener      bool              // the node opened them
	connecting  bool
	queue       []*message
	retry       int64 // when it may connect again
	pause       int64
	attempt     int // number of the latest attempt to connect
}

func (h *host) pair(other *host) *pair { return h.pairs[other.index] }

// sendLNet sends a message to another node.
func (h *host) sendLNet(m *message) {
	p := h.pair(m.to)
	if e := p.choose(len(m.data)); e != nil {
		e.send(m)
		return
	}
	p.queue = append(p.queue, m)
	p.connect()
}

// choose returns the open connection for a message.
func (p *pair) choose(size int) *end {
	typ := control
	if size > smallMessage {
		typ = bulkOut
		if !p.opener {
			typ = bulkIn
		}
	}
	for _, e := range [2]*end{p.ends[typ], p.ends[control]} {
		if e != nil && e.open {
			return e
		}
	}
	return nil
}

// connect opens connections, unless it tries already.
func (p *pair) connect() {
	if p.connecting {
		return
	}
	p.connecting = true
	p.host.after(max(0, p.retry-p.host.now), func() { p.open(control) })
}

// open opens a connection of a type.
func (p *pair) open(typ int) {
	h := p.host
	if h.nextPort--; h.nextPort < 600 {
		h.nextPort = 1023
	}
	a, b := connection(h, p.other, h.nextPort)
	p.attempt++
	attempt, done, sent := p.attempt, false, 0
	var syn func()
	syn = func() {
		if done || p.attempt != attempt {
			return
		}
		if sent++; sent > 5 { // 1, 3, 7, 15, 31 s
			p.refused(typ)
			return
		}
		h.path(p.other).carry(a.frame(&packet{flags: wiretest.SYN, seq: a.next - 1, value: h.ticks()}), func() {
			p.other.accept(p, typ, a, b, func(ok bool) {
				switch {
				case done:
				case ok:
					p.established(typ, a)
				default:
					p.refused(typ)
				}
				done = true
			})
		})
		h.after(second<<(sent-1), syn)
	}
	syn()
}

// accept answers a SYN. result is called at the node that connects.
func (h *host) accept(p *pair, typ int, a, b *end, result func(ok bool)) {
	back := h.path(p.host)
	if h.noLNet || h.refusesSYN == p.host {
		rst := packet{flags: wiretest.RST | wiretest.ACK, ack: a.next}
		back.carry(b.frame(&rst), func() { result(false) })
		return
	}
	own := h.pair(p.host)
	if typ == control && own.ends[control] != b {
		own.attempt++ // of two that connect to each other, this one gives way
		own.connecting = false
		own.drop((*end).close)
	}
	own.ends[typ], own.opener = b, false
	if !b.open {
		b.establish(own)
	}
	b.heard = h.now
	syn := packet{flags: wiretest.SYN | wiretest.ACK, seq: b.next - 1, ack: a.next, value: h.ticks()}
	back.carry(b.frame(&syn), func() { result(true) })
}

// established greets the other end of a connection that has just been accepted.
func (p *pair) established(typ int, a *end) {
	h := p.host
	a.establish(p)
	p.opener = true
	old := p.ends[typ]
	p.ends[typ] = a
	if old != nil && old.open {
		old.close()
	}
	a.transmit(packet{flags: wiretest.ACK, seq: a.next})
	life := h.life
	mirrored := [...]int{control: control, bulkIn: bulkOut, bulkOut: bulkIn}[typ]
	a.send(&message{from: h, to: p.other, data: connreqMessage(p.other)})
	a.send(&message{from: h, to: p.other, data: helloMessage(h, p.other, typ), arrived: func() {
		a.other.send(&message{from: p.other, to: h, data: helloMessage(p.other, h, mirrored), arrived: func() {
			if h.life == life && a.open {
				p.greeted(typ)
			}
		}})
		p.other.pair(h).flush()
	}})
}

// greeted uses a connection, and opens the next.
func (p *pair) greeted(typ int) {
	p.pause = 0
	p.connecting = typ < bulkOut
	p.flush()
	if p.connecting {
		p.open(typ + 1)
	}
}

// flush sends what waited for a connection.
func (p *pair) flush() {
	list := p.queue
	p.queue = nil
	for _, m := range list {
		p.host.sendLNet(m)
	}
}

// refused gives up connecting: messages are lost, and it tries again when there are new ones,
// after a pause that grows.
func (p *pair) refused(typ int) {
	p.connecting = false
	p.pause = min(max(second, 2*p.pause), 60*second)
	p.retry = p.host.now + p.pause
	p.queue = nil
	if typ == control {
		p.host.unreachable(p.other)
	}
}

// lost is called when a connection was aborted: socklnd closes all of them.
func (p *pair) lost(e *end) {
	if !slices.Contains(p.ends[:], e) {
		return
	}
	p.drop((*end).abort)
	p.connecting = false
	p.attempt++
	p.queue = nil
	p.retry = p.host.now + p.host.random.Int64N(second)
	p.host.unreachable(p.other)
}

// drop gives up the connections that are open, and ends them: without a word, or with a reset.
func (p *pair) drop(finish func(*end)) {
	ends := p.ends
	clear(p.ends[:])
	for _, e := range ends {
		if e != nil && e.open {
			finish(e)
		}
	}
}

// forget is called when a node dies.
func (p *pair) forget() {
	p.drop((*end).close)
	p.connecting, p.queue, p.retry, p.pause = false, nil, 0, 0
	p.attempt++
}

// LNet messages. Behind the header of socklnd is that of LNet, whose last part depends on the type.
const (
	ksockLNet  = 0xc1
	lustrePID  = 12345
	headerSize = 24 + 72
	noHandle   = ^uint64(0)
)

// nid4 returns a NID in the 8-byte form.
func nid4(n lnet.NID) uint64 { return 2<<48 | uint64(binary.BigEndian.Uint32(n.Addr[:])) }

func connreqMessage(to *host) []byte {
	return make(record, 16).u32(0, 0xacce7100).u32(4, 1).u64(8, nid4(to.nid))
}

func helloMessage(from, to *host, typ int) []byte {
	incarnation := uint64(from.cluster.begin) + uint64(from.life)
	b := make(record, 56).u32(0, 0x45726963).u32(4, 3).u64(8, nid4(from.nid)).u64(16, nid4(to.nid)).u32(24, lustrePID)
	return b.u64(32, incarnation).u32(48, uint32(typ))
}

// lnetHeader begins an LNet message with a payload of a size, which follows.
func (h *host) lnetHeader(to *host, typ uint32, size int) record {
	b := record(h.bytes(headerSize+size)).u32(0, ksockLNet).u64(24, nid4(to.nid)).u64(32, nid4(h.nid))
	return b.u32(40, lustrePID).u32(44, lustrePID).u32(48, typ).u32(52, uint32(size))
}

// put builds a PUT. ack is the handle that the acknowledgement will have; 0: none is wanted.
func (h *host) put(to *host, portal uint32, match, ack uint64, offset uint32, payload []byte) []byte {
	cookie := h.interfaceCookie()
	if ack == 0 {
		cookie, ack = noHandle, noHandle
	}
	b := h.lnetHeader(to, wiretest.Put, len(payload)).u64(56, cookie).u64(64, ack).u64(72, match).u32(88, portal).u32(92, offset)
	copy(b[headerSize:], payload)
	return b
}

func (h *host) interfaceCookie() uint64 {
	return 0x18ea7d0000000000 + uint64(h.index)<<32 + uint64(h.life)
}

// get builds a GET of n bytes.
func (h *host) get(to *host, portal uint32, match, handle uint64, n int) []byte {
	b := h.lnetHeader(to, wiretest.Get, 0).u64(56, h.interfaceCookie()).u64(64, handle).u64(72, match)
	return b.u32(80, portal).u32(88, uint32(n))
}

// getReply builds the REPLY to a GET, with a payload.
func (h *host) getReply(to *host, handle uint64, payload []byte) []byte {
	b := h.lnetHeader(to, wiretest.Reply, len(payload)).u64(56, to.interfaceCookie()).u64(64, handle)
	copy(b[headerSize:], payload)
	return b
}

// ackOf builds the acknowledgement of a PUT.
func (h *host) ackOf(to *host, match, handle uint64, n int) []byte {
	return h.lnetHeader(to, wiretest.Ack, 0).u64(56, to.interfaceCookie()).u64(64, handle).u64(72, match).u32(80, uint32(n))
}
