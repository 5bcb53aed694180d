package tables

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/dissect/track/config"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// TestNarrowTable checks in which order columns lose their room: those without
// values, the end of a long list, the extra ones, lists down to 10 columns, names
// down to 20, the useful columns from the last on.
func TestNarrowTable(t *testing.T) {
	for columns, want := range map[int]struct{ row, omitted string }{
		0:   {"LDLM_CALLBACK_AND_MORE  1  0  22  33  ENODEV:7 ENOTCONN:5 EIO:1", ""},
		63:  {"LDLM_CALLBACK_AND_MORE  1  0  22  33  ENODEV:7 ENOTCONN:5 EIO:1", ""},
		62:  {"LDLM_CALLBACK_AND_MORE  1  22  33  ENODEV:7 ENOTCONN:5 EIO:1", "z (0)"},
		59:  {"LDLM_CALLBACK_AND_MORE  1  22  33  ENODEV:7 ENOTCONN:5 EIO…", "z (0)"},
		58:  {"LDLM_CALLBACK_AND_MORE  1  33  ENODEV:7 ENOTCONN:5 EIO:1", "t (0: z)"},
		50:  {"LDLM_CALLBACK_AND_MORE  1  33  ENODEV:7 ENOTCONN:…", "t (0: z)"},
		43:  {"LDLM_CALLBACK_AND_MORE  1  33  ENODEV:7 EN…", "t (0: z)"},
		41:  {"LDLM_CALLBACK_AND_MORE  1  33  ENODEV:7 …", "t (0: z)"},
		39:  {"LDLM_CALLBACK_AND_M…  1  33  ENODEV:7 …", "t (0: z)"},
		38:  {"LDLM_CALLBACK_AND_MORE  1  33", "t errors (0: z)"},
		27:  {"LDLM_CALLBACK_AND_M…  1  33", "t errors (0: z)"},
		26:  {"LDLM_CALLBACK_AND_MORE  1", "t u errors (0: z)"},
		24:  {"LDLM_CALLBACK_AND_MO…  1", "t u errors (0: z)"},
		3:   {"LDLM_CALLBA…  1", "t u errors (0: z)"},
		300: {"LDLM_CALLBACK_AND_MORE  1  0  22  33  ENODEV:7 ENOTCONN:5 EIO:1", ""},
	} {
		tab := textKind([]column[[]string]{{title: "op", left: true}, {title: "n"}, {title: "z", rank: useful}, {title: "t", rank: extra},
			{title: "u", rank: useful}, {title: "errors", left: true, rank: useful}}).New(render.SummaryOptions{Width: columns}, 0)
		text := wiretest.Shown(tab.Append, [][]string{{"LDLM_CALLBACK_AND_MORE", "1", "0", "22", "33", "ENODEV:7 ENOTCONN:5 EIO:1"}})
		lines := strings.Split(text, "\n")
		if lines[1] != want.row || tab.Omitted() != want.omitted {
			t.Errorf("%d columns: %q, omitted %q, want %q", columns, lines[1], tab.Omitted(), want)
		}
	}
}

// textKind is a kind of table whose rows are the texts of their cells.
func textKind(columns []column[[]string]) *Kind[[]string] {
	for i := range columns {
		columns[i].show = func(_ *printer, row []string) string { return row[i] }
	}
	return &Kind[[]string]{columns: columns}
}

// TestOmitted checks that a column without values in one table only is one with
// values.
func TestOmitted(t *testing.T) {
	tab := textKind([]column[[]string]{{title: "count"}, {title: "wait", rank: useful}}).New(render.SummaryOptions{Width: 5}, 0)
	assert.Equal(t, tab.Omitted(), "", "omitted without a table")
	for _, cell := range []string{"0", "7", "-"} {
		wiretest.Shown(tab.Append, [][]string{{"1", cell}})
	}
	assert.Equal(t, tab.Omitted(), "wait", "omitted")
}

