package dissect

import (
	"strconv"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/opcodes/schema"
)

// truths are values that the nodes reported while the samples were taken: the output of
// lfs and lctl, and their logs. Other dissectors show some of these bytes in another
// way, or not at all.
var truths = []struct {
	sample string
	xid    uint64
	kind   lnet.Kind
	path   string
	want   string
}{
	// The holder of a lock tells the size in the answer to a glimpse.
	{"locks", 1882453913607936, lnet.Reply, "buffers.dlm_lvb.lvb_size", "131072"},
	{"locks", 1882453913607936, lnet.Reply, "buffers.dlm_lvb.lvb_blocks", "1"},
	{"locks", 1882453913616640, lnet.Reply, "buffers.dlm_lvb.lvb_size", "3"},
	// Where old releases had pb_last_seen there is the slot of the request.
	{"locks", 1882453915885312, lnet.Request, "ptlrpc_body.pb_tag", "1"},
	{"locks", 1882453915885312, lnet.Request, "buffers.name", "system.posix_acl_access"},
	{"locks", 1882453915885312, lnet.Request, "buffers.eadata.a_entries[1].e_id", "500"},
	{"locks", 1882453915923840, lnet.Reply, "buffers.dlm_rep.lock_desc.l_policy_data.l_inodebits.bits", "89"},

	// lfs changelog.
	{"changelog", 1882453916711552, lnet.Reply, "buffers.eadata.records[0].text",
		"1 02MKDIR 08:26:29.324215590 2026.11.21 0x0 t=[0x200000bd2:0x1:0x0] ef=0x13 u=0:0 nid=192.0.2.3@tcp p=[0x280000403:0xac:0x0] cl"},
	{"changelog", 1882453916711552, lnet.Reply, "buffers.eadata.records[2].text",
		"3 10OPEN  08:26:29.576927490 2026.11.21 0x4a t=[0x200000bd2:0x2:0x0] ef=0x17 u=0:0 nid=192.0.2.3@tcp m=-w- p=[0x200000bd2:0x1:0x0]"},
	{"changelog", 1882453916711552, lnet.Reply, "buffers.eadata.records[3].text",
		"4 11CLOSE 08:26:29.617160120 2026.11.21 0x42 t=[0x200000bd2:0x2:0x0] ef=0x13 u=0:0 nid=192.0.2.3@tcp"},
	{"changelog", 1882453916711552, lnet.Reply, "buffers.eadata.records[4].text",
		"5 08RENME 08:26:29.681891870 2026.11.21 0x0 t=[0:0x0:0x0] ef=0x13 u=0:0 nid=192.0.2.3@tcp p=[0x200000bd2:0x1:0x0] b s=[0x200000bd2:0x2:0x0] sp=[0x200000bd2:0x1:0x0] a"},
	{"changelog", 1882453916711552, lnet.Reply, "buffers.eadata.records[7].text",
		"8 13TRUNC 08:26:29.761797930 2026.11.21 0xe t=[0x200000bd2:0x2:0x0] ef=0x13 u=0:0 nid=192.0.2.3@tcp p=[0x200000bd2:0x1:0x0]"},
	{"changelog", 1882453916711552, lnet.Reply, "buffers.eadata.records[9].text",
		"10 15XATTR 08:26:36.159583080 2026.11.21 0x0 t=[0x200000bd2:0x2:0x0] ef=0x1b u=0:0 nid=192.0.2.3@tcp x=user.a"},
	{"changelog", 1882453916711552, lnet.Reply, "buffers.eadata.records[11].text",
		"12 10OPEN  08:26:36.369520610 2026.11.21 0x1 t=[0x200000bd2:0x1:0x0] ef=0x17 u=0:0 nid=192.0.2.3@tcp m=r-- p=[0x200000bd2:0x1:0x0]"},
	{"changelog", 1882453916711552, lnet.Reply, "buffers.eadata.records[16].cr.cr_index", "17"},
	{"changelog", 1882453916712832, lnet.Request, "buffers.setinfo_val.cs_id", "1"},

	// lfs hsm_state, hsm_archive, and the log of the copytool.
	{"hsm", 1882453916668160, lnet.Reply, "buffers.hsm_user_state.hus_states", "9"},
	{"hsm", 1882453914120192, lnet.Request, "buffers.setinfo_val.hsm_action_list.items[0].hai_fid", "[0x280000403:0xad:0x0]"},
	{"hsm", 1882453914120192, lnet.Request, "buffers.setinfo_val.hsm_action_list.items[0].hai_cookie", "1795249571"},
	{"hsm", 1882453914120192, lnet.Request, "buffers.setinfo_val.hsm_action_list.hal_fsname", "lustre"},
	{"hsm", 1882453916672256, lnet.Reply, "buffers.getinfo_val.gf_path", "hsm/f"},

	// lfs quota.
	{"quota", 1882453916198144, lnet.Request, "buffers.obd_quotactl.qc_dqblk.dqb_bhardlimit", "2048"},
	{"quota", 1882453916198144, lnet.Request, "buffers.obd_quotactl.qc_dqblk.dqb_isoftlimit", "5"},
	{"quota", 1882453916238208, lnet.Request, "buffers.obd_quotactl.qc_poolname", "tpool"},
	{"quota", 1882453916239232, lnet.Reply, "buffers.quota_iter.metadata[2].id", "500"},
	{"quota", 1882453916239232, lnet.Reply, "buffers.quota_iter.data[0].rec.qbr_softlimit", "1024"},
	{"quota", 1882453916239744, lnet.Reply, "buffers.quota_iter.entries[1].rec.bspace", "1050112"},

	// lfs getstripe -v: progressive, mirrored, self-extending, in a pool, foreign.
	{"layouts", 1882453915673856, lnet.Reply, "buffers.mdt_md.lcm_layout_gen", "5"},
	{"layouts", 1882453915673856, lnet.Reply, "buffers.mdt_md.lcm_entries[1].lcme_extent.e_end", "524288"},
	{"layouts", 1882453915673856, lnet.Reply, "buffers.mdt_md.lcm_entries[2].layout.lmm_objects[1].l_ost_oi", "[0x300000400:0x5:0x0]"},
	{"layouts", 1882453915687680, lnet.Reply, "buffers.mdt_md.lcm_entries[1].lcme_id", "131074"},
	{"layouts", 1882453915687680, lnet.Reply, "buffers.mdt_md.lcm_entries[1].lcme_flags", "17"},
	{"layouts", 1882453915713920, lnet.Reply, "buffers.mdt_md.lcm_entries[1].layout.lmm_stripe_size", "65536"},
	{"layouts", 1882453915721600, lnet.Reply, "buffers.mdt_md.lmm_pool_name", "tpool"},
	{"layouts", 1882453915754112, lnet.Reply, "buffers.mdt_md.lfm_value", "DAOS_pool/cont"},
	{"layouts", 1882453915678720, lnet.Reply, "buffers.niobuf_inline.niobuf_remote.rnb_len", "8192"},

	// Traffic between servers: OUT_UPDATE has portals of its own.
	{"servers", 1882453913375744, lnet.Request, "lnet.ptl_index", "24"},
	{"servers", 1882453913375744, lnet.Request, "buffers.out_update_header.ouh_inline_data.updates[1].ou_type", "10"},
	{"servers", 1882453913375744, lnet.Reply, "lnet.ptl_index", "4"},
	{"servers", 1882453913375744, lnet.Reply, "buffers.object_update_reply.results[1].our_rc", "0"},
	{"servers", 1882453904024832, lnet.Reply, "buffers.object_update_reply.results[0].our_data.orr_size", "32"},
	{"servers", 1882453913370880, lnet.Reply, "buffers.mgs_target_info.mti_svname", "lustre-MDT0002"},

	// An update log in pieces: record 43 is bit 11 of the second word of the bitmap, and
	// the last of the header's tail.
	{"update_log", 1882453913880704, lnet.Request, "buffers.out_update_header.ouh_inline_data.updates[4].ou_params[0].oup_buf[0]", "2048"},
	{"update_log", 1882453913880704, lnet.Request, "buffers.out_update_header.ouh_inline_data.updates[4].ou_params[1].oup_buf", "92"},
	{"update_log", 1882453913880704, lnet.Request, "buffers.out_update_header.ouh_inline_data.updates[5].ou_params[0].oup_buf.lrt_index", "43"},
	{"update_log", 1882453913880704, lnet.Request, "buffers.out_update_header.ouh_inline_data.updates[5].ou_params[1].oup_buf", "32760"},
	{"update_log", 1882453913880704, lnet.Request, "buffers.out_update_header.ouh_inline_data.updates[6].ou_params[0].oup_buf.records[0].lur_hdr.lrh_index", "43"},
	// In recovery it is read: the result of a client's request is in the record, too.
	{"update_log", 1882453904730752, lnet.Bulk, "content.data.records[0].llh_tail.lrt_len", "32768"},
	{"update_log", 1882453904730880, lnet.Bulk, "content.data.records[1].lur_update_rec.ur_master_transno", "4294967457"},
	{"update_log", 1882453904730880, lnet.Bulk, "content.data.records[1].lur_update_rec.ur_params.up_params[2].oup_buf.lrd_transno", "4294967457"},
	{"update_log", 1882453904730880, lnet.Bulk, "content.data.records[1].lur_tail.lrt_index", "2"},

	// ls -l.
	{"directories", 1882453916283392, lnet.Bulk, "content.pages[0].entries[2].lt_type", "32768"},

	// lfs getdirstripe and lfs migrate -m.
	{"directories", 1882453916339456, lnet.Request, "buffers.eadata.lum_stripe_offset", "2"},
	{"directories", 1882453916363264, lnet.Request, "buffers.target_name", "f1b"},
	{"directories", 1882453916289536, lnet.Request, "buffers.but_update_header.buh_inline_data.messages[0].buffers.name", "f32"},
}

