package values

// The classes of fields that their types do not decide: integers without names of their
// values or a format, texts and bytes. A line has the name of a struct and those of its
// fields; an empty name, "-", is for buffers of RPCs and the members of unions in them.

// harmlessNumbers are counts, indices, versions, keys of RDMA and the like.
const harmlessNumbers = `
	aeth aeth_msn
	barrier_lvb lvb_index
	batch_update_reply burp_count
	batch_update_request burq_count
	bth bth_destqp bth_pkey bth_psn
	but_update_header buh_count buh_update_count
	cfg_marker cm_step
	cfg_marker_32 cm_step
	changelog_ext_nid extra
	changelog_filter cf_mask cf_user_id
	changelog_rec cr_index cr_markerflags cr_prev cr_time
	changelog_setinfo cs_id cs_recno
	close_data cd_archive_id cd_mirror_id
	close_data_resync_done resync_count resync_ids_inline
	cm_ip cma_ip_version cma_port cma_version
	cm_path cm_ack_timeout cm_flow_label cm_hop_limit cm_local_lid cm_remote_lid cm_sl cm_traffic_class
	cm_drep cm_local_id cm_remote_id
	cm_dreq cm_local_id cm_remote_id cm_remote_qpn
	cm_rej cm_info_length cm_local_id cm_rejected cm_remote_id
	cm_rep cm_initiator_depth cm_local_eecn cm_local_id cm_local_qkey cm_local_qpn cm_remote_id cm_responder_resources cm_rnr_retry cm_starting_psn cm_target_ack_delay
	cm_req cm_initiator_depth cm_local_eecn cm_local_id cm_local_qkey cm_local_qpn cm_path_mtu cm_pkey cm_remote_eecn cm_responder_resources cm_retries cm_retry cm_service cm_service_id cm_starting_psn
	deth deth_qkey deth_srcqp
	fid_array fa_nr
	fiemap fm_extent_count fm_mapped_extents
	filter_fid ff_layout_version ff_range
	filter_fid_18_23 ff_objid ff_seq
	fscrypt_context_v1 flags version
	fscrypt_context_v2 flags log2_data_unit_size version
	getinfo_fid2path gf_linkno gf_recno
	getparent gp_linkno
	gss_ctx_init_payload lustre_svc
	gss_err_header gh_minor gh_version
	gss_header gh_seq gh_version
	gss_rep_header gh_minor gh_seqwin gh_version
	hsm_action_item hai_gid
	hsm_action_list hal_archive_id hal_compound_id hal_count hal_version
	hsm_attrs hsm_arch_id hsm_compat
	hsm_request hr_archive_id hr_itemcount
	hsm_state_set hss_archive_id
	hsm_user_state hus_archive_id
	idx_info ii_count
	ieth ieth_rkey
	immdt immdt_data
	kefa_conn_probe_msg caps lnd_ver
	kefa_conn_probe_resp_msg caps lnd_ver
	kefa_conn_req_ack caps lnd_ver nqps src_conn_id
	kefa_conn_req_msg caps lnd_ver nqps requests src_conn_id
	kefa_msg_v1 credits dst_conn_id
	kefa_msg_v2 credits dst_conn_id
	kefa_qp_proto qkey qp_num
	kefa_rdma_desc key
	kfilnd_bulk_req_msg key response_rx
	kfilnd_bulk_req_msg_v2 kbrm2_key kbrm2_response_rx kbrm2_session_key
	kfilnd_hello_msg rx_base rx_count session_key version
	kfilnd_msg version
	kgn_connreq_t gncr_timeout gncr_version
	kgn_msg_t gnm_seq gnm_version
	kib_connparams ibcp_max_frags ibcp_queue_depth
	kib_msg ibm_credits ibm_version
	kib_rdma_desc rd_key rd_nfrags
	kib_rej ibr_version
	krb5_header kh_ec kh_filler kh_flags kh_rrc
	ksock_hello_msg kshm_dst_pid kshm_nips kshm_src_pid kshm_version
	ksock_hello_msg_nid4 kshm_dst_pid kshm_nips kshm_src_pid kshm_version
	ksock_hello_v1 dest_pid src_pid version_major version_minor
	kuc_hdr kuc_flags
	ladvise_hdr lah_count lah_value1 lah_value2 lah_value3
	ldlm_extent gid
	ldlm_flock_wire lfw_pid
	ldlm_gl_lquota_desc gl_hardlimit gl_softlimit gl_time
	ldlm_inodebits li_gid li_initiator_id
	ldlm_request lock_count
	lfsck_reply lr_repaired
	lfsck_request lr_async_windows lr_comp_id lr_index lr_speed lr_version
	link_ea_header leh_reccount
	ll_fid generation id
	llog_agent_req_rec arr_archive_id
	llog_changelog_user_rec cur_endrec cur_id
	llog_changelog_user_rec2 cur_endrec cur_id cur_mask
	llog_cookie lgc_index lgc_offset
	llog_gen conn_cnt mnt_cnt
	llog_log_hdr llh_bitmap llh_bitmap_offset llh_cat_idx llh_count
	llog_logid lgl_ogen
	llog_rec_hdr lrh_id lrh_index
	llog_rec_tail lrt_index
	llog_setattr64_rec_v2 lsr_layout_version
	llog_size_change_rec lsc_ioepoch
	llog_unlink64_rec lur_count
	llog_unlink_rec lur_count lur_oid lur_oseq
	llogd_body lgd_index lgd_saved_index
	lmv_desc ld_active_tgt_count ld_default_hash_size ld_default_stripe_count ld_pattern ld_tgt_count
	lmv_foreign_md lfm_flags
	lmv_mds_md_v1 lmv_layout_version lmv_master_mdt_index lmv_migrate_offset lmv_stripe_count
	lmv_user_md_v1 lum_max_inherit lum_max_inherit_rr lum_stripe_count lum_stripe_offset
	lmv_user_mds_data lum_mds
	lnet_acceptor_connreq acr_version
	lnet_acceptor_connreq_v2 acr_version
	lnet_counters_common lcc_drop_count lcc_errors lcc_msgs_alloc lcc_msgs_max lcc_recv_count lcc_route_count lcc_send_count
	lnet_hdr_nid16 dest_pid src_pid
	lnet_hdr_nid4 dest_pid src_pid
	lnet_magicversion version_major version_minor
	lnet_nid_metadata num_nid_mappings
	lnet_ping_info pi_nnis pi_pid
	lnet_process_id_packed pid
	lov_comp_md_entry_v1 lcme_compr_chunk_lum_bits lcme_compr_lvl lcme_compr_type lcme_cstripe_count lcme_dstripe_count lcme_id lcme_layout_gen lcme_mirror_link_id lcme_offset lcme_time_and_id
	lov_comp_md_v1 lcm_ec_count lcm_entry_count lcm_layout_gen lcm_mirror_count
	lov_desc ld_active_tgt_count ld_default_stripe_count ld_default_stripe_offset ld_tgt_count
	lov_foreign_md lfm_flags
	lov_hsm_base lhb_archive_id
	lov_mds_md_v1 lmm_layout_gen lmm_stripe_count
	lov_mds_md_v3 lmm_layout_gen lmm_stripe_count
	lov_ost_data_v1 l_ost_gen l_ost_idx l_ost_type
	lov_user_md_v1 lmm_layout_gen lmm_stripe_count lmm_stripe_offset
	lov_user_md_v3 lmm_layout_gen lmm_stripe_count lmm_stripe_offset
	lov_user_ost_data_v1 l_ost_gen l_ost_idx l_ost_type
	lquota_acct_rec ispace
	lquota_glb_rec qbr_granted qbr_hardlimit qbr_softlimit qbr_time
	lquota_lvb lvb_id_may_rel lvb_id_qunit lvb_id_rel
	lquota_slv_rec qsr_granted
	lsd_client_data lcd_generation lcd_last_close_data lcd_last_data lcd_last_epoch
	lsd_reply_data_v1 lrd_client_gen lrd_data
	lsd_reply_data_v2 lrd_batch_idx lrd_client_gen lrd_data
	lst_sid ses_stamp
	lu_idxpage lip_nr
	lu_ladvise lla_value1 lla_value2 lla_value3 lla_value4
	lu_orphan_rec_v3 lor_layout_version lor_range
	lu_seq_range lsr_index
	lu_seq_range_array lsra_count
	lustre_capa lc_flags lc_keyid lc_opc
	lustre_cfg lcfg_bufcount lcfg_buflens lcfg_flags lcfg_nal lcfg_num lcfg_version
	lustre_msg_v2 lm_bufcount lm_buflens lm_opc
	lustre_ost_attrs loa_comp_id
	lustre_som_attrs lsa_blocks
	lustre_swap_layouts sl_fd sl_gid
	mad mad_attr_mod mad_base_version mad_class mad_class_specific mad_class_version mad_method mad_status
	mdt_body mbo_blocks mbo_capability mbo_dom_blocks mbo_layout_gen mbo_max_mdsize mbo_nlink mbo_rdev
	mdt_rec_create cr_archive_id cr_cap cr_ioepoch cr_layout_ver cr_rdev
	mdt_rec_link lk_cap
	mdt_rec_reint rr_blocks rr_cap rr_mirror_id_old
	mdt_rec_rename rn_cap
	mdt_rec_resync rs_cap rs_mirror_id_new rs_mirror_id_old
	mdt_rec_setattr sa_blocks sa_cap
	mdt_rec_setxattr sx_cap
	mdt_rec_unlink ul_cap
	mgs_config_body mcb_bits mcb_nm_cur_pass mcb_offset mcb_units
	mgs_config_res mcr_nm_cur_pass mcr_offset mcr_size
	mgs_nidtbl_entry mne_index mne_instance mne_nid_count mne_nid_type mne_version
	mgs_target_info mti_config_ver mti_instance mti_nid_count mti_stripe_index
	mgs_target_nidlist mtn_nids
	nodemap_fileset_rec nfr_fragment_id
	nodemap_global_rec ngr_is_active
	nodemap_key nk_nodemap_id nk_range_id
	nodemap_offset_rec nor_limit_gid nor_limit_projid nor_limit_uid
	nodemap_range2_rec nrr_netmask
	nodemap_user_capabilities_rec nucr_caps
	obd_connect_data ocd_compr_type ocd_grant_blkbits ocd_grant_inobits ocd_grant_max_blks ocd_grant_tax_kb ocd_group ocd_index ocd_instance ocd_maxmodrpcs
	obd_dqblk dqb_bhardlimit dqb_bsoftlimit dqb_ihardlimit dqb_isoftlimit
	obd_dqinfo dqi_flags dqi_valid
	obd_ioobj ioo_bufcnt ioo_max_brw
	obd_quotactl qc_stat
	obd_statfs os_bavail os_bfree os_blocks os_ffree os_files os_fprecreated os_granted os_type
	obdo o_ioepoch o_layout_version o_misc o_nlink o_parent_oid o_parent_seq o_parent_ver o_stripe_idx
	object_update ou_batchid ou_params_count
	object_update_reply ourp_count
	object_update_request ourq_count
	ost_layout ol_comp_id ol_stripe_count
	ost_lvb lvb_atime_ns lvb_blocks lvb_ctime_ns lvb_mtime_ns
	ost_lvb_v1 lvb_blocks
	out_update_header ouh_count
	plain_header ph_ver
	posix_acl_xattr_header a_version
	ptlrpc_body_v2 pb_conn_cnt pb_limit pb_slv pb_tag pb_version
	ptlrpc_body_v3 pb_conn_cnt pb_limit pb_slv pb_tag pb_version
	ptlrpc_bulk_sec_desc bsd_version
	ptlrpc_user_desc pud_cap pud_ngroups
	quota_body qb_count qb_usage
	reth reth_rkey
	sfw_counters active_batches brw_errors ping_errors running_ms zombie_sessions
	srpc_batch_reply bar_active bar_time
	srpc_batch_reqst bar_arg bar_testidx
	srpc_counters errors rpcs_dropped rpcs_expired rpcs_rcvd rpcs_sent
	srpc_debug_reply dbg_nbatch
	srpc_debug_reqst dbg_flags
	srpc_mksn_reqst mksn_force
	srpc_msg msg_magic msg_version
	srpc_ping_reply pnr_magic pnr_seq
	srpc_ping_reqst pnr_magic pnr_seq pnr_time_nsec
	srpc_stat_reqst str_type
	srpc_test_reqst tsr_concur tsr_is_client tsr_loop tsr_ndest tsr_stop_onerr
	test_bulk_req blk_npg
	test_ping_req png_flags
	update_op uop_param_count uop_params_off
	update_records ur_batchid ur_index ur_param_count ur_update_count
	- last_id read_only u32_array hsm_archive eavals_lens
`

