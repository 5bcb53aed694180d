package nested

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestCreatingIntents: to make an entry the MDT locks the directory for writing, whatever lock the client asks for.
func TestCreatingIntents(t *testing.T) {
	c := &Call{opcode: opcodes.LDLM_BL_CALLBACK, mode: opcodes.LdlmMode.Number("PW")}
	n := 0
	for _, v := range opcodes.ByOpcode(opcodes.LDLM_ENQUEUE).Variants {
		if v.Does&opcodes.Creates == 0 {
			continue
		}
		n++
		m := &dissect.Message{Msg: &schema.Msg{Opcode: opcodes.LDLM_ENQUEUE, Bufs: make([][]byte, 4)}}
		r := &track.RPC{}
		r.Opcode, r.Variant = opcodes.LDLM_ENQUEUE, v
		o := (&Tracker{}).newOperation(r, m)
		assert.That(t, o.canCause(c), "an intent %s causes no callback of a directory's lock", v.Name)
	}
	assert.Equal(t, n, 2)
}

// TestNeeds: of two writes to an object, a lock belongs to the one in whose bytes it begins.
func TestNeeds(t *testing.T) {
	first, second := &operation{first: 0, behind: 1 << 20}, &operation{first: 1<<20 + 10, behind: 2 << 20}
	for _, tt := range []struct {
		extent bool
		begin  uint64
		want   [2]bool
	}{
		{true, 0, [2]bool{true, false}},
		{true, 1 << 20, [2]bool{false, true}},
		{true, 2 << 20, [2]bool{}},
		{false, 0, [2]bool{}},
	} {
		c := &Call{extent: tt.extent, begin: tt.begin}
		assert.Equal(t, [2]bool{first.needs(c), second.needs(c)}, tt.want, "begin", tt.begin)
	}
}