// TestTruncatedNames: where even the columns that are needed do not fit, names
// are truncated; numbers are not.
func TestTruncatedNames(t *testing.T) {
	tab := textKind([]column[[]string]{{title: "name", left: true}, {title: "other", left: true}, {title: "count"}}).New(render.SummaryOptions{Width: 36}, 0)
	lines := strings.Split(wiretest.Shown(tab.Append, [][]string{{"LDLM_BL_CALLBACK", "lustre-OST0001", "123456"}}), "\n")
	if want := "LDLM_BL_CALL…  lustre-OST00…  123456"; lines[1] != want || render.Width([]byte(lines[1])) > 36 {
		t.Errorf("%q, want %q", lines[1], want)
	}
}

// TestColumnsHaveKeys: each column without a show names a key; path panics with what
// to do about one that does not.
func TestColumnsHaveKeys(t *testing.T) {
	statsKind.newOf(nil)
	tsvKind.newOf(nil)
	Imports.newOf(nil)
	Locks.newOf(nil)
	Holders.newOf(nil)
	Recoveries.newOf(nil)
	targetsKind.newOf(nil)
	runningKind.newOf(nil)
	registrationsKind.newOf(nil)
	Files.newOf(nil)
	Directories.newOf(nil)
	rpcsKind.newOf(nil)
	for _, e := range Columns() {
		assert.That(t, e.Doc != "", "column %s of the %s has no meaning: give it a doc, or the path of a key", e.Name, e.Of)
	}
}

// TestNoUser: people know (uid_t)-1 as -1; scripts get the number, which filters
// take, too.
func TestNoUser(t *testing.T) {
	nobody := &track.Row{Key: track.Key{RequestKey: track.RequestKey{UID: math.MaxUint32, HasUser: true}}, Count: 1, BulkBytes: 1}
	i := &track.Interval{Rows: map[track.Key]*track.Row{nobody.Key: nobody}}
	o := StatsOptions{By: []track.Dimension{track.ByUID}, Bars: true}
	table := wiretest.Shown(NewStatsTable(o).AppendInterval, i)
	lines := strings.Split(table, "\n")
	assert.That(t, strings.HasPrefix(lines[1], "-1 ") && strings.Contains(table, "\n-1 bulk size\n"), "%s", table)
	json := string(render.NewRecordJSON(o.Keys()).AppendLines(nil, o.Rows(i)))
	tsv := string(NewStatsTSV(&o).Append(nil, o.Rows(i)[0]))
	assert.That(t, strings.HasPrefix(json, `{"uid":4294967295,`) && strings.HasPrefix(tsv, "4294967295\t"), "%s%s", json, tsv)
}

// TestSamePath: rows of files that had the same path are always in the same order.
func TestSamePath(t *testing.T) {
	i := &track.Interval{Rows: make(map[track.Key]*track.Row)}
	for n := range uint32(20) {
		r := &track.Row{Key: track.Key{File: track.FID{Seq: 0x200000401, OID: n + 1}}, Path: "/a", Count: 1}
		i.Rows[r.Key] = r
	}
	for k, r := range SortRows(i, []track.Dimension{track.ByFile}, "count") {
		must.Equal(t, r.File.OID, uint32(k+1), "row", k, "is of file")
	}
}

// TestNegotiated: targets that differ in the same way are one paragraph, and lines
// are wrapped.
func TestNegotiated(t *testing.T) {
	const old, recent = 0x020f0800, 0x02110000
	flags := func(names ...string) (f comparison.Flags) {
		for _, n := range names {
			f.Flags |= opcodes.ObdConnectFlags.Bit(n)
		}
		return f
	}
	before := &comparison.Negotiated{Connections: 1, HasAsked: true, HasGranted: true, Clients: []uint32{recent}, Servers: []uint32{recent},
		Asked: flags("GRANT", "SRVLOCK", "BRW_SIZE", "CANCELSET"), Granted: flags("GRANT")}
	after := &comparison.Negotiated{Connections: 1, HasAsked: true, HasGranted: true, Clients: []uint32{old}, Servers: []uint32{recent},
		Asked: flags("GRANT", "CKSUM"), Granted: flags("GRANT")}
	list := []*comparison.Connection{
		{Target: "one", Kind: "client", Before: before, After: after, Changed: []comparison.Part{comparison.Asked, comparison.ClientVersion}},
		{Target: "three", Before: before, After: before},
		{Target: "two", Kind: "client", Before: before, After: after, Changed: []comparison.Part{comparison.Asked, comparison.ClientVersion}},
		{Target: "four", After: after},
	}
	const want = `one two (client)
  asked           both: 1 flags
                  only a: SRVLOCK BRW_SIZE
                          CANCELSET
                  only b: CKSUM
  client release  a 2.17.0.0, b 2.15.8.0

three
  the same: 4 flags asked, 1 granted, client
  2.17.0.0, server 2.17.0.0

four
  connects captured: only b
`
	s := NewNegotiatedText(render.SummaryOptions{Width: 46}, "a", "b")
	got := wiretest.Shown(s.Append, list)
	assert.That(t, got == want, "%s\nwant\n%s", got, want)
}

