package dissect

import (
	"testing"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestProbeOffsets compares the offsets that the probe has as constants with the tables.
func TestProbeOffsets(t *testing.T) {
	opcodes.Resolve()
	for off, f := range map[int]*schema.Field{offHandle: opcodes.PbHandle, offType: opcodes.PbType, offVersion: opcodes.PbVersion, offOpc: opcodes.PbOpc,
		offStatus: opcodes.PbStatus, offLastCommitted: opcodes.PbLastCommitted, offTransno: opcodes.PbTransno, offFlags: opcodes.PbFlags,
		offOpFlags: opcodes.PbOpFlags, offConnCnt: opcodes.PbConnCnt, offTimeout: opcodes.PbTimeout, offServiceTime: opcodes.PbServiceTime,
		offMbits: opcodes.PbMbits, offUID: opcodes.PbUid, offGID: opcodes.PbGid, offJobID: opcodes.PbJobid} {
		if f.Off != off {
			t.Errorf("%s is at %d, not %d", f.Name, f.Off, off)
		}
	}
	if opcodes.LmFlags.Off != offLmFlags {
		t.Errorf("lm_flags is at %d, not %d", opcodes.LmFlags.Off, offLmFlags)
	}
	if end := opcodes.PbJobid.Off + opcodes.PbJobid.Size; end != bodySize {
		t.Errorf("the body has %d bytes, not %d", end, bodySize)
	}
}
