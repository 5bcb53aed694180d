package tables

import (
	"math"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/dissect/track/config"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
)

// TestNoUser: people know (uid_t)-1 as -1; scripts get the number, which filters
// take, too.
func TestNoUser(t *testing.T) {
	nobody := &track.Row{Key: track.Key{RequestKey: track.RequestKey{UID: math.MaxUint32, HasUser: true}}, Count: 1, BulkBytes: 1}
	i := &track.Interval{Rows: map[track.Key]*track.Row{nobody.Key: nobody}}
	o := StatsOptions{By: []track.Dimension{track.ByUID}, Colors: render.NewColors(false), Bars: true}
	table := string(NewStatsTable(o).AppendInterval(nil, i))
	if lines := strings.Split(table, "\n"); !strings.HasPrefix(lines[1], "-1 ") || !strings.Contains(table, "\n-1 bulk size\n") {
		t.Errorf("%s", table)
	}
	json := string(NewStatsJSON(o).AppendInterval(nil, i))
	tsv := string(NewStatsTSV(o).AppendInterval(nil, i))
	if !strings.HasPrefix(json, `{"uid":4294967295,`) || !strings.HasPrefix(tsv, "4294967295\t") {
		t.Errorf("%s%s", json, tsv)
	}
}

// TestSamePath: rows of files that had the same path are always in the same order.
func TestSamePath(t *testing.T) {
	i := &track.Interval{Rows: make(map[track.Key]*track.Row)}
	for n := range uint32(20) {
		r := &track.Row{Key: track.Key{File: track.FID{Seq: 0x200000401, OID: n + 1}}, Path: "/a", Count: 1}
		i.Rows[r.Key] = r
	}
	for k, r := range SortRows(i, []track.Dimension{track.ByFile}, "count") {
		if r.File.OID != uint32(k+1) {
			t.Fatalf("row %d is of file %d", k, r.File.OID)
		}
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
	s := NewNegotiatedText(render.SummaryOptions{Colors: render.NewColors(false), Width: 46}, "a", "b")
	if got := string(s.Append(nil, list)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
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
			IDMaps: []opcodes.NodemapIDMap{{Type: hostile}}, Filesets: []config.Fileset{{Path: hostile}}}},
		{Kind: config.KindRunningTarget, RunningTarget: &config.RunningTarget{RunningTarget: opcodes.RunningTarget{Kind: "OST", NIDs: []string{hostile}}, Table: hostile + "-cliir", From: 8}},
		{Kind: config.KindRegistration, Registration: &config.Registration{Registration: opcodes.Registration{Name: hostile, Parameters: hostile, NIDs: []string{hostile}}}},
		{Kind: config.KindSentParameter, SentParameter: &config.SentParameter{Parameter: hostile}},
	}
}

// TestConfigurationEscapes: text from the wire cannot control a terminal, and lines have at
// most its width.
func TestConfigurationEscapes(t *testing.T) {
	for _, full := range []bool{true, false} {
		s := NewConfiguration(render.SummaryOptions{Colors: render.NewColors(false), Width: 60}, 0, full)
		text := string(s.Append(nil, hostileEntries()))
		if strings.Contains(text, "\x1b") {
			t.Errorf("an escape sequence is in %q", text)
		}
		for line := range strings.Lines(text) {
			if n := render.Width([]byte(strings.TrimSuffix(line, "\n"))); n > 60 {
				t.Errorf("%d columns: %s", n, line)
			}
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
	r.Events = []recovery.Event{
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
	options := render.SummaryOptions{Colors: render.NewColors(false)}
	first := int64(1e18)
	table := string(Recoveries.New(options, first).Append(nil, []*recovery.Recovery{r, {Target: "lustre-OST0001", Kind: recovery.Stopped}}))
	story := string(NewRecoveryStory(options, first).Append(nil, r))
	for _, want := range []string{
		"2.000000  lustre-MDT0000  failover  6.0s       -      0/?      1         3      0  EOVERFLOW:2       0        -  ENOTCONN:4 unanswered:1     2",
		"192.0.2.1 192.0.2.2      2\n", "       -  lustre-OST0001  stopped      -       -        -      0 ",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
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
	if story != want {
		t.Errorf("got\n%s\nwant\n%s", story, want)
	}
}
