package dissect

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/facts"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// synthetic makes all messages of messages.tsv and holds the trees to what was
// put into them.
type synthetic struct {
	f         *factTables
	summaries []byte // what the lines say about each message

	whole map[string]string // what the line of the first message of a kind says
}

func (c *synthetic) formNamed(b *builder, name string) *factForm {
	for _, f := range b.forms {
		if f.name+" "+f.variant == name {
			return f
		}
	}
	panic("no form " + name)
}

// TestSyntheticMessages decodes every message of the facts, both directions
// and byte orders.
func TestSyntheticMessages(t *testing.T) {
	c := &synthetic{f: readFacts(t), whole: make(map[string]string)}
	seen := make(map[string]bool)
	for _, form := range c.f.forms {
		if form.variant == "BUT_GETATTR" {
			continue // inside MDS_BATCH
		}
		for _, one := range c.cases(form) {
			for _, big := range []bool{false, true} {
				name := strings.TrimSuffix(fmt.Sprintf("%s %s/%s", form.name, form.variant, one.name), "/")
				if big {
					name += " big"
				}
				t.Run(name, func(t *testing.T) { c.exchange(t, form, one, big, seen) })
			}
		}
	}
	if !t.Failed() {
		c.coverage(t, seen)
		wiretest.Golden(t, "testdata/summaries.txt", string(c.summaries))
	}
}

// cases are the forms in which a message is built: as usual, each member of
// its unions, and what extraCases has.
func (c *synthetic) cases(form *factForm) []synthCase {
	all := []synthCase{{}}
	all = append(all, extraCases[form.name+" "+form.variant]...)
	for i, list := range [][]facts.Buffer{form.request, form.reply} {
		for _, buf := range list {
			kinds, ok := strings.CutPrefix(buf.Holds, "union: ")
			if !ok || strings.HasPrefix(buf.Size, "0") || buf.Name == "dlm_lvb" && form.name != "LDLM_ENQUEUE" {
				continue
			}
			for _, kind := range strings.Split(kinds, " | ")[1:] {
				one := synthCase{name: buf.Name + " " + kind}
				part := bufs{buf.Name: layout(kind)}
				if buf.Name == "eadata" && kind == "lov_comp_md_v1" {
					part[buf.Name] = userComposite
				}
				if buf.Name == "mdt_md" {
					part["mdt_body"] = values{"mbo_valid": c.validFor(kind)}
				}
				if i == 0 {
					one.request = part
				} else {
					one.reply = part
				}
				all = append(all, one)
			}
		}
	}
	return all
}

// validFor is mbo_valid of a reply with that kind of layout.
func (c *synthetic) validFor(kind string) uint64 {
	b := &builder{factTables: c.f}
	v, _ := b.usual("mdt_body.mbo_valid")
	valid := v.(uint64)
	if strings.HasPrefix(kind, "lmv_mds") || strings.HasPrefix(kind, "lmv_foreign") {
		valid |= c.f.number("OBD_MD_FLDIREA") | c.f.number("OBD_MD_MEA")
	}
	if strings.HasPrefix(kind, "lmv_user") {
		valid |= c.f.number("OBD_MD_FLDIREA") | c.f.number("OBD_MD_DEFAULT_MEA")
	}
	return valid
}

