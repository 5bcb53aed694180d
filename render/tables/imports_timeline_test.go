package tables

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
)

// TestTimelineAsItHappens checks that lines that are appended change by change
// are those of the whole, but for what becomes known later.
func TestTimelineAsItHappens(t *testing.T) {
	for _, sample := range []string{"recovery.pcap.zst", "mount.pcap"} {
		r, err := capture.Open([]string{"../../pcaps/" + sample}, capture.Options{})
		must.NoError(t, err)
		defer r.Close()
		o := render.SummaryOptions{Colors: render.NewColors(false)}
		live := NewTimeline(o, 0)
		var lines []string
		var now int64
		imports := track.NewImports()
		imports.OnChange(func(i *track.Import, p track.Point) {
			line := string(live.AppendChange(nil, i, p))
			if strings.Count(line, "\n") != 1 || frameOf(t, line) != p.Frame {
				t.Errorf("%s: change of frame %d: %q", sample, p.Frame, line)
			}
			if now != p.Frame && !strings.Contains(line, "without reply") {
				t.Errorf("%s: line of frame %d at frame %d", sample, p.Frame, now)
			}
			lines = append(lines, line)
		})
		rpcs := track.NewPairing(track.Options{Sent: imports.Sent, Answered: imports.Answered, Done: imports.Done})
		d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
			now = m.Frame
			rpcs.Message(m)
		}})
		var f capture.Frame
		for err = r.Next(&f); err == nil; err = r.Next(&f) {
			d.Frame(&f)
		}
		if err != io.EOF {
			t.Fatal(err)
		}
		d.Close()
		rpcs.Close()
		imports.Close()

		whole := strings.SplitAfter(string(NewTimeline(o, 0).Append(nil, imports.List())), "\n")
		if got, want := states(t, lines), states(t, whole); !slices.Equal(got, want) {
			t.Errorf("%s: states are\n%s\nwant\n%s", sample, got, want)
		}
	}
}

func frameOf(t *testing.T, line string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.Fields(line)[0], 10, 64)
	must.NoError(t, err)
	return n
}

// states returns frame, client and state of the lines that have a state, in
// order.
func states(t *testing.T, lines []string) []string {
	t.Helper()
	var list []string
	for _, l := range lines {
		if f := strings.Fields(l); len(f) > 5 && f[5] != "-" {
			list = append(list, f[0]+" "+f[2]+" "+f[5])
		}
	}
	slices.Sort(list)
	return list
}

// TestTimelineOfSamples checks that the lines of a timeline are in order of
// time, that each thing is one line, and that each ping is where it was.
func TestTimelineOfSamples(t *testing.T) {
	for _, path := range wiretest.Samples(t) {
		imports, pings := track.NewImports(), 0
		rpcs := track.NewPairing(track.Options{Answered: imports.Answered, Done: imports.Done, Sent: func(r *track.RPC, m *dissect.Message) {
			imports.Sent(r, m)
			if r.Opcode == opcodes.OBD_PING && r.Connection != nil && m.RPC.Flags&(dissect.FlagReqReplayDone|dissect.FlagLockReplayDone) == 0 {
				pings++
			}
		}})
		wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) { rpcs.Message(m) }}), wiretest.ReadSample(t, path))
		rpcs.Close()
		imports.Close()
		o := render.SummaryOptions{Colors: render.NewColors(false)}
		seen, last, lines := make(map[string]bool), int64(0), 0
		for line := range strings.Lines(string(NewTimeline(o, 0).Append(nil, imports.List()))) {
			frame := frameOf(t, line)
			if frame < last || seen[line] {
				t.Errorf("%s: after frame %d: %s", path, last, line)
			}
			seen[line], last = true, frame
			if strings.HasSuffix(line, " ping\n") {
				lines++
			}
		}
		if lines != pings {
			t.Errorf("%s: %d pings in %d lines", path, pings, lines)
		}
	}
}

// TestTimelineDroppedEntries checks that the timeline reports entries that were
// too many to keep.
func TestTimelineDroppedEntries(t *testing.T) {
	i := &track.Import{Connection: &track.Connection{Target: "lustre-OST0000"}}
	i.PingLog, i.Dropped = []track.Point{{Frame: 7, Time: 9}}, 512
	got := NewTimeline(render.SummaryOptions{Colors: render.NewColors(false)}, 0).Append(nil, []*track.Import{i})
	if !bytes.Contains(got, []byte("512 older entries were not kept\n")) || bytes.Count(got, []byte("\n")) != 2 {
		t.Errorf("got %q", got)
	}
}
