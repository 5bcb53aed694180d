package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
)

var _ = addTrouble(diagnose.Rule{
	Code:     "path.cut",
	Severity: diagnose.Error,
	Noun:     "interrupted path",
	Summary:  "Nothing passed between two nodes for a while, though both reached others.",
	Meaning: "TCP sends bytes that are not acknowledged again and again. If one host acknowledges nothing of what another sends, while both " +
		"exchange frames with others, neither of them is gone: it is the way between both.",
	Limits: "Whether one direction or both are broken shows in captures of both hosts only.",
	Next: "On the way between these two nodes: switch ports, VLANs, access lists, routes, the ARP entries of both hosts (ip neigh), packet filters " +
		"(nft list ruleset), the MTU.",
	Samples: []string{"black_hole.pcap.zst"},
}, func(g *suspects.Group) bool { return suspectsAre(g, diagnose.AtPath) && sumOf(g).silences != nil }, func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	p := g.Suspects[0]
	long := silent(g)
	text := fmt.Sprintf("Nothing passed between %s and %s for at least %s", p.Node, p.Peer, roundedDown(long.Length()))
	if clearsNode(g, p.Node) && clearsNode(g, p.Peer) {
		text += ", though both reached others"
	}
	text += "."
	if x := passing(t, g); x != nil {
		lost := x.Length()
		if x.Silence.Vain != 0 { // the last one may have got through
			lost = x.Silence.Vain - x.Silence.From
		}
		text = fmt.Sprintf("Bytes from %s to %s were lost for at least %s: a segment of %d bytes was sent again %d times, while other frames passed both ways.",
			x.From, x.To, roundedDown(lost), x.Silence.Bytes, x.Silence.Again)
	}
	if waited := f.Text; waited != "" {
		text += " " + waited
	}
	f.Text, f.Node = text, lnet.NID{}
	f.Brief = text + " Look at the way between these two nodes (switch, VLAN, filter, ARP, MTU), not at the servers."
})

// clearsNode reports whether a node is excluded as the cause of a group.
func clearsNode(g *suspects.Group, n lnet.NID) bool {
	return slices.ContainsFunc(g.Cleared, func(c diagnose.Clearance) bool { return c.Kind == diagnose.AtNode && c.Node == n })
}

// silent returns the longest silence of a group.
func silent(g *suspects.Group) (longest facts.Span) {
	for _, t := range g.Troubles {
		if t.Silence != nil && t.Length() > longest.Length() {
			longest = t.Span
		}
	}
	return longest
}

// passing returns a silence of a group during which other frames passed in both directions: those of this size, or of this connection, were lost.
func passing(t *troubles, g *suspects.Group) *suspects.Trouble {
	for _, x := range g.Troubles {
		if x.Silence == nil || x.Length() < silent(g).Length() {
			continue
		}
		from, to := facts.HostOf(x.From), facts.HostOf(x.To)
		for _, there := range t.facts.Contacts(from, to) {
			for _, back := range t.facts.Contacts(to, from) {
				if there.Source == back.Source && back.Active.Pause(x.Span) < x.Length()/2 && there.Messages.Pause(x.Span) < x.Length()/2 {
					return x
				}
			}
		}
	}
	return nil
}
