package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/must"
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