// hostile is a name from the wire that would control a terminal.
const hostile = "a\x1b[31m\nb"

// hostileEntries returns an entry of each kind, with names from the wire that would
// control a terminal.
func hostileEntries() []*config.Entry {
	l := &config.Log{Name: hostile, Last: 2, Created: 1, Missing: []config.Range{{First: 1, Last: 1}, {First: 3, Last: 9}}}
	step := opcodes.ConfigStep{Event: "attach", Arguments: []opcodes.ConfigArgument{{Name: "device", Value: hostile}, {Name: "UUID", Value: strings.Repeat("u", 30)}}}
	marker := opcodes.ConfigStep{Event: "marker", Marker: &opcodes.ConfigMarker{Flags: 5, Text: "marker 1 start skip " + hostile + " 'a comment that is so long that the line is wrapped'"}}
	device := &config.Device{Name: hostile, Type: hostile, UUID: hostile, Status: config.Inactive, Nodes: []config.Node{{Name: hostile, NIDs: []string{hostile}}, {Name: "n2"}}}
	active := true
	at := track.Point{Frame: 7, Time: 1e9}
	return []*config.Entry{
		{Kind: config.KindLog, Log: l},
		{Kind: config.KindStep, Log: l, Step: &config.Step{ConfigStep: step, Index: 1, State: config.Skipped, At: at}},
		{Kind: config.KindStep, Log: l, Step: &config.Step{ConfigStep: step, Index: 2, State: config.Cancelled, At: at, Earlier: []config.Version{{ConfigStep: step, At: at}}}},
		{Kind: config.KindStep, Log: l, Step: &config.Step{ConfigStep: step, Index: 3, State: config.Unproven, At: at}},
		{Kind: config.KindStep, Log: l, Step: &config.Step{ConfigStep: step, Index: 4, At: at}},
		{Kind: config.KindStep, Log: l, Step: &config.Step{ConfigStep: marker, Index: 5, State: config.Skipped, At: at}},
		{Kind: config.KindDevice, Log: l, Device: device},
		{Kind: config.KindTarget, Log: l, Target: &config.Target{UUID: hostile, Number: hostile, Device: device}},
		{Kind: config.KindPool, Log: l, Pool: &config.Pool{FSName: hostile, Name: hostile, Members: []string{hostile}}},
		{Kind: config.KindParameter, Log: l, Parameter: &config.Parameter{Device: hostile, Name: hostile, Value: hostile}},
		{Kind: config.KindNodemapState, Active: &active},
		{Kind: config.KindNodemap, Nodemap: &config.Nodemap{Name: hostile, Properties: []opcodes.ConfigArgument{{Name: "rbac", Value: hostile}}, Ranges: []opcodes.NodemapRange{{Start: hostile, End: hostile}},
			IDMaps: []opcodes.NodemapIDMap{{Type: hostile}}, Filesets: []opcodes.NodemapFileset{{Path: hostile}}}},
		{Kind: config.KindRunningTarget, RunningTarget: &config.RunningTarget{RunningTarget: opcodes.RunningTarget{Kind: "OST", NIDs: []string{hostile}}, Table: hostile + "-cliir", From: 8}},
		{Kind: config.KindRegistration, Registration: &config.Registration{Registration: opcodes.Registration{Name: hostile, Parameters: hostile, NIDs: []string{hostile}}}},
		{Kind: config.KindSentParameter, SentParameter: &config.SentParameter{Parameter: hostile}},
	}
}

