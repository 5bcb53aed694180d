package rules

import (
	"fmt"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "tcp.one_rail",
	Severity: diagnose.Warning,
	Noun:     "use of one rail",
	Summary:  "A node says that some of its network interfaces do not work: it can be reached by the others only.",
	Meaning: "In the reply to a ping of LNet (discovery), a node lists its NIDs and whether each interface works. " +
		"With an interface down, everything goes through the others, or fails where there is no other on this network. Interfaces of any " +
		"network count, also of InfiniBand.",
	Limits: "Of a node with more than two interfaces, only the first two are known. A node finds out that an interface is down by its " +
		"link, or as nothing comes in through it. That other nodes do not use an interface that works is not found: a capture of one " +
		"interface sees nothing of the others.",
	Next: "On the node: lnetctl net show -v (status, health value), ip link, and the cable and the switch port of the interface.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		rails := fifo.NewMap[lnet.NID, *interfaces](maxPairs) // by the first NID of a node
		report := func() {
			for node, n := range rails.All {
				f := n.finding(diagnose.Subject{}, node.String()+" lists its interfaces", "the same in the last reply")
				f.Key = node.String()
				some := "one of its interfaces does"
				if len(n.down) > 1 {
					some = fmt.Sprintf("%d of its interfaces do", len(n.down))
				}
				f.Text = fmt.Sprintf("%s says that %s not work: %s.", node, some, nodes(n.down))
				if n.all {
					f.Text += " It can be reached by " + railsText(n.up) + "."
				}
				r.Report(f)
			}
		}
		return diagnose.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
			if m.Kind != lnet.PingReply {
				return
			}
			if up, down, all := interfacesIn(m); len(down) > 0 {
				n := fifo.GetOrNew(rails, m.LNet.Src)
				n.up, n.down, n.all = up, down, all
				n.add(track.PointOf(m))
			}
		}, Tick: func(int64) { report() }, End: report}
	},
})

// interfaces are those of a node in its last reply with one that does not work.
type interfaces struct {
	run
	up, down []lnet.NID
	all      bool // there are no others
}

// interfacesIn returns the interfaces in the reply to a ping.
func interfacesIn(m *dissect.Message) (up, down []lnet.NID, all bool) {
	const most = 64
	all = opcodes.PingInterfaces(m.Payload(), func(nid uint64, isDown bool) {
		switch {
		case isDown && lnet.NID4(nid) == m.LNet.Src: // it has just sent this through it
			up = append(up, lnet.NID4(nid))
		case len(up)+len(down) >= most:
		case isDown:
			down = append(down, lnet.NID4(nid))
		default:
			up = append(up, lnet.NID4(nid))
		}
	})
	return up, down, all
}

// railsText lists the interfaces that work.
func railsText(up []lnet.NID) string {
	if len(up) == 0 {
		return "none"
	}
	var words []string
	for _, n := range up[:min(len(up), maxFilesShown)] {
		words = append(words, n.String())
	}
	if more := len(up) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d others", more))
	}
	return strings.Join(words, ", ") + " only"
}
