package render

import (
	"math"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes/schema"
)

// sample reads the messages of a capture.
func sample(t testing.TB, path string) *dissect.Arena {
	t.Helper()
	msgs := &dissect.Arena{}
	wiretest.Play(dissect.New(dissect.Options{Handle: msgs.Add}), wiretest.ReadSample(t, path))
	must.That(t, msgs.Len() != 0, "%v", "no messages in "+path)
	return msgs
}

const mount = "../pcaps/mount.pcap"

// renderers are all that work message by message.
func renderers() map[string]Renderer {
	c := NewColors(true)
	return map[string]Renderer{
		"JSON":    NewJSON(),
		"Tree":    c.Renderer(NewTree(TreeOptions{Width: 80})),
		"Hex":     c.Renderer(NewTree(TreeOptions{Hex: true})),
		"Summary": c.Renderer(NewSummary(SummaryOptions{Width: 80})),
		"Wide":    c.Renderer(NewSummary(SummaryOptions{})),
	}
}

// TestNoAllocations: once buffers are large enough, a message costs none.
func TestNoAllocations(t *testing.T) {
	msgs := sample(t, mount)
	for i := range msgs.Len() {
		if i%2 == 0 {
			msgs.At(i).File = strings.Repeat("long/", 20) + "client.pcap"
		}
	}
	for name, r := range renderers() {
		var buf []byte
		n := testing.AllocsPerRun(3, func() {
			for i := range msgs.Len() {
				buf = r.Append(buf[:0], msgs.At(i), Moment{})
			}
		})
		assert.That(t, n == 0, "%s: %v allocations for %d messages", name, n, msgs.Len())
	}
}

// TestTimesOfStrangers writes the times that a hostile capture can have: the
// difference of two can be the one number that has no positive one.
func TestTimesOfStrangers(t *testing.T) {
	for ns, want := range map[int64][2]string{
		0:             {"0.000000000", "0us"},
		-1:            {"-0.000000001", "-0us"},
		-1_500_000:    {"-0.001500000", "-1.5ms"},
		math.MaxInt64: {"9223372036.854775807", "9223372036s"},
		math.MinInt64: {"-9223372036.854775808", "-9223372036s"},
	} {
		assert.Equal(t, string(AppendElapsed(nil, ns, 9)), want[0], ns)
		assert.Equal(t, string(AppendLatency(nil, ns)), want[1], ns)
	}
	assert.Equal(t, string(UTC.Append(nil, -1, Moment{}, true)), "1969-12-31 23:59:59.999999")
	const first, last = "1677-09-21T00:12:43.145224192Z", "2262-04-11T23:47:16.854775807Z"
	assert.Equal(t, string(AppendISO(AppendISO(nil, math.MinInt64), math.MaxInt64)), first+last)
}

func TestRoundLatency(t *testing.T) {
	for ns, want := range map[int64]string{0: "0us", 999: "0us", 999_949_999: "1.0s", 1_049_999: "1.0ms", 1_050_000: "1.1ms",
		2_197_503_000: "2.2s", 9_949_999_999: "9.9s", 9_950_000_000: "10s", 3_171_993_000: "3.2s", 61_500_000_000: "62s"} {
		assert.Equal(t, string(AppendLatency(nil, roundLatency(ns))), want, ns)
	}
}

func TestWidth(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"abc", 3},
		{"äöü", 3},
		{"サーバー", 8},
		{"e\u0301a", 2},
		{"a😀b", 4},
		{"한국어", 6},
		{"\xff\xfe", 2},
	} {
		assert.Equal(t, Width([]byte(tt.text)), tt.want, "Width", tt.text)
	}
}

// TestTruncate checks that no text is wider than it may be, wherever its wide and
// combining characters are.
func TestTruncate(t *testing.T) {
	for _, text := range []string{"abcdef", "サーバー", "aサbーc", "e\u0301e\u0301e\u0301", "a\u0301サ\u0301b"} {
		whole := Width([]byte(text))
		for columns := 1; columns <= whole+1; columns++ {
			for first := range len(text) + 1 {
				parts := []schema.Part{{End: first, Role: schema.Name}, {End: len(text), Role: schema.Dim}}
				if !isBoundary(text, first) {
					continue
				}
				var line schema.Marked
				AddFacts(&line, &schema.Marked{Text: []byte(text), Parts: parts}, columns, false)
				got := string(line.Text)
				if Width([]byte(got)) > columns || columns >= whole && got != text || columns < whole && !strings.HasSuffix(got, "…") {
					t.Errorf("%q in %d columns, parts from %d: %q", text, columns, first, got)
				}
			}
		}
	}
}

// isBoundary reports whether a character begins at an index of text, or ends there.
func isBoundary(text string, i int) bool { return i == len(text) || text[i]&0xc0 != 0x80 }

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
		got := string(fitTime([]byte(tt.text), tt.digits, tt.width))
		assert.That(t, got == tt.want, "%s, %d digits in %d columns: %s, want %s", tt.text, tt.digits, tt.width, got, tt.want)
	}
}

