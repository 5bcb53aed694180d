package ib

// Opcode is the operation of a packet, with the transport service of its queue
// pair in the upper three bits.
type Opcode uint8

// Service is a transport service. It is the same for all packets of a queue pair.
type Service uint8

// The transport services that Lustre uses. The packets of others are not decoded.
const (
	RC Service = 0 // reliable connection
	UD Service = 3 // unreliable datagram
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
)

// opcodeFacts are the properties of an opcode.
type opcodeFacts struct {
	operation   Operation
	first, last bool // packet of its message
	extensions  Extensions
}

// opcodes has the facts of all opcodes; those of reserved ones are zero.
var opcodes = [1 << 8]opcodeFacts{
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
	0x16: {Send, false, true, HasIETH},
	0x17: {Send, true, true, HasIETH},

	0x64: {Send, true, true, HasDETH}, // of UD
	0x65: {Send, true, true, HasDETH | HasImmDt},
}

// Service returns the transport service.
func (o Opcode) Service() Service { return Service(o >> 5) }

// Operation returns the operation, or UnknownOperation.
func (o Opcode) Operation() Operation { return opcodes[o].operation }

// First reports whether the packet is the first or the only one of its message.
func (o Opcode) First() bool { return opcodes[o].first }

// Last reports whether the packet is the last or the only one of its message.
func (o Opcode) Last() bool { return opcodes[o].last }

// Extensions returns the extension headers behind the BTH.
func (o Opcode) Extensions() Extensions { return opcodes[o].extensions }
