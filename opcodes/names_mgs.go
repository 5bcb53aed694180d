package opcodes

// MgsCfgType is the group mgs_cfg_type.
var MgsCfgType = Enum("mgs_cfg_type", "MGS_CFG_T_", "", []Value{
	{Name: "CONFIG", Value: 0x0, Since: "2.15"},
	{Name: "SPTLRPC", Value: 0x1, Since: "2.15"},
	{Name: "RECOVER", Value: 0x2, Since: "2.15"},
	{Name: "PARAMS", Value: 0x3, Since: "2.15"},
	{Name: "NODEMAP", Value: 0x4, Since: "2.15"},
	{Name: "BARRIER", Value: 0x5, Since: "2.15"},
})

// MgsNidlistFlags is the group mgs_nidlist_flags.
var MgsNidlistFlags = Bits("mgs_nidlist_flags", "NIDLIST_", "", []Value{
	{Name: "APPEND", Value: 0x1, Since: "2.17"},
	{Name: "IN_BULK", Value: 0x2, Since: "2.17"},
	{Name: "COMPRESSED", Value: 0x4, Since: "2.17"},
})

// MtiFlags is the group mti_flags.
var MtiFlags = Bits("mti_flags", "LDD_F_", "", []Value{
	{Name: "SV_TYPE_MDT", Value: 0x1},
	{Name: "SV_TYPE_OST", Value: 0x2},
	{Name: "SV_TYPE_MGS", Value: 0x4},
	{Name: "SV_TYPE_MASK", Value: 0x7, Alias: true},
	{Name: "SV_ALL", Value: 0x8},
	{Name: "NEED_INDEX", Value: 0x10},
	{Name: "VIRGIN", Value: 0x20},
	{Name: "UPDATE", Value: 0x40},
	{Name: "REWRITE_LDD", Value: 0x80},
	{Name: "WRITECONF", Value: 0x100},
	{Name: "PARAM", Value: 0x400},
	{Name: "NO_PRIMNODE", Value: 0x1000},
	{Name: "IR_CAPABLE", Value: 0x2000},
	{Name: "ERROR", Value: 0x4000},
	{Name: "PARAM2", Value: 0x8000},
	{Name: "NO_LOCAL_LOGS", Value: 0x10000, Since: "2.15"},
})

// MtiLimits is the group mti_limits.
var MtiLimits = Enum("mti_limits", "", "", []Value{
	{Name: "LUSTRE_MAXFSNAME", Value: 0x8},
	{Name: "MAX_MGSNIDS", Value: 0x10, Since: "2.18"},
	{Name: "LUSTRE_MAXINSTANCE", Value: 0x10, Since: "2.15", Alias: true},
	{Name: "MTI_NIDS_MAX", Value: 0x20},
	{Name: "UUID_MAX", Value: 0x28},
	{Name: "MTI_NAME_MAXLEN", Value: 0x40},
	{Name: "MTN_NIDSTR_SIZE", Value: 0x40, Since: "2.17", Alias: true},
	{Name: "MGS_PARAM_MAXLEN", Value: 0x400},
	{Name: "MTI_PARAM_MAXLEN", Value: 0x1000},
})

// LddMountType is the group ldd_mount_type.
var LddMountType = Enum("ldd_mount_type", "LDD_MT_", "", []Value{
	{Name: "EXT3", Value: 0x0},
	{Name: "LDISKFS", Value: 0x1},
	{Name: "REISERFS", Value: 0x3},
	{Name: "LDISKFS2", Value: 0x4},
	{Name: "ZFS", Value: 0x5},
	{Name: "WBCFS", Value: 0x6, Since: "2.17"},
	{Name: "LAST", Value: 0x7, Doc: "value changed: <=2.12=0x6, 2.15=0x6, 2.16=0x6, 2.17=0x7, 2.18=0x7"},
	{Name: "SMFS", Value: 0x2, Doc: "not defined after 2.15", Alias: true},
})

