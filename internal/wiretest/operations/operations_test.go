package operations

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// TestSamples: lshark finds each operation and variant in its own dialogs, and what it says about the messages.
func TestSamples(t *testing.T) {
	// Their parts have lengths that a dialog does not compute, or all flags are set.
	rough := map[string]bool{"OBD_PING": true, "MDS_BATCH": true, "OUT_UPDATE": true, "LLOG_ORIGIN_HANDLE_READ_HEADER": true}
	// What these have is in no single value.
	without := map[string]int{"MDS_BATCH": 1, "LDLM_GL_CALLBACK": 1}
	for _, r := range opcodes.Protocol.RPCs() {
		if len(r.Variants) == 0 {
			continue
		}
		dialogs := New(nil)
		err := dialogs.Add(r)
		assert.That(t, err == nil || r.Name == "LDLM_GL_CALLBACK", "%s: %v", r.Name, err)
		found, requests, replies, bulk := make(map[any]bool), 0, 0, 0
		wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
			var tree dissect.Tree
			tree.Build(m)
			assert.That(t, len(tree.Notes) == 0 || rough[r.Name], "%s of %s: %v", m.Kind, r.Name, tree.Notes)
			switch {
			case m.Kind == lnet.Hello:
			case m.RPC.Opcode != r.Opcode:
				t.Errorf("%s of opcode %d, not %s", m.Kind, m.RPC.Opcode, r.Name)
			case m.Kind == lnet.Request:
				found[m.RPC.Variant] = true
				if requests++; m.RPC.Variant.Bulk != nil {
					bulk--
				}
			case m.Kind == lnet.Reply:
				replies++
			case m.Kind == lnet.Bulk || m.Kind == lnet.GetReply:
				bulk++
			}
		}}), dialogs.Frames)
		assert.Equal(t, len(found), len(r.Variants)-without[r.Name], r.Name, "variants")
		assert.Equal(t, bulk, 0, r.Name, "has bulk data without a request, or a request without them")
		assert.That(t, r.OneWay || replies == requests, "%s has %d replies to %d requests", r.Name, replies, requests)
	}
}

// TestLayout: a buffer with one of several forms has the one that the message says, such as a layout with its stripes.
func TestLayout(t *testing.T) {
	objects := 0
	dialogs := New(nil)
	must.NoError(t, dialogs.Add(opcodes.Protocol.ByOpcode(opcodes.MDS_GETATTR)))
	wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		var tree dissect.Tree
		tree.Build(m)
		for i := range tree.Nodes {
			if n := &tree.Nodes[i]; n.Field.Type != nil && n.Field.Type.Name == "lov_ost_data_v1" {
				objects++
			}
		}
	}}), dialogs.Frames)
	assert.Equal(t, objects, 2*someElements, "of lov_mds_md_v1 and v3")
}
