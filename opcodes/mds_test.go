package opcodes

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	. "github.com/lshark/lshark/opcodes/schema"
)

// reintRequest is a MDS_REINT request with the record in its place.
func reintRequest(op uint32, set func(rec []byte), more ...[]byte) *Msg {
	rec := make([]byte, 136)
	le.PutUint32(rec, op)
	le.PutUint64(rec[40:], 0x200000007) // first FID
	le.PutUint32(rec[48:], 1)
	if set != nil {
		set(rec)
	}
	m := &Msg{Opcode: MDS_REINT, RPC: ByOpcode(MDS_REINT), Bufs: append([][]byte{nil, rec}, more...)}
	m.Variant = pickReint(m)
	return m
}

func TestChangelogClearLine(t *testing.T) {
	for end, want := range map[uint64]string{0: "user cl1 all records", 7: "user cl1 up to record 7"} {
		val := le.AppendUint32(le.AppendUint64(nil, end), 1)
		m := &Msg{Opcode: MDS_SET_INFO, Variant: mdsChangelogClear, Bufs: [][]byte{nil, []byte("changelog_clear"), val}}
		var l Line
		mdsChangelogClear.SummarizeRequest(m, &l)
		assert.Equal(t, string(l.Text), want, "end", end)
	}
}

func TestReintLines(t *testing.T) {
	name, other := []byte("a\x00"), []byte("b\x00")
	mode := func(at int, mode uint32) func([]byte) { return func(rec []byte) { le.PutUint32(rec[at:], mode) } }
	setattr := func(rec []byte) {
		le.PutUint64(rec[56:], 1|2|8)
		le.PutUint32(rec[64:], 500)
		le.PutUint64(rec[72:], 4096)
		le.PutUint32(rec[116:], 0o100640)
	}
	for _, c := range []struct {
		m             *Msg
		variant, want string
	}{
		{reintRequest(reintSetattr, setattr), "SETATTR", "[0x200000007:0x1:0x0] mode 0640 uid 500 size 4096"},
		{reintRequest(reintCreate, mode(112, 0o40755), nil, name), "CREATE", "[0x200000007:0x1:0x0]/a dir 0755"},
		{reintRequest(reintCreate, mode(112, 0o120777), nil, name, other), "CREATE", "[0x200000007:0x1:0x0]/a symlink 0777 -> b"},
		{reintRequest(reintUnlink, nil, nil, name), "UNLINK", "[0x200000007:0x1:0x0]/a"},
		{reintRequest(reintRename, func(rec []byte) { copy(rec[56:72], rec[40:56]) }, nil, nil, name, other), "RENAME",
			"[0x200000007:0x1:0x0]/a to b"},
		{reintRequest(reintOpen, func(rec []byte) {
			le.PutUint32(rec[120:], 0x41)
			le.PutUint32(rec[124:], 0x10)
			le.PutUint32(rec[112:], 0o100600)
		}, nil, nil, name),
			"OPEN", "[0x200000007:0x1:0x0]/a READ|CREAT|LEASE 0600"},
		{reintRequest(reintSetxattr, nil, nil, []byte("trusted.lov\x00"), plainLayout(1, 1, 1)), "SETXATTR",
			"[0x200000007:0x1:0x0] trusted.lov bytes 56 layout raid0 1x65536"},
		{reintRequest(reintSetxattr, nil, nil, []byte("user.copy\x00"), plainLayout(1, 1, 1)), "SETXATTR", "[0x200000007:0x1:0x0] user.copy bytes 56"},
	} {
		var l Line
		c.m.Variant.SummarizeRequest(c.m, &l)
		if c.m.Variant.Name != c.variant || string(l.Text) != c.want {
			t.Errorf("%s %q, not %s %q", c.m.Variant.Name, l.Text, c.variant, c.want)
		}
	}
	v := pickReint(&Msg{Bufs: [][]byte{nil, {99, 0, 0, 0}}})
	assert.That(t, v == nil, "operation 99 is %+v", v)
}

