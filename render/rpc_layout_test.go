package render

import (
	"strings"
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
		{"10.0.0.1@tcp", 80, len("192.0.2.255")},
		{"2001:db8:1:2:3:4:5:6@tcp", 80, 13},
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

// TestConnectFlags shows a connect of a sample with its reply, and each of the
// two alone.
func TestConnectFlags(t *testing.T) {
	var whole *track.ConnectPair
	pairs := track.NewConnects(func(p *track.ConnectPair) {
		if whole == nil && p.Request != nil && p.Reply != nil {
			whole = &track.ConnectPair{Request: p.Request, Reply: p.Reply.Clone()}
		}
	})
	msgs := sample(t, mount)
	for i := range msgs.Len() {
		pairs.Message(msgs.At(i), 0)
	}
	if whole == nil {
		t.Fatal("no connect in " + mount)
	}
	r := NewFlags(FlagsOptions{Colors: NewColors(false)})
	for _, tt := range []struct {
		pair      *track.ConnectPair
		head, row string
	}{
		{whole, "reply in frame ", "yes    yes      "},
		{&track.ConnectPair{Request: whole.Request}, "no reply\n", "yes      ?      "},
		{&track.ConnectPair{Reply: whole.Reply}, "reply MGS_CONNECT\n", "  ?    yes      "},
	} {
		text := string(r.AppendConnect(nil, tt.pair, 0))
		head, rows, _ := strings.Cut(text, "\n")
		if !strings.Contains(head+"\n", tt.head) || !strings.Contains(rows, tt.row) {
			t.Errorf("%q and %q are not in\n%s", tt.head, tt.row, text)
		}
	}
}

// TestConnectDiff compares the flags of a connect of a sample with its reply, then
// with its own flags in place of the reply's.
func TestConnectDiff(t *testing.T) {
	msgs := sample(t, mount)
	r := NewFlags(FlagsOptions{Colors: NewColors(false)})
	var texts []string
	pairs := track.NewConnects(func(p *track.ConnectPair) {
		text, ok := r.AppendConnectDiff(nil, p, 0)
		if !ok {
			t.Errorf("not compared: %s", text)
		}
		texts = append(texts, string(text))
		if text, ok := r.AppendConnectDiff(nil, &track.ConnectPair{Request: p.Request, Reply: p.Request}, 0); !ok || len(text) > 0 {
			t.Errorf("a request differs from itself: %s", text)
		}
		for _, part := range []*track.ConnectPair{{Request: p.Request}, {Reply: p.Reply}} {
			if text, ok := r.AppendConnectDiff(nil, part, 0); ok || len(text) > 0 {
				t.Errorf("half a connect is compared: %s", text)
			}
		}
		backwards := &track.ConnectPair{Request: p.Reply, Reply: p.Request}
		if text, _ := r.AppendConnectDiff(nil, backwards, 0); !strings.Contains(string(text), "  not asked for  ") || strings.Contains(string(text), "not granted") {
			t.Errorf("backwards: %s", text)
		}
	})
	for i := range msgs.Len() {
		pairs.Message(msgs.At(i), 0)
	}
	if len(texts) == 0 || !strings.Contains(texts[0], "\n  target MGS\n  ocd_connect_flags   not granted    LVB_TYPE\n\n") {
		t.Errorf("%q", texts)
	}
}
