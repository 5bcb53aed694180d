package store

import (
	"testing"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/records"
)

// TestTargetIndex checks that a target has its index where its name is unknown.
func TestTargetIndex(t *testing.T) {
	c, ok := NewColumn(RPCs, "target", opcodes.NewIndex())
	if !ok {
		t.Fatal("no column target")
	}
	row := Row{RPC: &track.RPC{}}
	row.RPC.Connection = &track.Connection{TargetIndex: "OST0001"}
	var v records.Value
	if has := c.Value(&row, &v); !has || string(v.Text) != "OST0001" {
		t.Errorf("value %q, %v", v.Text, has)
	}
	if got := c.Append(nil, &row); string(got) != "OST0001" {
		t.Errorf("text %q", got)
	}
}