// exchange sends a request and its reply and looks at both trees.
func (c *synthetic) exchange(t *testing.T, form *factForm, one synthCase, big bool, seen map[string]bool) {
	b := &builder{factTables: c.f, big: big}
	request := c.message(b, form, false, one)
	reply := c.message(b, form, true, one)
	kinds := 0
	send(t, request.data, reply.data, func(m *Message) {
		if !big {
			c.summarize(form, m, "")
		}
		switch m.Kind {
		case lnet.Request:
			check(t, m, request.wants, seen)
			kinds++
		case lnet.Reply:
			check(t, m, reply.wants, seen)
			kinds++
		}
	})
	assert.Equal(t, kinds, 2, "of 2 messages")
	if one.name != "" || big {
		return
	}
	failed := bytes.Clone(reply.data)
	binary.LittleEndian.PutUint32(failed[bodyOf(failed)+opcodes.PbStatus.Off:], ^uint32(1))
	send(t, emptied(request.data), emptied(reply.data), func(m *Message) { c.summarize(form, m, " empty") })
	for i := 1; i < max(len(form.request), len(form.reply)); i++ {
		send(t, halved(request.data, i), halved(reply.data, i), func(m *Message) { c.summarize(form, m, " half "+strconv.Itoa(i)) })
	}
	send(t, request.data, failed, func(m *Message) {
		if m.Kind == lnet.Reply {
			c.summarize(form, m, " failed")
		}
	})
}

// summarize adds what the line of a message says about its content to the golden file; of a message with a shorter
// buffer only where it is another line than that of the whole message.
func (c *synthetic) summarize(form *factForm, m *Message, how string) {
	text, about := summary(&Tree{}, m), fmt.Sprint(form.name, " ", form.variant, m.Kind)
	switch half := strings.HasPrefix(how, " half"); {
	case m.Kind == lnet.Unknown || half && text == c.whole[about] || !half && text == "":
		return
	case how == "" && c.whole[about] == "":
		c.whole[about] = text
	}
	line := fmt.Appendf(nil, "%s %s%s %s: %s\n", form.name, form.variant, how, m.Kind, text)
	variant, _, _ := strings.Cut(form.variant, ":")
	if v := m.RPC.Variant; v != nil && v.Name != strings.TrimPrefix(variant, "-") {
		line = fmt.Appendf(nil, "%s %s%s %s, taken for %q: %s\n", form.name, form.variant, how, m.Kind, v.Name, text)
	}
	if !bytes.Contains(c.summaries, line) {
		c.summaries = append(c.summaries, line...)
	}
}

// bodyOf is where the first buffer of a message begins.
func bodyOf(message []byte) int { return (32 + 4*int(binary.LittleEndian.Uint32(message)) + 7) / 8 * 8 }

// emptied is a message in which all buffers behind the first one are empty.
func emptied(message []byte) []byte {
	body := bodyOf(message)
	short := bytes.Clone(message[:body+int(binary.LittleEndian.Uint32(message[32:]))])
	clear(short[36:body])
	return short
}

// halved is a message in which one buffer has half of its length.
func halved(message []byte, buffer int) []byte {
	count := int(binary.LittleEndian.Uint32(message))
	if buffer >= count {
		return message
	}
	half := bytes.Clone(message[:bodyOf(message)])
	at := bodyOf(message)
	for i := range count {
		size := int(binary.LittleEndian.Uint32(message[32+4*i:]))
		data := message[at : at+size]
		if at += (size + 7) &^ 7; i == buffer {
			data = data[:size/2]
			binary.LittleEndian.PutUint32(half[32+4*i:], uint32(size/2))
		}
		half = append(half, data...)
		half = append(half, make([]byte, -len(data)&7)...)
	}
	return half
}

// summary is what the line of a message says about its content.
func summary(tree *Tree, m *Message) string {
	msg, complete := tree.ParseRPC(m)
	if !complete || msg.Variant == nil {
		return ""
	}
	summarize := msg.Variant.SummarizeRequest
	if m.Kind == lnet.Reply {
		summarize = msg.Variant.SummarizeReply
	}
	if summarize == nil {
		return ""
	}
	var l schema.Line
	summarize(msg, &l)
	l.DropLabel()
	return strings.TrimSpace(string(l.Text))
}

// synthXID is the xid of the messages here.
const synthXID = 1883108012032128