// TestCells checks that cells fill their columns, and that NIDs and targets
// lose their begin, other values their end.
func TestCells(t *testing.T) {
	cells := map[string]func(dst *schema.Marked, r schema.Role, text []byte, width int){
		"left": addCellLeft, "right": addCellRight, "end": addCellEnd}
	for _, tt := range []struct{ cell, text, want string }{
		{"left", "abc", "abc  "}, {"left", "abcdef", "abcd…"},
		{"right", "abc", "  abc"}, {"right", "abcdef", "abcd…"},
		{"end", "abc", "abc  "}, {"end", "abcde", "abcde"}, {"end", "abcdef", "…cdef"}, {"end", "äöüabcd", "…abcd"},
	} {
		var line schema.Marked
		cells[tt.cell](&line, schema.NoRole, []byte(tt.text), 5)
		assert.Equal(t, string(line.Text), tt.want, tt.text, tt.cell)
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
		{"10.0.0.1@tcp", 80, 10},
		{"10.0.0.1@tcp", 86, len("-.2.255")},
		{"2001:db8:1:2:3:4:5:6@tcp", 80, 10},
	} {
		nid, ok := lnet.ParseNID(tt.client)
		must.That(t, ok, "%v", tt.client)
		r := &track.RPC{}
		r.Client, r.Server = nid, nid
		l := newRPCLayout(&SummaryOptions{Width: tt.columns}, r)
		assert.Equal(t, l.client, tt.want, tt.client, "on", tt.columns, "columns columns for clients")
	}
	for _, columns := range []int{40, 60, 80, 100, 120} {
		l := newRPCLayout(&SummaryOptions{Width: columns}, &track.RPC{})
		assert.That(t, l.xid == xidWidth && l.frame > 0, "on %d columns there is no room for the ids: %+v", columns, l)
		assert.That(t, columns < 66 || l.over(columns, 0) < 2, "on %d columns: %+v", columns, l)
	}
}

// TestRPCLineAllocatesNothing checks that lines are made without allocations.
func TestRPCLineAllocatesNothing(t *testing.T) {
	r := &track.RPC{}
	r.HasOpcode, r.HasRequest = true, true
	r.XID = 1882453915467904
	for _, columns := range []int{0, 80, 120} {
		s := NewRPCSummary(SummaryOptions{Width: columns})
		var line schema.Marked
		s.AppendRPC(&line, r, Moment{})
		if n := testing.AllocsPerRun(100, func() { line.Reset(); s.AppendRPC(&line, r, Moment{}) }); n > 0 {
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
	must.That(t, whole != nil, "%v", "no connect in "+mount)
	r := NewFlags(SummaryOptions{})
	for _, tt := range []struct {
		pair      *track.ConnectPair
		head, row string
	}{
		{whole, "reply in frame ", "yes    yes      "},
		{&track.ConnectPair{Request: whole.Request}, "no reply\n", "yes      ?      "},
		{&track.ConnectPair{Reply: whole.Reply}, "reply MGS_CONNECT\n", "  ?    yes      "},
	} {
		text := wiretest.Shown(func(dst *schema.Marked, p *track.ConnectPair) { r.AppendConnect(dst, p, 0) }, tt.pair)
		head, rows, _ := strings.Cut(text, "\n")
		if !strings.Contains(head+"\n", tt.head) || !strings.Contains(rows, tt.row) {
			t.Errorf("%q and %q are not in\n%s", tt.head, tt.row, text)
		}
	}
}

// TestTruncatedConnect checks that nothing is said of flags that a truncated request may have had.
func TestTruncatedConnect(t *testing.T) {
	frames := wiretest.ReadSample(t, mount)
	f := &frames[36] // the first connect
	f.Data = f.Data[:len(f.Data)-150]
	r := NewFlags(SummaryOptions{})
	var text, diff schema.Marked
	compared := false
	pairs := track.NewConnects(func(p *track.ConnectPair) {
		if p.Request != nil && p.Request.Frame == 37 && p.Reply != nil {
			r.AppendConnect(&text, p, 0)
			compared = r.AppendConnectDiff(&diff, p, 0)
		}
	})
	wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) { pairs.Message(m, 0) }}), frames)
	assert.Contains(t, string(text.Text), "REP_MBITS           ?    yes")
	assert.That(t, !strings.Contains(string(text.Text), "  -    yes") && !strings.Contains(string(diff.Text), "not asked for"), "compared: %v\n%s\n%s", compared, text.Text, diff.Text)
}

// TestConnectDiff compares the flags of a connect of a sample with its reply, then
// with its own flags in place of the reply's.
func TestConnectDiff(t *testing.T) {
	msgs := sample(t, mount)
	r := NewFlags(SummaryOptions{})
	var texts []string
	diff := func(p *track.ConnectPair) (string, bool) {
		var text schema.Marked
		ok := r.AppendConnectDiff(&text, p, 0)
		return string(text.Text), ok
	}
	pairs := track.NewConnects(func(p *track.ConnectPair) {
		text, ok := diff(p)
		assert.That(t, ok, "not compared: %s", text)
		texts = append(texts, text)
		if text, ok := diff(&track.ConnectPair{Request: p.Request, Reply: p.Request}); !ok || len(text) > 0 {
			t.Errorf("a request differs from itself: %s", text)
		}
		for _, part := range []*track.ConnectPair{{Request: p.Request}, {Reply: p.Reply}} {
			if text, ok := diff(part); ok || len(text) > 0 {
				t.Errorf("half a connect is compared: %s", text)
			}
		}
		backwards := &track.ConnectPair{Request: p.Reply, Reply: p.Request}
		if text, _ := diff(backwards); !strings.Contains(text, "  not asked for  ") || strings.Contains(text, "not granted") {
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
