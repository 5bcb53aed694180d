package link

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// tsharkFields are the fields that are compared, in the order of fieldsOf.
var tsharkFields = []string{
	"infiniband.bth.opcode", "infiniband.bth.padcnt", "infiniband.bth.tver", "infiniband.bth.destqp", "infiniband.bth.a", "infiniband.bth.psn",
	"infiniband.reth.va", "infiniband.reth.r_key", "infiniband.reth.dmalen", "infiniband.aeth.syndrome",
	"infiniband.lrh.slid", "infiniband.lrh.dlid", "infiniband.grh.sgid", "infiniband.grh.dgid",
	"infiniband.cm.req", "infiniband.cm.req.localqpn", "infiniband.cm.req.startpsn", "infiniband.cm.req.pppmtu", "infiniband.cm.req.serviceid.dport",
	"infiniband.cm.rep", "infiniband.cm.rep.remotecommid", "infiniband.cm.rep.localqpn", "infiniband.cm.rep.startpsn",
	"infiniband.cm.rtu.localcommid", "infiniband.cm.rtu.remotecommid",
	"infiniband.cm.rej.localcommid", "infiniband.cm.rej.remotecommid", "infiniband.cm.rej.reason",
	"infiniband.cm.dreq.localcommid", "infiniband.cm.dreq.remotecommid", "infiniband.cm.req.remoteqpneecn",
	"infiniband.cm.drsp.localcommid", "infiniband.cm.drsp.remotecommid",
}

// fieldsOf returns the fields of the packet in d, numbers in decimal. Those of
// headers that it does not have are empty.
func fieldsOf(d *Decoder) []string {
	var out []string
	add := func(present bool, values ...any) {
		for _, v := range values {
			text := ""
			if present {
				text = strings.NewReplacer("true", "1", "false", "0").Replace(fmt.Sprint(v))
			}
			out = append(out, text)
		}
	}
	g := &d.Packet
	h := &g.BTH
	add(true, uint8(h.Opcode), h.Pad, h.Version, h.DestQP, h.AckRequest, h.PSN)
	add(g.Extensions.Has(ib.HasRETH), g.RETH.VA, g.RETH.RKey, g.RETH.Length)
	add(g.Extensions.Has(ib.HasAETH), uint8(g.Syndrome))
	add(g.Local, binary.BigEndian.Uint16(g.Src[14:]), binary.BigEndian.Uint16(g.Dst[14:]))
	add(!g.Local && g.SrcPort == 0, netip.AddrFrom16(g.Src), netip.AddrFrom16(g.Dst))

	var c ib.CM
	isCM := h.Opcode.Service() == ib.UD && h.DestQP == ib.QP1 && c.DecodeMAD(g.Data)
	is := func(t ib.CMType) bool { return isCM && c.Type == t }
	mtu := map[int]int{256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}[c.Req.PathMTU]
	add(is(ib.CMReq), c.LocalID, c.Req.QP, c.Req.StartPSN, mtu, c.Req.ServiceID.Port())
	add(is(ib.CMRep), c.LocalID, c.RemoteID, c.Rep.QP, c.Rep.StartPSN)
	add(is(ib.CMRtu), c.LocalID, c.RemoteID)
	add(is(ib.CMRej), c.LocalID, c.RemoteID, c.Reason)
	add(is(ib.CMDreq), c.LocalID, c.RemoteID, c.Remote)
	add(is(ib.CMDrep), c.LocalID, c.RemoteID)
	return out
}

// inDecimal returns a value of tshark with numbers in decimal, in whatever way its
// version writes them.
func inDecimal(value string) string {
	base := 10
	digits, hexadecimal := strings.CutPrefix(value, "0x")
	if hexadecimal {
		base = 16
	}
	if n, err := strconv.ParseUint(strings.ReplaceAll(digits, ":", ""), base, 64); err == nil {
		return strconv.FormatUint(n, 10)
	}
	return strings.NewReplacer("True", "1", "False", "0").Replace(value)
}

