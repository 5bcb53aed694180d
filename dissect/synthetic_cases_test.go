package dissect

import "strings"

// synthCase says what a message has that is not as usual: values of the
// fields of a buffer, a func that builds it, or nil when it is empty.
type synthCase struct {
	name    string
	request map[string]any
	reply   map[string]any
}

// with puts the values of a case over others.
func with(base, more map[string]any) map[string]any {
	all := map[string]any{}
	for name, v := range base {
		all[name] = v
	}
	for name, v := range more {
		old, isOld := all[name].(values)
		now, isNew := v.(values)
		if !isOld || !isNew {
			all[name] = v
			continue
		}
		sum := values{}
		for k, x := range old {
			sum[k] = x
		}
		for k, x := range now {
			if at := strings.IndexByte(k, '+'); at >= 0 {
				unchoose(sum, k[:at+1])
			}
			sum[k] = x
		}
		all[name] = sum
	}
	return all
}

// unchoose drops what was chosen for the same place.
func unchoose(v values, prefix string) {
	for k := range v {
		if strings.HasPrefix(k, prefix) {
			delete(v, k)
		}
	}
}

type bufs = map[string]any

// reint is a record that begins with an operation.
func reint(prefix string, op int) bufs {
	return bufs{"rec_reint": values{prefix + "_opcode": op}}
}

// lockOf is a lock request of a kind with its policy.
func lockOf(kind int, policy string, more values) bufs {
	v := values{"lock_desc.l_resource.lr_type": kind}
	if policy != "" {
		v["lock_desc.l_policy_data.+"+policy] = nil
	}
	for k, x := range more {
		v[k] = x
	}
	return bufs{"dlm_req": v, "dlm_rep": v}
}

func intent(opc int, more bufs) bufs { return with(bufs{"ldlm_intent": values{"opc": opc}}, more) }

// Numbers of the wire that choose a form.
const (
	typePlain, typeExtent, typeFlock, typeIbits = 10, 11, 12, 13
	flagIntent                                  = 0x1000
	flagShort                                   = 0x400000
	quotaSeq                                    = 0x200000006
	pccFlag                                     = 0x80
)

// closing is a close with an intent, and the member that it has for it.
func closing(bias int, member string) bufs {
	v := bufs{"rec_reint": values{"sa_opcode": 1, "sa_bias": bias}}
	if member != "" {
		v["close_data"] = values{"+" + member: nil}
	}
	return v
}

