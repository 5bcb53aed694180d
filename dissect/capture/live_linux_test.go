package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lshark/lshark/dissect/capture/pcapfilter"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// openLo captures a port on the loopback interface, or skips the test.
func openLo(t *testing.T, iface string, port int) *Live {
	t.Helper()
	l, err := OpenLive([]string{iface}, LiveOptions{Filter: fmt.Sprintf("tcp port %d", port), Buffer: 4 << 20, Idle: 100 * time.Millisecond})
	if err != nil && strings.Contains(err.Error(), "CAP_NET_RAW") {
		t.Skip(err)
	}
	must.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, l.Close())
	})
	return l
}

func TestLive(t *testing.T) {
	for iface, link := range map[string]LinkType{"lo": LinkEthernet, "any": LinkLinuxSLL2} {
		t.Run(iface, func(t *testing.T) { testLive(t, iface, link) })
	}
}

// testLive sends a text over loopback TCP and finds it in the frames.
func testLive(t *testing.T, iface string, link LinkType) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer server.Close()
	port := server.Addr().(*net.TCPAddr).Port
	l := openLo(t, iface, port)
	before := time.Now()
	text := []byte("over the loopback interface")
	client, err := net.Dial("tcp", server.Addr().String())
	must.NoError(t, err)
	if _, err = client.Write(text); err == nil {
		err = client.Close()
	}
	must.NoError(t, err)
	watchdog := time.AfterFunc(20*time.Second, l.Stop)
	defer watchdog.Stop()
	found := 0
	var f Frame
	for timeouts := 0; timeouts < 3 && err == nil; {
		switch err = l.Next(&f); {
		case errors.Is(err, ErrTimeout):
			err = nil
			if timeouts++; found == 0 {
				timeouts = 0
			}
		case err != nil:
			t.Fatal(err)
		case bytes.HasSuffix(f.Data, text):
			found++
			when := time.Unix(0, f.Time)
			if f.Link != link || f.Len != len(f.Data) || when.Before(before.Add(-time.Second)) || when.After(time.Now().Add(time.Second)) {
				t.Errorf("%+v", f)
			}
			assert.That(t, bytes.Contains(f.Data, binary.BigEndian.AppendUint16(nil, uint16(port))), "not the segment that was sent: %x", f.Data)
		}
	}
	assert.Equal(t, found, 1, "the text was seen times")
	if n, err := l.Dropped(); n != 0 || err != nil {
		t.Errorf("%d dropped, %v", n, err)
	}
}

func TestLiveStop(t *testing.T) {
	l := openLo(t, "lo", 1)
	done := make(chan error)
	go func() {
		var f Frame
		var err error
		for err == nil || errors.Is(err, ErrTimeout) {
			err = l.Next(&f)
		}
		done <- err
	}()
	l.Stop()
	assert.Equal(t, <-done, io.EOF)
	assert.NoError(t, l.Close())
	l.Stop()
	if _, err := l.Dropped(); err != nil {
		t.Error(err)
	}
}

func TestLiveErrors(t *testing.T) {
	if _, err := OpenLive([]string{"no such\x1b"}, LiveOptions{}); err == nil || strings.ContainsRune(err.Error(), 0x1b) {
		t.Errorf("no interface: %v", err)
	}
	if os.Geteuid() == 0 {
		var e *pcapfilter.Error
		if _, err := OpenLive([]string{"lo"}, LiveOptions{Filter: "tcp port x y"}); !errors.As(err, &e) {
			t.Errorf("filter: %v", err)
		}
	}
	for err, want := range map[error]string{unix.EPERM: "setcap cap_net_raw+ep", unix.ENETDOWN: "went down", unix.EINVAL: "eth9: bind: invalid"} {
		assert.Contains(t, explainLive("eth9", os.NewSyscallError("bind", err)).Error(), want)
	}
}

