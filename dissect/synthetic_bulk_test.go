package dissect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/facts"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

const pageBytes = 4096

// page fills a blob up to a page.
func page(b blob) blob {
	b.data = append(b.data, make([]byte, pageBytes-len(b.data))...)
	return b
}

// indexPage is a page of entries, each a key and a record.
func (b *builder) indexPage(entries ...blob) blob {
	out := b.record("lu_idxpage", values{"lip_nr": len(entries), "lip_flags": 1})
	for i, e := range entries {
		out.put("entries"+index(i), e)
	}
	var all blob
	all.put("content.pages[0]", page(out))
	return all
}

// nodemapPage has a record of each kind; the key says which.
func nodemapPage(b *builder) blob {
	var entries []blob
	for _, r := range []struct {
		kind, subid int
		key, rec    string
	}{
		{1, 0, "nk_cluster_subid", "ncr"}, {1, 1, "nk_cluster_subid", "ncrr"}, {1, 2, "nk_cluster_subid", "nor"},
		{1, 3, "nk_cluster_subid", "nucr"}, {1, 0x200, "nk_cluster_subid", "nfhr"}, {1, 0x201, "nk_cluster_subid", "nfr"},
		{2, 7, "nk_range_id", "nrr"}, {6, 8, "nk_range_id", "nrr2"}, {3, 500, "nk_id_client", "nir"}, {15, 9, "nk_unused", "ngr"},
	} {
		entries = append(entries, b.little(func() blob {
			return b.record("idxpage_nodemap_entry", values{"key.nk_nodemap_id": r.kind<<28 | 1, "key.+" + r.key: r.subid, "rec.+" + r.rec: nil})
		}))
	}
	return b.indexPage(entries...)
}

func quotaPage(b *builder) blob {
	return b.indexPage(b.record("idxpage_quota_entry", nil), b.record("idxpage_quota_entry", nil))
}

// nidTable has a target with small NIDs and one with large ones.
func nidTable(b *builder) blob {
	var all blob
	for i, large := range []int{0, 1} {
		nids, size, name := func(b *builder) blob { return b.numbers(2, 8) }, 8, "u.nids"
		if large == 1 {
			nids, size, name = several(2, "lnet_nid"), 20, "u.nidlist"
		}
		all.put("content.entries"+index(i), b.record("mgs_nidtbl_entry", values{"mne_length": 24 + 2*size, "mne_nid_type": large,
			"mne_nid_size": size, "mne_nid_count": 2, name: nids}))
	}
	return all
}

// directoryPage has two entries, the second the last.
func directoryPage(b *builder) blob {
	out := b.record("lu_dirpage", values{"ldp_flags": 0})
	for i, name := range []string{"first", "second"} {
		e := b.little(func() blob {
			return b.record("lu_dirent", values{"lde_reclen": 48 * (1 - i), "lde_namelen": len(name), "lde_attrs": 0, "lde_name": name})
		})
		e.fill(8)
		if i == 0 {
			e.data = append(e.data, "removed\x00"...) // of an entry that was there before
		}
		out.put("entries"+index(i), e)
	}
	var all blob
	all.put("content.pages[0]", page(out))
	return all
}

var bulkCases = []struct {
	form    string
	portal  uint32
	request map[string]any
	data    func(*builder) blob
}{
	{"MGS_CONFIG_READ nodemap", 33, nil, nodemapPage},
	{"MGS_CONFIG_READ recover", 33, nil, nidTable},
	{"OBD_IDX_READ -", 14, bufs{"idx_info": values{"ii_flags": 1, "ii_keysize": 8, "ii_recsize": 32, "ii_fid": quotaIndex}}, quotaPage},
	{"MDS_READPAGE -", 14, nil, directoryPage},
}

// quotaIndex is the FID of the index of user quota of blocks.
func quotaIndex(b *builder) blob {
	p := append(encode(quotaSeq, 8, b.big), encode(0x20000, 4, b.big)...)
	return blob{append(p, 0, 0, 0, 0), nil}.whole(b.big)
}

