package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// MgsCfgType is the group mgs_cfg_type.
var MgsCfgType = Enum("mgs_cfg_type", "MGS_CFG_T_", "tables and logs of the MGS", []Value{
	{Name: "CONFIG", Value: 0x0, Since: "2.15", Doc: "configuration of a target or client"},
	{Name: "SPTLRPC", Value: 0x1, Since: "2.15", Doc: "security rules"},
	{Name: "RECOVER", Value: 0x2, Since: "2.15", Doc: "where targets run: imperative recovery"},
	{Name: "PARAMS", Value: 0x3, Since: "2.15", Doc: "parameters set with set_param -P"},
	{Name: "NODEMAP", Value: 0x4, Since: "2.15", Doc: "nodemaps"},
	{Name: "BARRIER", Value: 0x5, Since: "2.15", Doc: "write barriers"},
})

// MgsNidlistFlags is the group mgs_nidlist_flags.
var MgsNidlistFlags = Bits("mgs_nidlist_flags", "NIDLIST_", "where and how the NIDs of a target are given", []Value{
	{Name: "APPEND", Value: 0x1, Since: "2.17", Doc: "add to the list"},
	{Name: "IN_BULK", Value: 0x2, Since: "2.17", Doc: "the list comes as bulk data"},
	{Name: "COMPRESSED", Value: 0x4, Since: "2.17", Doc: "the list is compressed"},
})

// MtiFlags is the group mti_flags.
var MtiFlags = Bits("mti_flags", "LDD_F_", "kind and state of a target", []Value{
	{Name: "SV_TYPE_MDT", Value: 0x1, Doc: "an MDT"},
	{Name: "SV_TYPE_OST", Value: 0x2, Doc: "an OST"},
	{Name: "SV_TYPE_MGS", Value: 0x4, Doc: "the MGS"},
	{Name: "SV_TYPE_MASK", Value: 0x7, Alias: true},
	{Name: "SV_ALL", Value: 0x8, Doc: "for all targets"},
	{Name: "NEED_INDEX", Value: 0x10, Doc: "wants an index"},
	{Name: "VIRGIN", Value: 0x20, Doc: "never registered before"},
	{Name: "UPDATE", Value: 0x40, Doc: "update the configuration"},
	{Name: "REWRITE_LDD", Value: 0x80, Doc: "write the label anew"},
	{Name: "WRITECONF", Value: 0x100, Doc: "make the configuration anew"},
	{Name: "PARAM", Value: 0x400, Doc: "parameters have changed"},
	{Name: "NO_PRIMNODE", Value: 0x1000, Doc: "give no node the precedence"},
	{Name: "IR_CAPABLE", Value: 0x2000, Doc: "can do imperative recovery"},
	{Name: "ERROR", Value: 0x4000, Doc: "registration failed"},
	{Name: "PARAM2", Value: 0x8000, Doc: "a parameter for set_param -P"},
	{Name: "NO_LOCAL_LOGS", Value: 0x10000, Since: "2.15", Doc: "keeps no copy of its configuration"},
	{Name: "LARGE_NID", Value: 0x20000, Since: "2.16", Doc: "NIDs are given as text"},
	{Name: "OPC_REG", Value: 0x10000000, Doc: "what it wants: to register"},
	{Name: "OPC_UNREG", Value: 0x20000000, Doc: "to be taken out"},
	{Name: "OPC_READY", Value: 0x40000000, Doc: "to say that it runs"},
})

