package ib

// Opcode is the operation of a packet, with the transport service of its queue
// pair in the upper three bits.
type Opcode uint8

// Service is a transport service. It is the same for all packets of a queue pair.
type Service uint8

// The transport services. Numbers above XRC are free for manufacturers.
const (
	RC         Service = iota // reliable connection
	UC                        // unreliable connection
	RD                        // reliable datagram
	UD                        // unreliable datagram
	Congestion                // congestion notification of RoCEv2
	XRC                       // extended reliable connection
)

// Operation is what a packet does, whatever its place in the message is.
type Operation uint8

// The operations. UnknownOperation is that of opcodes which are reserved.
const (
	UnknownOperation Operation = iota
	Send
	Write
	ReadRequest
	ReadResponse
	Acknowledge
	AtomicAcknowledge
	CompareSwap
	FetchAdd
	Resync
	Flush
	AtomicWrite
	CongestionNotification
)

// CNP is the opcode of a congestion notification packet of RoCEv2, which belongs
// to no message and has no place among the packet sequence numbers.
const CNP Opcode = 0x81

// opcodeFacts are the properties of an opcode.
type opcodeFacts struct {
	operation   Operation
	first, last bool // packet of its message
	extensions  Extensions
}

// operationFacts are those of the lower five bits of the opcode, for RC.
var operationFacts = [1 << 5]opcodeFacts{
	0x00: {Send, true, false, 0},
	0x01: {Send, false, false, 0},
	0x02: {Send, false, true, 0},
	0x03: {Send, false, true, HasImmDt},
	0x04: {Send, true, true, 0},
	0x05: {Send, true, true, HasImmDt},
	0x06: {Write, true, false, HasRETH},
	0x07: {Write, false, false, 0},
	0x08: {Write, false, true, 0},
	0x09: {Write, false, true, HasImmDt},
	0x0a: {Write, true, true, HasRETH},
	0x0b: {Write, true, true, HasRETH | HasImmDt},
	0x0c: {ReadRequest, true, true, HasRETH},
	0x0d: {ReadResponse, true, false, HasAETH},
	0x0e: {ReadResponse, false, false, 0},
	0x0f: {ReadResponse, false, true, HasAETH},
	0x10: {ReadResponse, true, true, HasAETH},
	0x11: {Acknowledge, true, true, HasAETH},
	0x12: {AtomicAcknowledge, true, true, HasAETH | HasAtomicAckETH},
	0x13: {CompareSwap, true, true, HasAtomicETH},
	0x14: {FetchAdd, true, true, HasAtomicETH},
	0x15: {Resync, true, true, 0},
	0x16: {Send, false, true, HasIETH},
	0x17: {Send, true, true, HasIETH},
	0x1c: {Flush, true, true, HasFETH | HasRETH},
	0x1d: {AtomicWrite, true, true, HasRETH},
}

// opcodes has the facts of all opcodes; those of reserved ones are zero.
var opcodes = func() (all [1 << 8]opcodeFacts) {
	for low, f := range operationFacts {
		if f.operation == UnknownOperation {
			continue
		}
		for _, s := range [...]Service{RC, UC, RD, UD, XRC} {
			if !s.has(f.operation, low) {
				continue
			}
			g := f
			request := !f.operation.isResponse()
			switch {
			case s == RD && request:
				g.extensions |= HasRDETH | HasDETH
			case s == RD:
				g.extensions |= HasRDETH
			case s == UD:
				g.extensions |= HasDETH
			case s == XRC && request:
				g.extensions |= HasXRCETH
			}
			all[int(s)<<5|low] = g
		}
	}
	all[CNP] = opcodeFacts{operation: CongestionNotification, first: true, last: true}
	return all
}()

// has reports whether the service has an operation, with the lower five bits of
// its opcode.
func (s Service) has(o Operation, low int) bool {
	const invalidate, extended = 0x16, 0x18 // first of these opcodes
	switch s {
	case RC:
		return o != Resync
	case UC:
		return (o == Send || o == Write) && low < invalidate
	case RD:
		return low < invalidate
	case UD:
		return o == Send && inOnePacket(low) && low < invalidate
	case XRC:
		return o != Resync && low < extended
	}
	return false
}

// inOnePacket reports whether an operation, by the lower five bits of its opcode, is
// complete in one packet.
func inOnePacket(low int) bool { return operationFacts[low].first && operationFacts[low].last }

func (o Operation) isResponse() bool {
	return o == ReadResponse || o == Acknowledge || o == AtomicAcknowledge
}

// Service returns the transport service.
func (o Opcode) Service() Service { return Service(o >> 5) }

// Operation returns the operation, or UnknownOperation.
func (o Opcode) Operation() Operation { return opcodes[o].operation }

// First reports whether the packet is the first or the only one of its message.
func (o Opcode) First() bool { return opcodes[o].first }

// Last reports whether the packet is the last or the only one of its message.
func (o Opcode) Last() bool { return opcodes[o].last }

// Response reports whether the packet answers one of the other queue pair, whose
// packet sequence numbers it has then.
func (o Opcode) Response() bool { return opcodes[o].operation.isResponse() }

// Extensions returns the extension headers behind the BTH.
func (o Opcode) Extensions() Extensions { return opcodes[o].extensions }
