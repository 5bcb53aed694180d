package filter

import (
	"slices"
	"testing"

	"github.com/lshark/lshark/internal/assert"
)

func TestLastWord(t *testing.T) {
	for _, x := range []struct{ text, word, field string }{
		{"", "", ""},
		{"lat", "lat", ""},
		{"opcode ", "", ""},
		{"opcode ==", "", "opcode"},
		{"opcode == OST_", "OST_", "opcode"},
		{"opcode == OST_READ", "OST_READ", "opcode"},
		{"opcode == OST_READ ", "", ""},
		{"opcode == OST_READ && err", "err", ""},
		{"opcode in {OST_READ, OST_", "OST_", "opcode"},
		{"opcode in {OST_READ} and rpc.job == ", "", "rpc.job"},
		{`rpc.job == "a`, `"a`, "rpc.job"},
		{`rpc.job == "a b" or x`, "x", ""},
		{"fid == [0x2", "", ""},
		{"!(latency", "latency", ""},
	} {
		at, field := LastWord(x.text)
		assert.Equal(t, x.text[at:], x.word, x.text)
		assert.Equal(t, field, x.field, x.text)
	}
}

func TestValueNames(t *testing.T) {
	for _, x := range []struct {
		field  string
		ofRPCs bool
		want   string
	}{
		{"opcode", true, "OST_WRITE"}, {"pb_opc", false, "OST_WRITE"}, {"error", true, "ENOSPC"}, {"pb_status", false, "ENOTCONN"},
		{"rpc.error", true, "EIO"}, {"ocd_connect_flags", false, "GRANT"}, {"kind", false, "early_reply"},
	} {
		assert.That(t, slices.Contains(ValueNames(x.field, x.ofRPCs), x.want), "%s has no %s", x.field, x.want)
	}
	assert.Equal(t, len(ValueNames("no such field", false)), 0, "names")
	assert.Equal(t, Literal("lustre-OST0000"), "lustre-OST0000")
	assert.Equal(t, Literal("cp 1"), `"cp 1"`)
	assert.Equal(t, Literal("and"), `"and"`)
}
