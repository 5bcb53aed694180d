package render

import "github.com/lshark/lshark/dissect/lnet"

// NIDs is how NIDs are shown in text.
type NIDs struct {
	Full bool // show the NID with its network, as in 192.0.2.3@tcp, and no name

	// Name returns the name of a node, empty when it has none; nil: none has.
	Name func(lnet.NID) string
}

// Append appends the name of a node, else its NID, without @tcp unless it is to be
// full.
func (t NIDs) Append(dst []byte, nid lnet.NID) []byte {
	const defaultNet = "@tcp"
	if t.Name != nil && !t.Full {
		if name := t.Name(nid); name != "" {
			return append(dst, name...)
		}
	}
	start := len(dst)
	dst = nid.Append(dst)
	if n := len(dst) - len(defaultNet); !t.Full && n > start && string(dst[n:]) == defaultNet {
		return dst[:n]
	}
	return dst
}
