package monitor

import (
	"net"
	"net/netip"
	"slices"

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
	var local []netip.Addr
	if c.side.Value == sideAuto && c.in.Live() {
		local = localAddresses()
	}
	isLocal := func(n lnet.NID) bool { return slices.ContainsFunc(local, n.IsAt) }
	return func(r *track.RPC) string {
		switch {
		case isLocal(r.Client):
			return monitor.ClientSide
		case isLocal(r.Server):
			return monitor.ServerSide
		}
		return ""
	}
}

// localAddresses returns the addresses of this machine. Without them, which the system
// may refuse to list, no RPC has a side.
func localAddresses() (local []netip.Addr) {
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && !prefix.Addr().IsLoopback() {
			local = append(local, prefix.Addr())
		}
	}
	return local
}
