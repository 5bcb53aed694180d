package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

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

var NodemapFlags2 = Bits("nodemap_flags2", "NM_FL2_", "more of what clients of a nodemap may do", []Value{
	{Name: "READONLY_MOUNT", Value: 0x1, Since: "2.16", Doc: "mount read-only"},
	{Name: "DENY_MOUNT", Value: 0x2, Since: "2.17", Doc: "no new mounts"},
	{Name: "FILESET_USE_IAM", Value: 0x4, Since: "2.17", Doc: "filesets stand in the index"},
	{Name: "GSS_IDENTIFY", Value: 0x8, Since: "2.17", Doc: "clients are identified by their GSS credentials"},
})

var NodemapSubid = Enum("nodemap_subid", "NODEMAP_", "parts of a nodemap in the index", []Value{
	{Name: "CLUSTER_REC", Value: 0x0, Since: "2.16"},
	{Name: "CLUSTER_ROLES", Value: 0x1, Since: "2.16"},
	{Name: "CLUSTER_OFFSET", Value: 0x2, Since: "2.17"},
	{Name: "CLUSTER_CAPS", Value: 0x3, Since: "2.17"},
	{Name: "FILESET", Value: nodemapFileset, Since: "2.17"},
})

var NodemapFilesetFlags = Bits("nodemap_fileset_flags", "NM_FS_FL_", "kind of a fileset", []Value{
	{Name: "READONLY", Value: 0x1, Since: "2.17", Doc: "clients cannot write below the fileset"},
})

var NodemapRbac = Bits("nodemap_rbac", "NODEMAP_RBAC_", "roles: operations that users of a nodemap may do", []Value{
	{Name: "FILE_PERMS", Value: 0x1, Since: "2.16", Doc: "root changes owner, mode and ACL of files"},
	{Name: "DNE_OPS", Value: 0x2, Since: "2.16", Doc: "root makes, stripes and migrates directories on other MDTs"},
	{Name: "QUOTA_OPS", Value: 0x4, Since: "2.16", Doc: "root sets quota limits"},
	{Name: "BYFID_OPS", Value: 0x8, Since: "2.16", Doc: "files are opened and looked up by FID"},
	{Name: "CHLG_OPS", Value: 0x10, Since: "2.16", Doc: "changelogs are read and cleared"},
	{Name: "FSCRYPT_ADMIN", Value: 0x20, Since: "2.16", Doc: "root locks and unlocks encrypted directories and changes their policies"},
	{Name: "SERVER_UPCALL", Value: 0x40, Since: "2.17", Doc: "the groups of users come from the upcall of the server; without the role, from the client"},
	{Name: "IGN_ROOT_PRJQUOTA", Value: 0x80, Since: "2.17", Doc: "the project quota does not limit root"},
	{Name: "HSM_OPS", Value: 0x100, Since: "2.17", Doc: "requests to archive, restore and release files"},
	{Name: "LOCAL_ADMIN", Value: 0x200, Since: "2.17", Doc: "root of the nodemap has the rights of root, over the files of mapped users only"},
	{Name: "POOL_QUOTA_OPS", Value: 0x400, Since: "2.17", Doc: "root sets quota limits of pools"},
	{Name: "LQA_QUOTA_OPS", Value: 0x800, Since: "2.18", Doc: "root sets the limits of allocations for ranges of ids"},
	{Name: "PROJID_SET", Value: 0x1000, Since: "2.18", Doc: "users change the project id of their files"},
	{Name: "FOREIGN_OPS", Value: 0x2000, Since: "2.18", Doc: "foreign files and directories are made and removed"},
	{Name: "IMMUTABLE_FLAGS", Value: 0x4000, Since: "2.18", Doc: "root sets the flags immutable and append only"},
	{Name: "NONE", Value: 0xffff8000, Since: "2.16", Doc: "no role; the value grows with each release", Alias: true},
	{Name: "ALL", Value: 0xffffffff, Since: "2.16", Alias: true},
})

var NodemapRaisePrivs = Bits("nodemap_raise_privs", "NODEMAP_RAISE_PRIV_", "what a child nodemap may allow beyond its parent", []Value{
	{Name: "RAISE", Value: 0x1, Since: "2.17", Doc: "what its own children may allow"},
	{Name: "ADMIN", Value: 0x2, Since: "2.17", Doc: "root stays root"},
	{Name: "TRUSTED", Value: 0x4, Since: "2.17", Doc: "ids are not mapped"},
	{Name: "DENY_UNKN", Value: 0x8, Since: "2.17", Doc: "users without a mapping are let in"},
	{Name: "RO", Value: 0x10, Since: "2.17", Doc: "mounts that can write"},
	{Name: "RBAC", Value: 0x20, Since: "2.17", Doc: "more roles"},
	{Name: "FORBID_ENC", Value: 0x40, Since: "2.17", Doc: "encryption"},
	{Name: "CAPS", Value: 0x80, Since: "2.17", Doc: "more capabilities of processes"},
	{Name: "DENY_MNT", Value: 0x100, Since: "2.17", Doc: "mounts"},
	{Name: "NONE", Value: 0xfffffe00, Since: "2.17", Alias: true},
	{Name: "ALL", Value: 0xffffffff, Since: "2.17", Alias: true},
})