// TestSyntheticBulk decodes bulk data that mean something.
func TestSyntheticBulk(t *testing.T) {
	c := &synthetic{f: readFacts(t)}
	for _, one := range bulkCases {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s big=%v", one.form, big), func(t *testing.T) {
				b := &builder{factTables: c.f, big: big}
				request := c.message(b, c.formNamed(b, one.form), false, synthCase{request: one.request})
				data := one.data(b)
				w := wiretest.Socklnd{Version: 3}
				tape := wiretest.NewConn().Open().Greet(w)
				tape.Send(false, w.PutAt(false, wiretest.RequestPortal, synthXID, 0, request.data))
				tape.Send(true, w.PutAt(true, one.portal, synthXID, 0, data.data))
				found := false
				d := New(Options{Handle: func(m *Message) {
					if m.Kind == lnet.Bulk {
						found = true
						check(t, m, data.wants, map[string]bool{})
					}
				}})
				wiretest.Play(d, tape.Frames)
				assert.That(t, found, "no bulk data")
			})
		}
	}
}

// logRecords is a block of a log with a record of each type.
func logRecords(b *builder) blob {
	var out blob
	i := 0
	add := func(part blob) {
		part.fill(8)
		out.put("records"+index(i), part)
		i++
	}
	for _, r := range []struct{ kind, prefix, name string }{
		{"llog_unlink_rec", "lur", "MDS_UNLINK_REC"},
		{"llog_unlink64_rec", "lur", "MDS_UNLINK64_REC"},
		{"llog_setattr64_rec", "lsr", "MDS_SETATTR64_REC"},
		{"llog_setattr64_rec_v2", "lsr", "MDS_SETATTR64_REC"},
		{"llog_size_change_rec", "lsc", "OST_SZ_REC"},
		{"llog_logid_rec", "lid", "LLOG_LOGID_MAGIC"},
		{"llog_gen_rec", "lgr", "LLOG_GEN_REC"},
		{"llog_changelog_user_rec", "cur", "CHANGELOG_USER_REC"},
		{"llog_changelog_user_rec2", "cur", "CHANGELOG_USER_REC2"},
	} {
		v := values{r.prefix + "_hdr.lrh_len": b.structs[r.kind].size, r.prefix + "_hdr.lrh_type": b.factTables.number(r.name)}
		add(b.record(r.kind, v))
	}
	add(b.agentRecord())
	add(b.changelog(0xc000|0x2000, 0x1f&^0x10))
	add(b.changelog(0x8000, 0x12))
	add(b.changelogMark())
	add(b.configRecord(0xcf001, str("lustre-client"), str("lov"), str("lustre-clilov_UUID")))
	add(b.configRecord(0xcf010, str(""), b.record("cfg_marker", nil)))
	add(b.configRecord(0xcf010, str(""), b.oldMarker()))
	add(b.updateRecord())
	return out
}

// logRecord puts header and tail around what a record has.
func (b *builder) logRecord(kind, header, tail string, body blob) blob {
	body.fill(8)
	n := 16 + len(body.data) + 8
	var out blob
	out.put(header, b.record("llog_rec_hdr", values{"lrh_len": n, "lrh_type": b.factTables.number(kind)}))
	out.put("", body)
	out.put(tail, b.record("llog_rec_tail", values{"lrt_len": n}))
	return out
}

// agentRecord has an action with data behind it: the tail moves.
func (b *builder) agentRecord() blob {
	all := b.record("llog_agent_req_rec", values{"arr_hai.hai_len": 80})
	const hdr, hai = 16, 56
	var body blob
	for _, w := range all.wants {
		if w.off >= hdr && w.off < hai {
			w.off -= hdr
			body.wants = append(body.wants, w)
		}
	}
	body.data = append(body.data, all.data[hdr:hai]...)
	body.put("arr_hai", b.record("hsm_action_item", values{"hai_len": 80, "hai_data": "tooldata"}))
	return b.logRecord("HSM_AGENT_REC", "arr_hdr", "arr_tail", body)
}