// TestGuessedReplies: replies are told apart without their requests.
func TestGuessedReplies(t *testing.T) {
	fid := []byte{1, 0, 0, 0, 2, 0, 0, 0}
	long := func(n int, begin []byte) []byte {
		return append(begin[:len(begin):len(begin)], make([]byte, n-len(begin))...)
	}
	for _, c := range []struct {
		value []byte
		want  *Variant
	}{
		{long(48, fid), mdsChangelogUser},
		{long(33, fid), mdsFid2path},
		{long(33, nil), getFiemap}, // from the start of the file on
		{long(32, fid), getFiemap}, // no room for a path
		{long(31, fid), mdsOtherInfo},
		{nil, mdsOtherInfo},
	} {
		got := guessMdsGetInfo(&Msg{Bufs: [][]byte{nil, c.value}})
		assert.That(t, got == c.want, "MDS_GET_INFO, %x: %s, not %s", c.value, got.Name, c.want.Name)
	}
	acl := []byte{2, 0, 0, 0}
	for _, c := range []struct {
		bufs [][]byte
		want *Variant
	}{
		{make([][]byte, 2), variantLink},
		{make([][]byte, 3), variantCreate},
		{[][]byte{nil, nil, nil, acl}, variantCreate},
		{[][]byte{nil, nil, nil, acl, nil}, variantOpen},
		{[][]byte{nil, nil, nil, acl[:3], nil}, variantUnlink},
		{[][]byte{nil, nil, nil, {1, 0, 0, 0}, nil}, variantUnlink},
		{make([][]byte, 1), variantUnlink},
	} {
		got := guessReint(&Msg{Bufs: c.bufs})
		assert.That(t, got == c.want, "MDS_REINT, %x: %s, not %s", c.bufs, got.Name, c.want.Name)
	}
	for text, want := range map[string]*Field{"user.a\x00user.b\x00": formNames, "user.a": formText, "user.a\x00\x01\x00": formBytes, "\x00": formBytes,
		".a\x00": formText, "a\x00": formText, string(plainLayout(1, 1, 1)): formLovV1} {
		got := guessGetxattr([]byte(text))
		assert.That(t, got == want, "MDS_GETXATTR, %q: %s, not %s", text, got.Name, want.Name)
	}
}

// TestAttrsReplies: what the line of a reply has follows from the bits of mbo_valid.
func TestAttrsReplies(t *testing.T) {
	body := make([]byte, 216)
	body[0], body[8] = 7, 1
	le.PutUint32(body[mboMode.Off:], 0o100644)
	le.PutUint64(body[mboSize.Off:], 5)
	for valid, want := range map[uint64]string{
		0:           "",
		0x1:         "[0x7:0x1:0x0]",
		0x100000000: "[0x7:0x1:0x0] on another MDT",
		0x80:        "file 0644",
		0x100:       "file 0644",
		0x10:        "size 5",
		1 << 58:     "size 5",
		0x40000:     "-> to",
	} {
		le.PutUint64(body[mboValid.Off:], valid)
		var l Line
		summarizeAttrsReply(&Msg{Reply: true, Variant: ByOpcode(MDS_GETATTR).Variants[0], Bufs: [][]byte{nil, body, []byte("to\x00")}}, &l)
		assert.Equal(t, string(l.Text), want, "mbo_valid", valid)
	}
}

// TestCloseData holds that the bias of the record decides what the last part
// of close_data is.
func TestCloseData(t *testing.T) {
	for bias, want := range map[uint32]string{
		0:       "cd_reserved",
		0x1000:  "cd_reserved",
		0x8000:  "cd_reserved",
		0x4000:  "cd_data_version2",
		0x10000: "cd_resync",
		0x20000: "cd_mirror_id",
		0x81000: "cd_archive_id",
	} {
		rec := make([]byte, 136)
		le.PutUint32(rec[120:], bias)
		m := &Msg{Opcode: MDS_CLOSE, RPC: ByOpcode(MDS_CLOSE), Bufs: [][]byte{nil, nil, rec, nil, make([]byte, 96)}}
		m.Variant = closeRelease
		v := &View{Struct: m.Bufs[4], Msg: m, Type: closeData}
		var got []string
		for _, f := range closeData.Fields {
			if f.If != nil && f.If(v) {
				got = append(got, f.Name)
			}
		}
		assert.That(t, len(got) == 1 && got[0] == want, "bias %#x: %v, not %s", bias, got, want)
	}
}

