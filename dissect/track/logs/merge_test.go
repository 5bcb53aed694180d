package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes"
)

// TestManyLogs checks that of many logs which were written one after the other only those
// are open whose time it is.
func TestManyLogs(t *testing.T) {
	const n = 3 * maxAtOnce
	var files []File
	for i := range n {
		path := filepath.Join(t.TempDir(), "oss.dk")
		text := ""
		for k, words := range []string{"Handling RPC", "Handled RPC"} {
			text += fmt.Sprintf("00000100:00100000:0.0:17953870%02d.80000%d:0:457:0:(service.c:1:f()) %s req@01 pname:cluuid+ref:pid:xid:nid:opc:job "+
				"t0:u+1:9:x18825987568%05d:12345-192.0.2.4@tcp:4: Request processed in 1us (2us total) trans 0 rc 0/0\n", 10+i, k, words, i)
		}
		must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		files = append(files, File{Path: path})
	}
	rpcs, most := 0, 0
	m := NewMerge(files, func(*track.RPC) { rpcs++ })
	_, err := m.Open()
	must.NoError(t, err)
	m.Read(func() bool {
		open := 0
		for _, l := range m.logs {
			if l.reader != nil {
				open++
			}
		}
		most = max(most, open)
		return false
	})
	must.NoError(t, m.Err())
	assert.Equal(t, rpcs, n, "RPCs")
	assert.Equal(t, m.Lines(), 2*n, "lines")
	assert.That(t, most <= 1, "%d logs are open at once", most)
}

// TestHandledLate joins a request that the client has given up with what its server did much later. The
// last line of the client names the server that the import has turned to since.
func TestHandledLate(t *testing.T) {
	var client, server string
	add := func(to *string, at float64, format string, args ...any) {
		*to += fmt.Sprintf("00000100:00100000:0.0:%.6f:0:1:0:(a.c:1:f()) %s\n", at, fmt.Sprintf(format, args...))
	}
	const sent, served = "%s RPC req@1 pname:cluuid:pid:xid:nid:opc:job cp:mine:1:%d:%s:400:", "%s RPC req@1 pname:cluuid+ref:pid:xid:nid:opc:job ost:mine+1:1:x%d:12345-192.0.2.3@tcp:400:"
	serve := func(at float64, xid int) {
		add(&server, at, served, "Handling", xid)
		add(&server, at+.001, served+" Request processed in 1000us (2000us total) trans 0 rc 0/0", "Handled", xid)
	}
	const quick, late = 1882453915800448, 1882453915800576
	add(&client, 1000, sent, "Sending", quick, "192.0.2.2@tcp")
	serve(1000.004, quick)
	add(&client, 1000.008, sent, "Completed", quick, "192.0.2.2@tcp")
	add(&client, 1001, sent, "Sending", late, "192.0.2.2@tcp")
	add(&client, 1008, "@@@ Request sent has timed out for slow reply: [sent 1/real 1]  req@1 x%d/t0(0) o400->fs-OST0000-osc-ff11@192.0.2.2@tcp:28/4 lens 1/1", late)
	add(&client, 1008.001, sent, "Completed", late, "192.0.2.1@tcp")
	serve(1050, late)
	var files []File
	for name, text := range map[string]string{"client.dk": client, "server.dk": server} {
		path := filepath.Join(t.TempDir(), name)
		must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		files = append(files, File{Path: path, Name: name})
	}
	var got []string
	take := func(r *track.RPC) {
		latency, _ := r.Latency()
		got = append(got, fmt.Sprint(r.XID, r.Log.HasClient, r.Log.HasServer, r.Server, r.HasReply, latency/1e6))
	}
	want := fmt.Sprintf("[%d true true 192.0.2.2@tcp true 8 %d true true 192.0.2.2@tcp true 49001]", quick, late)
	m := NewMerge(files, take)
	_, err := m.Open()
	must.NoError(t, err)
	m.Read(func() bool { return false })
	must.NoError(t, m.Err())
	assert.Equal(t, fmt.Sprint(got), want, "RPCs")

	got = nil
	nid := func(last byte) lnet.NID { return lnet.NID{Addr: [16]byte{192, 0, 2, last}, Len: 4, Type: 2} }
	for i := range files {
		files[i].Node = nid(map[string]byte{"client.dk": 3, "server.dk": 2}[files[i].Name])
	}
	x := New(files) // beside a capture of other nodes
	x.Elsewhere, x.Unseen = true, take
	_, err = x.Open(&Head{})
	must.NoError(t, err)
	for _, at := range []int64{999e9, 1060e9} {
		x.wire.add(0, opcodes.OBD_PING, nid(7), nid(8), at)
	}
	x.Close()
	assert.Equal(t, fmt.Sprint(got), want, "RPCs beside a capture")
}

