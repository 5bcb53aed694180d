package records

import (
	"bytes"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
)

// fids returns the FIDs in all fields of the message, in their order. Those that
// are zero are left out.
func (m *Message) fids() []track.FID {
	if !m.fidsRead {
		m.fidList, m.fidsRead = m.fidList[:0], true
		tree := m.Tree()
		for i := range tree.Nodes {
			n := &tree.Nodes[i]
			if n.State&(dissect.Missing|dissect.Remark) != 0 {
				continue
			}
			if f, ok := fidOf(tree, n); ok && f != (track.FID{}) {
				m.fidList = append(m.fidList, f)
			}
		}
	}
	return m.fidList
}

// fidOf returns the FID that a node is. Derived texts are FIDs in the names of
// locks and the like.
func fidOf(tree *dissect.Tree, n *dissect.Node) (f track.FID, ok bool) {
	switch {
	case n.Field.Format == schema.FID || n.Field.Format == schema.OSTID:
		b, big := tree.Bytes(n), n.Is(dissect.BigEndian)
		if len(b) < 16 {
			return f, false
		}
		f = track.FID{Seq: schema.ReadUint(b[:8], big), OID: uint32(schema.ReadUint(b[8:12], big)), Ver: uint32(schema.ReadUint(b[12:16], big))}
		return f, n.Field.Format == schema.FID || schema.IsFID(b, big)
	case n.Field.Kind == schema.Virtual:
		return fidText(tree.Bytes(n))
	}
	return f, false
}

// fidText reads a FID as names of locks have it, in brackets. It does not allocate.
func fidText(b []byte) (f track.FID, ok bool) {
	if len(b) < 2 || b[0] != '[' || b[len(b)-1] != ']' {
		return f, false
	}
	seq, rest, _ := bytes.Cut(b[1:len(b)-1], []byte(":"))
	oid, ver, _ := bytes.Cut(rest, []byte(":"))
	s, err := strconv.ParseUint(string(seq), 0, 64)
	o, errOID := strconv.ParseUint(string(oid), 0, 32)
	v, errVer := strconv.ParseUint(string(ver), 0, 32)
	return track.FID{Seq: s, OID: uint32(o), Ver: uint32(v)}, err == nil && errOID == nil && errVer == nil
}