var NodemapCapType = Enum("nodemap_cap_type", "NODEMAP_CAP_", "what the capabilities of a nodemap mean", []Value{
	{Name: "OFF", Value: 0x0, Since: "2.17"},
	{Name: "MASK", Value: 0x1, Since: "2.17"},
	{Name: "SET", Value: 0x2, Since: "2.17"},
})

var NodemapIdType = Enum("nodemap_id_type", "NODEMAP_", "kinds of ids", []Value{
	{Name: "UID", Value: 0x0},
	{Name: "GID", Value: 0x1},
	{Name: "PROJID", Value: 0x2, Since: "2.15"},
})

var nodemapClusterRec = &Struct{Name: "nodemap_cluster_rec", Order: Little, Doc: "a nodemap: what clients of it may do", Fields: []*Field{
	Str("ncr_name", 17, PlainName, "name of the nodemap"),
	U8("ncr_flags", &NodemapFlags, "what its clients may do"),
	U8("ncr_flags2", &NodemapFlags2, Since("2.16"), "more of it"),
	Pad("ncr_padding1", 1, "a byte longer in 2.12, which has no second flags"),
	U32("ncr_squash_projid", UserID, Since("2.15"), "project for unknown projects"),
	U32("ncr_squash_uid", UserID, "user for unknown users"),
	U32("ncr_squash_gid", UserID, "group for unknown groups"),
}}

var nodemapRangeRec = &Struct{Name: "nodemap_range_rec", Order: Little,
	Doc: "range of client NIDs that a nodemap holds for", Fields: []*Field{
		U64("nrr_start_nid", NID4, "first NID"),
		U64("nrr_end_nid", NID4, "last NID"),
		Padding("nrr_padding", 1, 8, 8),
	}}

var nodemapRange2Rec = &Struct{Name: "nodemap_range2_rec", Since: "2.16", Order: Little,
	Doc: "client NIDs that a nodemap holds for, as a prefix", Fields: []*Field{
		Sub("nrr_nid_prefix", &LnetNid, "NID that begins the range"),
		Padding("nrr_padding", 1, 4, 4, 2, 1),
		U8("nrr_netmask", Harmless, "bits that count"),
	}}

var nodemapIdRec = &Struct{Name: "nodemap_id_rec", Order: Little,
	Doc: "id that a client's id is mapped to; the key has the client's", Fields: []*Field{
		U32("nir_id_fs", UserID, "id in the file system"),
		Padding("nir_padding", 1, 4, 8, 8, 8),
	}}

var nodemapGlobalRec = &Struct{Name: "nodemap_global_rec", Order: Little, Doc: "whether nodemaps are used at all", Fields: []*Field{
	U8("ngr_is_active", Harmless, "1: nodemaps are in use"),
	Padding("ngr_padding", 1, 1, 2, 4, 8, 8, 8),
}}

var nodemapClusterRolesRec = &Struct{Name: "nodemap_cluster_roles_rec", Since: "2.16", Order: Little,
	Doc: "what users of a nodemap may do that needs a role", Fields: []*Field{
		U64("ncrr_roles", &NodemapRbac, "roles"),
		U64("ncrr_privs", Since("2.17"), &NodemapRaisePrivs, "what a child nodemap may allow beyond its parent"),
		U64("ncrr_roles_raise", Since("2.17"), &NodemapRbac, "roles that a child nodemap may add"),
		Pad("ncrr_unused1", 8, Since("2.17")),
	}}

var nodemapOffsetRec = &Struct{Name: "nodemap_offset_rec", Since: "2.17", Order: Little,
	Doc: "ranges that ids of a nodemap are shifted into", Fields: []*Field{
		U32("nor_start_uid", UserID, "first id of the range"),
		U32("nor_limit_uid", Harmless, "size of the range"),
		U32("nor_start_gid", UserID, "first id of the range"),
		U32("nor_limit_gid", Harmless, "size of the range"),
		U32("nor_start_projid", UserID, "first id of the range"),
		U32("nor_limit_projid", Harmless, "size of the range"),
		Padding("nor_padding", 1, 4, 4),
	}}

var nodemapFilesetHeaderRec = &Struct{Name: "nodemap_fileset_header_rec", Since: "2.17", Order: Little,
	Doc: "fileset: directory that clients are confined to; its path follows in pieces", Fields: []*Field{
		U8("nfhr_flags", &NodemapFilesetFlags, "kind of fileset"),
		Padding("nfr_padding", 1, 1, 2, 4, 8, 8, 8),
	}}

var nodemapFilesetRec = &Struct{Name: "nodemap_fileset_rec", Since: "2.17", Order: Little,
	Doc: "piece of the path of a fileset", Fields: []*Field{
		Str("nfr_path_fragment", 28, FilePath, "the piece"),
		U16("nfr_fragment_id", Harmless, "its number"),
		Pad("nfr_padding1", 2),
	}}

