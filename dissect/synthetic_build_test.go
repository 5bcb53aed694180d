package dissect

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/facts"
)

// want is a value that a tree must have.
type want struct {
	path  string // from the section on: buffers.mdt_body.mbo_size
	fact  string // the struct's name and the field's
	off   int    // in the data of its blob
	bytes []byte
	big   bool
}

// blob is a piece of a message and the values in it.
type blob struct {
	data  []byte
	wants []want
}

// rename expects a value under another path.
func (b *blob) rename(from, to string) {
	for i := range b.wants {
		if b.wants[i].path == from {
			b.wants[i].path = to
		}
	}
}

// put appends another blob, with its paths below name.
func (b *blob) put(name string, part blob) {
	for _, w := range part.wants {
		w.off += len(b.data)
		w.path = under(name, w.path)
		b.wants = append(b.wants, w)
	}
	b.data = append(b.data, part.data...)
}

// fill appends zeros up to a multiple of n.
func (b *blob) fill(n int) {
	for len(b.data)%n != 0 {
		b.data = append(b.data, 0)
	}
}

func under(name, path string) string {
	switch {
	case name == "":
		return path
	case path == "" || strings.HasPrefix(path, "["):
		return name + path
	}
	return name + "." + path
}

// values say what stands in a struct where anything would not do: numbers and
// bytes by field, blobs for what is inside. A name with a + in front chooses
// that member among those that share their place.
type values map[string]any

// inside are the values of the struct that is a field.
func (v values) inside(field string) values {
	in := values{}
	for k, x := range v {
		choice := strings.HasPrefix(k, "+")
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(k, "+"), field+"."); ok {
			if choice {
				rest = "+" + rest
			}
			in[rest] = x
		}
	}
	return in
}

// builder makes structs from the facts, with another value in each field.
type builder struct {
	*factTables
	big  bool
	next uint64
}

// value is a number that no other field has, as far as size bytes allow.
func (b *builder) value(size int) uint64 {
	b.next++
	v := b.next * 0x9e3779b97f4a7c15 >> 1
	if size == 1 {
		return b.next%250 + 1
	}
	return v>>(64-8*size) | 1
}

func (b *builder) text(prefix string) string {
	b.next++
	return fmt.Sprintf("%s-%d", prefix, b.next)
}

func encode(v uint64, size int, big bool) []byte {
	p := make([]byte, 8)
	if big {
		binary.BigEndian.PutUint64(p, v)
		return p[8-size:]
	}
	binary.LittleEndian.PutUint64(p, v)
	return p[:size]
}

// number is an integer of its own.
func (b *builder) number(v uint64, size int) blob {
	p := encode(v, size, b.big)
	return blob{p, []want{{bytes: p, big: b.big}}}
}

// numbers is an array of n integers.
func (b *builder) numbers(n, size int) blob {
	var all blob
	for i := range n {
		all.put(fmt.Sprintf("[%d]", i), b.number(b.value(size), size))
	}
	return all
}

// str is a string with a NUL behind it.
func str(text string) blob {
	return blob{append([]byte(text), 0), []want{{bytes: append([]byte(text), 0)}}}
}

func raw(p []byte) blob { return blob{p, []want{{bytes: p}}} }

// list is n structs one behind the other.
func (b *builder) list(n int, name string, v values) blob {
	var all blob
	for i := range n {
		all.put(fmt.Sprintf("[%d]", i), b.record(name, v))
	}
	return all
}

// record builds a struct: each field gets a value of its own unless v or the
// defaults say which.
func (b *builder) record(name string, v values) blob {
	s := b.structs[name]
	if s == nil {
		panic("no struct " + name)
	}
	save := b.big
	switch s.order {
	case "little":
		b.big = false
	case "big":
		b.big = true
	}
	defer func() { b.big = save }()
	out := blob{data: make([]byte, s.size)}
	taken := make([]bool, s.size)
	for _, chosen := range []bool{true, false} {
		for i := range s.fields {
			f := &s.fields[i]
			_, is := v["+"+f.name]
			if is = is || prefer[name+"."+f.name]; is != chosen || covers(taken, f) {
				continue
			}
			b.member(&out, s, f, v)
		}
	}
	return out
}

// covers says whether a field's place is taken, and takes it.
func covers(taken []bool, f *factField) bool {
	end := min(f.off+f.size, len(taken))
	for i := f.off; i < end; i++ {
		if taken[i] {
			return true
		}
	}
	for i := f.off; i < end; i++ {
		taken[i] = true
	}
	return false
}