// TestConfigurationEscapes: text from the wire cannot control a terminal, and lines have at
// most its width.
func TestConfigurationEscapes(t *testing.T) {
	for _, full := range []bool{true, false} {
		s := NewConfiguration(render.SummaryOptions{Width: 60}, 0, full)
		text := wiretest.Shown(s.Append, hostileEntries())
		assert.That(t, !strings.Contains(text, "\x1b"), "an escape sequence is in %q", text)
		for line := range strings.Lines(text) {
			n := render.Width([]byte(strings.TrimSuffix(line, "\n")))
			assert.That(t, n <= 60, "%d columns: %s", n, line)
		}
		for _, part := range []string{"# skipped: - {", "# cancelled: - {", "# unproven: - {", "changed in frame 7", "records 1,3-9 of 2", "IN", "failover", "nodemap.active=1", "changes from version 8 on", "no reply"} {
			state := strings.HasPrefix(part, "#") || strings.HasPrefix(part, "changed")
			if strings.Contains(strings.ReplaceAll(text, "\n", " "), part) != (full || !state) {
				t.Errorf("full %v: %s is missing, or is too much", full, part)
			}
		}
	}
}

// TestRecoveryOfEachKind: a table and a story of each kind, with what the samples lack:
// a failover, errors of a replay, gaps, early replies and requests that failed.
func TestRecoveryOfEachKind(t *testing.T) {
	const second = int64(1e9)
	at := func(frame int64) track.Point { return track.Point{Frame: frame, Time: 1e18 + frame*second} }
	node := func(last byte) lnet.NID { return lnet.NID{Len: 4, Type: 2, Addr: [16]byte{192, 0, 2, last}} }
	client := &recovery.Client{
		Connection:    &track.Connection{Client: node(3)},
		Type:          "client",
		ClientMoments: recovery.ClientMoments{Lost: at(2), LostBy: recovery.SignUnanswered, Connected: at(9), Evicted: at(30)},
		Outcome:       recovery.ClientEvicted,
		Requests:      recovery.Replays{Count: 3, First: at(10), Last: at(12), Errors: map[int32]int64{-75: 2}},
		NotReplayed:   recovery.Gap{Transnos: recovery.Transnos{From: 5, To: 7}, Count: 2, Seen: at(13)},
		Impact:        recovery.Impact{Unanswered: 1, Errors: map[int32]int64{-107: 4}},
	}
	r := &recovery.Recovery{Target: "lustre-MDT0000", Kind: recovery.Failover, Clients: []*recovery.Client{client}}
	r.Servers = recovery.Servers{Server: node(2), ServerBefore: node(1), Instance: 8, InstanceBefore: 7}
	r.Moments = recovery.Moments{LastReply: at(1), Gone: at(2), GoneBy: recovery.SignUnanswered, Back: at(8)}
	r.Events = []*recovery.Event{
		{Point: at(2), Kind: recovery.EventGone, Sign: recovery.SignUnanswered},
		{Point: at(3), Until: at(6), Kind: recovery.EventUnanswered, Client: client, Count: 3},
		{Point: at(9), Kind: recovery.EventConnected, Client: client},
		{Point: at(10), Until: at(12), Kind: recovery.EventReplay, Client: client, Count: 3, Errors: client.Requests.Errors, Transnos: recovery.Transnos{From: 2, To: 4}},
		{Point: at(13), Kind: recovery.EventNotReplayed, Client: client, Count: 2, Transnos: client.NotReplayed.Transnos},
		{Point: at(14), Kind: recovery.EventEarly, Client: client, Count: 2, Estimate: 45},
		{Point: at(15), Kind: recovery.EventFailed, Client: client, Request: &recovery.Request{XID: 77, Opcode: opcodes.MDS_REINT, Job: "tar\x1b[2J.0", Sent: at(1), Answered: at(15), Status: -107}},
		{Point: at(16), Kind: recovery.EventFailed, Client: client, Request: &recovery.Request{XID: 78, Opcode: opcodes.MDS_CLOSE, Sent: at(16)}},
		{Point: at(20), Kind: recovery.EventMissing, Client: client},
	}
	options := render.SummaryOptions{}
	first := int64(1e18)
	table := wiretest.Shown(Recoveries.New(options, first).Append, []*recovery.Recovery{r, {Target: "lustre-OST0001", Kind: recovery.Stopped}})
	story := wiretest.Shown(NewRecoveryStory(options, first).Append, r)
	for _, want := range []string{
		"2.000000  lustre-MDT0000  failover  6.0s       -      0/?      1         3      0  EOVERFLOW:2       0        -  ENOTCONN:4 unanswered:1     2",
		"192.0.2.1 192.0.2.2      2\n", "       -  lustre-OST0001  stopped      -       -        -      0 ",
	} {
		assert.That(t, strings.Contains(table, want), "%q is not in\n%s", want, table)
	}
	want := `
lustre-MDT0000: was started again on another server, instance 7 to 8
    2  2.000000 -         -      gone: a request without a reply
    3  3.000000 192.0.2.3 client 3 connects without a reply
    9  9.000000 192.0.2.3 client connected, 1.0s after the first
   10 10.000000 192.0.2.3 client replays 3 requests, transno 2 to 4, for 2.0s; failed: EOVERFLOW:2
   13 13.000000 192.0.2.3 client not replayed: 2 transactions, transno 5 to 7
   14 14.000000 192.0.2.3 client early reply, number 2: the server expects to reply within 45s
   15 15.000000 192.0.2.3 client MDS_REINT x77 of tar\x1b[2J.0 failed: ENOTCONN, after 14s
   16 16.000000 192.0.2.3 client MDS_CLOSE x78 had no reply
   20 20.000000 192.0.2.3 client last reply; not seen to come back
`
	assert.That(t, story == want, "got\n%s\nwant\n%s", story, want)
}

