package wiretest

import (
	"net/netip"

	"github.com/lshark/lshark/dissect/capture"
)

// Opcodes of InfiniBand.
const (
	RCSendFirst   = 0x00
	RCSendMiddle  = 0x01
	RCSendLast    = 0x02
	RCSendOnly    = 0x04
	RCWriteFirst  = 0x06
	RCWriteMiddle = 0x07
	RCWriteLast   = 0x08
	RCWriteOnly   = 0x0a
	RCAcknowledge = 0x11
	UDSendOnly    = 0x64
)

const (
	portRoCE   = 4791
	protoUDP   = 17
	serviceID  = 0x0000000001060000 + 987 // of o2iblnd, by its port of the RDMA connection manager
	pathMTU    = 1024
	psnMask    = 1<<24 - 1
	management = 1 // queue pair of the connection manager
)

// QueuePair is one end of an InfiniBand connection.
type QueuePair struct {
	Addr   netip.Addr
	Port   uint16 // UDP port that it sends from
	Number uint32
	PSN    uint32 // of the next request that it sends
	MSN    uint32 // messages that it has received
	CommID uint32 // id in the messages of the connection manager
}

// QueuePairs builds the frames of an InfiniBand connection over RoCEv2.
type QueuePairs struct {
	Recording
	A, B  QueuePair // A connects to B
	trans uint64    // transaction id of the last connect
}

// NewQueuePairs returns a connection from queue pair 0x11 of 10.0.0.1 to queue
// pair 0x22 of 10.0.0.2, without frames.
func NewQueuePairs() *QueuePairs {
	return &QueuePairs{
		Recording: Recording{Now: 1e18},
		A:         QueuePair{netip.AddrFrom4([4]byte{10, 0, 0, 1}), 0xc011, 0x11, ISNOfA, 0, 0xa1a2a3a4},
		B:         QueuePair{netip.AddrFrom4([4]byte{10, 0, 0, 2}), 0xc022, 0x22, ISNOfB, 0, 0xb1b2b3b4},
	}
}

// ends returns the sender and the receiver of a packet, which goes from A to B or,
// when back is set, from B to A.
func (c *QueuePairs) ends(back bool) (from, to *QueuePair) {
	if back {
		return &c.B, &c.A
	}
	return &c.A, &c.B
}

func (c *QueuePairs) packet(from, to *QueuePair, headers, payload []byte) {
	c.Frame(capture.LinkEthernet, RoCEv2(from, to, InfiniBand(headers, payload)))
}

// request adds the next packet of a sender.
func (c *QueuePairs) request(from, to *QueuePair, opcode byte, last bool, extension, payload []byte) {
	c.packet(from, to, Join(BTH(opcode, to.Number, from.PSN, last), extension), payload)
	from.PSN = (from.PSN + 1) & psnMask
}

// message adds the packets of a SEND or a RDMA WRITE, whose opcodes are those of
// its packets: first, middle, last, only.
func (c *QueuePairs) message(back bool, opcodes [4]byte, extension, data []byte) *QueuePairs {
	from, to := c.ends(back)
	to.MSN++
	if len(data) <= pathMTU {
		c.request(from, to, opcodes[3], true, extension, data)
		return c
	}
	c.request(from, to, opcodes[0], false, extension, data[:pathMTU])
	for data = data[pathMTU:]; len(data) > pathMTU; data = data[pathMTU:] {
		c.request(from, to, opcodes[1], false, nil, data[:pathMTU])
	}
	c.request(from, to, opcodes[2], true, nil, data)
	return c
}

// Send sends a message from A or, when back is set, from B, in packets of at most
// 1024 bytes.
func (c *QueuePairs) Send(back bool, message []byte) *QueuePairs {
	return c.message(back, [4]byte{RCSendFirst, RCSendMiddle, RCSendLast, RCSendOnly}, nil, message)
}

// Write writes data to memory of the receiver, in packets of at most 1024 bytes.
func (c *QueuePairs) Write(back bool, address uint64, key uint32, data []byte) *QueuePairs {
	return c.message(back, [4]byte{RCWriteFirst, RCWriteMiddle, RCWriteLast, RCWriteOnly}, RETH(address, key, uint32(len(data))), data)
}