// TestTruth compares trees with what the nodes reported.
func TestTruth(t *testing.T) {
	type message struct {
		sample string
		xid    uint64
		kind   lnet.Kind
	}
	said := make(map[message]map[string]string)
	for _, c := range truths {
		said[message{c.sample, c.xid, c.kind}] = make(map[string]string)
	}
	samples := make(map[string]bool)
	var tree Tree
	for _, c := range truths {
		if samples[c.sample] {
			continue
		}
		samples[c.sample] = true
		eachMessage(t, "../pcaps/"+c.sample+".pcap.zst", func(m *Message) {
			values := said[message{c.sample, m.RPC.XID, m.Kind}]
			if values == nil {
				return
			}
			tree.Build(m)
			for path, n := range paths(&tree) {
				values[path] = valueText(&tree, n)
			}
		})
	}
	for _, c := range truths {
		got, ok := said[message{c.sample, c.xid, c.kind}][c.path]
		assert.That(t, ok && got == c.want, "%s %d %s: %s is %q, not %q", c.sample, c.xid, c.kind, c.path, got, c.want)
	}
}

// valueText returns a value in the notation of truths: a number, a FID or text.
func valueText(tree *Tree, n *Node) string {
	f := n.Field
	switch {
	case f.Kind <= schema.Int:
		return strconv.FormatUint(n.Val, 10)
	case f.Kind == schema.Record && (f.Format == schema.FID || f.Format == schema.OSTID):
		return string(schema.AppendFIDBytes(nil, tree.Bytes(n), n.Is(BigEndian)))
	}
	return string(schema.TrimNUL(tree.Bytes(n)))
}
