package ladder

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/wiretest"
)

func matchAll(*dissect.Message) bool { return true }

// readSample returns the diagram of what is selected in a capture.
func readSample(t *testing.T, path string, what Selection, limit int) *Diagram {
	t.Helper()
	d := &Diagram{Title: path, Limit: limit}
	names, f := track.NewNames(), follow.New(follow.Options{})
	s := NewSelector(d, what, names, f.Locks(), f.Files(), f.Nested())
	f.Add(follow.Hooks{
		Message: func(r *track.RPC, m *dissect.Message) {
			names.Message(m)
			s.Message(m, r)
		},
		Done: s.Done, TransferUpdate: s.TransferUpdate, Lost: s.Lost,
	})
	wiretest.Play(dissect.New(dissect.Options{Handle: f.Message, TransferUpdate: f.TransferUpdate, Lost: f.Lost}), wiretest.ReadSample(t, path))
	f.Close()
	s.Close()
	if s.count != 0 {
		t.Errorf("%s: %d events are counted as held at the end", path, s.count)
	}
	return d
}

// sample returns the path of a sample.
func sample(name string) string { return wiretest.Repo("pcaps/" + name) }

// ops returns the operations of a diagram, with > and < for the direction: > is from
// the client.
func ops(d *Diagram) string {
	var list []string
	for _, e := range d.Events() {
		direction := "<"
		if e.From == d.Events()[0].From {
			direction = ">"
		}
		list = append(list, direction+string(e.Op))
	}
	return strings.Join(list, " ")
}

func TestSelection(t *testing.T) {
	isError := func(m *dissect.Message) bool { return m.Kind == lnet.Reply && m.RPC.Status == -2 }
	for _, tt := range []struct {
		name, sample string
		what         Selection
		want         string
	}{
		{"xid with bulk data", "mount.pcap", Selection{HasXID: true, XID: 1882453915469056},
			">MGS_CONFIG_READ recover <MGS_CONFIG_READ recover >MGS_CONFIG_READ recover <MGS_CONFIG_READ recover"},
		{"unknown xid", "mount.pcap", Selection{HasXID: true, XID: 1}, ""},
		{"a reply brings its request", "mount.pcap", Selection{Match: isError}, strings.TrimSpace(strings.Repeat(">LLOG_ORIGIN_HANDLE_CREATE <LLOG_ORIGIN_HANDLE_CREATE ", 2))},
		{"alone", "mount.pcap", Selection{Match: isError, Alone: true}, ">LLOG_ORIGIN_HANDLE_CREATE >LLOG_ORIGIN_HANDLE_CREATE"},
	} {
		if got := ops(readSample(t, sample(tt.sample), tt.what, 0)); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestAllocations checks that an event that is used again costs no allocation.
func TestAllocations(t *testing.T) {
	frames := wiretest.ReadSample(t, sample("mount.pcap"))
	names := track.NewNames()
	r, e := NewReader(names), new(Event)
	n := 0
	for _, measure := range []bool{false, true} {
		wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
			names.Message(m)
			r.Read(e, m)
			if !measure || len(m.Notes) > 0 {
				return // the words of notes are put together
			}
			n++
			if allocs := testing.AllocsPerRun(1, func() { r.Read(e, m) }); allocs > 0 {
				t.Errorf("frame %d, %s: %.0f allocations", m.Frame, e.Op, allocs)
			}
		}}), frames)
	}
	if n == 0 {
		t.Error("no messages")
	}
}

// TestHeldBound checks that what is held until RPCs have ended is bounded, and counted
// beyond that.
func TestHeldBound(t *testing.T) {
	d := &Diagram{}
	s := NewSelector(d, Selection{HasXID: true, XID: 1}, nil, nil, nil, nil)
	const n = maxHeld + 100
	p := track.NewPairing(track.Options{Done: s.Done})
	var m dissect.Message
	m.Kind, m.LNetOff = lnet.Request, 0
	m.LNet = lnet.Header{Type: lnet.TypePut, Src: testNID(1), Dst: testNID(2), Portal: 12}
	m.RPC.HasXID = true
	for i := range n {
		m.Number, m.Frame, m.Order, m.Time = int64(i+1), int64(i+1), int64(i+1), int64(i)
		m.RPC.XID = uint64(i + 2)
		s.Message(&m, p.Message(&m))
	}
	if s.count != maxHeld || s.Dropped != n-maxHeld {
		t.Errorf("%d events are held, %d dropped", s.count, s.Dropped)
	}
	m.Number, m.RPC.XID = n+1, 1
	s.Message(&m, p.Message(&m))
	p.Close()
	s.Close()
	if d.Len() != 1 || s.count != 0 || d.Events()[0].Marks&NoReply == 0 {
		t.Errorf("%d events are drawn, %d are held at the end", d.Len(), s.count)
	}
}
