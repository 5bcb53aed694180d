package dissect

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
