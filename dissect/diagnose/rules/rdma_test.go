package rules

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/wiretest"
)

// Syndromes of acknowledgements.
const (
	sequenceError     = 0x60
	remoteAccessError = 0x62
	receiverNotReady  = 0x20
)

// findings returns what rules find in frames.
func findings(frames []capture.Frame) []*diagnose.Finding {
	e := diagnose.New(diagnose.Options{Rules: All()})
	wiretest.Play(dissect.New(dissect.Options{Handle: e.Message, TransferUpdate: e.TransferUpdate, Lost: e.Lost, IBEvent: e.IBEvent}), frames)
	e.Close()
	return e.Findings()
}

// rdmaFindings returns what rules about RDMA find in the packets of queue pairs, as
// "code: text".
func rdmaFindings(c *wiretest.QueuePairs) (list []string) {
	for _, f := range findings(c.Frames) {
		if strings.HasPrefix(f.Rule.Code, "rdma.") && len(f.Evidence) > 0 {
			list = append(list, f.Rule.Code+": "+f.Text)
		}
	}
	return list
}

// TestDeadRDMANode checks node.silent over RoCE: a node acknowledges nothing of what is sent to it
// again, or does not answer requests of the connection manager, while another host goes on.
func TestDeadRDMANode(t *testing.T) {
	w := wiretest.O2iblnd{}
	scene := func(again int, repeat func(c *wiretest.QueuePairs)) string {
		dead, other := wiretest.NewQueuePairs(), wiretest.NewQueuePairs()
		other.A.CommID, other.A.Number, other.B.Number, other.B.Addr = 0xd1d2d3d4, 0x33, 0x44, netip.AddrFrom4([4]byte{10, 0, 0, 3})
		message := w.Immediate(false, wiretest.Put, wiretest.RequestPortal, 1, 0, make([]byte, 100))
		for _, c := range []*wiretest.QueuePairs{dead, other} {
			c.Connect(w.Connreq(), w.Connack()).Send(false, message).Ack(true)
			c.Send(true, w.Noop(true)).Ack(false)
		}
		for range again {
			dead.Now += 3e9
			repeat(dead)
			other.Now = dead.Now + 1e6
			other.Send(true, w.Noop(true)).Ack(false)
		}
		frames := append(dead.Frames, other.Frames...)
		slices.SortStableFunc(frames, func(a, b capture.Frame) int { return cmp.Compare(a.Time, b.Time) })
		for _, f := range findings(wiretest.Renumber(frames)) {
			if f.Rule.Code == "node.silent" {
				return f.Text
			}
		}
		return ""
	}
	send := func(c *wiretest.QueuePairs) {
		psn := c.A.PSN
		c.Send(false, w.Immediate(false, wiretest.Put, wiretest.RequestPortal, 64, 0, make([]byte, 3000)))
		c.A.PSN = psn
	}
	disconnect := func(c *wiretest.QueuePairs) {
		c.Disconnect(false)
		c.Frames = c.Frames[:len(c.Frames)-1] // no answer
	}
	connect := func(c *wiretest.QueuePairs) {
		c.A.CommID, c.A.Number = 0xc1c2c3c4, 0x55
		c.CM(false, wiretest.CMReq, c.Req(w.Connreq()))
	}
	const silent = "10.0.0.2@o2ib acknowledged nothing that 10.0.0.1@o2ib sent for at least 21.0 s"
	for name, tt := range map[string]struct {
		times  int
		repeat func(c *wiretest.QueuePairs)
		want   string
	}{
		"packets":       {8, send, silent},
		"disconnection": {8, disconnect, silent},
		"connect":       {8, connect, silent},
		"sent once":     {1, send, ""},
	} {
		if got := scene(tt.times, tt.repeat); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestRDMAFindings checks the rules about InfiniBand.
func TestRDMAFindings(t *testing.T) {
	w := wiretest.O2iblnd{}
	// refused sends messages, each of which is refused n times before it is accepted.
	refused := func(messages int, syndrome byte) *wiretest.QueuePairs {
		c := wiretest.NewQueuePairs().Connect(w.Connreq(), w.Connack())
		for range messages {
			psn, msn := c.A.PSN, c.B.MSN
			data := w.Immediate(false, wiretest.Put, wiretest.RequestPortal, 1, 0, make([]byte, 100))
			c.Send(false, data)
			c.Acknowledge(true, psn, syndrome, msn)
			c.Now += 1e6
			c.A.PSN = psn
			c.Send(false, data).Ack(true)
		}
		return c
	}
	failed := func(status int32) *wiretest.QueuePairs {
		c := wiretest.NewQueuePairs().Connect(w.Connreq(), w.Connack())
		data := make([]byte, 2500)
		c.Send(false, w.PutReq(false, wiretest.Put, wiretest.BulkPortal, 64, 0, len(data), 0x11)).Ack(true)
		c.Send(true, w.PutAck(true, 0x11, 0x22, 7, wiretest.Fragment{Address: 0x1000, Size: uint32(len(data))})).Ack(false)
		if status >= 0 {
			c.Write(false, 0x1000, 7, data)
		}
		c.Send(false, w.Done(false, wiretest.O2PutDone, 0x22, status)).Ack(true)
		return c
	}
	asked := func(times int) *wiretest.QueuePairs {
		c := wiretest.NewQueuePairs()
		for range times {
			c.CM(false, wiretest.CMReq, c.Req(w.Connreq()))
			c.Now += 4e9
		}
		return c
	}
	for name, tt := range map[string]struct {
		packets *wiretest.QueuePairs
		want    string
	}{
		"asked twice":      {asked(2), ""},
		"no answer":        {asked(4), "rdma.no_answer: 10.0.0.2@o2ib did not answer 4 requests of 10.0.0.1@o2ib for an InfiniBand connection in 12.0 s."},
		"no faults":        {failed(2500), ""},
		"few losses":       {refused(3, sequenceError), ""},
		"losses":           {refused(12, sequenceError), "rdma.nak: 10.0.0.2 refused 12 packets of 10.0.0.1: PSN sequence error. Packets before them were lost on the way"},
		"access":           {refused(1, remoteAccessError), "rdma.nak: 10.0.0.2 refused 1 packet of 10.0.0.1: remote access error. That ends the connection."},
		"not ready":        {refused(4, receiverNotReady), "rdma.not_ready: 10.0.0.2 had no receive buffers for 4 messages of 10.0.0.1"},
		"not ready, twice": {refused(2, receiverNotReady), ""},
		"failed":           {failed(-12), "rdma.transfer: 1 transfer of bulk data from 10.0.0.1 to 10.0.0.2 failed (ENOMEM)."},
	} {
		got := rdmaFindings(tt.packets)
		if tt.want == "" && len(got) == 0 {
			continue
		}
		if len(got) != 1 || tt.want == "" || !strings.HasPrefix(got[0], tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestCredits sends messages that use all credits, which are returned after each eighth
// message or after each fourth.
func TestCredits(t *testing.T) {
	for each, want := range map[int]string{
		8: "rdma.credits: 30 of 241 messages of 10.0.0.1 to 10.0.0.2 used the last credit, so that the next one had to wait until 10.0.0.2 returned some.",
		4: "",
	} {
		w := wiretest.O2iblnd{}
		c := wiretest.NewQueuePairs().Connect(w.Connreq(), w.Connack())
		for i := range 240 {
			c.Send(false, w.Immediate(false, wiretest.Put, wiretest.RequestPortal, 1, 0, make([]byte, 100))).Ack(true)
			if i%each == each-1 {
				c.Send(true, wiretest.O2iblnd{Credits: uint8(each)}.Noop(true)).Ack(false)
			}
		}
		if got := strings.Join(rdmaFindings(c), " "); got != want {
			t.Errorf("returned after %d: %s", each, got)
		}
	}
}