// identities are IDs of users, groups and projects.
const identities = `
	changelog_ext_uidgid cr_gid cr_uid
	idxpage_quota_entry key
	idxpage_quota_slave key
	llog_setattr64_rec lsr_gid lsr_uid
	llog_setattr64_rec_v2 lsr_gid lsr_projid lsr_uid
	lqa_id_range lir_end lir_start
	lquota_id qid_gid qid_projid qid_uid
	lu_orphan_rec lor_gid lor_uid
	lustre_capa lc_gid lc_uid
	mdt_body mbo_fsgid mbo_fsuid mbo_gid mbo_projid mbo_suppgid mbo_uid
	mdt_rec_create cr_fsgid cr_fsuid cr_suppgid1 cr_suppgid2
	mdt_rec_link lk_fsgid lk_fsuid lk_suppgid1 lk_suppgid2
	mdt_rec_reint rr_fsgid rr_fsuid rr_suppgid1 rr_suppgid2
	mdt_rec_rename rn_fsgid rn_fsuid rn_suppgid1 rn_suppgid2
	mdt_rec_resync rs_fsgid rs_fsuid rs_suppgid1 rs_suppgid2
	mdt_rec_setattr sa_fsgid sa_fsuid sa_gid sa_projid sa_suppgid sa_uid
	mdt_rec_setxattr sx_fsgid sx_fsuid sx_suppgid1 sx_suppgid2
	mdt_rec_unlink ul_fsgid ul_fsuid ul_suppgid1 ul_suppgid2
	nodemap_cluster_rec ncr_squash_gid ncr_squash_projid ncr_squash_uid
	nodemap_id_rec nir_id_fs
	nodemap_key nk_id_client
	nodemap_offset_rec nor_start_gid nor_start_projid nor_start_uid
	obd_dqblk dqb_btime
	obd_quotactl qc_id
	obdo o_gid o_projid o_uid
	posix_acl_xattr_entry e_id
	ptlrpc_body_v2 pb_gid pb_projid pb_uid
	ptlrpc_body_v3 pb_gid pb_projid pb_uid
	ptlrpc_user_desc pud_fsgid pud_fsuid pud_gid pud_groups pud_uid
	quota_iter_acct id
	quota_iter_glb id
`

// removedNumbers are padding, unused words, addresses of memory, and checksums of
// transports whose messages are not read.
const removedNumbers = `
	close_data cd_reserved
	fiemap_extent fe_reserved64 fe_reserved
	kfilnd_msg cksum
	kgn_connreq_t gncr_cksum
	kgn_get_msg_t gngm_payload_cksum
	kgn_msg_t gnm_cksum gnm_payload_cksum
	kgn_putack_msg_t gnpam_payload_cksum
	llog_log_hdr llh_reserved
	llog_setattr64_rec lsr_gid_h lsr_uid_h
	llog_setattr64_rec_v2 lsr_gid_h lsr_uid_h
	lov_comp_md_v1 lcm_padding1
	lsd_reply_data_v2 lrd_padding
	lsd_reply_header lrh_pad
	lustre_som_attrs lsa_reserved
	mdt_body mbo_gid_h mbo_uid_h
	obd_dqblk dqb_curspace
	obdo o_gid_h o_uid_h
	quota_body qb_padding1
`
