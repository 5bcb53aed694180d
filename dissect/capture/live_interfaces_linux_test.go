package capture

import (
	"errors"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// bridgeHost moves the test into a network namespace of its own, with a bridge and its two ports:
// what is sent on out comes in at porta, and goes through the bridge.
func bridgeHost(t *testing.T) (ip func(args ...string) string) {
	t.Helper()
	runtime.LockOSThread() // the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skip("no network namespace: ", err)
	}
	ip = func(args ...string) string {
		t.Helper()
		out, err := exec.Command("ip", args...).CombinedOutput()
		if err != nil {
			t.Skipf("ip %v: %v, %s", args, err, out)
		}
		return string(out)
	}
	ip("link", "add", "bridge", "type", "bridge", "mcast_snooping", "0")
	for port, peer := range map[string]string{"porta": "out", "portb": "peer"} {
		ip("link", "add", "name", port, "type", "veth", "peer", "name", peer)
		ip("link", "set", port, "master", "bridge")
		for _, name := range []string{port, peer} {
			ip("link", "set", name, "addrgenmode", "none", "up")
		}
	}
	ip("link", "set", "bridge", "addrgenmode", "none", "up")
	return ip
}

// sendForeign sends a frame from and to addresses that no interface has.
func sendForeign(t *testing.T, iface string, mark byte) {
	t.Helper()
	fd := must.Value(unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0))(t)
	defer unix.Close(fd)
	i := must.Value(net.InterfaceByName(iface))(t)
	frame := make([]byte, 60)
	copy(frame, "\x02\x00\x00\x00\x00\x09\x02\x00\x00\x00\x00\x08\x88\xb5") // an EtherType for experiments
	frame[14] = mark
	must.NoError(t, unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: i.Index}))
}

// seen returns the names of the interfaces that frames with a mark were seen on, until n
// were seen or none comes any more.
func seen(t *testing.T, l *Live, mark byte, n int) string {
	t.Helper()
	var f Frame
	var names []string
	for len(names) < n {
		err := l.Next(&f)
		if errors.Is(err, ErrTimeout) {
			break
		}
		must.NoError(t, err)
		if data := f.Data[len(f.Data)-46:]; data[0] == mark {
			names = append(names, f.Interface)
			assert.That(t, f.File == "" && !l.several() || f.File == f.Interface && f.FileNumber == f.Number, "%+v", f)
		}
	}
	return strings.Join(names, " ")
}

func TestLivePromiscuous(t *testing.T) {
	ip := bridgeHost(t)
	promiscuity := func() string {
		_, rest, _ := strings.Cut(ip("-d", "link", "show", "bridge"), "promiscuity ")
		number, _, _ := strings.Cut(rest, " ")
		return number
	}
	for _, promiscuous := range []bool{true, false} {
		l := must.Value(OpenLive([]string{"bridge"}, LiveOptions{Buffer: 4 << 20, Idle: 150 * time.Millisecond, NoPromiscuous: !promiscuous}))(t)
		want, level := "bridge", "1"
		if !promiscuous {
			want, level = "", "0"
		}
		assert.Equal(t, promiscuity(), level, "promiscuity, wanted", promiscuous)
		sendForeign(t, "out", 1)
		assert.Equal(t, seen(t, l, 1, 1), want, "promiscuous", promiscuous)
		must.NoError(t, l.Close())
		assert.Equal(t, promiscuity(), "0", "promiscuity after the capture")
	}
}

// TestLiveSeveral captures on several interfaces of a bridge, of which one goes away, comes
// back, and is made anew.
func TestLiveSeveral(t *testing.T) {
	ip := bridgeHost(t)
	l := must.Value(OpenLive([]string{"bridge", "porta"}, LiveOptions{Buffer: 4 << 20, Filter: "ether proto 0x88b5"}))(t)
	defer l.Close()
	assert.Equal(t, l.LinkType(), LinkEthernet)
	sendForeign(t, "out", 1)
	assert.Equal(t, seen(t, l, 1, 2), "porta bridge", "the order is that of the kernel")

	away := func() {
		t.Helper()
		l.looked = time.Time{}
		var f Frame
		err := l.Next(&f)
		assert.That(t, errors.Is(err, ErrDown) && strings.HasPrefix(err.Error(), "porta: "), "%v", err)
		assert.That(t, l.Up(), "the other interface is there")
	}
	ip("link", "set", "porta", "down")
	away()
	assert.That(t, errors.Is(l.Rebind(), ErrDown), "the interface is still down")
	sendForeign(t, "peer", 2)
	assert.Equal(t, seen(t, l, 2, 1), "bridge")

	ip("link", "del", "porta")
	ip("link", "add", "name", "porta", "type", "veth", "peer", "name", "out")
	ip("link", "set", "porta", "up")
	ip("link", "set", "out", "up")
	must.NoError(t, l.Rebind())
	sendForeign(t, "out", 3)
	assert.Equal(t, seen(t, l, 3, 1), "porta")
	if n, err := l.DroppedByInterfaces(); n != 0 || err != nil {
		t.Errorf("%d dropped, %v", n, err)
	}
}

// TestLiveAny checks that each interface of "any" is a capture point.
func TestLiveAny(t *testing.T) {
	bridgeHost(t)
	l := must.Value(OpenLive([]string{"any"}, LiveOptions{Buffer: 4 << 20, Filter: "ether proto 0x88b5"}))(t)
	defer l.Close()
	sendForeign(t, "out", 1)
	// The bridge passes the frame to itself only in promiscuous mode.
	assert.Equal(t, seen(t, l, 1, 5), "out porta portb peer")
	assert.Equal(t, len(l.points), 4, "capture points")
}

// TestAdapterDrops checks that only what was dropped since the beginning counts, also by
// interfaces that come and go.
func TestAdapterDrops(t *testing.T) {
	d := adapterDrops{begun: map[int32]uint64{1: 10, 2: 20}, now: map[int32]uint64{1: 10, 2: 20}}
	for _, x := range []struct {
		now  map[int32]uint64
		want uint64
	}{
		{map[int32]uint64{1: 10, 2: 20}, 0},
		{map[int32]uint64{1: 11, 2: 25}, 6},
		{map[int32]uint64{1: 12}, 7},
		{map[int32]uint64{1: 12, 2: 3}, 10},
	} {
		assert.Equal(t, d.sum(x.now), x.want)
	}
}