// send runs a request and its reply through a Dissector.
func send(t *testing.T, request, reply []byte, handle func(*Message)) {
	t.Helper()
	w := wiretest.Socklnd{Version: 3}
	tape := wiretest.NewConn().Open().Greet(w)
	tape.Send(false, w.PutAt(false, wiretest.RequestPortal, synthXID, 0, request))
	tape.Send(true, w.PutAt(true, wiretest.ReplyPortal, synthXID, 224, reply))
	wiretest.Play(New(Options{Handle: handle}), tape.Frames)
}

// message builds a request or reply.
func (c *synthetic) message(b *builder, form *factForm, reply bool, one synthCase) blob {
	parts, names := c.buffers(b, form, reply, one)
	head := values{"lm_secflvr": 0, "lm_opc": 0, "lm_flags": 3}
	return b.packMessage("lustre_msg", head, names, parts)
}

// buffers builds the buffers of a message, the bodies after those that they
// give the size of.
func (c *synthetic) buffers(b *builder, form *factForm, reply bool, one synthCase) (parts []blob, names []string) {
	list, given := form.request, with(c.f.base(form), one.request)
	if reply {
		list, given = form.reply, with(c.f.base(form), one.reply)
	}
	parts, names = make([]blob, 0, len(list)), make([]string, 0, len(list))
	for _, buf := range list {
		for len(parts) <= buf.Index {
			parts, names = append(parts, blob{}), append(names, "")
		}
		names[buf.Index] = "buffers." + buf.Name
		switch buf.Name {
		case "mdt_body":
		case "ptlrpc_body":
			names[buf.Index] = "ptlrpc_body"
			parts[buf.Index] = c.body(b, form, reply)
		default:
			parts[buf.Index] = c.buffer(b, form, reply, buf, given)
		}
	}
	for _, buf := range list {
		if buf.Name == "mdt_body" {
			v, _ := given["mdt_body"].(values)
			parts[buf.Index] = b.record("mdt_body", with2(v, c.sizes(list, parts, reply)))
		}
	}
	return parts, names
}

func with2(v, more values) values {
	all := values{}
	for k, x := range more {
		all[k] = x
	}
	for k, x := range v {
		all[k] = x
	}
	return all
}

// sizes are the fields of a mdt_body that tell the sizes of other buffers.
func (c *synthetic) sizes(list []facts.Buffer, parts []blob, reply bool) values {
	v := values{}
	if !reply {
		return v
	}
	for _, buf := range list {
		n := len(parts[buf.Index].data)
		switch {
		case n == 0:
		case buf.Name == "mdt_md" || buf.Name == "eadata":
			v["mbo_eadatasize"] = n
		case buf.Name == "acl" || buf.Name == "eavals":
			v["mbo_aclsize"] = n
		case buf.Name == "eavals_lens":
			v["mbo_max_mdsize"] = n / 4
		}
	}
	return v
}

func (c *synthetic) body(b *builder, form *factForm, reply bool) blob {
	v := values{"pb_type": 4711, "pb_opc": uint64(form.opcode), "pb_status": 0, "pb_version": 0x00030003, "pb_flags": 0x600, "pb_transno": 0,
		"pb_mbits": uint64(synthXID)}
	if reply {
		v["pb_type"] = 4713
		v["pb_transno"] = b.value(8)
	}
	return b.record("ptlrpc_body_v3", v)
}

// check holds a tree to the values that were put into its message.
func check(t *testing.T, m *Message, wants []want, seen map[string]bool) {
	t.Helper()
	var tree Tree
	tree.Build(m)
	for _, n := range tree.Notes {
		t.Errorf("%s: note %s: %s", m.Kind, n.Code, n.Text)
	}
	nodes := paths(&tree)
	for _, w := range wants {
		if nodes[w.path] == nil && replaced(m, &tree, nodes, w) {
			continue
		}
		checkNode(t, m, &tree, nodes[w.path], w)
		seen[w.fact] = true
	}
}