// TestResyncIDs holds that the numbers of more than 15 components travel in a
// buffer of their own.
func TestResyncIDs(t *testing.T) {
	for count, inline := range map[uint32]int{1: 1, 15: 15, 16: 0} {
		data := make([]byte, 64)
		le.PutUint32(data, count)
		assert.Equal(t, inlineResyncIDs(&View{Struct: data, Rest: data[4:]}), inline, count, "in close_data")
	}
	assert.Equal(t, outerResyncIDs(&View{Rest: make([]byte, 4)}), 0, "in a u32_array that is not used")
	assert.Equal(t, outerResyncIDs(&View{Rest: []byte{1, 0, 0, 0}}), -1, "in a u32_array that is used")
}

// TestGetxattr holds that the request decides what the reply of a getxattr is.
func TestGetxattr(t *testing.T) {
	answer := func(name string, valid uint64, value []byte) *Field {
		body := make([]byte, 216)
		le.PutUint64(body[mboValid.Off:], valid)
		req := &Msg{Variant: ByOpcode(MDS_GETXATTR).Variants[0], Bufs: [][]byte{nil, body, nil, []byte(name)}}
		return chooseGetxattr(&View{Rest: value, Msg: &Msg{Reply: true, Req: req}})
	}
	link := []byte{0xdf, 0xf1, 0xea, 0x11}
	for _, c := range []struct {
		name  string
		valid uint64
		value []byte
		want  *Field
	}{
		{"", 0x2000000000, []byte("user.a\x00user.b\x00"), formNames},
		{"user.a\x00", 0x1000000000, []byte("text"), formText},
		{"user.a\x00", 0x1000000000, []byte{1, 2, 3}, formBytes},
		{"trusted.link\x00", 0x1000000000, link, formLinkea},
		{"trusted.lov\x00", 0x1000000000, plainLayout(1, 1, 1), formLovV1},
		{"trusted.lma\x00", 0x1000000000, make([]byte, 24), formLma},
		{"trusted.lma\x00", 0x1000000000, make([]byte, 64), formLoa},
		{"system.posix_acl_access\x00", 0x1000000000, []byte{2, 0, 0, 0}, formACL},
	} {
		got := answer(c.name, c.valid, c.value)
		assert.That(t, got == c.want, "%q: %s, not %s", c.name, got.Name, c.want.Name)
	}
	if got := chooseGetxattr(&View{Rest: []byte("user.a\x00user.b\x00"), Msg: &Msg{Reply: true}}); got != formNames {
		t.Errorf("without a request: %s", got.Name)
	}
}

// TestXattrValues holds that names, values and lengths of a getxattr intent
// find each other.
func TestXattrValues(t *testing.T) {
	v := &Variant{Reply: Bufs(Strs("eadata"), bufEavals, bufEavalsLens)}
	m := &Msg{Reply: true, Variant: v, Bufs: [][]byte{[]byte("user.a\x00trusted.lma\x00"), make([]byte, 27), {3, 0, 0, 0, 24, 0, 0, 0}}}
	for i, want := range []struct {
		name string
		n    int
		form *Field
	}{{"user.a", 3, formBytes}, {"trusted.lma", 24, formLma}} {
		view := &View{Msg: m, Index: i, Rest: m.Bufs[1]}
		if f, n := stepXattrValue(view); f == nil || n != want.n {
			t.Errorf("value %d has %d bytes, not %d", i, n, want.n)
		}
		assert.Equal(t, string(xattrNameHere(view, nil)), want.name, "value", i)
		got := chooseListed(view)
		assert.That(t, got == want.form, "value %d is %s, not %s", i, got.Name, want.form.Name)
	}
	if f, _ := stepXattrValue(&View{Msg: m, Index: 2}); f != nil {
		t.Error("a value without a length")
	}
}