// runTshark returns the fields of the frames in a file.
func runTshark(t *testing.T, path string) [][]string {
	t.Helper()
	args := []string{"-n", "-r", path, "-T", "fields", "-E", "occurrence=f"}
	for _, f := range tsharkFields {
		args = append(args, "-e", f)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("tshark", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// compareWithTshark compares the fields of frames with those that tshark has, and returns in
// how many of them tshark found InfiniBand.
func compareWithTshark(t *testing.T, name string, rows [][]string, frames []capture.Frame) int {
	t.Helper()
	if len(rows) != len(frames) {
		t.Fatalf("%s: tshark has %d frames of %d", name, len(rows), len(frames))
	}
	var d Decoder
	found := 0
	for i := range frames {
		kind := d.Decode(&frames[i])
		if rows[i][0] == "" {
			continue
		}
		found++
		if kind != InfiniBand {
			t.Errorf("%s, frame %d: no packet, tshark has opcode %s", name, i+1, rows[i][0])
			continue
		}
		for k, got := range fieldsOf(&d) {
			if !d.Packet.Local && strings.HasPrefix(tsharkFields[k], "infiniband.lrh.") {
				continue // a packet with GIDs does not keep its LIDs
			}
			if d.Packet.Extensions.Has(ib.HasAtomicETH) && strings.HasPrefix(tsharkFields[k], "infiniband.reth.") {
				continue // tshark has no fields of its own for the memory of an atomic operation
			}
			if want := inDecimal(rows[i][k]); got != want {
				t.Errorf("%s, frame %d, opcode %#x: %s is %q, tshark has %q", name, i+1, d.Packet.BTH.Opcode, tsharkFields[k], got, want)
			}
		}
	}
	return found
}

// TestTshark compares InfiniBand packets with what tshark finds, where that is
// installed: in the samples, without the tag all in one of them, and in frames of all link types and opcodes.
func TestTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	for _, path := range wiretest.Samples(t) {
		frames := wiretest.ReadSample(t, path)
		var d Decoder
		packets := 0
		for i := range frames {
			if d.Decode(&frames[i]) == InfiniBand {
				packets++
			}
		}
		if packets == 0 {
			continue
		}
		if found := compareWithTshark(t, path, runTshark(t, path), frames); found != packets {
			t.Errorf("%s: %d packets, tshark has %d", path, packets, found)
		}
		if !wiretest.All {
			break
		}
	}
	packets := syntheticPackets()
	names := slices.Sorted(maps.Keys(packets))
	var all []capture.Frame
	for _, name := range names {
		all = append(all, packets[name]...)
	}
	rows := runTshark(t, wiretest.SaveFrames(t, all)) // once, as most of the time it starts
	must.Equal(t, len(rows), len(all), "frames of tshark")
	for _, name := range names {
		n := len(packets[name])
		if found := compareWithTshark(t, name, rows[:n], packets[name]); found == 0 {
			t.Errorf("%s: tshark found nothing", name)
		}
		rows = rows[n:]
	}
}

// syntheticPackets returns frames by the name of what they are.
func syntheticPackets() map[string][]capture.Frame {
	files := make(map[string][]capture.Frame)
	for _, c := range roceFrames() {
		if c.link == capture.LinkInfiniBand {
			continue // tshark cannot read it
		}
		name := fmt.Sprintf("link type %d", c.link)
		files[name] = append(files[name], capture.Frame{Len: len(c.data), Data: c.data, Link: c.link})
	}
	q := wiretest.NewQueuePairs().Connect([]byte("private"), nil).Disconnect(false).Reject(10, nil)
	for o := range 256 {
		opcode := ib.Opcode(o)
		if opcode.Operation() == ib.UnknownOperation {
			continue
		}
		extensions := make([]byte, opcode.Extensions().Size())
		for i := range extensions {
			extensions[i] = byte(i*7 + o)
		}
		headers := wiretest.Join(wiretest.BTH(byte(o), 0x1234, uint32(o)<<8, o&1 != 0), extensions)
		q.Frame(capture.LinkEthernet, wiretest.RoCEv2(&q.A, &q.B, wiretest.InfiniBand(headers, []byte("payload"))))
	}
	files["queue pairs"] = q.Frames
	return files
}