// TestRecent checks that the last lines are held, however many there are.
func TestRecent(t *testing.T) {
	x := NewRecent([]File{{Name: "oss.dk"}})
	add := func(xid uint64, number int64) {
		x.add(&debuglog.Event{Kind: debuglog.Sent, XID: xid, Line: number}, 0, 0)
	}
	add(7, 1)
	add(8, 2)
	add(7, 3)
	list := x.with(7)
	assert.That(t, len(list) == 2 && list[0].Line == 1 && list[1].Line == 3, "%d lines", len(list))
	for i := range int64(maxRecent - 2) {
		add(9, 4+i)
	}
	list = x.with(7)
	assert.That(t, len(list) == 1 && list[0].Line == 3, "%d lines after the first was dropped", len(list))
	add(9, 0)
	add(9, 0)
	assert.That(t, len(x.with(7)) == 0 && len(x.with(8)) == 0 && len(x.byXID) == 1, "lines that were dropped are found")
	assert.Equal(t, len(x.with(9)), maxRPCLines, "lines of an RPC")
}

// TestOneConnection checks that RPCs of logs share a connection: what is counted for each would otherwise
// forget all others.
func TestOneConnection(t *testing.T) {
	x := New(nil)
	client, _ := lnet.ParseNID("192.0.2.3@tcp")
	server, _ := lnet.ParseNID("192.0.2.2@tcp")
	made := func(uuid string) *track.Connection {
		return x.made(&debuglog.RPC{HasClient: true, Client: debuglog.Call{UUID: uuid}}, client, server).Connection
	}
	first := made("mine")
	assert.That(t, first == made("mine"), "two RPCs of one connection have two")
	assert.That(t, first != made("other"), "RPCs of two clients have one connection")
}

// TestConnectNamed checks that the target of a connect, which the line before it names, is known, also where the connect
// was never sent.
func TestConnectNamed(t *testing.T) {
	const (
		note = "00000100:00100000:0.0:1000.000000:0:1:0:(import.c:824:f()) @@@ (re)connect request (timeout 5)  req@1 x1882453915800448/t0(0) o8->fs-OST0000-osc-ff11@192.0.2.2@tcp:28/4 lens 1/1\n"
		rpc  = "00000100:00100000:0.0:%s:0:1:0:(client.c:1:f()) %s RPC req@1 pname:cluuid:pid:xid:nid:opc:job ptlrpcd_rcv:mine:1:1882453915800448:192.0.2.2@tcp:8:\n"
	)
	for _, tt := range []struct {
		log    string
		isSent bool
	}{
		{note + fmt.Sprintf(rpc, "1000.000100", "Sending") + fmt.Sprintf(rpc, "1000.020000", "Completed"), true},
		{note + fmt.Sprintf(rpc, "1000.020000", "Completed"), false},
		{note, false},
	} {
		path := filepath.Join(t.TempDir(), "client.dk")
		must.NoError(t, os.WriteFile(path, []byte(tt.log), 0o600))
		rpcs := 0
		m := NewMerge([]File{{Path: path}}, func(r *track.RPC) {
			rpcs++
			assert.Equal(t, r.Connection.Target, "fs-OST0000", "target")
			assert.Equal(t, r.Log.Client.IsSent(), tt.isSent, "sent")
		})
		_, err := m.Open()
		must.NoError(t, err)
		m.Read(func() bool { return false })
		must.NoError(t, m.Err())
		assert.Equal(t, rpcs, 1, "RPCs")
	}
}