// Ack acknowledges, from A or from B when back is set, all that the other end has
// sent.
func (c *QueuePairs) Ack(back bool) *QueuePairs {
	const unlimited = 0x1f // credits
	from, to := c.ends(back)
	return c.Acknowledge(back, (to.PSN-1)&psnMask, unlimited, from.MSN)
}

// Acknowledge adds an acknowledgement with any number and syndrome.
func (c *QueuePairs) Acknowledge(back bool, psn uint32, syndrome byte, msn uint32) *QueuePairs {
	from, to := c.ends(back)
	c.packet(from, to, Join(BTH(RCAcknowledge, to.Number, psn, false), AETH(syndrome, msn)), nil)
	return c
}

// Lose skips the next n packets that the sender sends, as if they had not been
// captured.
func (c *QueuePairs) Lose(back bool, n int) *QueuePairs {
	from, _ := c.ends(back)
	from.PSN = (from.PSN + uint32(n)) & psnMask
	return c
}

// InfiniBand builds a packet from the BTH on, with padding and a checksum, which
// is not the right one. The padding is counted in the BTH, with which the headers
// begin.
func InfiniBand(headers, payload []byte) []byte {
	pad := -len(payload) & 3
	b := Join(headers, payload, []byte{0xee, 0xee, 0xee}[:pad], []byte{0xcc, 0xcc, 0xcc, 0xcc})
	b[1] |= byte(pad) << 4
	return b
}

// RoCEv2 puts an InfiniBand packet into an Ethernet frame, with IP and UDP.
func RoCEv2(from, to *QueuePair, packet []byte) []byte {
	return Ethernet(IP(from.Addr, to.Addr, protoUDP, pack(be, from.Port, uint16(portRoCE), uint16(8+len(packet)), uint16(0), packet)))
}

// BTH builds a base transport header. The partition is the default one.
func BTH(opcode byte, destQP, psn uint32, ackRequest bool) []byte {
	psn &= psnMask
	if ackRequest {
		psn |= 0x80 << 24
	}
	return pack(be, opcode, byte(0x40), uint16(0xffff), destQP&psnMask, psn)
}

// RETH builds the extension header of a RDMA WRITE.
func RETH(address uint64, key, length uint32) []byte { return pack(be, address, key, length) }

// AETH builds the extension header of an acknowledgement.
func AETH(syndrome byte, msn uint32) []byte { return pack(be, uint32(syndrome)<<24|msn&psnMask) }

// DETH builds the extension header of a datagram.
func DETH(queueKey, sourceQP uint32) []byte { return pack(be, queueKey, sourceQP&psnMask) }

// GRH builds a global route header before a packet of n bytes.
func GRH(src, dst [16]byte, n int) []byte {
	return pack(be, uint32(0x60<<24), uint16(n), byte(0x1b), byte(64), src, dst)
}

// LRH builds a local route header before a packet of n bytes, which begins with a
// BTH, or with a GRH if global is set.
func LRH(src, dst uint16, global bool, n int) []byte {
	next := byte(2)
	if global {
		next = 3
	}
	return pack(be, byte(0), next, dst, uint16((8+n)/4), src)
}

// ERF builds a record of the Extensible Record Format with any number of extension
// headers.
func ERF(typ byte, extensions int, frame []byte) []byte {
	const more, size, anyLength = 0x80, 16, 4
	b := make([]byte, size+8*extensions)
	b[8], b[9] = typ, anyLength
	for i := range extensions {
		b[8] |= more
		b[size+8*i] = more | 1
	}
	if extensions > 0 {
		b[len(b)-8] &^= more
	}
	if typ == ERFEthernet {
		b = append(b, 0, 0)
	}
	be.PutUint16(b[10:], uint16(len(b)+len(frame)))
	be.PutUint16(b[14:], uint16(len(frame)))
	return append(b, frame...)
}

// Types of records of the Extensible Record Format.
const (
	ERFEthernet   = 2
	ERFInfiniBand = 21
)
