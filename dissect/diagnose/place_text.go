package diagnose

import (
	"cmp"
	"strings"
)

// String returns a place in words, as in "storage of lustre-OST0000".
func (p Place) String() string {
	node := ""
	if p.Node.Len > 0 {
		node = p.Node.String()
	}
	target := cmp.Or(p.Target, node) // what a place belongs to, where the target says more than its node
	text := ""
	switch p.Kind {
	case AtApplication:
		text = "application" + before(" on ", node)
	case AtClient:
		text = "client" + before(" ", node)
	case AtHolder:
		text = "holder of the lock" + before(", ", node)
	case AtPath:
		text = "path" + p.betweenText()
	case AtNode:
		text = "node" + before(" ", node)
	case AtLNet:
		text = "LNet" + p.betweenText()
	case AtQueue:
		text = "queue" + before(" of ", cmp.Or(node, p.Target))
	case AtThread:
		text = "service thread" + before(" of ", cmp.Or(node, p.Target))
	case AtStorage:
		text = "storage" + before(" of ", target)
	case AtTarget:
		text = "target" + cmp.Or(before(" ", p.Target), before(" of ", node))
	case AtOtherServer:
		text = "another server that " + cmp.Or(node, p.Target, "the server") + " waits for"
	case AtAdmin:
		text = "a command of an administrator" + before(" on ", target)
	case AtConfig:
		text = "configuration" + before(" of ", target)
	case AtLoad:
		text = "load of " + cmp.Or(target, "the server")
	case AtCapture:
		text = "bytes that were not captured"
	}
	return text
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
