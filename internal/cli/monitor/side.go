package monitor

import (
	"net"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/monitor"
)

const (
	sideAuto = "auto"
	sideNone = "none"
)

var sides = []string{sideAuto, monitor.ClientSide, monitor.ServerSide, sideNone}

// sideFunc returns the func that returns which end of an RPC this machine is. Capture files
// may be of any machine.
func (c *command) sideFunc() func(*track.RPC) string {
	if c.side.Value == monitor.ClientSide || c.side.Value == monitor.ServerSide {
		return func(*track.RPC) string { return c.side.Value }
	}
	local := make(map[lnet.NID]bool)
	if c.side.Value == sideAuto && c.in.Live() {
		local = localAddresses()
	}
	return func(r *track.RPC) string {
		switch {
		case len(local) == 0:
			return ""
		case local[address(r.Client)]:
			return monitor.ClientSide
		case local[address(r.Server)]:
			return monitor.ServerSide
		}
		return ""
	}
}

// address returns a NID without its network.
func address(n lnet.NID) lnet.NID { return lnet.NID{Addr: n.Addr, Len: n.Len} }

// localAddresses returns the addresses of this machine. Without them, which the system
// may refuse to list, no RPC has a side.
func localAddresses() map[lnet.NID]bool {
	local := make(map[lnet.NID]bool)
	list, err := net.InterfaceAddrs()
	if err != nil {
		return local
	}
	for _, a := range list {
		prefix, ok := a.(*net.IPNet)
		if !ok || prefix.IP.IsLoopback() {
			continue
		}
		ip := prefix.IP.To4()
		if ip == nil {
			ip = prefix.IP
		}
		n := lnet.NID{Len: uint8(len(ip))}
		copy(n.Addr[:], ip)
		local[n] = true
	}
	return local
}
