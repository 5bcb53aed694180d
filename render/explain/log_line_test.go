package explain_test

import (
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