// changelog is a record with the extensions that the flags name.
func (b *builder) changelog(flags, extra int) blob {
	name, old := "new name", "old name"
	size := len(name)
	if flags&0x2000 != 0 {
		size += 1 + len(old)
	}
	var body blob
	body.put("cr", b.record("changelog_rec", values{"cr_flags": flags | 0x1000, "cr_type": 8, "cr_namelen": size}))
	part := func(key, kind string, v values) { body.put(key, b.record(kind, v)) }
	if flags&0x2000 != 0 {
		part("rename", "changelog_ext_rename", nil)
	}
	if flags&0x4000 != 0 {
		part("jobid", "changelog_ext_jobid", nil)
	}
	part("extra_flags", "changelog_ext_extra_flags", values{"cr_extra_flags": extra})
	if extra&1 != 0 {
		part("uidgid", "changelog_ext_uidgid", nil)
	}
	if extra&2 != 0 {
		if extra&0x10 != 0 {
			body.put("nid.cr_nid_be", atoms["lnet_nid"](b))
			body.data = append(body.data, 0, 0, 0, 0)
		} else {
			part("nid", "changelog_ext_nid", nil)
		}
	}
	if extra&4 != 0 {
		part("openmode", "changelog_ext_openmode", nil)
	}
	if extra&8 != 0 {
		part("xattr", "changelog_ext_xattr", nil)
	}
	body.put("cr_name", raw([]byte(name)))
	if flags&0x2000 != 0 {
		body.data = append(body.data, 0)
		body.put("cr_sname", raw([]byte(old)))
	}
	return b.logRecord("CHANGELOG_REC", "cr_hdr", "cr_do_not_use", body)
}

// changelogMark is a record that says that the changelog was switched.
func (b *builder) changelogMark() blob {
	var body blob
	body.put("cr", b.record("changelog_rec", values{"cr_flags": 0x1000, "cr_type": 0, "cr_namelen": 0, "+cr_markerflags": nil}))
	return b.logRecord("CHANGELOG_REC", "cr_hdr", "cr_do_not_use", body)
}

// configRecord is a configuration command with its arguments.
func (b *builder) configRecord(command int, args ...blob) blob {
	var lens, list blob
	for i, a := range args {
		lens.put(index(i), b.number(uint64(len(a.data)), 4))
		list.put("lcfg_bufs"+index(i), a)
		list.fill(8)
	}
	var body blob
	body.put("cfg", b.record("lustre_cfg", values{"lcfg_command": command, "lcfg_bufcount": len(args), "lcfg_buflens": lens}))
	body.fill(8)
	body.put("cfg", list)
	return b.logRecord("OBD_CFG_REC", "cfg_hdr", "cfg_tail", body)
}

// oldMarker is a cfg_marker of a 32-bit server: its times have 4 bytes.
func (b *builder) oldMarker() blob {
	var out blob
	for _, f := range b.structs["cfg_marker"].fields {
		size := f.size
		if f.kind == "__s64" {
			size = 4
		}
		if f.count > 0 {
			p := make([]byte, size)
			copy(p, b.text("marker"))
			out.put(f.name, raw(p))
			continue
		}
		out.put(f.name, b.number(b.value(size), size))
	}
	return out
}

// updateRecord is a distributed operation of one step with one parameter.
func (b *builder) updateRecord() blob {
	body := blob{}
	op := b.record("update_op", values{"uop_type": b.factTables.number("OUT_XATTR_DEL"), "uop_param_count": 1})
	op.put("uop_params_off[0]", b.number(0, 2))
	body.put("lur_update_rec", b.record("update_records", values{"ur_update_count": 1, "ur_param_count": 1}))
	body.put("lur_update_rec.ur_ops.uops_op[0]", op)
	param := b.record("object_update_param", values{"oup_len": 10})
	param.put("oup_buf", str("user.name"))
	param.fill(8)
	body.put("lur_update_rec.ur_params.up_params[0]", param)
	return b.logRecord("UPDATE_REC", "lur_hdr", "lur_tail", body)
}

