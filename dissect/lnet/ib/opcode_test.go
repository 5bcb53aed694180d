package ib

import "testing"

// TestOpcodes checks the table with numbers that were not made from it.
func TestOpcodes(t *testing.T) {
	for _, tt := range []struct {
		opcode      Opcode
		operation   Operation
		first, last bool
		size        int // of the extension headers
	}{
		{0x00, Send, true, false, 0},
		{0x02, Send, false, true, 0},
		{0x04, Send, true, true, 0},
		{0x06, Write, true, false, 16},
		{0x07, Write, false, false, 0},
		{0x0b, Write, true, true, 20},
		{0x0c, ReadRequest, true, true, 16},
		{0x0e, ReadResponse, false, false, 0},
		{0x11, Acknowledge, true, true, 4},
		{0x12, AtomicAcknowledge, true, true, 12},
		{0x13, CompareSwap, true, true, 28},
		{0x15, UnknownOperation, false, false, 0},
		{0x17, Send, true, true, 4},
		{0x1c, UnknownOperation, false, false, 0},
		{0x24, UnknownOperation, false, false, 0},
		{0x2c, UnknownOperation, false, false, 0},
		{0x36, UnknownOperation, false, false, 0},
		{0x60, UnknownOperation, false, false, 0},
		{0x64, Send, true, true, 8},
		{0x65, Send, true, true, 12},
		{0xff, UnknownOperation, false, false, 0},
	} {
		o := tt.opcode
		if o.Operation() != tt.operation || o.First() != tt.first || o.Last() != tt.last || o.Extensions().Size() != tt.size {
			t.Errorf("%#x: operation %d, %v, %v, %d bytes", o, o.Operation(), o.First(), o.Last(), o.Extensions().Size())
		}
	}
	known := 0
	for o := range opcodes {
		if opcodes[o].operation != UnknownOperation {
			known++
		}
	}
	if want := 23 + 2; known != want {
		t.Errorf("%d opcodes, want %d", known, want)
	}
}