// bases choose the variants: what their requests must have to be told apart.
var bases = map[string]bufs{
	"OST_READ short-io":    {"ost_body": values{"oa.o_flags": flagShort}},
	"OST_WRITE short-io":   {"ost_body": values{"oa.o_flags": flagShort}},
	"OST_GET_INFO last_id": {"getinfo_key": "last_id"}, "OST_GET_INFO last_fid": {"getinfo_key": "last_fid"},
	"OST_GET_INFO other":  {"getinfo_key": "something"},
	"OST_GET_INFO fiemap": {"fiemap_key": values{"lfik_name": "fiemap\x00\x00"}},
	"MDS_GET_INFO fiemap": {"fiemap_key": values{"lfik_name": "fiemap\x00\x00"}},

	"OST_SET_INFO grant_shrink": {"setinfo_key": "grant_shrink"}, "OST_SET_INFO last_fid": {"setinfo_key": "last_fid"},
	"OST_SET_INFO other": {"setinfo_key": "something"},

	"MDS_CLOSE -":            closing(0x80, ""),
	"MDS_CLOSE HSM_RELEASE":  closing(0x1000, ""),
	"MDS_CLOSE LAYOUT_SWAP":  closing(0x4000, "cd_data_version2"),
	"MDS_CLOSE LAYOUT_MERGE": closing(0x8000, ""),
	"MDS_CLOSE LAYOUT_SPLIT": closing(0x20000, "cd_mirror_id"),
	"MDS_CLOSE RESYNC_DONE": with(closing(0x10000, "cd_resync"), bufs{
		"close_data": values{"cd_resync.resync_count": 18}}),

	"MDS_REINT SETATTR": reint("sa", 1), "MDS_REINT CREATE": reint("cr", 2), "MDS_REINT LINK": reint("lk", 3),
	"MDS_REINT CREATE:symlink": {"rec_reint": values{"cr_opcode": 2, "cr_mode": 0o120777}},
	"MDS_REINT UNLINK":         reint("ul", 4), "MDS_REINT RENAME": reint("rn", 5), "MDS_REINT OPEN": reint("cr", 6),
	"MDS_REINT SETXATTR": with(reint("sx", 7), bufs{"name": "user.name", "eadata": "any value"}), "MDS_REINT RMENTRY": reint("ul", 8), "MDS_REINT MIGRATE": bufs{"rec_reint": values{"rn_opcode": 9, "rn_bias": 0x2000}},
	"MDS_REINT RESYNC": reint("rs", 10),

	"MDS_SET_INFO changelog_clear": {"setinfo_key": "changelog_clear"}, "MDS_SET_INFO other": {"setinfo_key": "something"},
	"MDS_GET_INFO changelog_user": {"getinfo_key": "changelog_user"},
	"MDS_GETXATTR -":              {"name": "user.name"},

	"LDLM_ENQUEUE extent":  lockOf(typeExtent, "l_extent", values{"lock_flags": 0x20000}),
	"LDLM_ENQUEUE glimpse": lockOf(typeExtent, "l_extent", values{"lock_flags": flagIntent}),
	"LDLM_ENQUEUE flock":   lockOf(typeFlock, "l_flock", values{"lock_flags": 0}),
	"LDLM_ENQUEUE ibits":   lockOf(typeIbits, "", values{"lock_flags": 0x20000}),
	"LDLM_ENQUEUE plain":   lockOf(typePlain, "l_extent", values{"lock_flags": 0, "lock_desc.l_policy_data": blob{data: make([]byte, 32)}}),

	"LDLM_ENQUEUE OPEN":       intent(1, reint("cr", 6)),
	"LDLM_ENQUEUE OPEN|CREAT": intent(3, reint("cr", 6)),
	"LDLM_ENQUEUE CREATE":     intent(2, reint("cr", 2)),
	"MDS_BATCH BUT_GETATTR":   intent(8, nil),
	"LDLM_BL_CALLBACK -":      lockOf(typeIbits, "l_inodebits", values{"lock_desc.l_policy_data.l_inodebits.+cancel_bits": nil}),
	"LDLM_CP_CALLBACK -":      lockOf(typeExtent, "l_extent", nil),
	"LDLM_GL_CALLBACK -":      lockOf(typeExtent, "l_extent", nil),
	"LDLM_GL_CALLBACK quota": lockOf(typePlain, "l_extent", values{"lock_desc.l_policy_data": blob{data: make([]byte, 32)},
		"lock_desc.l_resource.lr_name.name": quotaResource}),
	"LDLM_GL_CALLBACK barrier": lockOf(typePlain, "l_extent", values{"lock_desc.l_policy_data": blob{data: make([]byte, 32)}}),
	"LDLM_SET_INFO hsm_send":   {"setinfo_key": "hsm_send"},

	"MGS_TARGET_REG -":        {"mgs_target_info": values{"mti_nid_count": 32, "mti_flags": 0x2}},
	"MGS_TARGET_REG nidlist":  {"mgs_target_info": values{"mti_nid_count": 32, "mti_flags": 0x2}, "mgs_target_nidlist": values{"mtn_nids": 2, "mtn_inline_list": nidTexts}},
	"MGS_CONFIG_READ recover": {"mgs_config_body": values{"mcb_type": 2}},
	"MGS_CONFIG_READ nodemap": {"mgs_config_body": values{"mcb_type": 4, "+mcb_nm_cur_pass": nil}, "mgs_config_res": values{"+mcr_nm_cur_pass": nil}},
	"SEQ_QUERY super":         {"seq_opc": number32(0)}, "SEQ_QUERY meta": {"seq_opc": number32(1)}, "FLD_QUERY -": {"fld_opc": number32(2)},
	"OST_QUOTACTL -": {"obd_quotactl": values{"qc_cmd": 0x800103}}, "MDS_QUOTACTL -": {"obd_quotactl": values{"qc_cmd": 0x800007}},
	"LLOG_ORIGIN_HANDLE_READ_HEADER -": {"llog_log_hdr": values{"llh_hdr.lrh_type": 0x10645539, "llh_hdr.lrh_len": 8192, "llh_bitmap_offset": 88}},
	"OUT_UPDATE bulk":                  {"out_update_header": values{"ouh_inline_length": 0}},
	"MDS_BATCH bulk":                   {"but_update_header": values{"buh_inline_length": 0}},
	"OUT_UPDATE inline":                {"out_update_header": updates("OUT_CREATE", "OUT_ATTR_GET", "OUT_INDEX_INSERT", "OUT_XATTR_SET"), "object_update_reply": results("OUT_CREATE", "OUT_ATTR_GET", "OUT_INDEX_INSERT", "OUT_XATTR_SET")},
	"OUT_UPDATE read":                  {"out_update_header": updates("OUT_READ"), "object_update_reply": results("OUT_READ")},
	"MDS_HSM_REQUEST -":                {"hsm_request": values{"hr_data_len": 13}, "generic_data": "copytool data"},
}

