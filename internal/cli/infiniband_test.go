package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

const rdmaSample = "../../pcaps/rdma_data.pcap.zst"

// dataOf returns the bulk data of the messages that a filter chooses, as hex digits in
// the order of the messages.
func dataOf(t *testing.T, filter, file string) string {
	t.Helper()
	out := quiet(t, "-x", "-T", "json", "-Y", filter, file)
	var all strings.Builder
	for line := range strings.Lines(out) {
		var m struct{ Data string }
		must.NoError(t, json.Unmarshal([]byte(line), &m))
		all.WriteString(m.Data)
	}
	return all.String()
}

// TestRDMAData: -x shows the bytes that a client writes and reads by RDMA. It has filled
// every fourth page of a file, and reads those between them.
func TestRDMAData(t *testing.T) {
	const written, read = 81920, 233472
	data := dataOf(t, "kind == getreply && bytes == 81920", rdmaSample)
	assert.That(t, data == strings.Repeat("5a", written), "%d digits are written, from %.40s on", len(data), data)
	if data := dataOf(t, "kind == bulk && opcode == OST_READ", rdmaSample); data != strings.Repeat("00", read) {
		t.Errorf("%d digits are read, from %.40s on", len(data), data)
	}
	out, _, _ := run(t, "-x", "-Y", "kind == bulk && opcode == OST_READ", rdmaSample)
	n := strings.Count(out, "\n")
	assert.That(t, n >= read/16, "-x has %d lines", n)
}

// TestSaveRDMA: the frames that -w writes for all messages give the same messages again.
func TestSaveRDMA(t *testing.T) {
	show := []string{"-T", "fields", "-e", "kind", "-e", "xid", "-e", "bytes", "-e", "rdma.packets", "-e", "notes"}
	for _, sample := range []string{"../../pcaps/rdma_mount.pcap", rdmaSample} {
		file := filepath.Join(t.TempDir(), "saved.pcapng")
		first := quiet(t, append(show, "-w", file, sample)...)
		again, errs, status := run(t, append(show, file)...)
		assert.That(t, status == exit.OK && errs == "" && again == first, "%s: status %d, %s%s", sample, status, errs, again)
	}
}

// TestMergeRDMA: two captures of the same packets, with different clocks, give each
// message once and each RPC with two sightings.
func TestMergeRDMA(t *testing.T) {
	other := rewritten(t, "../../pcaps/rdma_mount.pcap", func(f *capture.Frame) {
		f.Time += 5e9 + 2e4 // as if the capture point were 20 µs farther, with a clock of its own
	})
	for _, command := range [][]string{{"-T", "fields", "-e", "kind", "-e", "xid"}, {"rpcs", "-T", "fields", "-e", "xid", "-e", "sends", "-e", "bulk_bytes"}} {
		one, _, _ := run(t, append(command, "../../pcaps/rdma_mount.pcap")...)
		both, errs, status := run(t, append(command, "../../pcaps/rdma_mount.pcap", other)...)
		if status != exit.OK || errs != "" || both != one || one == "" {
			t.Errorf("%v: status %d, %s: %d lines of one capture, %d of two", command, status, errs, strings.Count(one, "\n"), strings.Count(both, "\n"))
		}
	}
}

// TestMixedTransports: captures of TCP and of RoCE merge.
func TestMixedTransports(t *testing.T) {
	lines := func(files ...string) (n int) {
		out := quiet(t, append([]string{"rpcs"}, files...)...)
		return strings.Count(out, "\n")
	}
	tcp, ib, both := lines(sampleFile), lines("../../pcaps/rdma_mount.pcap"), lines(sampleFile, "../../pcaps/rdma_mount.pcap")
	assert.That(t, both == tcp+ib && ib != 0, "%d RPCs over TCP, %d over RoCE, %d together", tcp, ib, both)
}

