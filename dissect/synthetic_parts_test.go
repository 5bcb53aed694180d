package dissect

import "strconv"

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
			form := c.formNamed(b, "MDS_BATCH sub:BUT_GETATTR")
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
