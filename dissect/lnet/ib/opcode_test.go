package ib

import (
	"slices"
	"strings"
	"testing"
)

// TestOpcodes checks the table with numbers that were not made from it.
func TestOpcodes(t *testing.T) {
	for _, tt := range []struct {
		opcode      Opcode
		name        string
		operation   Operation
		first, last bool
		size        int // of the extension headers
	}{
		{0x00, "RC_SEND_FIRST", Send, true, false, 0},
		{0x02, "RC_SEND_LAST", Send, false, true, 0},
		{0x04, "RC_SEND_ONLY", Send, true, true, 0},
		{0x06, "RC_RDMA_WRITE_FIRST", Write, true, false, 16},
		{0x07, "RC_RDMA_WRITE_MIDDLE", Write, false, false, 0},
		{0x0b, "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", Write, true, true, 20},
		{0x0c, "RC_RDMA_READ_REQUEST", ReadRequest, true, true, 16},
		{0x0e, "RC_RDMA_READ_RESPONSE_MIDDLE", ReadResponse, false, false, 0},
		{0x11, "RC_ACKNOWLEDGE", Acknowledge, true, true, 4},
		{0x12, "RC_ATOMIC_ACKNOWLEDGE", AtomicAcknowledge, true, true, 12},
		{0x13, "RC_COMPARE_SWAP", CompareSwap, true, true, 28},
		{0x15, "opcode 0x15", UnknownOperation, false, false, 0},
		{0x17, "RC_SEND_ONLY_WITH_INVALIDATE", Send, true, true, 4},
		{0x1c, "RC_FLUSH", Flush, true, true, 20},
		{0x24, "UC_SEND_ONLY", Send, true, true, 0},
		{0x2a, "UC_RDMA_WRITE_ONLY", Write, true, true, 16},
		{0x2c, "opcode 0x2c", UnknownOperation, false, false, 0},
		{0x36, "opcode 0x36", UnknownOperation, false, false, 0},
		{0x46, "RD_RDMA_WRITE_FIRST", Write, true, false, 28},
		{0x51, "RD_ACKNOWLEDGE", Acknowledge, true, true, 8},
		{0x55, "RD_RESYNC", Resync, true, true, 12},
		{0x60, "opcode 0x60", UnknownOperation, false, false, 0},
		{0x64, "UD_SEND_ONLY", Send, true, true, 8},
		{0x65, "UD_SEND_ONLY_WITH_IMMEDIATE", Send, true, true, 12},
		{0x81, "CNP", CongestionNotification, true, true, 0},
		{0xa4, "XRC_SEND_ONLY", Send, true, true, 4},
		{0xaa, "XRC_RDMA_WRITE_ONLY", Write, true, true, 20},
		{0xb1, "XRC_ACKNOWLEDGE", Acknowledge, true, true, 4},
		{0xb7, "XRC_SEND_ONLY_WITH_INVALIDATE", Send, true, true, 8},
		{0xff, "opcode 0xff", UnknownOperation, false, false, 0},
	} {
		o := tt.opcode
		if o.String() != tt.name || o.Operation() != tt.operation || o.First() != tt.first || o.Last() != tt.last || o.Extensions().Size() != tt.size {
			t.Errorf("%#x: %s, operation %d, %v, %v, %d bytes", uint8(o), o, o.Operation(), o.First(), o.Last(), o.Extensions().Size())
		}
		if want := slices.Contains([]Operation{ReadResponse, Acknowledge, AtomicAcknowledge}, tt.operation); o.Response() != want {
			t.Errorf("%s: a response: %v", o, o.Response())
		}
		if tt.operation != UnknownOperation && !strings.HasPrefix(tt.name, o.Service().String()) {
			t.Errorf("%s: service %s", o, o.Service())
		}
	}
	known := 0
	for o := range opcodes {
		if opcodes[o].operation != UnknownOperation {
			known++
		}
	}
	if want := 25 + 12 + 22 + 2 + 23 + 1; known != want {
		t.Errorf("%d opcodes, want %d", known, want)
	}
}
