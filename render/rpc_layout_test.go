package render

import (
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

func TestFitTime(t *testing.T) {
	for _, tt := range []struct {
		text          string
		digits, width int
		want          string
	}{
		{"0.123456", 6, 11, "0.123456"},
		{"0.123456", 3, 8, "0.123"},
		{"12345.123456", 6, 11, "12345.12345"},
		{"-12345.123456", 3, 8, "-12345.1"},
		{"1234567.123456", 3, 8, "1234567"},
		{"123456789.123456", 3, 8, "123456789"},
		{"08:06:41.123456", 3, 12, "08:06:41.123"},
	} {
		if got := string(fitTime([]byte(tt.text), tt.digits, tt.width)); got != tt.want {
			t.Errorf("%s, %d digits in %d columns: %s, want %s", tt.text, tt.digits, tt.width, got, tt.want)
		}
	}
}

// TestCells checks that cells fill their columns, and that NIDs and targets
// lose their begin, other values their end.
func TestCells(t *testing.T) {
	cells := map[string]func(dst []byte, st *Style, text []byte, width int) []byte{
		"left": appendCellLeft, "right": appendCellRight, "end": appendCellEnd}
	for _, tt := range []struct{ cell, text, want string }{
		{"left", "abc", "abc  "}, {"left", "abcdef", "abcd…"},
		{"right", "abc", "  abc"}, {"right", "abcdef", "abcd…"},
		{"end", "abc", "abc  "}, {"end", "abcde", "abcde"}, {"end", "abcdef", "…cdef"}, {"end", "äöüabcd", "…abcd"},
	} {
		if got := string(cells[tt.cell](nil, &Style{}, []byte(tt.text), 5)); got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.text, tt.cell, got, tt.want)
		}
	}
}

// TestRPCLayout checks the widths that depend on the nodes of the first RPC.
func TestRPCLayout(t *testing.T) {
	for _, tt := range []struct {
		client  string
		columns int
		want    int
	}{
		{"10.0.0.1@tcp", 0, len("255.255.255.255")},
		{"192.168.10.20@o2ib", 0, len("192.168.10.255@o2ib")},
		{"fd00:2::3@tcp", 0, len("255.255.255.255")},
		{"2001:db8:1:2:3:4:5:6@tcp", 0, len("2001:db8:1:2:3:4:5:6")},
		{"10.0.0.1@tcp", 120, len("192.0.2.255")},
		{"192.168.1.2@tcp", 120, len("192.168.1.255")},
		{"10.0.0.1@tcp", 80, 0},
	} {
		nid, ok := lnet.ParseNID(tt.client)
		if !ok {
			t.Fatal(tt.client)
		}
		r := &track.RPC{}
		r.Client, r.Server = nid, nid
		l := newRPCLayout(&SummaryOptions{Width: tt.columns}, r)
		if l.client != tt.want {
			t.Errorf("%s on %d columns: %d columns for clients, want %d", tt.client, tt.columns, l.client, tt.want)
		}
	}
}

// TestRPCLineAllocatesNothing checks that lines are made without allocations.
func TestRPCLineAllocatesNothing(t *testing.T) {
	r := &track.RPC{}
	r.HasOpcode, r.HasRequest = true, true
	r.XID = 1882453915467904
	for _, columns := range []int{0, 80, 120} {
		s := NewRPCSummary(SummaryOptions{Colors: NewColors(true), Width: columns})
		buf := s.AppendRPC(nil, r, Moment{})
		if n := testing.AllocsPerRun(100, func() { buf = s.AppendRPC(buf[:0], r, Moment{}) }); n > 0 {
			t.Errorf("%d columns: %v allocations", columns, n)
		}
	}
}
