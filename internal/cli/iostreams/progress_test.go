package iostreams

import (
	"bytes"
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	for _, tt := range []struct {
		read, total int64
		spent       time.Duration
		want        string
	}{
		{500, 0, time.Second, "500 B read"},
		{2_500_000, 0, time.Second, "2.5 MB read"},
		{25e9, 100e9, 30 * time.Second, "25% of 100.0 GB, 1m30s left"},
		{0, 100, time.Second, "0 B read"},
		{300, 200, time.Second, "100% of 200 B, 0s left"},
	} {
		if got := progressLine(tt.read, tt.total, tt.spent); got != tt.want {
			t.Errorf("%d of %d: %q, want %q", tt.read, tt.total, got, tt.want)
		}
	}
}

// TestProgressForPeople checks that the line appears only on a terminal that
// shows nothing else.
func TestProgressForPeople(t *testing.T) {
	count := func() (read, total int64) { return 1, 2 }
	for _, tt := range []struct {
		outTTY, errTTY bool
		bytes          func() (read, total int64)
		want           bool
	}{
		{false, true, count, true},
		{true, true, count, false},
		{false, false, count, false},
		{false, true, nil, false},
	} {
		var b bytes.Buffer
		s := &IO{Err: &b, OutTTY: tt.outTTY, ErrTTY: tt.errTTY}
		p := s.NewProgress(tt.bytes)
		p.Stop()
		if (p != nil) != tt.want {
			t.Errorf("%v, %v: shown %v", tt.outTTY, tt.errTTY, p != nil)
		}
		if b.Len() > 0 {
			t.Errorf("%v, %v: wrote %q although it took no time", tt.outTTY, tt.errTTY, b.Bytes())
		}
	}
}
