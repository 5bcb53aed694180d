package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest/messages"
)

// TestSameXIDs joins the log of a server with that of a client whose xids another client
// has, too: nodes that start at the same time count from the same number.
func TestSameXIDs(t *testing.T) {
	var client, server []byte
	line := func(b []byte, at float64, format string, args ...any) []byte {
		return fmt.Appendf(b, "00000100:00100000:0.0:%.6f:0:1:0:(a.c:1:f()) %s\n", at, fmt.Sprintf(format, args...))
	}
	serve := func(begin float64, uuid string, xid, client int) {
		rpc := fmt.Sprintf("RPC req@1 pname:cluuid+ref:pid:xid:nid:opc:job ost:%s+1:1:x%d:12345-192.0.2.%d@tcp:4:", uuid, xid, client)
		server = line(server, begin, "Handling %s", rpc)
		server = line(server, begin+.001, "Handled %s Request processed in 1000us (2000us total) trans 0 rc 0/0", rpc)
	}
	for i := range 3 {
		begin, xid := 1000+float64(i), 1882453915800448+128*i
		rpc := fmt.Sprintf("RPC req@1 pname:cluuid:pid:xid:nid:opc:job cp:mine:1:%d:192.0.2.2@tcp:4:", xid)
		client = line(client, begin, "Sending %s", rpc)
		client = line(client, begin+.008, "Completed %s", rpc)
		if i == 1 {
			serve(begin+30, "others", xid, 4)
		} else {
			serve(begin+.004, "mine", xid, 3)
		}
	}
	var files []File
	for name, text := range map[string][]byte{"client.dk": client, "server.dk": server} {
		path := filepath.Join(t.TempDir(), name)
		must.NoError(t, os.WriteFile(path, text, 0o600))
		files = append(files, File{Path: path, Name: name})
	}
	var both, others int
	m := NewMerge(files, func(r *track.RPC) {
		switch {
		case r.Log.HasClient && r.Log.HasServer && r.Client.Addr[3] == 3 && r.Log.Client.UUID == "mine" && r.Log.Server.UUID == "mine":
			both++
		case !r.Log.HasClient && r.Log.Server.UUID == "others":
			others++
		}
	})
	notes, err := m.Open()
	must.NoError(t, err)
	m.Read(func() bool { return false })
	must.NoError(t, m.Err())
	if both != 2 || others != 1 || len(notes) != 1 {
		t.Errorf("%d joined, %d of the other client; %q", both, others, notes)
	}
}

// TestOneOfAnotherNode: an RPC of another node with the xid of one does not move the clock, by however
// little it is off.
func TestOneOfAnotherNode(t *testing.T) {
	const ms = int64(time.Millisecond)
	l := &log{}
	for i, ahead := range []int64{50, 50, -80, 50} {
		begin := int64(i) * int64(time.Second)
		l.add(&view{layer: clientLog, begin: begin + ahead*ms, end: begin + ahead*ms + 10*ms}, &view{layer: onWire, begin: begin + ms, end: begin + 9*ms})
	}
	if !l.setClock(nil) || l.offset != -50*ms || l.delay != ms {
		t.Errorf("offset %v, delay %v", time.Duration(l.offset), time.Duration(l.delay))
	}
}

// TestClockByMost: one RPC that was sent again does not hide how far a clock is ahead, and a log
// whose RPCs agree on nothing is of a node that has the same xids.
func TestClockByMost(t *testing.T) {
	const second, ms = int64(time.Second), int64(time.Millisecond)
	for _, c := range []struct {
		name              string
		ahead             []int64 // of each RPC, seconds
		given             bool    // the node is
		compared, foreign bool
	}{
		{"one was sent again", []int64{5, 5, 5, -40}, false, true, false},
		{"half of them agree", []int64{5, 5, 11, 20}, false, false, true},
		{"none agree", []int64{5, 11, -3, 20}, false, false, true},
		{"none agree, of a node that is named", []int64{5, 11, -3, 20}, true, false, false},
		{"nothing in common", nil, false, false, false},
	} {
		l := &log{clock: clock{given: c.given}}
		for i, ahead := range c.ahead {
			begin := int64(i) * second
			l.add(&view{layer: clientLog, begin: begin + ahead*second, end: begin + ahead*second + 10*ms},
				&view{layer: onWire, begin: begin + ms, end: begin + 9*ms})
		}
		if !l.setClockByMost(nil) {
			l.foreign = l.isForeign()
		}
		if l.compared != c.compared || l.foreign != c.foreign || l.compared && l.offset != -5*second {
			t.Errorf("%s: compared %t, foreign %t, offset %v", c.name, l.compared, l.foreign, time.Duration(l.offset))
		}
	}
}

// TestClockOfMostRPCs: a log is compared with one of which most RPCs agree, though one was sent again, before another log without anything in
// common with those before begins a clock of its own.
func TestClockOfMostRPCs(t *testing.T) {
	texts := map[string][]byte{}
	line := func(name string, at float64, format string, args ...any) {
		texts[name] = fmt.Appendf(texts[name], "00000100:00100000:0.0:%.6f:0:1:0:(a.c:1:f()) %s\n", at, fmt.Sprintf(format, args...))
	}
	send := func(name string, client, xid int, begin, served float64) {
		rpc := fmt.Sprintf("RPC req@1 pname:cluuid:pid:xid:nid:opc:job cp:u%d:1:%d:192.0.2.2@tcp:4:", client, xid)
		line(name, begin, "Sending %s", rpc)
		rpc = fmt.Sprintf("RPC req@1 pname:cluuid+ref:pid:xid:nid:opc:job ost:u%d+1:1:x%d:12345-192.0.2.%d@tcp:4:", client, xid, client)
		line("3.dk", served, "Handling %s", rpc)
		line("3.dk", served+.001, "Handled %s Request processed in 1000us (2000us total) trans 0 rc 0/0", rpc)
		line(name, begin+.008, "Completed RPC req@1 pname:cluuid:pid:xid:nid:opc:job cp:u%d:1:%d:192.0.2.2@tcp:4:", client, xid)
	}
	for i := range 4 { // the clock of the server is 400 ms ahead, that of the other client 100 ms
		begin, late := 1000+float64(i), 0.
		if i == 1 {
			late = 27
		}
		send("1.dk", 3, 1882453915800448+128*i, begin, begin+.404+late)
	}
	send("2.dk", 4, 1882453999800448, 1010.1, 1010.404)
	var files []File
	var all []*log
	for i, name := range []string{"1.dk", "2.dk", "3.dk"} {
		path := filepath.Join(t.TempDir(), name)
		must.NoError(t, os.WriteFile(path, texts[name], 0o600))
		files = append(files, File{Path: path, Name: name})
		all = append(all, &log{File: files[i], number: i})
	}
	notes, err := NewMerge(files, func(*track.RPC) {}).Open()
	must.NoError(t, err)
	const want = "3.dk: its clock is 399.5ms ahead (delay 3.5ms), its node is [192.0.2.2@tcp]\n" +
		"2.dk: its clock is 100ms ahead (delay 3.5ms), its node is [192.0.2.4@tcp]"
	assert.Equal(t, strings.Join(notes, "\n"), want)

	// A capture of the first client has nothing in common with the log of the other one.
	head := Head{views: map[uint64]*view{1882453915800448: {4, onWire, messages.NID(3), messages.NID(2), 1000e9, 1000e9 + 8e6, nil, "", nil}}}
	notes, err = compare(all, &head)
	must.NoError(t, err)
	assert.That(t, slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, "2.dk: its clock is ") }), "%q", notes)
}