// TestPartsOfLayouts: components are added, set and deleted by names of their
// own.
func TestPartsOfLayouts(t *testing.T) {
	layout := le.AppendUint32(nil, 0xbd60bd0)
	layout = append(layout, make([]byte, 108)...)
	for name, want := range map[string]*Field{
		"lustre.lov": formComp, "lustre.lov.add": formComp, "lustre.lov.del": formComp, "lustre.lov.set.flags": formComp,
		"lustre.lov.": formBytes, "user.lov.add": formBytes,
	} {
		got := xattrForm([]byte(name), layout, true)
		assert.That(t, got == want, "%s is %s, not %s", name, got.Name, want.Name)
	}
}

// TestXattrConstants: each form that the name of an extended attribute lists is
// the form of some value.
func TestXattrConstants(t *testing.T) {
	hsm := make([]byte, lovHsmMd.Size)
	copy(hsm, []byte{0xd0, 0x0b, 0xd7, 0x0b, byte(lovHsmMd.Size - lhmCopy.Off), 0, 0, 0, byte(firstArchive)})
	values := [][]byte{
		make([]byte, lustreMdtAttrs.Size), make([]byte, lustreOstAttrs.Size), hsm,
		make([]byte, filterFid18.Size), make([]byte, filterFid24.Size), make([]byte, filterFid210.Size),
		{0xd0, 0x0b, 0xd1, 0x0b}, {0xd0, 0x0b, 0xd3, 0x0b}, {0xd0, 0x0b, 0xd6, 0x0b}, {0xd0, 0x0b, 0xd7, 0x0b},
		{0xd0, 0x0c, 0xd2, 0x0c}, {0xd0, 0x0c, 0xd3, 0x0c}, {0xd0, 0x0c, 0xd5, 0x0c}, {1}, {2}, []byte("dd.0"),
	}
	for _, c := range Protocol.Texts {
		for _, form := range c.Forms {
			if !slices.ContainsFunc(values, func(b []byte) bool { return xattrForm([]byte(c.Value), b, false) == form }) {
				t.Errorf("no value of %s is read as %s", c.Value, form.Name)
			}
		}
	}
}

// TestTargetFileForm reads what is written to reply_data and last_rcvd by the
// length of the record, and leaves other objects and lengths alone.
func TestTargetFileForm(t *testing.T) {
	fid := func(seq uint64, oid uint32, order binary.AppendByteOrder) []byte {
		return order.AppendUint32(order.AppendUint32(order.AppendUint64(nil, seq), oid), 0)
	}
	little, big := binary.LittleEndian, binary.BigEndian
	header := make([]byte, 32)
	little.PutUint32(header, 0xbdabda01)
	little.PutUint32(header[4:], 32)
	record := make([]byte, 32)
	little.PutUint64(record, 0x1bdabda01) // a transaction number that begins like the magic
	for _, c := range []struct {
		name string
		fid  []byte
		data []byte
		big  bool
		want string
	}{
		{"reply of 2.15", fid(0x200000001, 0x15, little), make([]byte, 32), false, "lsd_reply_data_v1"},
		{"reply of 2.15, big-endian FID", fid(0x200000001, 0x15, big), make([]byte, 32), true, "lsd_reply_data_v1"},
		{"reply of 2.16", fid(0x200000001, 0x15, little), make([]byte, 64), false, "lsd_reply_data_v2"},
		{"header", fid(0x200000001, 0x15, little), header, false, "lsd_reply_header"},
		{"reply with a transaction number like the magic", fid(0x200000001, 0x15, little), record, false, "lsd_reply_data_v1"},
		{"half a reply", fid(0x200000001, 0x15, little), make([]byte, 16), false, ""},
		{"client", fid(0x200000001, 0xb, little), make([]byte, 128), false, "lsd_client_data"},
		{"another local file", fid(0x200000001, 0x16, little), make([]byte, 32), false, ""},
		{"another sequence", fid(0x200000002, 0x15, little), make([]byte, 32), false, ""},
		{"no FID", nil, make([]byte, 32), false, ""},
	} {
		got := ""
		if f := targetFileForm(c.fid, c.data, c.big); f != nil {
			got = f.Type.Name
		}
		assert.Equal(t, got, c.want, c.name)
	}
}