// olderCases are messages as older or newer releases send them: what becomes
// of the buffers of a synthetic message, and the notes that may be made.
var olderCases = []struct {
	name, form string
	reply      bool
	change     func(parts []blob) []blob
	notes      []string
	gone       string // what begins with it is not there
}{
	{name: "body without job id", form: "OST_STATFS -", reply: true, change: cutAt(0, 152), gone: "ptlrpc_body.pb_jobid"},
	{name: "connect data of 72 bytes", form: "MDS_CONNECT -", change: cutAt(4, 72), gone: "buffers.connect_data."},
	{name: "value block of 40 bytes", form: "LDLM_ENQUEUE extent", reply: true, change: cutAt(2, 40), gone: "buffers.dlm_lvb.lvb_"},
	{name: "swap of 8 bytes", form: "MDS_SWAP_LAYOUTS -", change: cutAt(2, 8), gone: "buffers.swap_layouts.msl_dv"},
	{name: "quotactl without pool", form: "OST_QUOTACTL -", change: cutAt(1, 112), gone: "buffers.obd_quotactl.qc_poolname"},
	{name: "fewer buffers in a request", form: "MDS_REINT CREATE", change: firstBufs(6), gone: "buffers."},
	{name: "fewer buffers in a reply", form: "MDS_GETATTR -", reply: true, change: firstBufs(6), gone: "buffers."},
	{name: "a failed open", form: "LDLM_ENQUEUE OPEN", reply: true, change: firstBufs(2), gone: "buffers."},
	{name: "open of 2.12", form: "LDLM_ENQUEUE OPEN", reply: true, change: firstBufs(9), gone: "buffers."},
	{name: "body alone", form: "MDS_STATFS -", reply: true, change: firstBufs(1), gone: "buffers."},
	{name: "lock with one handle", form: "LDLM_CANCEL -", change: cutAt(1, 96), gone: "buffers.dlm_req.lock_handle[1]"},
	{name: "an unknown buffer more", form: "OST_STATFS -", reply: true, change: more(raw([]byte("of a newer release"))), notes: []string{"tail"}},
	{name: "an empty buffer more", form: "OST_STATFS -", reply: true, change: more(blob{})},
	{name: "a longer struct", form: "OST_STATFS -", reply: true, change: longer(1, "newer!!!"), notes: []string{"tail"}},
	{name: "a longer body", form: "OBD_PING -", change: longer(0, "newer!!!"), notes: []string{"tail"}},
	{name: "a longer struct with nothing in it", form: "OST_STATFS -", reply: true, change: longer(1, "\x00\x00\x00\x00\x00\x00\x00\x00")},
	{name: "longer connect data", form: "OST_CONNECT -", change: longer(4, "newer!!!"), notes: []string{"tail"}},
	{name: "a shorter struct", form: "OST_STATFS -", reply: true, change: cutAt(1, 100), notes: []string{"short"}, gone: "buffers.obd_statfs."},
}

// cutAt takes the end off a buffer.
func cutAt(buf, size int) func([]blob) []blob {
	return func(parts []blob) []blob {
		p := &parts[buf]
		p.data = p.data[:size]
		p.wants = slices.DeleteFunc(p.wants, func(w want) bool { return w.off+len(w.bytes) > size })
		return parts
	}
}

func firstBufs(n int) func([]blob) []blob { return func(parts []blob) []blob { return parts[:n] } }

func more(extra blob) func([]blob) []blob {
	return func(parts []blob) []blob { return append(parts, blob{data: extra.data}) }
}

func longer(buf int, tail string) func([]blob) []blob {
	return func(parts []blob) []blob {
		parts[buf].data = append(parts[buf].data, tail...)
		return parts
	}
}

// TestOlderAndNewerForms decodes messages whose buffers are shorter, longer,
// fewer or more than those of the release that the tables describe.
func TestOlderAndNewerForms(t *testing.T) {
	c := &synthetic{f: readFacts(t)}
	for _, one := range olderCases {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s big=%v", one.name, big), func(t *testing.T) {
				b := &builder{factTables: c.f, big: big}
				form := c.formNamed(b, one.form)
				messages := []blob{c.message(b, form, false, synthCase{}), c.message(b, form, true, synthCase{})}
				which, kind := 0, lnet.Request
				if one.reply {
					which, kind = 1, lnet.Reply
				}
				parts, names := c.buffers(b, form, one.reply, synthCase{})
				parts = one.change(parts)
				messages[which] = b.packMessage("lustre_msg", values{"lm_secflvr": 0, "lm_flags": 3},
					append(names, "buffers.buffer")[:len(parts)], parts)
				send(t, messages[0].data, messages[1].data, func(m *Message) {
					if m.Kind == kind {
						checkForm(t, m, messages[which].wants, one.notes, one.gone)
					}
				})
			})
		}
	}
}

