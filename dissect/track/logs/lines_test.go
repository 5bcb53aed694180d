package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/must"
)

// TestMentionOfTwo: a line that only names the xid of two RPCs is written by the node that is an end
// of both; where each has another end in the log, it is unknown which one wrote it.
func TestMentionOfTwo(t *testing.T) {
	nid := func(text string) lnet.NID {
		n, _ := lnet.ParseNID(text)
		return n
	}
	a, b, server := nid("192.0.2.3@tcp"), nid("192.0.2.4@tcp"), nid("192.0.2.1@tcp")
	mention := &debuglog.Event{Kind: debuglog.Note, XID: 1, Opcode: debuglog.NoOpcode}
	for _, c := range []struct {
		self   []lnet.NID
		second Subject
		ok     bool
	}{
		{[]lnet.NID{server}, Subject{XID: 1, Client: b, Server: server}, true},
		{[]lnet.NID{a}, Subject{XID: 1, Client: server, Server: a}, true},
		{[]lnet.NID{a, b}, Subject{XID: 1, Client: b, Server: server}, false},
	} {
		l := &log{clock: clock{self: c.self, given: true}}
		if node, ok := l.writer(mention, []*Subject{{XID: 1, Client: a, Server: server}, &c.second}); ok != c.ok || ok && node != c.self[0] {
			t.Errorf("%v: %v, %v", c.self, node, ok)
		}
	}
}

// TestReadLines checks which lines of a server are about an RPC: those of another client that
// has given the same xid are not, and then it is unknown whose those are that only name it.
// Nor are those of its own requests, also where only the lines tell whose log it is.
func TestReadLines(t *testing.T) {
	const (
		handled = "(service.c:1:f()) Handling RPC req@01 pname:cluuid+ref:pid:xid:nid:opc:job %s:u+1:9:x%d:12345-%s:4:"
		words   = "(service.c:1:f()) got req x%d"
		sent    = "(client.c:1:f()) Sending RPC req@09 pname:cluuid:pid:xid:nid:opc:job own:u:9:%d:192.0.2.2@tcp:4:"
	)
	var text strings.Builder
	for i, line := range []string{
		fmt.Sprintf(words, 1882598756893312), fmt.Sprintf(handled, "t0", 1882598756893312, "192.0.2.4@tcp"),
		fmt.Sprintf(words, 1882598756893440), fmt.Sprintf(handled, "t1", 1882598756893440, "192.0.2.4@tcp"),
		fmt.Sprintf(handled, "t2", 1882598756893440, "192.0.2.3@tcp"),
		"(a.c:1:f()) x18825987568933120, 0x1882598756893312, max1882598756893312 and x1882598756893312s",
		"(a.c:1:f()) of another (req@07 x1882598756893568)",
		fmt.Sprintf(sent, 1882598756893440),
	} {
		fmt.Fprintf(&text, "00000100:00100000:0.0:1795387019.80000%d:0:457:0:%s\n", i, line)
	}
	path := filepath.Join(t.TempDir(), "oss.dk")
	must.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	client, _ := lnet.ParseNID("192.0.2.4@tcp")
	server, _ := lnet.ParseNID("192.0.2.2@tcp")
	for _, tt := range []struct {
		node lnet.NID
		want []string
	}{
		{server, []string{"2 t0", "4 t1", "1 got req x1882598756893312"}},
		{lnet.NID{}, []string{"2 t0", "4 t1", "1 got req x1882598756893312"}},
	} {
		x := New([]File{{Path: path, Name: "oss.dk", Node: tt.node}})
		_, err := x.Open(&Head{})
		must.NoError(t, err)
		var got []string
		must.NoError(t, x.ReadLines([]Subject{
			{XID: 1882598756893312, Opcode: 4, HasOpcode: true, Client: client, Server: server},
			{XID: 1882598756893440, Opcode: 4, HasOpcode: true, Client: client, Server: server},
		}, func(l *track.LogLine) {
			got = append(got, fmt.Sprint(l.Line, " ", l.Process+l.Text))
			if l.Node != server {
				t.Errorf("line %d is of %v", l.Line, l.Node)
			}
		}))
		must.NoError(t, x.Err())
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v: %q, want %q", tt.node, got, tt.want)
		}
	}
}
