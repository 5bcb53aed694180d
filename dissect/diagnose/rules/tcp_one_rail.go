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
		o := &brokenRails{report: r, nodes: fifo.NewMap[lnet.NID, *interfaces](maxPairs)}
		return diagnose.Hooks{Message: o.message, Tick: func(int64) { o.end() }, End: o.end}
	},
})

// brokenRails are nodes with interfaces that do not work.
type brokenRails struct {
	report *diagnose.Reporter
	nodes  *fifo.Map[lnet.NID, *interfaces] // by the first of their NIDs
}

// interfaces are those of a node in its last reply with one that does not work.
type interfaces struct {
	up, down    []lnet.NID
	all         bool // there are no others
	times       int64
	first, last track.Point
}

// maxInterfaces is how many interfaces of a node count.
const maxInterfaces = 64

func (o *brokenRails) message(_ *track.RPC, m *dissect.Message) {
	if m.Kind != lnet.PingReply {
		return
	}
	var up, down []lnet.NID
	all := opcodes.PingInterfaces(m.Payload(), func(nid uint64, isDown bool) {
		switch {
		case isDown && lnet.NID4(nid) == m.LNet.Src: // it has just sent this through it
			up = append(up, lnet.NID4(nid))
		case len(up)+len(down) >= maxInterfaces:
		case isDown:
			down = append(down, lnet.NID4(nid))
		default:
			up = append(up, lnet.NID4(nid))
		}
	})
	if len(down) == 0 {
		return
	}
	p := track.PointOf(m)
	n := o.nodes.GetOrMake(m.LNet.Src, func() *interfaces { return &interfaces{first: p} })
	n.up, n.down, n.all, n.last = up, down, all, p
	n.times++
}

func (o *brokenRails) end() {
	o.nodes.All(func(node lnet.NID, n *interfaces) bool {
		f := diagnose.Finding{Key: node.String(), First: n.first.Time, Last: n.last.Time, Count: n.times,
			Text: fmt.Sprintf("%s says that %s of its interfaces %s not work: %s.", node, numberOf(len(n.down)), doesOrDo(len(n.down)),
				nodes(n.down))}
		if n.all {
			f.Text += " It can be reached by " + railsText(n.up) + "."
		}
		f.Prove(n.first, "%s lists its interfaces", node)
		if n.last.Frame != n.first.Frame {
			f.Prove(n.last, "the same in the last reply")
		}
		o.report.Report(f)
		return true
	})
}

func numberOf(n int) string {
	if n == 1 {
		return "one"
	}
	return fmt.Sprint(n)
}

func doesOrDo(n int) string {
	if n == 1 {
		return "does"
	}
	return "do"
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
