package tables

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
)

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