// member adds a field to the struct that it is part of.
func (b *builder) member(out *blob, s *factStruct, f *factField, v values) {
	at := f.off
	if f.size == 0 {
		at = len(out.data)
	}
	part := b.content(s, f, v)
	if part.data == nil {
		return
	}
	if at+len(part.data) > len(out.data) {
		out.data = append(out.data, make([]byte, at+len(part.data)-len(out.data))...)
	}
	copy(out.data[at:], part.data)
	for _, w := range part.wants {
		w.off += at
		if w.fact == "" {
			w.fact = s.name + "." + f.name
		}
		w.path = under(f.name[strings.LastIndexByte(f.name, '.')+1:], w.path)
		out.wants = append(out.wants, w)
	}
}

// content is what fills a field.
func (b *builder) content(s *factStruct, f *factField, v values) blob {
	given, ok := v[f.name]
	if !ok && v["+"+f.name] != nil {
		given, ok = v["+"+f.name], true
	}
	if !ok {
		given, ok = b.usual(s.name + "." + f.name)
	}
	if ok {
		switch x := given.(type) {
		case blob:
			return x
		case func(*builder) blob:
			return x(b)
		case string:
			p := make([]byte, max(f.size, len(x)))
			copy(p, x)
			return raw(p)
		case []byte:
			return raw(x)
		case int:
			return b.number(uint64(x), f.size)
		case uint64:
			return b.number(x, f.size)
		}
		panic(fmt.Sprintf("%s.%s: %T", s.name, f.name, given))
	}
	name, isStruct := strings.CutPrefix(f.kind, "struct ")
	if !isStruct {
		name, isStruct = strings.CutPrefix(f.kind, "union ")
	}
	switch {
	case f.size <= 0 || f.kind == "struct" || f.kind == "union":
		return blob{}
	case isStruct && atoms[name] != nil:
		return atoms[name](b)
	case isStruct:
		return b.record(name, v.inside(f.name))
	case f.kind == "char" || f.kind == "unsigned char":
		p := make([]byte, f.size)
		copy(p[:f.size-1], b.text("t"))
		return raw(p)
	case f.count > 0 && f.size == f.count:
		p := make([]byte, f.size)
		for i := range p {
			p[i] = byte(b.value(1))
		}
		return raw(p)
	case f.count > 0:
		return b.numbers(f.count, f.size/f.count)
	}
	return b.number(b.value(f.size), f.size)
}

// atoms are the structs that a tree shows as one value.
var atoms = map[string]func(*builder) blob{
	"lu_fid": func(b *builder) blob {
		p := append(encode(b.value(8), 8, b.big), encode(b.value(4), 4, b.big)...)
		return blob{append(p, encode(b.value(4), 4, b.big)...), nil}.whole(b.big)
	},
	"ost_id": func(b *builder) blob {
		return blob{append(encode(b.value(8), 8, b.big), encode(b.value(8), 8, b.big)...), nil}.whole(b.big)
	},
	"lnet_nid": func(b *builder) blob {
		p := append([]byte{12, 2}, encode(b.value(2), 2, true)...)
		p = append(p, encode(b.value(8), 8, true)...)
		return blob{append(p, encode(b.value(8), 8, true)...), nil}.whole(b.big)
	},
	"lustre_handle": func(b *builder) blob { return blob{encode(b.value(8), 8, false), nil}.whole(b.big) },
	"obd_uuid": func(b *builder) blob {
		p := make([]byte, 40)
		copy(p, b.text("uuid"))
		return blob{p, nil}.whole(b.big)
	},
}

