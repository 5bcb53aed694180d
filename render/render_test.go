package render

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes/schema"
)

// sample reads the messages of a capture.
func sample(t testing.TB, path string) *dissect.Arena {
	t.Helper()
	msgs := &dissect.Arena{}
	wiretest.Play(dissect.New(dissect.Options{Handle: msgs.Add}), wiretest.ReadSample(t, path))
	if msgs.Len() == 0 {
		t.Fatal("no messages in " + path)
	}
	return msgs
}

const mount = "../pcaps/mount.pcap"

// renderers are all that work message by message.
func renderers() map[string]Renderer {
	c := NewColors(true)
	return map[string]Renderer{
		"JSON":    NewJSON(),
		"Tree":    NewTree(TreeOptions{Colors: c, Width: 80}),
		"Hex":     NewTree(TreeOptions{Colors: c, Hex: true}),
		"Summary": NewSummary(SummaryOptions{Colors: c, Width: 80}),
		"Wide":    NewSummary(SummaryOptions{Colors: c}),
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
		if n != 0 {
			t.Errorf("%s: %v allocations for %d messages", name, n, msgs.Len())
		}
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
		if got := string(AppendElapsed(nil, ns, 9)); got != want[0] {
			t.Errorf("%d: %s, want %s", ns, got, want[0])
		}
		if got := string(AppendLatency(nil, ns)); got != want[1] {
			t.Errorf("%d: %s, want %s", ns, got, want[1])
		}
	}
	var s Stamp
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("", -86_399), time.FixedZone("", 86_399)} {
		for _, ns := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
			s.set = false
			want := time.Unix(0, ns).In(zone).Format("2006-01-02T15:04:05")
			if got := string(s.seconds(ns, zone)); got != want {
				t.Errorf("%d: %s, want %s", ns, got, want)
			}
		}
	}
	const first, last = "1677-09-21T00:12:43.145224192Z", "2262-04-11T23:47:16.854775807Z"
	if got := string(s.AppendISO(s.AppendISO(nil, math.MinInt64), math.MaxInt64)); got != first+last {
		t.Errorf("from %s", got)
	}
}

func TestRoundLatency(t *testing.T) {
	for ns, want := range map[int64]string{0: "0us", 999: "0us", 999_949_999: "1.0s", 1_049_999: "1.0ms", 1_050_000: "1.1ms",
		2_197_503_000: "2.2s", 9_949_999_999: "9.9s", 9_950_000_000: "10s", 3_171_993_000: "3.2s", 61_500_000_000: "62s"} {
		if got := string(AppendLatency(nil, roundLatency(ns))); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

func TestWidth(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"abc", 3},
		{"\x1b[31mabc\x1b[0m", 3},
		{"äöü", 3},
		{"サーバー", 8},
		{"e\u0301a", 2},
		{"a😀b", 4},
		{"한국어", 6},
		{"\xff\xfe", 2},
	} {
		if got := Width([]byte(tt.text)); got != tt.want {
			t.Errorf("Width(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

// TestTruncate checks that no text is wider than it may be, wherever its wide and
// combining characters are.
func TestTruncate(t *testing.T) {
	c := NewColors(false)
	for _, text := range []string{"abcdef", "サーバー", "aサbーc", "e\u0301e\u0301e\u0301", "a\u0301サ\u0301b"} {
		whole := Width([]byte(text))
		for columns := 1; columns <= whole+1; columns++ {
			for first := range len(text) + 1 {
				parts := []schema.Part{{End: first, Role: schema.Name}, {End: len(text), Role: schema.Dim}}
				if !isBoundary(text, first) {
					continue
				}
				got := string(c.AppendParts(nil, []byte(text), parts, columns, false))
				if Width([]byte(got)) > columns || columns >= whole && got != text || columns < whole && !strings.HasSuffix(got, "…") {
					t.Errorf("%q in %d columns, parts from %d: %q", text, columns, first, got)
				}
			}
		}
	}
}

// isBoundary reports whether a character begins at an index of text, or ends there.
func isBoundary(text string, i int) bool { return i == len(text) || text[i]&0xc0 != 0x80 }
