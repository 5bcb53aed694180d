package dissect

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestConcurrent: the other goroutine gets what the handlers of a Dissector get, in the
// same order.
func TestConcurrent(t *testing.T) {
	for _, sample := range []string{"../pcaps/recovery.pcap.zst", "../pcaps/rdma_data.pcap.zst", "../pcaps/gss.pcap.zst"} {
		want := handouts(t, sample, func(o Options) (Options, func()) { return o, func() {} })
		got := handouts(t, sample, Concurrent)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d handouts, want %d", sample, len(got), len(want))
		}
		if len(want) == 0 {
			t.Errorf("%s has no handouts", sample)
		}
	}
}

// handouts describes what a Dissector with the options that change returns hands out.
func handouts(t *testing.T, sample string, change func(Options) (Options, func())) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	var tree Tree
	o, wait := change(Options{
		Frames: true,
		Handle: func(m *Message) {
			tree.Build(m)
			c := *m
			c.Msg, c.Req, c.IB = nil, nil, nil
			add("message %+v %d nodes", c, len(tree.Nodes))
			if m.Msg != nil {
				add("%+v", *m.Msg)
			}
			if m.Req != nil {
				add("%+v", *m.Req)
			}
			if m.IB != nil {
				add("%+v", *m.IB)
			}
		},
		TransferUpdate: func(number int64, t *lnet.Transfer) { add("transfer %d %+v", number, *t) },
		Lost:           func(l *lnet.Loss) { add("loss %+v", *l) },
		TCPEvent:       func(m *lnet.TCPEvent) { add("segment %+v", *m) },
		IBEvent:        func(r *lnet.IBEvent) { add("refusal %+v", *r) },
	})
	d := New(o)
	frames := wiretest.ReadSample(t, sample)
	for i := range frames {
		d.Frame(&frames[i])
	}
	d.Close()
	wait()
	return list
}
