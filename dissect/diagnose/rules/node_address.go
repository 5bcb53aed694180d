package rules

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var secondResets = &diagnose.Threshold{Name: "resets", Value: 2, Unit: "resets from the second address",
	Reason: "a bond may send single frames over another port, with its Ethernet address"}

var _ = add(diagnose.Rule{
	Code:     "node.duplicate_address",
	Severity: diagnose.Error,
	Noun:     "address that two hosts have",
	Summary:  "Two hosts have the same IP address: connections are reset from a second Ethernet address.",
	Meaning: "A host that gets segments of connections which it does not have resets them. Where the frames of a host come from one Ethernet address, and resets in its name " +
		"from another one, while the first goes on sending, a second host has the IP address.",
	Limits: "Behind a router all frames have the address of the router. A firewall that resets connections in the name of a host does so from an Ethernet " +
		"address of its own, too.",
	Next:       "arping -D -I INTERFACE ADDRESS from a third host; ip neigh on the peers; look for the second Ethernet address in the tables of the switch.",
	Thresholds: []*diagnose.Threshold{secondResets},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		hosts := fifo.NewMap[hostAt, *hostAddresses](maxPairs)
		return diagnose.Hooks{Active: func(a *lnet.Activity) {
			if a.MAC != (macAddress{}) {
				fifo.GetOrNew(hosts, hostAt{a.Source, a.Src.Addr()}).frame(a)
			}
		}, End: func() {
			for h, x := range fifo.All(hosts) {
				if float64(x.resets.count) >= secondResets.Value && x.last > x.resets.first {
					f := x.finding(hostNID(r.Paths(), h.host))
					f.Compare(secondResets, float64(x.resets.count))
					r.Report(f)
				}
			}
		}}
	},
})

type macAddress = [6]byte

// hostAt is a host at a capture point.
type hostAt struct {
	source int
	host   netip.Addr
}

// hostAddresses are the Ethernet addresses that the frames of a host come from.
type hostAddresses struct {
	own    macAddress // of the first frame that is no reset
	last   int64      // time of the last frame from it
	second macAddress
	resets series // from second
}

func (x *hostAddresses) frame(a *lnet.Activity) {
	switch {
	case a.MAC == x.own:
		x.last = a.Time
	case a.RST && x.own != (macAddress{}) && (x.resets.count == 0 || a.MAC == x.second):
		x.second = a.MAC
		x.resets.note(track.Point{Frame: a.Number, File: a.File, Time: a.Time}, "a reset from the Ethernet address %s", net.HardwareAddr(a.MAC[:]))
	case x.own == (macAddress{}) && !a.RST:
		x.own, x.last = a.MAC, a.Time
	}
}

func (x *hostAddresses) finding(node lnet.NID) diagnose.Finding {
	f := x.resets.finding(diagnose.Subject{Server: node})
	f.Node = node
	f.Text = fmt.Sprintf("Two hosts have the address of %s: its frames come from the Ethernet address %s, and %s in its name from %s.", node, net.HardwareAddr(x.own[:]),
		plural(x.resets.count, "reset"), net.HardwareAddr(x.second[:]))
	f.Brief = f.Text + " Look for the host with the second Ethernet address."
	suspect(&f, atNode(node))
	return f
}