// checkForm holds that what was sent is there, and nothing else of what is
// gone.
func checkForm(t *testing.T, m *Message, wants []want, notes []string, gone string) {
	t.Helper()
	var tree Tree
	tree.Build(m)
	var codes []string
	for _, n := range tree.Notes {
		codes = append(codes, n.Code)
	}
	assert.Slice(t, codes, notes, "notes", tree.Notes)
	nodes := paths(&tree)
	sent := make(map[string]bool)
	for _, w := range wants {
		sent[w.path] = true
		if nodes[w.path] == nil && replaced(m, &tree, nodes, w) {
			continue
		}
		checkNode(t, m, &tree, nodes[w.path], w)
	}
	for path, n := range nodes {
		if gone != "" && strings.HasPrefix(path, gone) && &tree.Nodes[n.End-1] == n && !sent[path] && !n.Is(Missing) && n.Src == InMessage {
			t.Errorf("%s is there", path)
		}
	}
}

// The facts about the wire, as the tables of ../opcodes/testdata state them.
// Synthetic messages are built from them alone, so that a mistake in our own
// declarations cannot hide itself.

// factField is a member of a struct.
type factField struct {
	name      string
	off, size int
	kind      string // its C type
	count     int    // elements of an array; 0: none, -1: as many as there are
}

// factStruct is a struct or union of the wire.
type factStruct struct {
	name   string
	size   int
	order  string // little, big, or empty: the sender's
	fields []factField
}

// factForm is a variant of an operation.
type factForm struct {
	name           string // OST_READ
	opcode         uint32
	variant        string // as in messages.tsv
	request, reply []facts.Buffer
}

type factTables struct {
	structs map[string]*factStruct
	numbers map[string]uint64
	words   map[string]bool   // words of flags that make fields valid, by struct and field
	magics  map[string]uint64 // what structs begin with, by struct and field: the note of the fact is its name
	forms   []*factForm
}

func readFacts(t testing.TB) *factTables {
	f := &factTables{structs: make(map[string]*factStruct), numbers: make(map[string]uint64), magics: make(map[string]uint64),
		words: make(map[string]bool)}
	tables, err := facts.Read("../opcodes/testdata")
	must.NoError(t, err)
	number := func(text string) int {
		return must.Value(strconv.Atoi(text))(t)
	}
	for _, row := range tables.Structs {
		if row[1] == "*" {
			f.structs[row[0]] = &factStruct{name: row[0], size: number(row[3]), order: orderOf(row[7])}
			continue
		}
		m := factField{name: row[1], off: number(row[2]), size: number(row[3]), kind: row[4]}
		if row[5] != "" {
			if n, err := strconv.Atoi(row[5]); err == nil {
				m.count = n
			} else {
				m.count = -1
			}
		}
		f.structs[row[0]].fields = append(f.structs[row[0]].fields, m)
	}
	for _, row := range tables.Constants {
		v := must.Value(strconv.ParseUint(row[2], 0, 64))(t)
		f.numbers[row[1]] = v
	}
	for _, row := range tables.Structs {
		if magic, ok := f.numbers[row[7]]; ok && (strings.HasSuffix(row[7], "_VERSION") || strings.Contains(row[7], "MAGIC")) {
			f.magics[row[0]+"."+row[1]] = magic
		}
	}
	for _, row := range tables.Validity {
		for condition := range strings.FieldsSeq(row[3]) {
			if word, _, isWord := strings.Cut(condition, "&"); isWord {
				f.words[row[0]+"."+strings.TrimPrefix(word, "!")] = true
			}
		}
	}
	buffers := must.Value(tables.MessageBuffers())(t)
	f.readForms(buffers)
	return f
}

func (f *factTables) readForms(buffers []facts.Buffer) {
	forms := make(map[string]*factForm)
	for _, b := range buffers {
		key := b.Operation + " " + b.Variant
		m := forms[key]
		if m == nil {
			m = &factForm{name: b.Operation, opcode: uint32(f.number(b.Operation)), variant: b.Variant}
			forms[key] = m
			f.forms = append(f.forms, m)
		}
		if b.Reply {
			m.reply = append(m.reply, b)
		} else {
			m.request = append(m.request, b)
		}
	}
}

// orderOf reads the rule of the byte order at the head of a struct.
func orderOf(rule string) string {
	switch {
	case strings.HasPrefix(rule, "little-endian"):
		return "little"
	case strings.HasPrefix(rule, "network"):
		return "big"
	}
	return ""
}

// number is a constant; a name that the facts lack is a mistake of the test.
func (f *factTables) number(name string) uint64 {
	v, ok := f.numbers[name]
	if !ok {
		panic("no constant " + name)
	}
	return v
}