// TestTimeOfSending checks that the line of a request that is given up, which has the second of its sending, gets the time from the line of that.
func TestTimeOfSending(t *testing.T) {
	path := filepath.Join(t.TempDir(), "client.dk")
	const head = "00000100:00100000:0.0:%s:0:1:0:(a.c:1:f()) "
	text := fmt.Sprintf(head+"Sending RPC req@1 pname:cluuid:pid:xid:nid:opc:job cp:mine:1:1882453915800448:192.0.2.2@tcp:400:\n", "1001.750000") +
		fmt.Sprintf(head+"@@@ Request sent has timed out for slow reply: [sent 1001/real 1001]  req@1 x1882453915800448/t0(0) o400->fs-OST0000-osc-ff11@192.0.2.2@tcp:28/4 lens 1/1\n", "1008.000000")
	must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	m := NewMerge([]File{{Path: path}}, func(*track.RPC) {})
	var waited []int64
	m.Line = func(l *track.LogLine) { waited = append(waited, l.Service/1e6) }
	_, err := m.Open()
	must.NoError(t, err)
	m.Read(func() bool { return false })
	assert.Equal(t, fmt.Sprint(waited), "[6250]", "ms")
}

// TestHostOfMovedTarget checks that a host is not taken for the server from which a target has moved to it.
func TestHostOfMovedTarget(t *testing.T) {
	server, _ := lnet.ParseNID("192.0.2.2@tcp")
	for host, want := range map[string]int{"mds": 0, "client": 1} {
		f := newHostFinder()
		f.take(&debuglog.Event{Kind: debuglog.Lost, Host: host, Target: "fs-OST0001", Peer: server, Time: 1e18})
		f.take(&debuglog.Event{Kind: debuglog.RecoveryBegin, Host: "mds", Target: "fs-OST0001", Time: 1e18 + 9e9})
		assert.Equal(t, len(f.votes()["mds"]), want, "NIDs by the line of", host)
	}
}

// TestLeftOutLines checks that a host gets no name where the kernel of the server left out lines, of which one may be about it.
func TestLeftOutLines(t *testing.T) {
	client, _ := lnet.ParseNID("192.0.2.9@tcp")
	for _, kinds := range [][2]debuglog.Kind{{debuglog.Reconnected, debuglog.Restored}, {debuglog.Evicting, debuglog.WasEvicted}} {
		for n, want := range []int{1, 0, 1} {
			f := newHostFinder()
			f.take(&debuglog.Event{Kind: kinds[0], Host: "server", Target: "fs-OST0001", Time: 1e18})
			f.take(&debuglog.Event{Kind: kinds[0], Host: "server", Target: "fs-OST0000", Peer: client, Time: 1e18 + 9e9})
			if n == 1 {
				f.take(&debuglog.Event{Kind: debuglog.Skipped, Host: "server", Number: 1, Time: 1e18 + 9e9})
			} else if n == 2 { // other lines
				f.take(&debuglog.Event{Kind: debuglog.Skipped, Host: "server", Number: 1, Time: 1e18 + 10e9})
			}
			f.take(&debuglog.Event{Kind: kinds[1], Host: "c9", Target: "fs-OST0000", Time: 1e18 + 9e9})
			assert.Equal(t, len(f.votes()["c9"]), want, "NIDs", n)
		}
	}
}

// TestHostsOfBothSides checks that a node which has a target and is a client of it is not taken for another client of the target.
func TestHostsOfBothSides(t *testing.T) {
	client, _ := lnet.ParseNID("192.0.2.9@tcp")
	for host, want := range map[string]lnet.NID{"server": {}, "c9": client} {
		f := newHostFinder()
		f.take(&debuglog.Event{Kind: debuglog.Reconnected, Host: "server", Target: "fs-OST0000", Peer: client, Time: 1e18})
		f.take(&debuglog.Event{Kind: debuglog.Restored, Host: host, Target: "fs-OST0000", Time: 1e18 + 1e6})
		got := lnet.NID{}
		if v := f.votes(); len(v[host]) > 0 {
			got = v.most(host)
		}
		assert.Equal(t, got, want, host)
	}
}
