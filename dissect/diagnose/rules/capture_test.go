package rules

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
)

// captureFindings returns the findings about a capture, as "severity code: text".
func captureFindings(c diagnose.Capture, losses ...lnet.Loss) (list []string) {
	e := diagnose.New(diagnose.Options{Rules: All(), Capture: func() diagnose.Capture { return c }})
	for i := range losses {
		e.Lost(&losses[i])
	}
	e.Close()
	for _, f := range e.Findings() {
		list = append(list, f.Severity.String()+" "+f.Rule.Code+": "+f.Text)
	}
	return list
}

// TestCaptureFindings checks what is reported about captures for which there is no
// sample.
func TestCaptureFindings(t *testing.T) {
	a, b := netip.MustParseAddrPort("192.0.2.1:988"), netip.MustParseAddrPort("192.0.2.3:1021")
	lost := lnet.Loss{Src: a, Dst: b, From: 1e9, To: 2e9, Bytes: 5000, Why: lnet.Lost}
	silent, short, unknown := lost, lost, lost
	silent.OneWay, short.Bytes, unknown.Why = true, 1, lnet.Present
	var gaps, memory, ib lnet.Stats
	gaps.TCP.Gaps, gaps.TCP.LostBytes = 2, 3000
	ib.IB.Gaps, ib.IB.LostPackets = 1, 7
	memory.Unaffordable = 3
	for name, tt := range map[string]struct {
		capture diagnose.Capture
		losses  []lnet.Loss
		want    []string // what the findings begin with or contain
	}{
		"complete":     {},
		"dropped":      {capture: diagnose.Capture{Dropped: 12}, want: []string{"warning capture.dropped: 12 frames were dropped"}},
		"damaged":      {capture: diagnose.Capture{Damaged: "x.pcap: byte 3: the end"}, want: []string{"warning capture.damaged: The capture could not be read to its end: x.pcap: byte 3: the end."}},
		"memory":       {capture: diagnose.Capture{Stats: memory}, want: []string{"warning capture.memory: 3 messages had to be truncated"}},
		"cut, no harm": {capture: diagnose.Capture{Truncated: []diagnose.Truncated{{Snaplen: 1024, Frames: 9}}}},
		"cut":          {capture: diagnose.Capture{Truncated: []diagnose.Truncated{{Snaplen: 90, Frames: 9}}}, losses: []lnet.Loss{{Src: a, Dst: b, Bytes: 4000, Why: lnet.Snaplen}}, want: []string{"warning capture.snaplen: 9 frames were captured in part, with 90 bytes at most."}},
		"clocks": {capture: diagnose.Capture{Estimated: []diagnose.ClockOffset{{File: "b.pcap", Offset: -801 * time.Millisecond}, {File: "c.pcap", Offset: time.Microsecond}}},
			want: []string{"note capture.clocks: The clocks of the captures differ: that of b.pcap is 801 ms ahead of that of the first file"}},
		"lost":              {losses: []lnet.Loss{lost, lost}, want: []string{"warning capture.lost: The capture lacks 10 kB that the hosts received in 2 places: from 192.0.2.1 to 192.0.2.3."}},
		"keep-alive":        {losses: []lnet.Loss{short}},
		"no header":         {losses: []lnet.Loss{unknown}},
		"one way":           {losses: []lnet.Loss{silent, silent}, want: []string{"warning capture.one_way: The capture has nothing of what was sent from 192.0.2.1 to 192.0.2.3, though 10 kB arrived there."}},
		"both ways":         {losses: []lnet.Loss{silent, lost, silent}, want: []string{"warning capture.lost: The capture lacks 15 kB"}},
		"bulk data":         {capture: diagnose.Capture{Stats: gaps}, want: []string{"note capture.lost: The capture lacks 3 kB in the middle of messages."}},
		"bulk data by RDMA": {capture: diagnose.Capture{Stats: ib}, want: []string{"note capture.lost: The capture lacks 7 packets of InfiniBand in the middle"}},
	} {
		got := captureFindings(tt.capture, tt.losses...)
		if len(got) != len(tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], tt.want[i]) {
				t.Errorf("%s: got %q, want %q", name, got[i], tt.want[i])
			}
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{1: "1 byte", 999: "999 bytes", 34e3: "34 kB", 1.25e6: "1.2 MB", 12e6: "12 MB", 3.4e9: "3.4 GB", 5e12: "5.0 TB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

// TestTargets checks what findings say of targets, by what is known of them. All
// connections to a target of which the index is known are about the same target.
func TestTargets(t *testing.T) {
	server := lnet.NID{Addr: [16]byte{192, 0, 2, 2}, Len: 4, Type: 2}
	client := lnet.NID{Addr: [16]byte{192, 0, 2, 3}, Len: 4, Type: 2}
	rpc := func(name, index string, handle uint64) *track.RPC {
		c := &track.Connection{Target: name, TargetIndex: index, Client: client, Server: server, Handle: handle}
		return &track.RPC{Identity: track.Identity{Client: client, Server: server, Connection: c, Handle: handle}}
	}
	for _, tt := range []struct {
		name, index string
		text        string
		subject     diagnose.Subject // of handle 1
		same        bool             // for another connection
	}{
		{"lustre-OST0001", "", "lustre-OST0001", diagnose.Subject{Target: "lustre-OST0001"}, true},
		{"", "OST0001", "OST0001 of 192.0.2.2@tcp", diagnose.Subject{TargetIndex: "OST0001", Server: server}, true},
		{"", "", "a target of 192.0.2.2@tcp", diagnose.Subject{Server: server, Detail: "0x1"}, false},
	} {
		first, second := targetOf(rpc(tt.name, tt.index, 1)), targetOf(rpc(tt.name, tt.index, 2))
		if first.String() != tt.text || first.subject() != tt.subject || (first == second) != tt.same {
			t.Errorf("%+v: %s, %+v, the same over another connection %t", tt, first, first.subject(), first == second)
		}
		l := &locks.Lock{Client: client, Server: server, Connection: rpc(tt.name, tt.index, 1).Connection}
		want := tt.subject
		want.Client, want.Detail = client, ""
		if got := clientOfLock(l); got != want {
			t.Errorf("%+v: a lock is of %+v, want %+v", tt, got, want)
		}
	}
}
