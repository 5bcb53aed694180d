package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/lshark/lshark/capture"
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

// TestProgressForPeople: the line is for a terminal that shows nothing else.
func TestProgressForPeople(t *testing.T) {
	src, err := capture.Open([]string{"../pcaps/mount.pcap"}, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for _, tt := range []struct{ out, err, quiet, want bool }{
		{false, true, false, true},
		{true, true, false, false},
		{false, false, false, false},
		{false, true, true, false},
	} {
		var b bytes.Buffer
		in := &input{sys: &IO{Err: &b, OutTTY: tt.out, ErrTTY: tt.err}, quiet: tt.quiet}
		p := in.watch(src)
		p.end()
		if (p != nil) != tt.want {
			t.Errorf("%+v: watched %v", tt, p != nil)
		}
		if b.Len() > 0 {
			t.Errorf("%+v: wrote %q although it took no time", tt, b.Bytes())
		}
	}
}