// replaced reports whether a value means nothing in the message: another member
// of its union is in use, or it is of a default layout and the layout is none.
func replaced(m *Message, tree *Tree, nodes map[string]*Node, w want) bool {
	if strings.HasPrefix(w.fact, "lmv_user_md_v1.lum_max_inherit") {
		return nodes["buffers.rec_reint"] != nil
	}
	off := m.PayloadOff + w.off
	return leftover(w.fact) && slices.ContainsFunc(tree.Nodes, func(n Node) bool {
		return n.Src == InMessage && int(n.Off) == off && int(n.Len) == len(w.bytes)
	})
}

// checkNode holds a node to the value that was put there.
func checkNode(t *testing.T, m *Message, tree *Tree, n *Node, w want) {
	t.Helper()
	if n == nil {
		t.Errorf("%s: no %s (%s)", m.Kind, w.path, w.fact)
		return
	}
	if got := tree.Bytes(n); !bytes.Equal(got, w.bytes) && !bytes.Equal(schema.TrimNUL(got), schema.TrimNUL(w.bytes)) {
		t.Errorf("%s: %s is %x, not %x", m.Kind, w.path, got, w.bytes)
	}
	base := m.PayloadOff
	if n.Src == InContent {
		base = 0
	}
	assert.Equal(t, int(n.Off), base+w.off, m.Kind, w.path, w.off)
	if n.Field.Kind <= schema.Int && len(w.bytes) <= 8 {
		shift := 64 - 8*len(w.bytes)
		assert.Equal(t, n.Val<<shift>>shift, schema.ReadUint(w.bytes, w.big), m.Kind, w.path, n.Val)
	} else if n.Is(BigEndian) != w.big && n.Field.Kind == schema.Record {
		t.Errorf("%s: %s big-endian: %v", m.Kind, w.path, n.Is(BigEndian))
	}
	assert.That(t, !n.Is(NotValid) || leftover(w.fact), "%s: %s is a leftover: no bit that its When names is set. Words of flags on which "+
		"fields of validity.tsv depend have all bits; else give the word of %s a value in usual or bases", m.Kind, w.path, w.fact)
}

// paths finds the nodes of a tree by their places in it.
func paths(tree *Tree) map[string]*Node {
	all := make(map[string]*Node, len(tree.Nodes))
	var stack [64]string
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		path := ""
		if n.Depth > 0 {
			path = stack[n.Depth-1]
		}
		if n.Index >= 0 {
			path += index(int(n.Index))
		} else {
			path = under(path, n.Name())
		}
		stack[n.Depth] = path
		if all[path] == nil {
			all[path] = n
		}
	}
	return all
}

// prefer are the members that stand for a place which others share, unless a
// case chooses another one.
var prefer = map[string]bool{
	"lov_comp_md_entry_v1.lcme_timestamp":      true,
	"lov_comp_md_entry_v1.lcme_mirror_link_id": true,
	"lov_mds_md_v1.lmm_layout_gen":             true,
	"lov_ost_data_v1.l_ost_gen":                true,
	"lov_user_ost_data_v1.l_ost_gen":           true,
	"ldlm_wire_policy_data.l_inodebits":        true,
	"mgs_config_body.mcb_rec_nid_size":         true,
	"lfsck_request.lr_status":                  true,
}

// bodyValid are the bits of mbo_valid that say something about other buffers;
// cases set them.
var bodyValid = []string{"OBD_MD_LINKNAME", "OBD_MD_MEA", "OBD_MD_DEFAULT_MEA", "OBD_MD_FLDIREA", "OBD_MD_NAMEHASH",
	"OBD_MD_FLCROSSREF", "OBD_MD_MDS", "OBD_MD_FLXATTRLS"}