// TestTimelineAsItHappens checks that lines that are appended change by change
// are those of the whole, but for what becomes known later.
func TestTimelineAsItHappens(t *testing.T) {
	for _, sample := range []string{"recovery.pcap.zst", "mount.pcap"} {
		r, err := capture.Open([]string{"../../pcaps/" + sample}, capture.Options{})
		must.NoError(t, err)
		defer r.Close()
		o := render.SummaryOptions{}
		live := NewTimeline(o, 0)
		var lines []string
		var now int64
		imports := track.NewImports()
		imports.OnChange(func(i *track.Import, p track.Point) {
			line := wiretest.Shown(func(dst *schema.Marked, p track.Point) { live.AppendChange(dst, i, p) }, p)
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
		must.Equal(t, err, io.EOF)
		d.Close()
		rpcs.Close()
		imports.Close()

		whole := strings.SplitAfter(wiretest.Shown(NewTimeline(o, 0).Append, imports.List()), "\n")
		got, want := states(t, lines), states(t, whole)
		assert.That(t, slices.Equal(got, want), "%s: states are\n%s\nwant\n%s", sample, got, want)
	}
}

func frameOf(t *testing.T, line string) int64 {
	t.Helper()
	return must.Value(strconv.ParseInt(strings.Fields(line)[0], 10, 64))(t)
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
		o := render.SummaryOptions{}
		seen, last, lines := make(map[string]bool), int64(0), 0
		for line := range strings.Lines(wiretest.Shown(NewTimeline(o, 0).Append, imports.List())) {
			frame := frameOf(t, line)
			assert.That(t, frame >= last && !seen[line], "%s: after frame %d: %s", path, last, line)
			seen[line], last = true, frame
			if strings.HasSuffix(line, " ping\n") {
				lines++
			}
		}
		assert.Equal(t, lines, pings, path, "pings lines")
	}
}

// TestTimelineDroppedEntries checks that the timeline reports entries that were
// too many to keep.
func TestTimelineDroppedEntries(t *testing.T) {
	i := &track.Import{Connection: &track.Connection{Target: "lustre-OST0000"}}
	i.PingLog, i.Dropped = []track.Point{{Frame: 7, Time: 9}}, 512
	got := wiretest.Shown(NewTimeline(render.SummaryOptions{}, 0).Append, []*track.Import{i})
	assert.That(t, strings.Contains(got, "512 older entries were not kept\n") && strings.Count(got, "\n") == 2, "got %q", got)
}