func quotactl(cmd uint64, first, second uint64) []byte {
	o := binary.LittleEndian
	b := make([]byte, obdQuotactl.Size)
	o.PutUint32(b, uint32(cmd))
	o.PutUint64(b[qcDqblk.Off+dqbBsoft.Off:], first)
	o.PutUint64(b[qcDqblk.Off+dqbIsoft.Off:], second)
	return b
}

func TestQuotaIter(t *testing.T) {
	tests := []struct {
		form                  string
		cmd                   uint64
		first, second         uint64
		metadata, data, usage int
	}{
		{"quota_iter_limits", qIterQuota, 160, 200, 4, 5, 8},
		{"quota_iter_usage", qIterOQuota, 48, 0, 1, 0, 2},                     // of an MDT
		{"quota_iter_usage", qIterOQuota, 0, 48, 0, 1, 2},                     // of an OST
		{"quota_iter_limits", qIterQuota, 1 << 40, ^uint64(0), 128, 128, 426}, // sizes that lie
	}
	buffer := make([]byte, 10240)
	for _, tt := range tests {
		v := View{Struct: buffer, Rest: buffer, Msg: &Msg{Reply: true, Bufs: [][]byte{nil, quotactl(tt.cmd, tt.first, tt.second), buffer}}}
		f := quotaIter(&v)
		assert.That(t, f != nil && f.Type.Name == tt.form, "command %#x is taken for %v", tt.cmd, f)
		got := [3]int{iterMetadata(&v), iterData(&v), iterUsage(&v)}
		assert.That(t, got == [3]int{tt.metadata, tt.data, tt.usage}, "sizes %d and %d: %v items", tt.first, tt.second, got)
	}
	if quotaIter(&View{Msg: &Msg{Bufs: [][]byte{nil, quotactl(0x800007, 0, 0)}}}) != nil {
		t.Error("a command that lists nothing has a list")
	}
}

func TestQuotaID(t *testing.T) {
	o := binary.LittleEndian
	body := make([]byte, quotaBody.Size)
	o.PutUint64(body, seqQuotaGlobal)
	o.PutUint32(body[8:], 0x1020000)
	o.PutUint64(body[16:], 501)
	up := View{Struct: body, Type: quotaBody}
	v := View{Struct: body[16:], Type: lquotaId, Up: &up}
	assert.Equal(t, quotaIDForm(&v), "gid", "an id of a group index is a")
	reply := Msg{Reply: true, Opcode: QUOTA_DQACQ}
	slave := append([]byte(nil), body...)
	o.PutUint64(slave, seqQuota)
	o.PutUint32(slave[8:], 0x100c)
	answered := View{Struct: slave[16:], Type: lquotaId, Msg: &reply, Up: &View{Struct: slave, Type: quotaBody}}
	assert.Equal(t, quotaIDForm(&answered), "", "without the request, the id of a slave's index is a")
	reply.Req = &Msg{Bufs: [][]byte{nil, body}}
	assert.Equal(t, quotaIDForm(&answered), "gid", "in the reply, the id of a group index is a")
	reply.Req, reply.Opcode = nil, LDLM_ENQUEUE
	reply.Bufs = [][]byte{nil, lockBytes(o, 0, ldlmPlainType, []uint64{seqQuotaGlobal, 0x2020000, 501}, 16, 16)}
	assert.Equal(t, quotaIDForm(&answered), "projid", "beside the lock of a project's quota, the id is a")
	var l Line
	summarizeAcquireRequest(body, false, &l)
	assert.Equal(t, string(l.Text), "0x0 gid 501 blocks count 0 usage 0")
	o.PutUint64(body[24:], 1)
	assert.Equal(t, quotaIDForm(&v), "", "a FID is a")
}

