package values

import (
	"encoding/binary"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

type writer struct {
	p   *Mapper
	m   *dissect.Message
	msg *schema.Msg // the lustre_msg in it, nil without one that can be read
	dst []byte

	guessed bool // the layout of the message is a guess

	value  value   // that is being written
	fsname [8]byte // in the name of a resource

	// Values of the message that others depend on.
	lockType, command, quotaCommand uint64

	dataSum      value    // o_cksum
	messageSums  [2]value // lm_cksum of the outer and the inner message
	transportSum value    // of socklnd or o2iblnd
}

// note keeps a value that others depend on.
func (w *writer) note(n *dissect.Node) {
	switch n.Field.Names {
	case opcodes.LdlmType:
		w.lockType = n.Val
	case opcodes.LcfgCommand:
		w.command = n.Val
	case opcodes.QuotaCmd:
		w.quotaCommand = n.Val
	}
}

// keepHandle keeps the handle of a security context. Only such ones have 8 bytes.
func keepHandle(_ *writer, v *value) {
	if len(v.in) == 8 {
		copy(v.out, v.in)
	}
}

func keepKeyword(_ *writer, v *value) {
	if key := schema.TrimNUL(v.in); allAre(key, func(c byte) bool { return isParamByte(c) || c == '-' }) {
		copy(v.out, key)
	}
}

// entryName writes the buffer "name", which is that of a file, except in some operations.
func (w *writer) entryName(v *value) {
	replacement := (*Mapper).fileName
	switch op := w.m.RPC.Opcode; {
	case op == opcodes.MDS_GETXATTR, w.m.RPC.Variant.String() == "SETXATTR":
		replacement = (*Mapper).xattrName
	case op == opcodes.LLOG_ORIGIN_HANDLE_CREATE:
		replacement = (*Mapper).device
	}
	w.putText(v.out, schema.TrimNUL(v.in), replacement)
}

// inodesOrID writes a number of inodes. Commands that list IDs have an ID in its place, which
// is replaced.
func (w *writer) inodesOrID(v *value) {
	const iterQuota, getAllQuota = 0x800017, 0x800019
	if w.quotaCommand >= iterQuota && w.quotaCommand <= getAllQuota {
		v.put(w.p.ID(v.uint()))
		return
	}
	copy(v.out, v.in)
}

func (w *writer) argument(v *value) {
	const firstOfNodemaps, lastOfNodemaps = 0xce040, 0xce06f
	ids := w.command >= firstOfNodemaps && w.command <= lastOfNodemaps
	w.putText(v.out, schema.TrimNUL(v.in), func(p *Mapper, b []byte) string { return p.argument(b, ids) })
}

// resource writes the name of the resource of a lock. That of a configuration log has the
// name of the file system in it, that of a quota an ID.
func (w *writer) resource(v *value) {
	const word, quotaFirst, quotaLast, logKinds = 8, 0x200000005, 0x200000006, 6
	copy(v.out, v.in)
	if len(v.in) < 4*word {
		return
	}
	var name [4]uint64
	for i := range name {
		name[i] = schema.ReadUint(v.in[word*i:word*i+word], v.big)
	}
	switch {
	case (name[0] == quotaFirst || name[0] == quotaLast) && name[3] == 0:
		id := value{out: v.out[2*word : 3*word], big: v.big}
		id.put(w.p.ID(name[2]))
	case (w.lockType == opcodes.LdlmType.Number("PLAIN") || w.lockType == 0) && name[1] < logKinds && name[2] == 0 && name[3] == 0:
		b := &w.fsname
		binary.LittleEndian.PutUint64(b[:], name[0])
		text := schema.TrimNUL(b[:])
		if !allAre(text, func(c byte) bool { return c > ' ' && c <= '~' }) || len(text) < word && name[0]>>(8*len(text)) != 0 {
			return
		}
		copy(b[:], w.p.device(text))
		fsname := value{out: v.out[:word], big: v.big}
		fsname.put(binary.LittleEndian.Uint64(b[:]))
	}
}
