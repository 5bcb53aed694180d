package dissect

import (
	"encoding/binary"

	"github.com/lshark/lshark/opcodes/schema"
)

// direct adds a node of a field whose bytes are there and whose declaration has no
// funcs. It returns nil for padding.
func (w *walker) direct(f *schema.Field, off int) *Node {
	val := uint64(0)
	if f.Kind <= schema.Int {
		val = schema.ReadUint(w.data[off:off+f.Size], w.big)
		if f.Pad && val == 0 {
			return nil
		}
		if f.Kind == schema.Int {
			shift := 64 - 8*f.Size
			val = uint64(int64(val<<shift) >> shift)
		}
	}
	node := w.add(f, off, f.Size)
	node.Val = val
	return node
}

// values walks Direct fields of the struct at off whose bytes are there, and returns
// where in the struct the last one ends. It appends the nodes itself, as most nodes of
// a tree are made here.
func (w *walker) values(r *schema.Run, v *schema.View, off, limit int) (end int) {
	data := w.data[off : off+r.End]
	depth, src, common := uint8(w.depth), w.src, w.state()
	nodes := w.room(len(r.Values))
	n := len(nodes)
	nodes = nodes[:n+len(r.Values)]
	slow := schema.NeedsIf | schema.NeedsSlowPath
	if w.tree.Remarks {
		slow |= schema.NeedsRemark
	}
	if v.Big {
		slow |= schema.NeedsByteOrder
	}
	var word, kind *schema.Field
	var bits, is uint64
	for i := range r.Values {
		d := &r.Values[i]
		state, val := common, uint64(0)
		if d.Needs&slow != 0 {
			if d.CaseField != nil {
				if d.CaseField != kind {
					kind, is = d.CaseField, d.CaseField.Uint(v.Struct, v.Big)
				}
				if d.CaseValues>>(is-d.CaseLeast)&1 == 0 {
					continue
				}
			}
			if d.Needs&slow&(schema.NeedsIf|schema.NeedsRemark) != 0 {
				w.tree.Nodes = nodes[:n]
				end = max(end, w.valueWithFunc(d, v, off, limit))
				nodes = w.room(len(r.Values) - i)
				n = len(nodes)
				nodes = nodes[:n+len(r.Values)-i]
				continue
			}
			if d.Order.Is(v.Big) {
				state |= BigEndian
			}
			val = d.Uint(data, v.Big)
			if d.Pad && val == 0 {
				end = max(end, int(d.Off+d.Size))
				continue
			}
			if d.CheckValid && !d.Field.Valid(v) {
				state |= NotValid
			}
		} else if d.Size == 4 {
			val = uint64(binary.LittleEndian.Uint32(data[d.Off:]))
		} else if d.Size == 8 {
			val = binary.LittleEndian.Uint64(data[d.Off:])
		}
		if d.Word != nil {
			if d.Word != word {
				word, bits = d.Word, d.Word.Uint(v.Struct, v.Big)
			}
			if bits&d.Mask == 0 {
				state |= NotValid
			}
		}
		end = max(end, int(d.Off+d.Size))
		node := &nodes[n]
		n++
		node.Field, node.Val = d.Field, val
		node.Off, node.Len, node.End, node.Index = int32(off)+d.Off, d.Size, int32(n), -1
		node.Depth, node.Src, node.State, node.Tag = depth, src, state, false
	}
	w.tree.Nodes = nodes[:n]
	return end
}

// valueWithFunc walks a Direct field whose declaration has a func, and returns where
// it ends.
func (w *walker) valueWithFunc(d *schema.Direct, v *schema.View, off, limit int) int {
	at := off + int(d.Off)
	if !w.active(d.Field, v, at, limit) {
		return 0
	}
	big := w.big
	w.big = d.Order.Is(v.Big)
	node := w.direct(d.Field, at)
	w.big = big
	switch {
	case node == nil:
	case !d.Field.Valid(v):
		node.State |= NotValid
	case w.tree.Remarks && !node.Is(NotValid):
		w.remark(d.Field, v, at, limit)
	}
	return int(d.Off + d.Size)
}

// active reports whether the field at off is in use; other fields may overlap it.
func (w *walker) active(f *schema.Field, v *schema.View, off, limit int) bool {
	if f.If == nil {
		return true
	}
	v.Rest = w.bytes(off, limit)
	return f.If(v)
}

// remark adds a node with the text of a field's Remark.
func (w *walker) remark(f *schema.Field, v *schema.View, off, limit int) {
	if f.Remark == nil {
		return
	}
	if v.Rest = w.bytes(off, limit); len(v.Rest) >= f.Size {
		if f.Kind <= schema.Int {
			v.Value = schema.ReadUint(v.Rest[:f.Size], f.Order.Is(v.Big))
		}
		w.text(f, f.Remark, v, Remark)
	}
}