// TestQuotaLines checks the lines of a slave that connects to a global index,
// and of a reply that gives or takes back quota.
func TestQuotaLines(t *testing.T) {
	for _, o := range orders {
		order := o.order.(binary.ByteOrder)
		body := make([]byte, quotaBody.Size)
		order.PutUint64(body, seqQuotaGlobal)
		order.PutUint32(body[8:], 0x20000)
		order.PutUint64(body[qbCount.Off:], 512)
		order.PutUint64(body[qbUsage.Off:], 1024)
		order.PutUint64(body[qbSlvVer.Off:], 6)
		m := &Msg{Big: o.big, Bufs: [][]byte{nil, nil, nil, body}}
		for _, tt := range []struct {
			line func(m *Msg, l *Line)
			want string
		}{
			{intentQuotaConn.SummarizeRequest, "usr blocks"},
			{intentQuotaConn.SummarizeReply, "index [0x200000006:0x20000:0x0] version 6"},
			{intentDqacq.SummarizeReply, "count 512 unit 1024"},
		} {
			var l Line
			tt.line(m, &l)
			assert.Equal(t, string(l.Text), tt.want, o.name)
			m.Bufs[3] = body[:8]
			l.Reset()
			tt.line(m, &l)
			assert.Equal(t, len(l.Text), 0, o.name, l.Text, "of 8 bytes")
			m.Bufs[3] = body
		}
	}
}

// TestQuotaIntentError checks that the line of an intent tells the error of its
// operation, and that the id is out of quota.
func TestQuotaIntentError(t *testing.T) {
	o := binary.LittleEndian
	rep := make([]byte, ldlmReply.Size)
	o.PutUint64(rep[lockRes2.Off:], 1<<64-122)
	lvb := make([]byte, lquotaLvb.Size)
	lvb[0] = 1
	m := &Msg{Reply: true, Bufs: [][]byte{nil, rep, lvb, make([]byte, quotaBody.Size)}}
	var l Line
	intentDqacq.SummarizeReply(m, &l)
	assert.Equal(t, string(l.Text), "EDQUOT count 0 LQUOTA_FL_EDQUOT")
}

// TestQuotaLvb checks the meaning of a slot that the lock's name tells: the lock of
// an index has no id.
func TestQuotaLvb(t *testing.T) {
	for id, want := range map[uint64]string{0: "lvb_glb_ver", 1002: "lvb_id_may_rel"} {
		m := &Msg{Reply: true, Opcode: LDLM_ENQUEUE, Bufs: [][]byte{nil,
			lockBytes(binary.LittleEndian, 0, ldlmPlainType, []uint64{seqQuotaGlobal, 0x20000, id}, 16, 16)}}
		v := View{Struct: make([]byte, lquotaLvb.Size), Msg: m}
		for _, name := range []string{"lvb_glb_ver", "lvb_id_may_rel"} {
			assert.Equal(t, lquotaLvb.Field(name).If(&v), name == want, name, "in the lock of id", id)
		}
	}
}

func TestQuotaValidity(t *testing.T) {
	o := binary.LittleEndian
	ctl := quotactl(0x800007, 0, 0)
	v := View{Struct: ctl[40:], Msg: &Msg{Bufs: [][]byte{nil, ctl}}}
	o.PutUint32(ctl, uint32(qIterQuota))
	for _, name := range []string{"dqb_bhardlimit", "dqb_bsoftlimit", "dqb_ihardlimit", "dqb_isoftlimit", "dqb_curinodes", "dqb_itime"} {
		assert.That(t, obdDqblk.Field(name).Valid(&v), "a command that lists ids uses %s", name)
	}
	assert.That(t, !obdDqblk.Field("dqb_curspace").Valid(&v), "a command that lists ids does not use dqb_curspace")
}

func TestGraceFlags(t *testing.T) {
	assert.Equal(t, string(graceText(&View{Value: 1<<48 | 60}, nil)), "flags DEFAULT, time 60")
}