func number32(v uint64) func(*builder) blob { return func(b *builder) blob { return b.number(v, 4) } }

// quotaResource is the name of a lock on the index of group quota of blocks.
func quotaResource(b *builder) blob {
	var all blob
	for i, v := range []uint64{quotaSeq, 0x1020000, b.value(8), 0} {
		all.put(index(i), b.number(v, 8))
	}
	return all
}

func nidTexts(b *builder) blob {
	var all blob
	for i := range 2 {
		p := make([]byte, 64)
		copy(p, "2001:db8::1@tcp"+index(i))
		all.put(index(i), raw(p))
	}
	return all
}

// quotaID is the id of a quota slave's request, of each kind.
func quotaID(oid int, member string) bufs {
	fid := func(b *builder) blob {
		p := append(encode(quotaSeq, 8, b.big), encode(uint64(oid), 4, b.big)...)
		return blob{append(p, 0, 0, 0, 0), nil}.whole(b.big)
	}
	return bufs{"quota_body": values{"qb_fid": fid, "qb_id.+" + member: nil}}
}

// base returns what a request must have to be of its variant. An intent that
// bases does not have is chosen by its constant.
func (f *factTables) base(form *factForm) bufs {
	name := form.name + " " + form.variant
	if b, ok := bases[name]; ok {
		return b
	}
	if form.name == "LDLM_ENQUEUE" {
		return intent(int(f.number("IT_"+form.variant)), nil)
	}
	return nil
}

// attribute is an extended attribute whose value is a struct.
func attribute(name, kind string, v values) synthCase {
	return synthCase{name: name + " " + kind, request: bufs{"name": func(*builder) blob { return raw([]byte(name + "\x00")) },
		"eadata": func(b *builder) blob { return b.record(kind, v) }}}
}

