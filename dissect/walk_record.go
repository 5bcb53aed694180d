package dissect

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// record walks a struct.
func (w *walker) record(f *schema.Field, up *schema.View, off, limit int) int {
	s := f.Type
	i := w.open(f, off, 0)
	w.tree.Nodes[i].Tag = f.Tagged
	if w.depth >= maxDepth {
		w.close(i, limit)
		return limit
	}
	raw := w.bytes(off, limit)
	v := w.view()
	v.Struct, v.Rest, v.Big, v.Off, v.LocatedEnd = raw, raw, s.Big(raw, w.big), off, 0
	v.Index, v.Type, v.Up, v.Msg = 0, s, up, w.rpc
	if up != nil {
		v.Index = up.Index
	}
	w.depth++
	if s.Summarize != nil && w.tree.Remarks && len(raw) >= min(s.Size, 8) {
		w.text(f, s.Summarize, v, Remark)
	}
	end := w.members(s, v, off, limit)
	w.depth--
	w.drop()
	w.close(i, end)
	return end
}

// members walks the fields of a struct. Of fields that overlap, it walks those in use.
func (w *walker) members(s *schema.Struct, v *schema.View, off, limit int) int {
	end, covered := off, 0
	captured := w.withoutHoles(limit)
	runs := s.Runs()
	for i := 0; i < len(s.Fields); i++ {
		if r := &runs[i]; len(r.Values) > 0 && off+r.End <= captured {
			last := w.values(r, v, off, limit)
			end, covered = max(end, off+last), max(covered, last)
			i += len(r.Values) - 1
			continue
		}
		f := s.Fields[i]
		if f.Overlays() && f.If == nil && f.Off < covered {
			continue
		}
		at := end
		if f.Off >= 0 {
			at = off + f.Off
		}
		if !w.active(f, v, at, limit) {
			continue
		}
		if f.Locate != nil {
			w.elsewhere(f, v, limit)
			continue
		}
		if at >= limit && f.Kind != schema.Virtual && w.mayEnd(s, f, off, at, limit) {
			continue
		}
		stop := w.field(f, v, at, limit)
		end = max(end, stop)
		if f.Off >= 0 {
			covered = max(covered, f.Off+f.Size)
		}
		if last := len(w.tree.Nodes) - 1; stop >= limit && last >= 0 && w.tree.Nodes[last].Is(Missing) {
			return limit
		}
	}
	if s.Size > 0 && !s.Open {
		end = max(end, min(off+s.Size, limit))
	}
	return max(end, min(v.LocatedEnd, limit))
}

// elsewhere walks a field whose place in the outer struct is in the message.
func (w *walker) elsewhere(f *schema.Field, v *schema.View, limit int) {
	at, n := f.Locate(v)
	if n <= 0 || at < 0 || at >= limit {
		return
	}
	stop := min(at+n, limit)
	w.tail(w.field(f, v, at, stop), stop)
	if v.Up != nil {
		v.Up.LocatedEnd = max(v.Up.LocatedEnd, stop)
	}
}

// mayEnd reports whether a struct may end in front of f: at its variable part, or at a
// size that older releases send.
func (w *walker) mayEnd(s *schema.Struct, f *schema.Field, off, at, limit int) bool {
	return at-off >= s.Size || f.Size == 0 || slices.Contains(s.Shorter, limit-off)
}

// array walks elements of one declaration.
func (w *walker) array(f *schema.Field, v *schema.View, off, limit int) int {
	v.Rest = w.bytes(off, limit)
	n := f.Elements(v)
	if n == 0 || n < 0 && off >= limit {
		return off
	}
	if f.Pad && w.whole && allZero(w.bytes(off, min(off+f.Size, limit))) {
		return min(off+f.Size, limit)
	}
	i := w.open(f, off, 0)
	w.tree.Nodes[i].Tag = f.Tagged
	index, captured, save := v.Index, w.withoutHoles(limit), w.big
	w.big = f.Elem.Order.Is(v.Big)
	w.depth++
	end := off
	for k := 0; n < 0 || k < n; k++ {
		if n < 0 && (end >= limit || end+f.Elem.Size > limit) {
			break
		}
		if f.Elem.Direct && end+f.Elem.Size <= captured {
			if node := w.direct(f.Elem, end); node != nil {
				node.Index = int32(k)
			}
			end += f.Elem.Size
			continue
		}
		v.Index = k
		node := len(w.tree.Nodes)
		next := w.field(f.Elem, v, end, limit)
		if node < len(w.tree.Nodes) {
			w.tree.Nodes[node].Index = int32(k)
		}
		stuck := next <= end
		end = next
		if stuck || len(w.tree.Nodes) > node && w.tree.Nodes[len(w.tree.Nodes)-1].Is(Missing) && end >= limit {
			break
		}
	}
	w.depth--
	v.Index, w.big = index, save
	w.close(i, end)
	return end
}

