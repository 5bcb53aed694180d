package opcodes

import (
	"slices"
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

// The names that Lustre's layout.c has for buffers and for the formats of requests.
// Developers know them from the sources and from error messages.

// sameBuffers are the buffers whose name in layout.c is RMF_ and the name here, in capitals.
const sameBuffers = `
	generic_data mgs_target_info mgs_target_nidlist mgs_send_param mgs_config_body mgs_config_res setinfo_val getinfo_key
	getinfo_vallen getinfo_val seq_opc seq_range fld_opc mdt_body obd_quotactl quota_body ptlrpc_body close_data obd_statfs
	setinfo_key name fid_array symtgt file_secctx_name file_secctx file_encctx llogd_body llog_log_hdr conn connect_data dlm_req
	dlm_rep ldlm_intent dlm_lvb dlm_gl_desc mdt_md default_mdt_md rec_reint eadata eavals acl logcookies capa1 capa2 layout_intent
	selinux_pol ost_body obd_ioobj niobuf_remote niobuf_inline rcs eavals_lens fid fiemap_key idx_info short_io hsm_user_state
	hsm_state_set swap_layouts lfsck_request lfsck_reply out_update_header
`

// otherBuffers are the buffers that have another name in layout.c, or are in no message.
var otherBuffers = []*FormatBuffer{
	{Name: "RMF_U32", Buffer: "u32_array"},
	{Name: "RMF_FLD_MDFLD", Buffer: "fld_range"},
	{Name: "RMF_OBD_QUOTA_ITER", Buffer: "quota_iter"},
	{Name: "RMF_MDT_EPOCH", Buffer: "mdt_ioepoch"},
	{Name: "RMF_TGTUUID", Buffer: "target_uuid"},
	{Name: "RMF_CLUUID", Buffer: "client_uuid"},
	{Name: "RMF_STRING"},
	{Name: "RMF_LLOGD_CONN_BODY", Struct: "llogd_conn_body"},
	{Name: "RMF_OBD_ID", Buffer: "last_id"},
	{Name: "RMF_OST_ID", Struct: "ost_id"},
	{Name: "RMF_FIEMAP_VAL", Buffer: "fiemap"},
	{Name: "RMF_MDS_HSM_PROGRESS", Buffer: "hsm_progress"},
	{Name: "RMF_MDS_HSM_CURRENT_ACTION", Buffer: "hsm_current_action"},
	{Name: "RMF_MDS_HSM_USER_ITEM", Buffer: "hsm_user_item"},
	{Name: "RMF_MDS_HSM_ARCHIVE", Buffer: "hsm_archive"},
	{Name: "RMF_MDS_HSM_REQUEST", Buffer: "hsm_request"},
	{Name: "RMF_OST_LADVISE_HDR", Buffer: "ladvise_hdr"},
	{Name: "RMF_OST_LADVISE", Buffer: "ladvise"},
	{Name: "RMF_BUT_REPLY", Buffer: "batch_update_reply"},
	{Name: "RMF_BUT_HEADER", Buffer: "but_update_header"},
	{Name: "RMF_BUT_BUF", Buffer: "but_update_buffer"},
	{Name: "RMF_OUT_UPDATE", Struct: "object_update_request"},
	{Name: "RMF_OUT_UPDATE_REPLY", Buffer: "object_update_reply"},
	{Name: "RMF_OUT_UPDATE_BUF", Buffer: "out_update_buffer"},
}

// formatBuffers returns the names of all buffers in layout.c.
func formatBuffers() []*FormatBuffer {
	list := slices.Clone(otherBuffers)
	for name := range strings.FieldsSeq(sameBuffers) {
		list = append(list, &FormatBuffer{Name: "RMF_" + strings.ToUpper(name), Buffer: name})
	}
	return list
}

// sameFormats are the operations with one format, which layout.c names after them.
const sameFormats = `
	OBD_PING OBD_IDX_READ MGS_SET_INFO MGS_CONFIG_READ SEQ_QUERY FLD_QUERY FLD_READ MDS_QUOTACTL OST_QUOTACTL QUOTA_DQACQ
	MDS_GET_ROOT MDS_SYNC MDS_GETATTR MDS_GETXATTR MDS_GETATTR_NAME MDS_REINT MDS_CONNECT MDS_DISCONNECT LDLM_CONVERT
	LDLM_CANCEL LDLM_CP_CALLBACK LDLM_BL_CALLBACK MDS_READPAGE MDS_HSM_ACTION MDS_HSM_PROGRESS MDS_HSM_CT_REGISTER
	MDS_HSM_CT_UNREGISTER MDS_HSM_STATE_GET MDS_HSM_STATE_SET MDS_HSM_REQUEST MDS_HSM_DATA_VERSION MDS_SWAP_LAYOUTS MDS_RMFID
	LLOG_ORIGIN_HANDLE_CREATE LLOG_ORIGIN_HANDLE_NEXT_BLOCK LLOG_ORIGIN_HANDLE_PREV_BLOCK LLOG_ORIGIN_HANDLE_READ_HEADER
	OST_CONNECT OST_DISCONNECT OST_GETATTR OST_SETATTR OST_CREATE OST_PUNCH OST_FALLOCATE OST_SEEK OST_SYNC OST_DESTROY
	OST_STATFS LFSCK_NOTIFY LFSCK_QUERY OST_LADVISE OUT_UPDATE
`

// otherFormats are the formats of several operations, of some of their variants, or with another
// name than their operation.
var otherFormats = []*RequestFormat{
	{Name: "RQF_OBD_SET_INFO", RPCs: []uint32{OST_SET_INFO, MDS_SET_INFO}, Variants: []string{"other"}},
	{Name: "RQF_MDT_SET_INFO", RPCs: []uint32{MDS_SET_INFO}, Variants: []string{"changelog_clear"}},
	{Name: "RQF_SEC_CTX", RPCs: []uint32{SEC_CTX_INIT, SEC_CTX_INIT_CONT, SEC_CTX_FINI}},
	{Name: "RQF_MGS_TARGET_REG", RPCs: []uint32{MGS_TARGET_REG}, Variants: []string{""}},
	{Name: "RQF_MGS_TARGET_REG_NIDLIST", RPCs: []uint32{MGS_TARGET_REG}, Variants: []string{"nidlist"}},
	{Name: "RQF_LDLM_INTENT_QUOTA", RPCs: []uint32{LDLM_ENQUEUE}, Variants: []string{"QUOTA_DQACQ", "QUOTA_CONN"}},
	{Name: "RQF_MDS_STATFS", RPCs: []uint32{MDS_STATFS}, Variants: []string{""}},
	{Name: "RQF_MDS_STATFS_NEW", RPCs: []uint32{MDS_STATFS}, Variants: []string{"aggregate"}},
	{Name: "RQF_MDS_REINT_CREATE", RPCs: []uint32{MDS_REINT}, Variants: []string{"CREATE"}, With: "eadata"},
	{Name: "RQF_MDS_REINT_CREATE_ACL", RPCs: []uint32{MDS_REINT}, Variants: []string{"CREATE"}, With: "eadata"},
	{Name: "RQF_MDS_REINT_CREATE_SLAVE", RPCs: []uint32{MDS_REINT}, Variants: []string{"CREATE"}, With: "eadata"},
	{Name: "RQF_MDS_REINT_CREATE_SYM", RPCs: []uint32{MDS_REINT}, Variants: []string{"CREATE"}, With: "symtgt"},
	{Name: "RQF_MDS_REINT_OPEN", RPCs: []uint32{MDS_REINT}, Variants: []string{"OPEN"}},
	{Name: "RQF_MDS_REINT_UNLINK", RPCs: []uint32{MDS_REINT}, Variants: []string{"UNLINK", "RMENTRY"}},
	{Name: "RQF_MDS_REINT_LINK", RPCs: []uint32{MDS_REINT}, Variants: []string{"LINK"}},
	{Name: "RQF_MDS_REINT_RENAME", RPCs: []uint32{MDS_REINT}, Variants: []string{"RENAME"}},
	{Name: "RQF_MDS_REINT_MIGRATE", RPCs: []uint32{MDS_REINT}, Variants: []string{"MIGRATE"}},
	{Name: "RQF_MDS_REINT_SETATTR", RPCs: []uint32{MDS_REINT}, Variants: []string{"SETATTR"}},
	{Name: "RQF_MDS_REINT_SETXATTR", RPCs: []uint32{MDS_REINT}, Variants: []string{"SETXATTR"}},
	{Name: "RQF_MDS_REINT_RESYNC", RPCs: []uint32{MDS_REINT}, Variants: []string{"RESYNC"}},
	{Name: "RQF_MDS_GET_INFO", RPCs: []uint32{MDS_GET_INFO}, Variants: []string{"changelog_user", "other"}},
	{Name: "RQF_MDS_FID2PATH", RPCs: []uint32{MDS_GET_INFO}, Variants: []string{"fid2path"}},
	{Name: "RQF_MDS_BATCH", RPCs: []uint32{MDS_BATCH}, Variants: []string{"inline", "bulk"}},
	{Name: "RQF_LDLM_ENQUEUE", RPCs: []uint32{LDLM_ENQUEUE}, Variants: []string{"extent", "flock", "ibits", "plain"}},
	{Name: "RQF_LDLM_ENQUEUE_LVB", RPCs: []uint32{LDLM_ENQUEUE}, Variants: []string{"extent", "glimpse", "flock", "ibits", "plain"}},
	{Name: "RQF_LDLM_CALLBACK", RPCs: []uint32{LDLM_BL_CALLBACK, LDLM_CP_CALLBACK, LDLM_GL_CALLBACK}},
	{Name: "RQF_LDLM_GL_CALLBACK", RPCs: []uint32{LDLM_GL_CALLBACK}, Variants: []string{""}},
	{Name: "RQF_LDLM_GL_CALLBACK_DESC", RPCs: []uint32{LDLM_GL_CALLBACK}, Variants: []string{"quota", "barrier"}},
	{Name: "RQF_LDLM_INTENT_BASIC", RPCs: []uint32{LDLM_ENQUEUE}, With: "ldlm_intent", Doc: "what requests with an intent have in common, " +
		"until the kind of intent is known"},
	{Name: "RQF_LDLM_INTENT", RPCs: []uint32{LDLM_ENQUEUE}, With: "ldlm_intent", Doc: "what requests with an intent have in common, until " +
		"the kind of intent is known"},
	{Name: "RQF_LDLM_INTENT_LAYOUT", RPCs: []uint32{LDLM_ENQUEUE}, Variants: []string{"LAYOUT"}},
	{Name: "RQF_LDLM_INTENT_GETATTR", RPCs: []uint32{LDLM_ENQUEUE}, Variants: []string{"GETATTR", "LOOKUP"}},
	{Name: "RQF_LDLM_INTENT_OPEN", RPCs: []uint32{LDLM_ENQUEUE}, Variants: []string{"OPEN", "OPEN|CREAT"}},
	{Name: "RQF_LDLM_INTENT_CREATE", RPCs: []uint32{LDLM_ENQUEUE}, Variants: []string{"CREATE"}},
	{Name: "RQF_LDLM_INTENT_GETXATTR", RPCs: []uint32{LDLM_ENQUEUE}, Variants: []string{"GETXATTR"}},
	{Name: "RQF_MDS_CLOSE", RPCs: []uint32{MDS_CLOSE}, Variants: []string{""}},
	{Name: "RQF_MDS_CLOSE_INTENT", RPCs: []uint32{MDS_CLOSE}, Variants: []string{"HSM_RELEASE", "LAYOUT_SWAP", "LAYOUT_MERGE",
		"LAYOUT_SPLIT", "RESYNC_DONE"}},
	{Name: "RQF_CONNECT", RPCs: []uint32{MGS_CONNECT, MDS_CONNECT, OST_CONNECT}},
	{Name: "RQF_OST_BRW_READ", RPCs: []uint32{OST_READ}},
	{Name: "RQF_OST_BRW_WRITE", RPCs: []uint32{OST_WRITE}},
	{Name: "RQF_OST_SET_GRANT_INFO", RPCs: []uint32{OST_SET_INFO}, Variants: []string{"grant_shrink"}},
	{Name: "RQF_OST_GET_INFO", RPCs: []uint32{OST_GET_INFO}, Variants: []string{"other"}},
	{Name: "RQF_OST_GET_INFO_LAST_ID", RPCs: []uint32{OST_GET_INFO}, Variants: []string{"last_id"}},
	{Name: "RQF_OST_GET_INFO_LAST_FID", RPCs: []uint32{OST_GET_INFO}, Variants: []string{"last_fid"}},
	{Name: "RQF_OST_SET_INFO_LAST_FID", RPCs: []uint32{OST_SET_INFO}, Variants: []string{"last_fid"}},
	{Name: "RQF_OST_GET_INFO_FIEMAP", RPCs: []uint32{OST_GET_INFO}, Variants: []string{"fiemap"}},
	{Name: "RQF_BUT_GETATTR", RPCs: []uint32{MDS_BATCH}, Variants: []string{"BUT_GETATTR"}},
}

// requestFormats returns the formats of all requests in layout.c.
func requestFormats() []*RequestFormat {
	list := slices.Clone(otherFormats)
	for name := range strings.FieldsSeq(sameFormats) {
		list = append(list, &RequestFormat{Name: "RQF_" + name, RPCs: []uint32{uint32(Opcodes.Number(name))}})
	}
	return list
}