// NodemapIdxType is the group nodemap_idx_type.
var NodemapIdxType = Enum("nodemap_idx_type", "NODEMAP_", "", []Value{
	{Name: "EMPTY_IDX", Value: 0x0},
	{Name: "CLUSTER_IDX", Value: 0x1},
	{Name: "RANGE_IDX", Value: 0x2},
	{Name: "UIDMAP_IDX", Value: 0x3},
	{Name: "GIDMAP_IDX", Value: 0x4},
	{Name: "PROJIDMAP_IDX", Value: 0x5, Since: "2.15"},
	{Name: "NID_MASK_IDX", Value: 0x6, Since: "2.16"},
	{Name: "GLOBAL_IDX", Value: 0xf},
})

// NodemapFlags is the group nodemap_flags.
var NodemapFlags = Bits("nodemap_flags", "NM_FL_", "", []Value{
	{Name: "ALLOW_ROOT_ACCESS", Value: 0x1, Since: "2.16"},
	{Name: "TRUST_CLIENT_IDS", Value: 0x2, Since: "2.16"},
	{Name: "DENY_UNKNOWN", Value: 0x4, Since: "2.16"},
	{Name: "MAP_UID", Value: 0x8, Since: "2.16"},
	{Name: "MAP_GID", Value: 0x10, Since: "2.16"},
	{Name: "ENABLE_AUDIT", Value: 0x20, Since: "2.16"},
	{Name: "FORBID_ENCRYPT", Value: 0x40, Since: "2.16"},
	{Name: "MAP_PROJID", Value: 0x80, Since: "2.16"},
})

// NodemapFlags2 is the group nodemap_flags2.
var NodemapFlags2 = Bits("nodemap_flags2", "NM_FL2_", "", []Value{
	{Name: "READONLY_MOUNT", Value: 0x1, Since: "2.16"},
	{Name: "DENY_MOUNT", Value: 0x2, Since: "2.17"},
	{Name: "FILESET_USE_IAM", Value: 0x4, Since: "2.17"},
	{Name: "GSS_IDENTIFY", Value: 0x8, Since: "2.17"},
})

// NodemapSubid is the group nodemap_subid.
var NodemapSubid = Enum("nodemap_subid", "NODEMAP_", "", []Value{
	{Name: "CLUSTER_REC", Value: 0x0, Since: "2.16"},
	{Name: "CLUSTER_ROLES", Value: 0x1, Since: "2.16"},
	{Name: "CLUSTER_OFFSET", Value: 0x2, Since: "2.17"},
	{Name: "CLUSTER_CAPS", Value: 0x3, Since: "2.17"},
	{Name: "FILESET", Value: 0x200, Since: "2.17"},
})

// NodemapRangeType is the group nodemap_range_type.
var NodemapRangeType = Enum("nodemap_range_type", "NM_RANGE_FL_", "", []Value{
	{Name: "REG", Value: 0x0, Since: "2.17"},
	{Name: "BAN", Value: 0x1, Since: "2.17"},
})

// NodemapFilesetFlags is the group nodemap_fileset_flags.
var NodemapFilesetFlags = Bits("nodemap_fileset_flags", "NM_FS_FL_", "", []Value{
	{Name: "READONLY", Value: 0x1, Since: "2.17"},
})

// NodemapRbac is the group nodemap_rbac.
var NodemapRbac = Bits("nodemap_rbac", "NODEMAP_RBAC_", "", []Value{
	{Name: "FILE_PERMS", Value: 0x1, Since: "2.16"},
	{Name: "DNE_OPS", Value: 0x2, Since: "2.16"},
	{Name: "QUOTA_OPS", Value: 0x4, Since: "2.16"},
	{Name: "BYFID_OPS", Value: 0x8, Since: "2.16"},
	{Name: "CHLG_OPS", Value: 0x10, Since: "2.16"},
	{Name: "FSCRYPT_ADMIN", Value: 0x20, Since: "2.16"},
	{Name: "SERVER_UPCALL", Value: 0x40, Since: "2.17"},
	{Name: "IGN_ROOT_PRJQUOTA", Value: 0x80, Since: "2.17"},
	{Name: "HSM_OPS", Value: 0x100, Since: "2.17"},
	{Name: "LOCAL_ADMIN", Value: 0x200, Since: "2.17"},
	{Name: "POOL_QUOTA_OPS", Value: 0x400, Since: "2.17"},
	{Name: "LQA_QUOTA_OPS", Value: 0x800, Since: "2.18"},
	{Name: "PROJID_SET", Value: 0x1000, Since: "2.18"},
	{Name: "FOREIGN_OPS", Value: 0x2000, Since: "2.18"},
	{Name: "IMMUTABLE_FLAGS", Value: 0x4000, Since: "2.18"},
	{Name: "NONE", Value: 0xffff8000, Since: "2.16", Doc: "value changed: 2.16=0xffffffc0, 2.17=0xfffff800, 2.18=0xffff8000", Alias: true},
	{Name: "ALL", Value: 0xffffffff, Since: "2.16", Alias: true},
})