// built writes the frames of a connection as a capture.
func built(t *testing.T, c *wiretest.QueuePairs) string {
	t.Helper()
	var b bytes.Buffer
	w := capture.NewWriter(&b)
	for i := range c.Frames {
		must.NoError(t, w.Write(&c.Frames[i], ""))
	}
	must.NoError(t, w.Flush())
	path := filepath.Join(t.TempDir(), "built.pcapng")
	must.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

// TestRefusedConnection: lines and the key reject have the reason, that of o2iblnd or that
// of the connection manager.
func TestRefusedConnection(t *testing.T) {
	lnd := wiretest.O2iblnd{}
	c := wiretest.NewQueuePairs()
	for _, refusal := range []func(){
		func() { c.Reject(28, lnd.Refusal(5)) },
		func() { c.Reject(8, nil) },
		func() { c.Reject(99, nil) },
	} {
		c.CM(false, wiretest.CMReq, c.Req(lnd.Connreq()))
		refusal()
		c.A.CommID++
		c.A.Number++
	}
	file := built(t, c)
	out, errs, status := run(t, "-Y", "kind == connrej", file)
	for _, want := range []string{"CONN_STALE stale incarnation: the node that refuses has restarted\n", "INVALID_SERVICE_ID no listener at the service id\n", "reason 99\n"} {
		assert.That(t, strings.Contains(out, want), "no %q, status %d, %s\n%s", want, status, errs, out)
	}
	tree := quiet(t, "-V", "-Y", "reject == INVALID_SERVICE_ID", file)
	assert.That(t, strings.Contains(tree, " cm_rejected     0x0 (REQ)\n") && strings.Contains(tree, " cm_reason       INVALID_SERVICE_ID (8)\n"), "%s", tree)
	out, _, _ = run(t, "-T", "fields", "-e", "kind", "-e", "reject", "-e", "ibr_why", file)
	if want := "connreq\t\t\nconnrej\tCONN_STALE\tCONN_STALE\nconnreq\t\t\nconnrej\tINVALID_SERVICE_ID\t\nconnreq\t\t\nconnrej\t\t\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
}

// TestConnectionManager: lines tell that a connection ends, which request a frame repeats, and that
// nobody has answered it.
func TestConnectionManager(t *testing.T) {
	const pause = 4e9
	lnd := wiretest.O2iblnd{}
	c := wiretest.NewQueuePairs().Connect(lnd.Connreq(), lnd.Connack()).Disconnect(false)
	c.A.CommID++
	c.A.Number++
	for range 2 {
		c.CM(false, wiretest.CMReq, c.Req(lnd.Connreq()))
		c.Now += pause
	}
	file := built(t, c)
	out := quiet(t, "-Y", "frame > 3", file)
	var lines []string
	for line := range strings.Lines(out) {
		lines = append(lines, strings.Join(strings.Fields(line)[2:], " "))
	}
	const ends = "10.0.0.1@o2ib > 10.0.0.2@o2ib "
	assert.Equal(t, strings.Join(lines, "\n"), ends+"dreq queue pair 0x22\n10.0.0.2@o2ib > 10.0.0.1@o2ib drep\n"+
		ends+"connreq version 0x12\n"+ends+"connreq repeats frame 6 version 0x12 resent\n"+
		ends+"connreq no answer until the end of the capture, sent 2 times since frame 6 unanswered")
	tree := quiet(t, "-V", "-Y", "kind == dreq", file)
	assert.That(t, strings.Contains(tree, "cm_dreq\n") && strings.Contains(tree, "cm_remote_qpn  0x22\n"), "%s", tree)
	assert.Equal(t, quiet(t, "-T", "fields", "-e", "cm_remote_qpn", "-Y", "notes == unanswered || kind == dreq", file), "0x22\n\n")
}

// TestFailedTransfer: a refused transfer is a note, and an error of its RPC.
func TestFailedTransfer(t *testing.T) {
	const eio, bulkPortal, cookie = -5, 8, 7
	lnd := wiretest.O2iblnd{}
	c := wiretest.NewQueuePairs().Connect(lnd.Connreq(), lnd.Connack())
	c.Send(false, lnd.PutReq(false, wiretest.Put, bulkPortal, 5, 0, 5000, cookie)).Ack(true)
	c.Send(true, lnd.Done(true, wiretest.O2PutNak, cookie, eio)).Ack(false)
	out, errs, status := run(t, "-T", "fields", "-e", "kind", "-e", "notes", "-e", "rdma.status", "-e", "rdma.messages.type", "-Y", "kind == bulk", built(t, c))
	assert.Equal(t, out, "bulk\trdma_failed\t-5\tPUT_REQ,PUT_NAK\n", "status", status, errs)
}
