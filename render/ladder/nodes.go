package ladder

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// node is a node with all its NIDs, or stands for all nodes that share a column.
type node struct {
	nids     []lnet.NID
	name     string // empty when it has none
	targets  []string
	messages int
	calls    int // events in which it is the client or the server
	client   int // events in which it is the client
	others   int // number of nodes that share the column; 0: it is a single one
}

type end struct {
	column int
	hidden lnet.NID // the node, where it has no column of its own
}

// nodes finds the column of each end of an event.
type nodes struct {
	list []*node
	by   map[any]*node // NIDs, addresses (netip.Addr), names (string)
}

func addrOf(n lnet.NID) netip.Addr {
	a, _ := netip.AddrFromSlice(n.Addr[:min(int(n.Len), len(n.Addr))])
	return a
}

// isAddress reports whether a NID is an address without a network.
func isAddress(n lnet.NID) bool { return n.Type == 0 }

// findNodes returns the nodes of events, clients before servers.
func (d *Diagram) findNodes(events []*Event) *nodes {
	ns := &nodes{by: make(map[any]*node)}
	for _, addresses := range []bool{false, true} { // NIDs first: an address may be that of one
		for _, e := range events {
			for _, nid := range [...]lnet.NID{e.From, e.To} {
				if isAddress(nid) == addresses && e.Kind != Loss {
					ns.add(d, nid)
				}
			}
		}
	}
	for _, e := range events {
		from, to := ns.find(e.From), ns.find(e.To)
		for _, n := range [...]*node{from, to} {
			if n != nil {
				n.messages++
			}
		}
		if e.Client.Len == 0 || from == to || from == nil || to == nil {
			continue
		}
		client, server := from, to
		if ns.find(e.Client) == to {
			client, server = to, from
		}
		client.calls++
		client.client++
		server.calls++
	}
	for _, n := range ns.list {
		for _, nid := range n.nids {
			for _, t := range d.targets[nid] {
				if !slices.Contains(n.targets, t) {
					n.targets = append(n.targets, t)
				}
			}
		}
	}
	slices.SortStableFunc(ns.list, byClientShare)
	return ns
}

// clientShare returns the share of calls in which the node is the client, 0 to 1; 0 without calls.
func (n *node) clientShare() float64 {
	if n.calls == 0 {
		return 0
	}
	return float64(n.client) / float64(n.calls)
}

// byClientShare orders nodes: clients before servers.
func byClientShare(a, b *node) int { return cmp.Compare(b.clientShare(), a.clientShare()) }

func (ns *nodes) add(d *Diagram, nid lnet.NID) {
	if ns.by[nid] != nil {
		return
	}
	name, addr := "", addrOf(nid)
	if d.NIDs.Name != nil && !d.NIDs.Full && !isAddress(nid) {
		name = d.NIDs.Name(nid)
	}
	n := ns.by[name] // none without a name
	if isAddress(nid) {
		n = ns.by[addr]
	}
	if n == nil {
		n = &node{name: name}
		ns.list = append(ns.list, n)
	}
	ns.by[nid] = n
	if name != "" {
		ns.by[name] = n
	}
	if ns.by[addr] == nil {
		ns.by[addr] = n
	}
	if !isAddress(nid) || len(n.nids) == 0 {
		n.nids = append(n.nids, nid)
	}
}

// find returns the node with a NID, nil if no node has it.
func (ns *nodes) find(nid lnet.NID) *node {
	if n := ns.by[nid]; n != nil {
		return n
	}
	return ns.by[addrOf(nid)]
}

// columns returns the columns, at most a number of them: with more nodes, those with
// the fewest messages share one.
func (ns *nodes) columns(most int) []*node {
	if len(ns.list) <= most {
		return ns.list
	}
	kept := most - 1
	byMessages := slices.Clone(ns.list)
	slices.SortStableFunc(byMessages, func(a, b *node) int { return cmp.Compare(b.messages, a.messages) })
	others := &node{others: len(ns.list) - kept}
	for _, n := range byMessages[kept:] {
		others.calls += n.calls
		others.client += n.client
	}
	list := slices.DeleteFunc(slices.Clone(ns.list), func(n *node) bool { return slices.Contains(byMessages[kept:], n) })
	list = append(list, others)
	slices.SortStableFunc(list, byClientShare)
	return list
}

// ends returns where the arrow of an event begins and ends. ok is false when it has
// no place: between nodes without columns of their own.
func (ns *nodes) ends(columns []*node, e *Event) (from, to end, ok bool) {
	find := func(nid lnet.NID) end {
		n := ns.find(nid)
		if i := slices.Index(columns, n); n != nil && i >= 0 {
			return end{column: i}
		}
		return end{column: slices.IndexFunc(columns, func(n *node) bool { return n.others > 0 }), hidden: nid}
	}
	from, to = find(e.From), find(e.To)
	switch e.Kind {
	case Loss:
		return from, to, true
	case LogLine:
		return from, end{column: from.column}, true
	}
	return from, to, from.hidden.Len == 0 || to.hidden.Len == 0
}

// title returns the name of a node, else its NID.
func (d *Diagram) title(n *node) string {
	switch {
	case n.others > 0:
		return "others (" + strconv.Itoa(n.others) + ")"
	case n.name != "":
		return string(schema.AppendText(nil, []byte(n.name)))
	}
	return d.nidText(n.nids[0])
}

func (d *Diagram) nidText(nid lnet.NID) string { return nidText(nid, render.NIDs{Full: d.NIDs.Full}) }

func nidText(nid lnet.NID, form render.NIDs) string {
	if !isAddress(nid) {
		return string(form.Append(nil, nid))
	}
	return addrOf(nid).String()
}