func (b blob) whole(big bool) blob {
	b.wants = []want{{bytes: b.data, big: big}}
	return b
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// layout builds one of the forms of a layout.
func layout(kind string) func(*builder) blob {
	if kind == "lov_comp_md_v1" {
		return func(b *builder) blob { return b.composite("lov_mds_md_v1", "lov_mds_md_v3") }
	}
	return func(b *builder) blob { return b.record(kind, nil) }
}

// userComposite is a layout that a user asks for.
func userComposite(b *builder) blob { return b.composite("lov_user_md_v1", "lov_user_md_v3") }

// composite has components of these kinds.
func (b *builder) composite(kinds ...string) blob {
	save := b.big
	b.big = false
	defer func() { b.big = save }()
	entry, at := b.structs["lov_comp_md_entry_v1"].size, b.structs["lov_comp_md_v1"].size
	at += len(kinds) * entry
	var entries, parts blob
	for i, kind := range kinds {
		part := b.record(kind, nil)
		entries.put(index(i), b.record("lov_comp_md_entry_v1", values{
			"lcme_flags": b.factTables.number("LCME_FL_INIT"), "lcme_offset": at, "lcme_size": len(part.data)}))
		parts.put("lcm_entries"+index(i)+".layout", part)
		at += len(part.data)
	}
	out := b.record("lov_comp_md_v1", values{"lcm_size": at, "lcm_entry_count": len(kinds), "lcm_entries": entries})
	out.put("", parts)
	return out
}

// update builds an object_update with its parameters.
func (b *builder) update(kind string, params ...blob) blob {
	var list blob
	for i, p := range params {
		one := b.record("object_update_param", values{"oup_len": len(p.data)})
		one.put("oup_buf", p)
		one.fill(8)
		list.put(index(i), one)
	}
	return b.record("object_update", values{"ou_type": b.factTables.number(kind), "ou_params_count": len(params), "ou_params": list})
}

// littleNumber is an integer that is little-endian whatever the sender.
func (b *builder) littleNumber(size int) blob {
	return b.little(func() blob { return b.number(b.value(size), size) })
}

func (b *builder) little(build func() blob) blob {
	save := b.big
	b.big = false
	defer func() { b.big = save }()
	return build()
}

// updates is what an OUT_UPDATE has in its request.
func updates(kinds ...string) func(*builder) blob {
	return func(b *builder) blob {
		var list blob
		for i, kind := range kinds {
			list.put(index(i), b.update(kind, b.params(kind)...))
		}
		all := b.record("object_update_request", values{"ourq_count": len(kinds)})
		all.put("updates", list)
		out := b.record("out_update_header", values{"ouh_count": 1, "ouh_inline_length": len(all.data)})
		out.put("ouh_inline_data", all)
		return out
	}
}

// params are the parameters of an update, in the order of the protocol.
func (b *builder) params(kind string) []blob {
	fid := func() blob { return b.little(func() blob { return atoms["lu_fid"](b) }) }
	switch kind {
	case "OUT_CREATE":
		return []blob{b.record("obdo", nil), fid()}
	case "OUT_ATTR_SET":
		return []blob{b.record("obdo", nil)}
	case "OUT_XATTR_SET":
		return []blob{str("user.name"), raw([]byte("any value")), b.number(b.value(4), 4)}
	case "OUT_XATTR_GET", "OUT_XATTR_DEL":
		return []blob{str("user.name")}
	case "OUT_INDEX_LOOKUP", "OUT_INDEX_DELETE":
		return []blob{str("entry")}
	case "OUT_INDEX_INSERT":
		return []blob{str("entry"), fid(), b.littleNumber(4)}
	case "OUT_WRITE":
		return []blob{raw([]byte("written bytes")), b.littleNumber(8)}
	case "OUT_PUNCH":
		return []blob{b.number(b.value(8), 8), b.number(b.value(8), 8)}
	case "OUT_READ":
		return []blob{b.littleNumber(8), b.littleNumber(8)}
	}
	return nil
}

// results is the answer to updates of these kinds.
func results(kinds ...string) func(*builder) blob {
	return func(b *builder) blob {
		var lens, list blob
		for i, kind := range kinds {
			data := b.result(kind)
			one := b.record("object_update_result", values{"our_datalen": len(data.data)})
			one.put("our_data", data)
			lens.put(index(i), b.number(uint64(len(one.data)), 2))
			one.fill(8)
			list.put(index(i), one)
		}
		out := b.record("object_update_reply", values{"ourp_count": len(kinds), "ourp_lens": lens})
		out.fill(8)
		out.put("results", list)
		return out
	}
}

func (b *builder) result(kind string) blob {
	switch kind {
	case "OUT_ATTR_GET":
		return b.record("obdo", nil)
	case "OUT_INDEX_LOOKUP":
		return atoms["lu_fid"](b)
	case "OUT_XATTR_GET":
		return raw([]byte("any value"))
	case "OUT_READ":
		return b.little(func() blob { return b.record("out_read_reply", nil) })
	}
	return blob{}
}

// batch is what a MDS_BATCH has in its request, or its answer.
func (c *synthetic) batch(reply bool) func(*builder) blob {
	return func(b *builder) blob {
		var list blob
		for i := range 2 {
			form := c.formNamed(b, "MDS_BATCH BUT_GETATTR")
			bufs, names := c.buffers(b, form, reply, synthCase{})
			v := values{}
			if !reply {
				v["lm_opc"] = 1
			}
			msg := b.packMessage("lustre_msg", v, names, bufs)
			if reply {
				msg.rename("lustre_msg.lm_opc", "lustre_msg.lm_result")
			}
			list.put(index(i), msg)
		}
		if reply {
			out := b.record("batch_update_reply", values{"burp_count": 2})
			out.put("messages", list)
			return out
		}
		all := b.record("batch_update_request", values{"burq_count": 2})
		all.put("messages", list)
		out := b.record("but_update_header", values{"buh_inline_length": len(all.data), "buh_update_count": 2})
		out.put("buh_inline_data", all)
		return out
	}
}

// hsmActions is what a copytool is sent.
func hsmActions(b *builder) blob {
	list := b.record("hsm_action_list", values{"hal_count": 2, "hal_fsname": "lustre\x00\x00"})
	for i := range 2 {
		list.put("items"+index(i), b.record("hsm_action_item", values{"hai_len": 80, "hai_data": "for tool"}))
	}
	out := blob{}
	out.put("kuc_hdr", b.record("kuc_hdr", values{"kuc_msgtype": 0x64, "kuc_msglen": 8 + len(list.data)}))
	out.put("hsm_action_list", list)
	return out
}

// fid2pathKey is the key and the question that fill one buffer.
func fid2pathKey(b *builder) blob {
	var out blob
	out.put("key", raw([]byte("fid2path\x00\x00\x00\x00\x00\x00\x00\x00")))
	out.put("getinfo_fid2path", b.record("getinfo_fid2path", values{"gf_u.gf_root_fid": fids(1)}))
	return out
}

func fid2pathValue(b *builder) blob {
	return b.record("getinfo_fid2path", values{"gf_u.gf_path": "dir/file\x00"})
}

// quotaItems is a quota_iter buffer with limits in both halves.
func quotaItems(b *builder) blob {
	const half = 5120
	var out blob
	for _, part := range []string{"metadata", "data"} {
		for i := range 2 {
			out.put(part+index(i)+".id", b.number(b.value(8), 8))
			out.put(part+index(i)+".rec", b.record("lquota_glb_rec", nil))
		}
		out.fill(half)
	}
	return out
}

// quotaUsage is a quota_iter buffer with usage.
func quotaUsage(b *builder) blob {
	var out blob
	for i := range 3 {
		out.put("entries"+index(i)+".id", b.number(b.value(8), 8))
		out.put("entries"+index(i)+".rec", b.record("lquota_acct_rec", nil))
	}
	out.fill(10240)
	return out
}

// buffer builds a buffer: as the case has it, or as its kind says.
func (c *synthetic) buffer(b *builder, form *factForm, reply bool, buf facts.Buffer, given bufs) blob {
	x, isGiven := given[buf.Name]
	switch x := x.(type) {
	case string:
		return raw([]byte(x))
	case func(*builder) blob:
		return x(b)
	case blob:
		return x
	}
	v, _ := x.(values)
	if isGiven && x == nil || v == nil && (buf.Size == "0" || strings.HasPrefix(buf.Size, "0 ")) {
		return blob{}
	}
	if build := c.special(form, reply, buf); build != nil {
		return build(b)
	}
	return c.ofKind(b, buf, v)
}

// special builds the buffers whose kind says too little.
func (c *synthetic) special(form *factForm, reply bool, buf facts.Buffer) func(*builder) blob {
	switch buf.Name {
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
		if form.variant == "inline" || buf.Name == "batch_update_reply" {
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
		if form.variant == "GETXATTR" {
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
func (c *synthetic) ofKind(b *builder, buf facts.Buffer, v values) blob {
	if strings.Contains(buf.Size, "little-endian") {
		return b.little(func() blob { return c.ofKind(b, facts.Buffer{Name: buf.Name, Holds: buf.Holds}, v) })
	}
	kind := buf.Holds
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
		return str(b.text(buf.Name))
	case "__u32":
		return b.number(b.value(4), 4)
	case "__u64":
		return b.number(b.value(8), 8)
	case "array of __u32":
		return b.numbers(3, 4)
	}
	return raw([]byte(b.text(buf.Name)))
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
			assert.That(t, seen[fact] || notSeen[fact] != "" || c.inside(s, &s.fields[i], seen), "no message has %s", fact)
		}
	}
}

// inside reports whether what is inside a member stands for it: the member is a struct or a union, or
// a field of its elements was seen.
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
