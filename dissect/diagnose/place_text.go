package diagnose

import (
	"cmp"
	"strings"
)

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
	var b strings.Builder
	for i := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			b.WriteString(last)
		default:
			b.WriteString(", ")
		}
		b.WriteString(list[i].String())
	}
	return b.String()
}
