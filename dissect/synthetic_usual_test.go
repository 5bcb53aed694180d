package dissect

import "strings"

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

// magics name the constants that structs begin with.
var magics = map[string]string{
	"lov_mds_md_v1.lmm_magic":          "LOV_MAGIC_V1",
	"lov_mds_md_v3.lmm_magic":          "LOV_MAGIC_V3",
	"lov_user_md_v1.lmm_magic":         "LOV_USER_MAGIC_V1",
	"lov_user_md_v3.lmm_magic":         "LOV_USER_MAGIC_SPECIFIC",
	"lov_comp_md_v1.lcm_magic":         "LOV_MAGIC_COMP_V1",
	"lov_foreign_md.lfm_magic":         "LOV_MAGIC_FOREIGN",
	"lmv_mds_md_v1.lmv_magic":          "LMV_MAGIC_V1",
	"lmv_user_md_v1.lum_magic":         "LMV_USER_MAGIC_SPECIFIC",
	"lmv_foreign_md.lfm_magic":         "LMV_MAGIC_FOREIGN",
	"idx_info.ii_magic":                "IDX_INFO_MAGIC",
	"lu_idxpage.lip_magic":             "LIP_MAGIC",
	"ladvise_hdr.lah_magic":            "LADVISE_MAGIC",
	"out_update_header.ouh_magic":      "OUT_UPDATE_HEADER_MAGIC",
	"object_update_request.ourq_magic": "UPDATE_REQUEST_MAGIC",
	"object_update_reply.ourp_magic":   "UPDATE_REPLY_MAGIC",
	"but_update_header.buh_magic":      "BUT_HEADER_MAGIC",
	"batch_update_request.burq_magic":  "BUT_REQUEST_MAGIC",
	"batch_update_reply.burp_magic":    "BUT_REPLY_MAGIC",
	"kuc_hdr.kuc_magic":                "KUC_MAGIC",
	"lustre_msg_v2.lm_magic":           "LUSTRE_MSG_MAGIC_V2",
	"lustre_cfg.lcfg_version":          "LUSTRE_CFG_VERSION",
	"link_ea_header.leh_magic":         "LINK_EA_MAGIC",
}

// allOnes are the masks that say which fields mean something, beside those whose
// names end in _valid.
var allOnes = map[string]bool{
	"obd_connect_data.ocd_connect_flags": true, "obd_connect_data.ocd_connect_flags2": true, "mdc_swap_layouts.msl_flags": true,
}

// bodyValid are the bits of mbo_valid that say something about other buffers;
// cases set them.
var bodyValid = []string{"OBD_MD_LINKNAME", "OBD_MD_MEA", "OBD_MD_DEFAULT_MEA", "OBD_MD_FLDIREA", "OBD_MD_NAMEHASH",
	"OBD_MD_FLCROSSREF", "OBD_MD_MDS", "OBD_MD_FLXATTRLS"}

// usual is what stands in a field when a case does not say.
func (b *builder) usual(field string) (any, bool) {
	if name := magics[field]; name != "" {
		return b.factTables.number(name), true
	}
	if field == "obdo.o_valid" { // no checksum: o_nlink is there
		return ^b.factTables.number("OBD_MD_FLCKSUM"), true
	}
	if allOnes[field] || strings.HasSuffix(field, "_valid") && field != "mdt_body.mbo_valid" {
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