var nodemapUserCapabilitiesRec = &Struct{Name: "nodemap_user_capabilities_rec", Since: "2.17", Order: Little,
	Doc: "capabilities that users of a nodemap keep", Fields: []*Field{
		U64("nucr_caps", Harmless, Hex, "bit per capability, as in capabilities(7)"),
		U8("nucr_type", &NodemapCapType, "what the bits mean"),
		Padding("nucr_padding", 1, 1, 2, 4, 8, 8),
	}}

var nodemapRec = &Struct{Name: "nodemap_rec", Order: Little, Doc: "value in the nodemap index; the key selects its form", Fields: []*Field{
	Sub("ncr", &nodemapClusterRec, ifNodemap(nodemapCluster, 0, 0), "a nodemap"),
	Sub("nrr", &nodemapRangeRec, Over("ncr"), ifNodemap(nodemapRange, 0, anySubid)),
	Sub("nrr2", &nodemapRange2Rec, Over("ncr"), Since("2.16"), ifNodemap(nodemapNidMask, 0, anySubid)),
	Sub("nir", &nodemapIdRec, Over("ncr"), If(func(v *View) bool {
		kind, _ := nodemapKind(v)
		return kind >= nodemapUidMap && kind <= nodemapProjidMap
	})),
	Sub("ngr", &nodemapGlobalRec, Over("ncr"), ifNodemap(nodemapGlobal, 0, anySubid)),
	Sub("ncrr", &nodemapClusterRolesRec, Over("ncr"), Since("2.16"), ifNodemap(nodemapCluster, 1, 1)),
	Sub("nor", &nodemapOffsetRec, Over("ncr"), Since("2.17"), ifNodemap(nodemapCluster, 2, 2)),
	Sub("nfhr", &nodemapFilesetHeaderRec, Over("ncr"), Since("2.17"), If(func(v *View) bool {
		kind, subid := nodemapKind(v)
		return kind == nodemapCluster && subid >= nodemapFileset && subid%nodemapFilesetStep == 0
	})),
	Sub("nfr", &nodemapFilesetRec, Over("ncr"), Since("2.17"), If(func(v *View) bool {
		kind, subid := nodemapKind(v)
		return kind == nodemapCluster && subid >= nodemapFileset && subid%nodemapFilesetStep != 0
	})),
	Sub("nucr", &nodemapUserCapabilitiesRec, Over("ncr"), Since("2.17"), ifNodemap(nodemapCluster, 3, 3)),
}}

var nodemapKey = &Struct{Name: "nodemap_key", Order: Little, Doc: "key in the nodemap index", Fields: []*Field{
	U32("nk_nodemap_id", Harmless, Hex, Remark(func(v *View, dst []byte) []byte {
		if len(v.Struct) < 4 {
			return dst
		}
		dst = append(dst, NodemapIdxType.Name(keyKind(v.Struct))...)
		const number = 1<<nodemapKindShift - 1
		return strconv.AppendUint(append(dst, " of nodemap "...), ReadUint(v.Struct[:4], false)&number, 10)
	}), "kind of record in the upper 4 bits, number of the nodemap in the others"),
	U32("nk_cluster_subid", Since("2.16"), &NodemapSubid, ifNodemapKey(nodemapCluster, nodemapCluster), "which part of the nodemap"),
	U32("nk_range_id", Harmless, Over("nk_cluster_subid"), If(func(v *View) bool {
		kind := keyKind(v.Struct)
		return kind == nodemapRange || kind == nodemapNidMask
	}), "number of the range"),
	U32("nk_id_client", UserID, Over("nk_cluster_subid"), ifNodemapKey(nodemapUidMap, nodemapProjidMap), "the client's id"),
	Pad("nk_unused", 4, Over("nk_cluster_subid"), ifNodemapKey(nodemapGlobal, nodemapGlobal)),
}}

// Kinds of nodemap records, and parts of a nodemap.
const (
	nodemapCluster     = 1
	nodemapRange       = 2
	nodemapUidMap      = 3
	nodemapProjidMap   = 5
	nodemapNidMask     = 6
	nodemapGlobal      = 15
	nodemapKindShift   = 28
	nodemapFileset     = 0x200
	nodemapFilesetStep = 0x100
	anySubid           = 0xffffffff
)

func keyKind(b []byte) uint64 {
	if len(b) < 8 {
		return 0
	}
	return ReadUint(b[:4], false) >> nodemapKindShift
}

// nodemapKind selects the form of a record by its key, which precedes it in the entry.
func nodemapKind(v *View) (kind, subid uint64) {
	if v.Up == nil || len(v.Up.Struct) < 8 {
		return nodemapCluster, 0
	}
	return keyKind(v.Up.Struct), ReadUint(v.Up.Struct[4:8], false)
}

func ifNodemap(kind, first, last uint64) If {
	return func(v *View) bool {
		k, subid := nodemapKind(v)
		return k == kind && subid >= first && subid <= last
	}
}

func ifNodemapKey(first, last uint64) If {
	return func(v *View) bool { k := keyKind(v.Struct); return k >= first && k <= last }
}