// NodemapRaisePrivs is the group nodemap_raise_privs.
var NodemapRaisePrivs = Bits("nodemap_raise_privs", "NODEMAP_RAISE_PRIV_", "", []Value{
	{Name: "RAISE", Value: 0x1, Since: "2.17"},
	{Name: "ADMIN", Value: 0x2, Since: "2.17"},
	{Name: "TRUSTED", Value: 0x4, Since: "2.17"},
	{Name: "DENY_UNKN", Value: 0x8, Since: "2.17"},
	{Name: "RO", Value: 0x10, Since: "2.17"},
	{Name: "RBAC", Value: 0x20, Since: "2.17"},
	{Name: "FORBID_ENC", Value: 0x40, Since: "2.17"},
	{Name: "CAPS", Value: 0x80, Since: "2.17"},
	{Name: "DENY_MNT", Value: 0x100, Since: "2.17"},
	{Name: "NONE", Value: 0xfffffe00, Since: "2.17", Alias: true},
	{Name: "ALL", Value: 0xffffffff, Since: "2.17", Alias: true},
})

// NodemapCapType is the group nodemap_cap_type.
var NodemapCapType = Enum("nodemap_cap_type", "NODEMAP_CAP_", "", []Value{
	{Name: "OFF", Value: 0x0, Since: "2.17"},
	{Name: "MASK", Value: 0x1, Since: "2.17"},
	{Name: "SET", Value: 0x2, Since: "2.17"},
})

// NodemapMapMode is the group nodemap_map_mode.
var NodemapMapMode = Bits("nodemap_map_mode", "NODEMAP_MAP_", "", []Value{
	{Name: "BOTH_LEGACY", Value: 0x0, Since: "2.15"},
	{Name: "UID", Value: 0x1, Since: "2.15"},
	{Name: "GID", Value: 0x2, Since: "2.15"},
	{Name: "BOTH", Value: 0x3, Alias: true},
	{Name: "PROJID", Value: 0x4, Since: "2.15"},
	{Name: "ALL", Value: 0x7, Since: "2.15", Alias: true},
})

// NodemapIdType is the group nodemap_id_type.
var NodemapIdType = Enum("nodemap_id_type", "NODEMAP_", "", []Value{
	{Name: "UID", Value: 0x0},
	{Name: "GID", Value: 0x1},
	{Name: "PROJID", Value: 0x2, Since: "2.15"},
})

// NodemapMisc is the group nodemap_misc.
var NodemapMisc = Enum("nodemap_misc", "", "", []Value{
	{Name: "LUSTRE_NODEMAP_NAME_LENGTH", Value: 0x10},
	{Name: "LUSTRE_NODEMAP_FILESET_FRAGMENT_SIZE", Value: 0x1c, Since: "2.17"},
	{Name: "NM_TYPE_SHIFT", Value: 0x1c, Alias: true},
	{Name: "LUSTRE_NODEMAP_FILESET_NUM_MAX", Value: 0x100, Since: "2.17"},
	{Name: "LUSTRE_NODEMAP_FILESET_SUBID_RANGE", Value: 0x100, Since: "2.17", Alias: true},
	{Name: "LUSTRE_NODEMAP_SEPOL_LENGTH", Value: 0x146},
	{Name: "NM_TYPE_MASK", Value: 0xfffffff},
})
