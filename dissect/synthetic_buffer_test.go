package dissect

import (
	"regexp"
	"strings"
	"testing"
)

// buffer builds a buffer: as the case has it, or as its kind says.
func (c *synthetic) buffer(b *builder, form *factForm, reply bool, buf factBuffer, given bufs) blob {
	x, isGiven := given[buf.name]
	switch x := x.(type) {
	case string:
		return raw([]byte(x))
	case func(*builder) blob:
		return x(b)
	case blob:
		return x
	}
	v, _ := x.(values)
	if isGiven && x == nil || v == nil && (buf.size == "0" || strings.HasPrefix(buf.size, "0 ")) {
		return blob{}
	}
	if build := c.special(form, reply, buf); build != nil {
		return build(b)
	}
	return c.ofKind(b, buf, v)
}

// special builds the buffers whose kind says too little.
func (c *synthetic) special(form *factForm, reply bool, buf factBuffer) func(*builder) blob {
	switch buf.name {
	case "getinfo_key":
		if form.variant == "fid2path" {
			return fid2pathKey
		}
	case "getinfo_val":
		if form.variant == "fid2path" {
			return fid2pathValue
		}
	case "setinfo_val":
		if form.name == "LDLM_SET_INFO" {
			return hsmActions
		}
	case "but_update_header", "batch_update_reply":
		if form.variant == "inline" || buf.name == "batch_update_reply" {
			return c.batch(reply)
		}
	case "object_update_reply":
		return results("OUT_NOOP")
	case "niobuf_inline":
		return inline
	case "quota_iter", "logcookies":
		return func(*builder) blob { return blob{} }
	case "eavals_lens":
		return func(b *builder) blob {
			var all blob
			for i, n := range []uint64{3, 4} {
				all.put(index(i), b.number(n, 4))
			}
			return all
		}
	case "eavals":
		return func(*builder) blob {
			var all blob
			all.put("[0].value", raw([]byte("one")))
			all.put("[1].value", raw([]byte("four")))
			return all
		}
	case "eadata":
		if form.variant == "intent:IT_GETXATTR" {
			return func(*builder) blob { return raw([]byte("user.a\x00user.b\x00")) }
		}
		if strings.HasPrefix(form.name, "LLOG") {
			return logRecords
		}
	case "file_encctx":
		return func(*builder) blob { return blob{} }
	}
	return nil
}

// inline is the data of a file that an open brings.
func inline(b *builder) blob {
	var out blob
	out.put("niobuf_remote", b.record("niobuf_remote", values{"rnb_len": 9}))
	out.put("data", raw([]byte("file data")))
	return out
}

var firstStruct = regexp.MustCompile(`^struct (\w+)$`)

// ofKind builds a buffer from what messages.tsv says of it.
func (c *synthetic) ofKind(b *builder, buf factBuffer, v values) blob {
	if strings.Contains(buf.size, "little-endian") {
		return b.little(func() blob { return c.ofKind(b, factBuffer{name: buf.name, kind: buf.kind}, v) })
	}
	kind := buf.kind
	if list, ok := strings.CutPrefix(kind, "union: "); ok {
		kind, _, _ = strings.Cut(list, " | ")
		return layout(kind)(b)
	}
	if name, ok := strings.CutPrefix(kind, "array of struct "); ok {
		if atoms[name] != nil {
			return several(3, name)(b)
		}
		return b.list(2, name, v)
	}
	if m := firstStruct.FindStringSubmatch(kind); m != nil {
		if atoms[m[1]] != nil {
			return atoms[m[1]](b)
		}
		if m[1] == "lov_comp_md_v1" {
			return userComposite(b)
		}
		return b.record(m[1], v)
	}
	switch kind {
	case "string":
		return str(b.text(buf.name))
	case "__u32":
		return b.number(b.value(4), 4)
	case "__u64":
		return b.number(b.value(8), 8)
	case "array of __u32":
		return b.numbers(3, 4)
	}
	return raw([]byte(b.text(buf.name)))
}

// coverage holds that each field of the structs that messages have was seen in
// one of them.
func (c *synthetic) coverage(t *testing.T, seen map[string]bool) {
	t.Helper()
	structs := make(map[string]bool)
	for fact := range seen {
		name, _, _ := strings.Cut(fact, ".")
		structs[name] = true
	}
	for name := range structs {
		s := c.f.structs[name]
		if s == nil {
			continue
		}
		for i := range s.fields {
			fact := name + "." + s.fields[i].name
			if !seen[fact] && notSeen[fact] == "" && !c.inside(s, &s.fields[i], seen) {
				t.Errorf("no message has %s", fact)
			}
		}
	}
}

// inside says whether a part of a struct was seen, or its fields stand in
// other structs.
func (c *synthetic) inside(s *factStruct, f *factField, seen map[string]bool) bool {
	if f.kind == "struct" || f.kind == "union" || f.size <= 0 {
		return true
	}
	inner := c.f.structs[f.kind[strings.IndexByte(f.kind, ' ')+1:]]
	if inner == nil {
		return false
	}
	for i := range inner.fields {
		g := &inner.fields[i]
		if seen[inner.name+"."+g.name] || c.inside(inner, g, seen) {
			return true
		}
	}
	return false
}

// notSeen are fields that no tree has, each with its reason.
var notSeen = map[string]string{
	"lov_ost_data_v1.l_ost_type":                     "another name of l_ost_gen",
	"lov_user_ost_data_v1.l_ost_type":                "another name of l_ost_gen",
	"lov_user_md_v1.lmm_layout_gen":                  "in requests the place is lmm_stripe_offset",
	"lov_user_md_v3.lmm_layout_gen":                  "in requests the place is lmm_stripe_offset",
	"lov_comp_md_entry_v1.lcme_time_and_id":          "one word of two fields, which are shown",
	"lov_comp_md_entry_v1.lcme_compr_chunk_lum_bits": "half of a byte, which is shown as lcme_compr_lvl",
}

// leftovers are fields that mean nothing in some of the messages here. In an
// obdo, what means something depends on the operation as well.
func leftover(fact string) bool {
	return strings.HasPrefix(fact, "obdo.") || fact == "obd_dqblk.dqb_curspace"
}