// extraCases are more forms of the messages.
var extraCases = map[string][]synthCase{
	"MDS_CLOSE RESYNC_DONE": {{name: "few", request: bufs{"close_data": values{"cd_resync.resync_count": 15}, "u32_array": nil}}},
	"MDS_CLOSE HSM_RELEASE": {{name: "pcc", request: closing(0x81000, "cd_archive_id")}},
	"MDS_HSM_STATE_GET -":   {{name: "more", reply: bufs{"hsm_user_state": values{"hus_extended_info": "more about it"}}}},
	"MDS_REINT OPEN":        {{name: "pcc", request: bufs{"rec_reint": values{"+cr_archive_id": nil, "cr_flags_h": pccFlag}}}},
	"MDS_REINT SETXATTR": {
		attribute("trusted.lma", "lustre_mdt_attrs", nil), attribute("trusted.lma", "lustre_ost_attrs", nil), attribute("trusted.som", "lustre_som_attrs", nil),
		attribute("trusted.hsm", "hsm_attrs", nil), attribute("trusted.fid", "filter_fid", nil), attribute("trusted.fid", "filter_fid_210", nil),
		attribute("trusted.fid", "filter_fid_24_29", nil), attribute("trusted.fid", "filter_fid_18_23", nil), attribute("trusted.lov", "lov_hsm_md", values{"lhm_magic": 0x0bd70bd0, "lhm_length": 56, "lhm_type": 1}),
		attribute("encryption.c", "fscrypt_context_v1", values{"version": 1}), attribute("encryption.c", "fscrypt_context_v2", values{"version": 2, "reserved": 0x313131}), attribute("trusted.link", "link_ea_header", nil),
	},
	"LDLM_CP_CALLBACK -": {
		{name: "layout", request: with(lockOf(typeIbits, "l_inodebits", nil), bufs{"dlm_lvb": layout("lov_comp_md_v1")})},
		{name: "old lvb", request: bufs{"dlm_lvb": layout("ost_lvb_v1")}},
		{name: "flock", request: with(lockOf(typeFlock, "l_flock", nil), bufs{"dlm_lvb": nil})},
		{name: "quota", request: with(lockOf(typePlain, "l_extent", values{"lock_desc.l_policy_data": blob{data: make([]byte, 32)},
			"lock_desc.l_resource.lr_name.name": quotaResource}), bufs{"dlm_lvb": layout("lquota_lvb")})},
		{name: "barrier", request: with(lockOf(typePlain, "l_extent", values{"lock_desc.l_policy_data": blob{data: make([]byte, 32)}}),
			bufs{"dlm_lvb": layout("barrier_lvb")})},
	},
	"LDLM_ENQUEUE extent": {
		{name: "old lvb", reply: bufs{"dlm_lvb": layout("ost_lvb_v1")}},
		{name: "mode NL", request: bufs{"dlm_req": values{"lock_desc.l_req_mode": 32}}, reply: bufs{"dlm_rep": values{"lock_desc.l_granted_mode": 32}}},
		{name: "waits", reply: bufs{"dlm_rep": values{"lock_desc.l_granted_mode": 0, "lock_flags": 8}}},
		{name: "tested", reply: bufs{"dlm_rep": values{"lock_desc.l_granted_mode": 0, "lock_flags": 0x80000}}},
	},
	"LDLM_ENQUEUE flock": {
		{name: "unlock", request: bufs{"dlm_req": values{"lock_desc.l_req_mode": 32}}, reply: bufs{"dlm_rep": values{"lock_desc.l_granted_mode": 32}}},
		{name: "test", reply: bufs{"dlm_rep": values{"lock_desc.l_granted_mode": 0, "lock_flags": 0x80000}}},
		{name: "refused", reply: bufs{"dlm_rep": values{"lock_desc.l_granted_mode": 0, "lock_flags": 0}}},
	},
	"LFSCK_NOTIFY -": {{name: "start", request: bufs{"lfsck_request": values{"lr_event": 5, "+lr_speed": nil}}}},
	"QUOTA_DQACQ -": {
		{name: "user", request: quotaID(0x20000, "qid_uid"), reply: quotaID(0x20000, "qid_uid")},
		{name: "group", request: quotaID(0x1010000, "qid_gid"), reply: quotaID(0x1010000, "qid_gid")},
		{name: "project", request: quotaID(0x2020000, "qid_projid"), reply: quotaID(0x2020000, "qid_projid")},
	},
	"MDS_QUOTACTL -": {
		{name: "iterate", request: bufs{"obd_quotactl": values{"qc_cmd": 0x800017}},
			reply: bufs{"obd_quotactl": values{"qc_cmd": 0x800017, "qc_dqblk.dqb_bsoftlimit": 80, "qc_dqblk.dqb_isoftlimit": 80}, "quota_iter": quotaItems}},
		{name: "usage", request: bufs{"obd_quotactl": values{"qc_cmd": 0x800018}},
			reply: bufs{"obd_quotactl": values{"qc_cmd": 0x800018, "qc_dqblk.dqb_bsoftlimit": 72, "qc_dqblk.dqb_isoftlimit": 0}, "quota_iter": quotaUsage}},
	},
	"OST_QUOTACTL -": {{name: "usage", request: bufs{"obd_quotactl": values{"qc_cmd": 0x800018}},
		reply: bufs{"obd_quotactl": values{"qc_cmd": 0x800018, "qc_dqblk.dqb_bsoftlimit": 0, "qc_dqblk.dqb_isoftlimit": 72}, "quota_iter": quotaUsage}}},
	"MGS_TARGET_REG -": {{name: "large", request: bufs{"mgs_target_info": values{"mti_nid_count": 2, "mti_flags": 0x20002,
		"mti_nids": blob{data: make([]byte, 256)}, "mti_nidlist": nidTexts}}}},
	"OUT_UPDATE inline": {
		{name: "attributes", request: bufs{"out_update_header": updates("OUT_ATTR_SET", "OUT_XATTR_GET", "OUT_XATTR_DEL", "OUT_INDEX_LOOKUP", "OUT_WRITE")},
			reply: bufs{"object_update_reply": results("OUT_ATTR_SET", "OUT_XATTR_GET", "OUT_XATTR_DEL", "OUT_INDEX_LOOKUP", "OUT_WRITE")}},
		{name: "rest", request: bufs{"out_update_header": updates("OUT_DESTROY", "OUT_REF_ADD", "OUT_REF_DEL", "OUT_INDEX_DELETE", "OUT_NOOP", "OUT_PUNCH")},
			reply: bufs{"object_update_reply": results("OUT_DESTROY", "OUT_REF_ADD", "OUT_REF_DEL", "OUT_INDEX_DELETE", "OUT_NOOP", "OUT_PUNCH")}},
	},
}
