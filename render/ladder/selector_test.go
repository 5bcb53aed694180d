package ladder

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/track"
	"github.com/lshark/lshark/track/files"
	"github.com/lshark/lshark/track/locks"
)

func matchAll(*dissect.Message) bool { return true }

// readSample returns the diagram of what is selected in a capture.
func readSample(t *testing.T, path string, what Selection, limit int) *Diagram {
	t.Helper()
	d := &Diagram{Title: path, Limit: limit}
	names, imports, f := track.NewNames(), track.NewImports(), files.New()
	l := locks.New(imports, 0, f.Lock)
	s := NewSelector(d, what, names, l, f)
	var o track.Options
	o.Follow(imports, l, f)
	done := o.Done
	o.Done = func(r *track.RPC) {
		s.Done(r)
		done(r)
	}
	p := track.NewPairing(o)
	wiretest.Play(dissect.New(dissect.Options{
		Handle: func(m *dissect.Message) {
			names.Message(m)
			s.Message(m, p.Message(m))
		},
		Later: func(n int64, transfer *lnet.Transfer) {
			p.Later(n, transfer)
			s.Later(n, transfer)
		},
		Lost: s.Lost,
	}), wiretest.ReadSample(t, path))
	p.Close()
	s.Close()
	if s.count != 0 {
		t.Errorf("%s: %d events are counted as held at the end", path, s.count)
	}
	return d
}

// sample returns the path of a sample.
func sample(name string) string { return filepath.Join("..", wiretest.SampleDir, name) }

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