// list walks records with a type and length of their own.
func (w *walker) list(f *schema.Field, v *schema.View, off, limit int) int {
	if off >= limit || w.depth >= maxDepth {
		return off
	}
	i := w.open(f, off, 0)
	lv := w.view()
	*lv = *v
	w.depth++
	end := off
	for k := 0; end < limit; k++ {
		lv.Index, lv.Rest = k, w.bytes(end, limit)
		el, n := f.Step(lv)
		if el == nil {
			break
		}
		if n == schema.EmptyRecord {
			node := w.open(el, end, 0)
			w.tree.Nodes[node].Index = int32(k)
			continue
		}
		stop := limit
		if n > 0 {
			stop = min(end+n, limit)
		}
		node := len(w.tree.Nodes)
		next := w.field(el, lv, end, stop)
		if n > 0 {
			w.tail(next, stop)
			next = end + n
		}
		if node < len(w.tree.Nodes) {
			w.tree.Nodes[node].Index = int32(k)
		}
		if next <= end {
			break
		}
		end = min(next, limit)
	}
	w.depth--
	w.drop()
	w.close(i, end)
	return end
}

// union walks the member that the message selects.
func (w *walker) union(f *schema.Field, v *schema.View, off, limit int) int {
	if f.Size > 0 {
		limit = min(limit, off+f.Size)
	}
	v.Rest, v.Len = w.bytes(off, limit), limit-off
	if len(v.Rest) == 0 {
		if limit > off && f.Size == 0 {
			return w.gap(f, off, limit-off, w.missing(off, limit-off, limit), limit)
		}
		return off
	}
	c := f.Choose(v)
	if c == nil && w.selectorMissing(off, limit) {
		return w.gap(f, off, limit-off, w.missing(off, limit-off, limit), limit)
	}
	if c == nil {
		w.unknown(f, off, limit)
		return limit
	}
	node := len(w.tree.Nodes)
	end := w.field(f.Option(c), v, off, limit)
	if node < len(w.tree.Nodes) && f.Tagged {
		w.tree.Nodes[node].Tag = c.Kind == schema.Record && c.Type.Atom == schema.Plain
	}
	if f.Size > 0 {
		return limit
	}
	return end
}

// selectorMissing reports whether so little was captured between off and limit that
// the bytes which select the member may be missing.
func (w *walker) selectorMissing(off, limit int) bool {
	const most = 16 // magics and operations are in the first bytes
	return len(w.bytes(off, limit)) < most && w.missing(off, limit-off, limit) != lnet.Present
}

// unknown adds a node of bytes for which no member was selected.
func (w *walker) unknown(f *schema.Field, off, limit int) {
	if n := len(w.bytes(off, limit)); n > 0 && !allZero(w.bytes(off, limit)) {
		i := w.open(f, off, n)
		w.tree.Nodes[i].State |= Undecoded
		w.note("unknown", w.path(f.Name)+": of unknown form")
	}
}

// tail adds a node of the bytes between off and limit, which no declaration covers.
// Zero bytes are padding.
func (w *walker) tail(off, limit int) {
	b := w.bytes(off, limit)
	if len(b) == 0 || allZero(b) {
		return
	}
	if why := w.missing(off, limit-off, limit); why != lnet.Present {
		w.gap(tailField, off, limit-off, why, limit) // or of a part that is too short to say
		return
	}
	i := w.open(tailField, off, len(b))
	w.tree.Nodes[i].State |= Undecoded
	text := "bytes behind what is known"
	if path := w.path(""); path != "" {
		text = path + ": " + text
	}
	w.note("tail", text)
}

var tailField = schema.Opaque("_tail", 0, "bytes behind the part that is known").Resolve()