// TestPacket takes frames out of memory as the kernel lays them out.
func TestPacket(t *testing.T) {
	mem := make([]byte, 400)
	put16 := func(at int, v uint16) { binary.NativeEndian.PutUint16(mem[at:], v) }
	put32 := func(at int, v uint32) { binary.NativeEndian.PutUint32(mem[at:], v) }
	const begin = 200
	put32(4, 1_700_000_000)
	put32(8, 5)
	put32(12, 64)  // captured
	put32(16, 100) // on the wire
	put16(24, begin)
	copy(mem[headerBytes+2:], "\x08\x00") // protocol
	put32(headerBytes+4, 3)               // interface
	put16(headerBytes+8, 1)               // Ethernet
	copy(mem[headerBytes+10:], "\x04\x06\x02\x00\x00\x00\x00\x09")
	payload := bytes.Repeat([]byte("0123456789ab"), 6)[:64]
	for _, tagged := range []bool{false, true} {
		copy(mem[begin:], payload)
		p := packet{mem: mem}
		etherWant, cookedWant, size := payload, "\x08\x00\x00\x00\x00\x00\x00\x03\x00\x01\x04\x06\x02\x00\x00\x00\x00\x09\x00\x00", 100
		if tagged {
			put32(20, unix.TP_STATUS_VLAN_VALID|unix.TP_STATUS_VLAN_TPID_VALID)
			put32(32, 0x2005)
			put16(36, 0x88a8)
			etherWant = append([]byte("0123456789ab\x88\xa8\x20\x05"), payload[12:]...)
			cookedWant = "\x88\xa8" + cookedWant[2:] + "\x20\x05\x08\x00"
			size += 4
		}
		got, n := p.cooked()
		assert.That(t, string(got) == cookedWant+string(payload) && n == size+20, "cooked, tagged %v: %d, %q", tagged, n, got)
		if got, n := p.ethernet(); !bytes.Equal(got, etherWant) || n != size {
			t.Errorf("Ethernet, tagged %v: %d, %q", tagged, n, got)
		}
		if p.time() != 1_700_000_000e9+5 || p.kind() != unix.PACKET_OUTGOING || p.index() != 3 {
			t.Errorf("time %d, kind %d, interface %d", p.time(), p.kind(), p.index())
		}
	}
}

func TestInterfaces(t *testing.T) {
	list := must.Value(Interfaces())(t)
	for _, i := range list {
		if i.Loopback && i.Name != "" {
			return
		}
	}
	t.Skip("this system has no loopback interface")
}

// TestLiveRebind checks that a capture goes on when its interface was down, and when it was
// removed and there is a new one with its name.
func TestLiveRebind(t *testing.T) {
	const name = "lsharktest0"
	ip := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Skipf("ip %v: %v, %s", args, err, out)
		}
	}
	ip("link", "add", name, "type", "veth", "peer", "name", name+"p")
	defer exec.Command("ip", "link", "del", name).Run()
	ip("link", "set", name+"p", "up")
	ip("link", "set", name, "up")
	l, err := OpenLive([]string{name}, LiveOptions{Buffer: 4 << 20, Idle: 10 * time.Millisecond})
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	next := func(want error) {
		t.Helper()
		var f Frame
		err := ErrTimeout // other frames of the system may come first
		for tries := 0; tries < 500 && (errors.Is(err, ErrTimeout) || err == nil && want != nil); tries++ {
			err = l.Next(&f)
		}
		must.That(t, errors.Is(err, want), "%v, want %v", err, want)
	}
	send := func() {
		t.Helper()
		fd := must.Value(unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0))(t)
		defer unix.Close(fd)
		i, err := net.InterfaceByName(name)
		if err == nil {
			err = unix.Sendto(fd, make([]byte, 60), 0, &unix.SockaddrLinklayer{Ifindex: i.Index})
		}
		must.NoError(t, err)
	}
	send()
	next(nil)
	ip("link", "set", name, "down")
	next(ErrDown)
	if err := l.Rebind(); !errors.Is(err, ErrDown) {
		t.Errorf("%v while the interface is down", err)
	}
	ip("link", "set", name+"p", "up")
	ip("link", "set", name, "up")
	must.NoError(t, l.Rebind())
	send()
	next(nil)
	ip("link", "del", name)
	next(ErrDown)
	assert.That(t, l.Rebind() != nil, "an interface that does not exist was bound")
	ip("link", "add", name, "type", "veth", "peer", "name", name+"p")
	ip("link", "set", name+"p", "up")
	ip("link", "set", name, "up")
	must.NoError(t, l.Rebind())
	send()
	next(nil)
}
