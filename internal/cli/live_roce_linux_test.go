package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestLiveRoCE captures on lo while the packets of a sample go over loopback UDP. The
// filter is the default one.
func TestLiveRoCE(t *testing.T) {
	l, err := capture.OpenLive([]string{"lo"}, capture.LiveOptions{})
	if err != nil {
		t.Skip("no live capture here: ", err)
	}
	l.Close()
	const sample, port, addresses, payload = "../../pcaps/rdma_mount.pcap", 4791, 14 + 12, 14 + 20 + 8
	show := []string{"-T", "json"}
	text, _, _ := run(t, append(show, sample)...)
	want := kindsOf(t, strings.NewReader(text))

	nodes := map[byte]*net.UDPConn{}
	for _, node := range []byte{1, 2, 3} {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: loopback(node), Port: port})
		if err != nil {
			t.Skip("the port of RoCE is in use: ", err)
		}
		defer c.Close()
		nodes[node] = c
	}
	var out bytes.Buffer
	errs := &awaited{text: "capturing on lo", came: make(chan struct{})}
	status := make(chan int, 1)
	go func() {
		status <- Run(testSystem(&out, errs), append(show, "-i", "lo", "-c", strconv.Itoa(len(want)), "-a", "duration:60"))
	}()
	select {
	case <-errs.came:
	case code := <-status:
		t.Fatalf("exit status %d: %s", code, errs)
	}
	for _, f := range wiretest.ReadSample(t, sample) {
		from, to := f.Data[addresses+3], f.Data[addresses+7]
		if _, err := nodes[from].WriteToUDP(f.Data[payload:], &net.UDPAddr{IP: loopback(to), Port: port}); err != nil {
			t.Fatal(err)
		}
	}
	must.Equal(t, <-status, exit.OK, "exit status", errs)
	if got := kindsOf(t, &out); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("captured\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// loopback returns the loopback address that stands for a node of the sample.
func loopback(node byte) net.IP { return net.IPv4(127, 0, 2, node) }

// kindsOf returns kind, xid and operation of each record.
func kindsOf(t *testing.T, records io.Reader) (list []string) {
	t.Helper()
	for dec := json.NewDecoder(records); ; {
		var m struct{ Kind, Xid, Opcode string }
		if err := dec.Decode(&m); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, m.Kind+" "+m.Xid+" "+m.Opcode)
	}
}