// MtiLimits is the group mti_limits.
var MtiLimits = Enum("mti_limits", "", "room in the information about a target", []Value{
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
var LddMountType = Enum("ldd_mount_type", "LDD_MT_", "file system under a target", []Value{
	{Name: "EXT3", Value: 0x0},
	{Name: "LDISKFS", Value: 0x1},
	{Name: "REISERFS", Value: 0x3},
	{Name: "LDISKFS2", Value: 0x4},
	{Name: "ZFS", Value: 0x5},
	{Name: "WBCFS", Value: 0x6, Since: "2.17"},
	{Name: "LAST", Value: 0x7, Doc: "number of types"},
	{Name: "SMFS", Value: 0x2, Doc: "gone after 2.15", Alias: true},
})

// NodemapIdxType is the group nodemap_idx_type.
var NodemapIdxType = Enum("nodemap_idx_type", "NODEMAP_", "kinds of records in the nodemap index", []Value{
	{Name: "EMPTY_IDX", Value: 0x0},
	{Name: "CLUSTER_IDX", Value: 0x1, Doc: "a nodemap, or part of it"},
	{Name: "RANGE_IDX", Value: 0x2, Doc: "range of NIDs"},
	{Name: "UIDMAP_IDX", Value: 0x3, Doc: "mapping of a user"},
	{Name: "GIDMAP_IDX", Value: 0x4, Doc: "mapping of a group"},
	{Name: "PROJIDMAP_IDX", Value: 0x5, Since: "2.15", Doc: "mapping of a project"},
	{Name: "NID_MASK_IDX", Value: 0x6, Since: "2.16", Doc: "prefix of NIDs"},
	{Name: "GLOBAL_IDX", Value: 0xf, Doc: "whether nodemaps are used"},
})

// NodemapFlags is the group nodemap_flags.
var NodemapFlags = Bits("nodemap_flags", "NM_FL_", "what clients of a nodemap may do", []Value{
	{Name: "ALLOW_ROOT_ACCESS", Value: 0x1, Since: "2.16", Doc: "root stays root"},
	{Name: "TRUST_CLIENT_IDS", Value: 0x2, Since: "2.16", Doc: "ids are not mapped"},
	{Name: "DENY_UNKNOWN", Value: 0x4, Since: "2.16", Doc: "ids without a mapping may do nothing"},
	{Name: "MAP_UID", Value: 0x8, Since: "2.16", Doc: "map users"},
	{Name: "MAP_GID", Value: 0x10, Since: "2.16", Doc: "map groups"},
	{Name: "ENABLE_AUDIT", Value: 0x20, Since: "2.16", Doc: "record them in changelogs"},
	{Name: "FORBID_ENCRYPT", Value: 0x40, Since: "2.16", Doc: "no encryption"},
	{Name: "MAP_PROJID", Value: 0x80, Since: "2.16", Doc: "map projects"},
})

// NodemapFlags2 is the group nodemap_flags2.
var NodemapFlags2 = Bits("nodemap_flags2", "NM_FL2_", "more of what clients of a nodemap may do", []Value{
	{Name: "READONLY_MOUNT", Value: 0x1, Since: "2.16", Doc: "mount read-only"},
	{Name: "DENY_MOUNT", Value: 0x2, Since: "2.17", Doc: "no new mounts"},
	{Name: "FILESET_USE_IAM", Value: 0x4, Since: "2.17", Doc: "filesets stand in the index"},
	{Name: "GSS_IDENTIFY", Value: 0x8, Since: "2.17", Doc: "clients are told by their GSS credentials"},
})

// NodemapSubid is the group nodemap_subid.
var NodemapSubid = Enum("nodemap_subid", "NODEMAP_", "parts of a nodemap in the index", []Value{
	{Name: "CLUSTER_REC", Value: 0x0, Since: "2.16"},
	{Name: "CLUSTER_ROLES", Value: 0x1, Since: "2.16"},
	{Name: "CLUSTER_OFFSET", Value: 0x2, Since: "2.17"},
	{Name: "CLUSTER_CAPS", Value: 0x3, Since: "2.17"},
	{Name: "FILESET", Value: 0x200, Since: "2.17"},
})

// NodemapRangeType is the group nodemap_range_type.
var NodemapRangeType = Enum("nodemap_range_type", "NM_RANGE_FL_", "what a range of NIDs is for", []Value{
	{Name: "REG", Value: 0x0, Since: "2.17"},
	{Name: "BAN", Value: 0x1, Since: "2.17"},
})

// NodemapFilesetFlags is the group nodemap_fileset_flags.
var NodemapFilesetFlags = Bits("nodemap_fileset_flags", "NM_FS_FL_", "kind of a fileset", []Value{
	{Name: "READONLY", Value: 0x1, Since: "2.17"},
})

// NodemapRbac is the group nodemap_rbac.
var NodemapRbac = Bits("nodemap_rbac", "NODEMAP_RBAC_", "roles: operations that users of a nodemap may do", []Value{
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
	{Name: "NONE", Value: 0xffff8000, Since: "2.16", Doc: "no role; the value grows with each release", Alias: true},
	{Name: "ALL", Value: 0xffffffff, Since: "2.16", Alias: true},
})

// NodemapRaisePrivs is the group nodemap_raise_privs.
var NodemapRaisePrivs = Bits("nodemap_raise_privs", "NODEMAP_RAISE_PRIV_", "what a child nodemap may allow beyond its parent", []Value{
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
var NodemapCapType = Enum("nodemap_cap_type", "NODEMAP_CAP_", "what the capabilities of a nodemap mean", []Value{
	{Name: "OFF", Value: 0x0, Since: "2.17"},
	{Name: "MASK", Value: 0x1, Since: "2.17"},
	{Name: "SET", Value: 0x2, Since: "2.17"},
})

// NodemapMapMode is the group nodemap_map_mode.
var NodemapMapMode = Bits("nodemap_map_mode", "NODEMAP_MAP_", "which ids a nodemap maps", []Value{
	{Name: "BOTH_LEGACY", Value: 0x0, Since: "2.15"},
	{Name: "UID", Value: 0x1, Since: "2.15"},
	{Name: "GID", Value: 0x2, Since: "2.15"},
	{Name: "BOTH", Value: 0x3, Alias: true},
	{Name: "PROJID", Value: 0x4, Since: "2.15"},
	{Name: "ALL", Value: 0x7, Since: "2.15", Alias: true},
})

// NodemapIdType is the group nodemap_id_type.
var NodemapIdType = Enum("nodemap_id_type", "NODEMAP_", "kinds of ids", []Value{
	{Name: "UID", Value: 0x0},
	{Name: "GID", Value: 0x1},
	{Name: "PROJID", Value: 0x2, Since: "2.15"},
})

// NodemapMisc is the group nodemap_misc.
var NodemapMisc = Enum("nodemap_misc", "", "limits of nodemaps", []Value{
	{Name: "LUSTRE_NODEMAP_NAME_LENGTH", Value: 0x10},
	{Name: "LUSTRE_NODEMAP_FILESET_FRAGMENT_SIZE", Value: 0x1c, Since: "2.17"},
	{Name: "NM_TYPE_SHIFT", Value: 0x1c, Alias: true},
	{Name: "LUSTRE_NODEMAP_FILESET_NUM_MAX", Value: 0x100, Since: "2.17"},
	{Name: "LUSTRE_NODEMAP_FILESET_SUBID_RANGE", Value: 0x100, Since: "2.17", Alias: true},
	{Name: "LUSTRE_NODEMAP_SEPOL_LENGTH", Value: 0x146},
	{Name: "NM_TYPE_MASK", Value: 0xfffffff},
})