// usual is what stands in a field when a case does not say.
func (b *builder) usual(field string) (any, bool) {
	if magic, ok := b.factTables.magics[field]; ok {
		return magic, true
	}
	if field == "obdo.o_valid" { // no checksum: o_nlink is there
		return ^b.factTables.number("OBD_MD_FLCKSUM"), true
	}
	if field != "mdt_body.mbo_valid" && (b.factTables.words[field] || strings.HasSuffix(field, "_valid")) {
		return ^uint64(0), true
	}
	pair := func(kind string) any { return func(b *builder) blob { return b.list(2, kind, nil) } }
	switch field {
	case "mdt_body.mbo_valid":
		valid := ^uint64(0)
		for _, name := range bodyValid {
			valid &^= b.factTables.number(name)
		}
		return valid, true
	case "mdt_body.mbo_mode", "mdt_rec_create.cr_mode":
		return 0o100644, true
	case "obdo.o_flags":
		return b.value(4) &^ b.factTables.number("OBD_FL_SHORT_IO"), true
	case "mdt_rec_create.cr_flags_h":
		return b.value(4) &^ (b.factTables.number("MDS_OPEN_PCC") >> 32), true
	case "ldlm_request.lock_handle":
		return handles(2), true
	case "ldlm_request.lock_count", "lov_mds_md_v1.lmm_stripe_count", "lov_mds_md_v3.lmm_stripe_count",
		"lov_user_md_v1.lmm_stripe_count", "lov_user_md_v3.lmm_stripe_count", "lmv_mds_md_v1.lmv_stripe_count",
		"lmv_user_md_v1.lum_stripe_count", "fiemap.fm_mapped_extents", "fiemap.fm_extent_count",
		"lu_seq_range_array.lsra_count", "ladvise_hdr.lah_count", "hsm_request.hr_itemcount":
		return 2, true
	case "lov_mds_md_v1.lmm_pattern", "lov_mds_md_v3.lmm_pattern", "lov_user_md_v1.lmm_pattern", "lov_user_md_v3.lmm_pattern":
		return b.factTables.number("LOV_PATTERN_RAID0"), true
	case "ldlm_resource_desc.lr_type":
		return b.factTables.number("LDLM_IBITS"), true
	case "lov_mds_md_v1.lmm_objects", "lov_mds_md_v3.lmm_objects":
		return pair("lov_ost_data_v1"), true
	case "lov_user_md_v3.lmm_objects":
		return pair("lov_user_ost_data_v1"), true
	case "lmv_user_md_v1.lum_objects":
		return pair("lmv_user_mds_data"), true
	case "lu_seq_range_array.lsra_lsr":
		return pair("lu_seq_range"), true
	case "fiemap.fm_extents":
		return pair("fiemap_extent"), true
	case "posix_acl_xattr_header.a_entries":
		return pair("posix_acl_xattr_entry"), true
	case "posix_acl_xattr_header.a_version":
		return 2, true
	case "lmv_mds_md_v1.lmv_stripe_fids":
		return fids(2), true
	case "lov_foreign_md.lfm_length", "lmv_foreign_md.lfm_length":
		return 12, true
	case "lov_foreign_md.lfm_value", "lmv_foreign_md.lfm_value":
		return "foreignvalue", true
	case "obd_quotactl.qc_poolname":
		return "pool-of-sixteen\x00", true
	}
	return nil, false
}

func handles(n int) func(*builder) blob { return several(n, "lustre_handle") }
func fids(n int) func(*builder) blob    { return several(n, "lu_fid") }

// several is n atoms in a row.
func several(n int, atom string) func(*builder) blob {
	return func(b *builder) blob {
		var all blob
		for i := range n {
			all.put(index(i), atoms[atom](b))
		}
		return all
	}
}

// packMessage puts buffers into a lustre_msg; the paths of the buffers are
// below the names given, those of the header below head.
func (b *builder) packMessage(head string, v values, names []string, bufs []blob) blob {
	var lens, out blob
	for i, part := range bufs {
		lens.put(index(i), b.number(uint64(len(part.data)), 4))
	}
	v["lm_bufcount"] = len(bufs)
	v["lm_buflens"] = lens
	out.put(head, b.record("lustre_msg_v2", v))
	out.fill(8)
	for i, part := range bufs {
		out.put(names[i], part)
		out.fill(8)
	}
	return out
}
