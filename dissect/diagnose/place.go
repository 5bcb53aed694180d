package diagnose

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// The kinds of places, in the order of the way of a request. Their names are in records.
const (
	AtApplication PlaceKind = iota // what a job does
	AtClient                       // the node that sends the request
	AtHolder                       // a client that keeps a lock
	AtPath                         // the path between two nodes
	AtNode                         // a node that is gone, cut off from all others, frozen, restarted or short of CPU, or whose address another host has
	AtLNet                         // messages are lost or kept above TCP or RDMA, between two nodes
	AtQueue                        // the request is in the server and waits for a thread
	AtThread                       // a service thread works on this request while others of its kind are served
	AtStorage                      // the device of a target
	AtTarget                       // a target that is stopped, moved, full, read-only or rolled back
	AtOtherServer                  // the server waits for another one
	AtAdmin                        // somebody's command
	AtConfig                       // names, nodemaps, versions, flags, keys
	AtLoad                         // more work than the target can do
	AtCapture                      // it cannot be told, because bytes are missing
	placeKinds
)

var placeNames = [placeKinds]string{"application", "client", "holder", "path", "node", "lnet", "queue", "thread", "storage", "target",
	"other_server", "admin", "config", "load", "capture"}

// PlaceKind is a kind of place where the cause of a trouble may be.
type PlaceKind uint8

// String returns the word in records.
func (k PlaceKind) String() string { return placeNames[k] }

// Place is where the cause of a trouble may be. Places are compared: what does not matter for a
// kind is zero.
type Place struct {
	Kind    PlaceKind
	Node    lnet.NID // the node, or the lower of two
	Peer    lnet.NID // of AtPath and AtLNet: the other node
	Target  string   // name of a target, or its kind and index
	Request uint64   // of AtThread: the xid of the only request that it hurts

	// Direction of a path that is broken in one direction: +1 from Node to Peer, -1 from Peer to Node.
	Direction int8
}

// Between returns a place between two nodes. Where one of them is not known, the place is that to the other one.
func Between(kind PlaceKind, a, b lnet.NID) Place {
	if a.Len == 0 || b.Len > 0 && compareNIDs(a, b) > 0 {
		a, b = b, a
	}
	return Place{Kind: kind, Node: a, Peer: b}
}

// From returns a path that is broken in the direction from one node to another.
func From(a, b lnet.NID) Place {
	p := Between(AtPath, a, b)
	if p.Direction = 1; p.Node != a {
		p.Direction = -1
	}
	return p
}

// CommonPlaces returns the places that are in both lists.
func CommonPlaces(a, b []Place) (both []Place) {
	for _, p := range a {
		if slices.Contains(b, p) {
			both = append(both, p)
		}
	}
	return both
}

// IsBetween reports whether a place is between two nodes.
func (p Place) IsBetween() bool { return p.Peer.Len > 0 }

// DirectionText returns the direction of a path as in "192.0.2.3@tcp > 192.0.2.1@tcp", empty
// where both directions may be broken.
func (p Place) DirectionText() string {
	switch {
	case p.Direction > 0:
		return p.Node.String() + " > " + p.Peer.String()
	case p.Direction < 0:
		return p.Peer.String() + " > " + p.Node.String()
	}
	return ""
}

func compareNIDs(a, b lnet.NID) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Num, b.Num), cmp.Compare(string(a.Addr[:a.Len]), string(b.Addr[:b.Len])))
}

// Clearance is a place that is excluded, and the message that proves it.
type Clearance struct {
	Place
	Evidence
}

// placeTexts have the words for kinds of places: what it is, and what stands before the node or target.
var placeTexts = [placeKinds]struct {
	text, of string
	ofTarget bool // the target says more than its node
}{
	AtApplication: {"application", " on ", false},
	AtClient:      {"client", " ", false},
	AtHolder:      {"holder of the lock", ", ", false},
	AtPath:        {"path", "", false},
	AtNode:        {"node", " ", false},
	AtLNet:        {"LNet", "", false},
	AtQueue:       {"queue", " of ", false},
	AtThread:      {"service thread", " of ", false},
	AtStorage:     {"storage", " of ", true},
	AtAdmin:       {"a command of an administrator", " on ", true},
	AtConfig:      {"configuration", " of ", true},
	AtLoad:        {"load", " of ", true},
	AtCapture:     {"bytes that were not captured", "", false},
}

// String returns a place in words, as in "storage of lustre-OST0000".
func (p Place) String() string {
	node := ""
	if p.Node.Len > 0 {
		node = p.Node.String()
	}
	x, where := placeTexts[p.Kind], cmp.Or(node, p.Target)
	switch {
	case p.Kind == AtPath || p.Kind == AtLNet:
		return x.text + p.betweenText()
	case p.Kind == AtTarget:
		return "target" + cmp.Or(before(" ", p.Target), before(" of ", node))
	case p.Kind == AtOtherServer:
		return "another server that " + cmp.Or(where, "the server") + " waits for"
	case x.ofTarget:
		where = cmp.Or(p.Target, node)
	}
	return x.text + before(x.of, where)
}

// before returns a text with a word before it, nothing where it is empty.
func before(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}

func (p Place) betweenText() string {
	switch {
	case p.Node.Len == 0:
		return ""
	case !p.IsBetween():
		return " to " + p.Node.String()
	case p.Direction > 0:
		return " from " + p.Node.String() + " to " + p.Peer.String()
	case p.Direction < 0:
		return " from " + p.Peer.String() + " to " + p.Node.String()
	}
	return " between " + p.Node.String() + " and " + p.Peer.String()
}

// PlacesText returns places with commas between them, and a word before the last.
func PlacesText(list []Place, last string) string {
	words := make([]string, len(list))
	for i := range list {
		words[i] = list[i].String()
	}
	return schema.WordList(words, last)
}
