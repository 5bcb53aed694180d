package values

// treatments are the treatments of the fields whose types do not decide them. A name
// with "!" in front overrides the treatment that the type would decide.
var treatments = []struct {
	*treatment
	fields string
}{
	{keep, harmlessNumbers},
	{replID, identities},
	{remove, removedNumbers},
	{keep, `
	ldlm_extent end_overwritten
	kgn_rdma_desc_t gnrd_key`},
	{gid, `
	kefa_conn_req_msg src_gid
	kefa_conn_probe_msg src_gid`},
	{fileName, `
	link_ea_entry lee_name
	lu_dirent lde_name
	llog_changelog_rec cr_name cr_sname
	getparent gp_name
	- target_name`},
	{path, `
	getinfo_fid2path gf_path
	lov_foreign_md lfm_value
	lmv_foreign_md lfm_value
	nodemap_fileset_rec nfr_path_fragment
	- linkname symtgt`},
	{device, `
	cfg_marker cm_tgtname
	cfg_marker_32 cm_tgtname
	gss_ctx_init_payload target_uuid
	hsm_action_list hal_fsname
	mgs_config_body mcb_name
	mgs_target_info mti_fsname mti_svname mti_uuid
	lsd_client_data lcd_uuid
	lov_hsm_base lhb_uuid
	- client_uuid target_uuid`},
	{plainWord, `
	lmv_mds_md_v1 lmv_pool_name
	lmv_user_md_v1 lum_pool_name
	lov_mds_md_v3 lmm_pool_name
	lov_user_md_v3 lmm_pool_name
	obd_quotactl qc_poolname
	changelog_filter cf_username
	nodemap_cluster_rec ncr_name
	srpc_debug_reply dbg_name
	srpc_join_reply join_session
	srpc_join_reqst join_group
	srpc_mksn_reply mksn_name
	srpc_mksn_reqst mksn_name`},
	{job, `
	ptlrpc_body_v3 pb_jobid
	changelog_ext_jobid cr_jobid
	llog_changelog_user_rec2 cur_name
	- selinux_pol file_secctx`},
	{params, `
	mgs_target_info mti_params
	mgs_send_param mgs_param`},
	{comment, `
	cfg_marker cm_comment
	cfg_marker_32 cm_comment`},
	{nidText, `
	mgs_target_info mti_nidlist
	mgs_target_nidlist mtn_inline_list
	mgs_target_nids nids`},
	{xattrName, `
	changelog_ext_xattr cr_xattr
	- file_secctx_name`},
	{xattrs, `
	object_update_result our_data
	- names`},
	{xattrText, `
	- text`},
	{keyword, `
	fid2path_key key
	ll_fiemap_info_key lfik_name
	- getinfo_key setinfo_key`},
	{handle, `
	netobj_s data`},
	{entryName, `
	- name`},
	{updateParam, `
	object_update_param oup_buf`},
	{argument, `
	lustre_cfg lcfg_bufs`},
	{listedID, `
	obd_dqblk dqb_curinodes`},
	{lockKind, `
	ldlm_resource_desc !lr_type`},
	{command, `
	lustre_cfg !lcfg_command`},
	{updateKind, `
	object_update !ou_type`},
	{loggedUpdate, `
	update_op !uop_type`},
	{quotaCommand, `
	obd_quotactl !qc_cmd`},
	{dataSum, `
	obdo o_cksum`},
	{messageSum, `
	lustre_msg_v2 lm_cksum`},
	{transportSum, `
	ksock_msg_hdr ksh_csum
	kib_msg ibm_cksum`},
	{remove, removedTexts},
}

// removedTexts are data of files and of extended attributes, keys, tokens, signatures,
// uninitialized bytes, and texts that may have anything.
const removedTexts = `
	cm_ip cma_dst cma_src
	cm_path cm_local_gid cm_remote_gid
	cm_rej cm_info
	fscrypt_context_v1 master_key_descriptor nonce
	fscrypt_context_v2 master_key_identifier nonce
	gss_ctx_init_payload token
	hsm_action_item hai_data
	hsm_user_state hus_extended_info
	idxpage_entry entry
	kefa_immediate_msg_v2 payload
	kfilnd_immed_msg payload
	kib_immediate_msg ibim_payload
	krb5_header kh_cksum
	ksock_msg_v2v3 payload
	ksock_msg_v4 payload
	llog_other_rec body
	lnet_nid_md_entry buffer
	lu_idxpage lip_entries
	lu_page lp_array
	lustre_capa lc_hmac
	niobuf_inline data
	obd_statfs os_fsid
	object_update_param oup_fill
	object_update_result our_fill
	out_read_data data
	out_read_reply orr_data
	plain_bulk_token pbt_hash
	ptlrpc_bulk_sec_desc bsd_data
	sk_netstring length version random prime public_key target nodemap_hash flags hmac
	sk_sealed data
	- bytes eadata generic_data getinfo_val setinfo_val short_io cipher signature token
	- length version random prime public_key target nodemap_hash flags hmac
	- buffers content data gss plain _tail`
