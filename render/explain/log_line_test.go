package explain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/explain"
)

// TestLogLineEscapes checks that nothing of a line acts on a terminal.
func TestLogLineEscapes(t *testing.T) {
	list := must.Value(explain.LogLine("x1/t0(0) o4->a\x1b[31mb@192.0.2.2@tcp:6/4 fl Rpc:R/0/0"))(t)
	text := wiretest.Shown(func(dst *schema.Marked, list []explain.LogPart) { explain.AppendLogText(dst, 80, list) }, list)
	assert.That(t, !strings.Contains(text, "\x1b") && strings.Contains(text, `a\x1b[31mb`), "%q", text)
}

// TestLogLineZero checks that a part that is 0 is said.
func TestLogLineZero(t *testing.T) {
	list := must.Value(explain.LogLine("LustreError: 11-0: lustre-OST0000-osc-ffff: operation ost_reply to node 192.0.2.1@tcp failed: rc = -107"))(t)
	found := slices.ContainsFunc(list, func(p explain.LogPart) bool {
		return p.Name == "opcode" && p.Text == "0" && slices.Equal(p.About, []string{"OST_REPLY"})
	})
	assert.That(t, found, "%v", list)
}
