package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var FidSeq = Enum("fid_seq", "FID_SEQ_", "sequences of FIDs with a meaning of their own", []Value{
	{Name: "OST_MDT0", Value: 0x0, Doc: "legacy OST objects (id/seq form, seq 0)"},
	{Name: "LLOG", Value: 0x1, Doc: "unnamed llogs"},
	{Name: "ECHO", Value: 0x2, Doc: "echo client objects"},
	{Name: "UNUSED_START", Value: 0x3},
	{Name: "UNUSED_END", Value: 0x9},
	{Name: "LLOG_NAME", Value: 0xa, Doc: "named llogs"},
	{Name: "RSVD", Value: 0xb},
	{Name: "IGIF", Value: 0xc, Doc: "inode/generation FIDs start"},
	{Name: "IGIF_MAX", Value: 0xffffffff},
	{Name: "IDIF", Value: 0x100000000, Doc: "OST object ids mapped into FIDs start"},
	{Name: "IDIF_MAX", Value: 0x1ffffffff},
	{Name: "START", Value: 0x200000000, Doc: "normal range base"},
	{Name: "LOCAL_FILE", Value: 0x200000001, Doc: "target-local files"},
	{Name: "DOT_LUSTRE", Value: 0x200000002, Doc: ".lustre tree"},
	{Name: "LOCAL_NAME", Value: 0x200000003, Doc: "local named objects"},
	{Name: "SPECIAL", Value: 0x200000004, Doc: "special locks e.g. rename lock"},
	{Name: "QUOTA", Value: seqQuota, Doc: "quota index files"},
	{Name: "QUOTA_GLB", Value: seqQuotaGlobal, Doc: "global quota index"},
	{Name: "ROOT", Value: 0x200000007, Doc: "root directory"},
	{Name: "LAYOUT_RBTREE", Value: 0x200000008, Doc: "LFSCK layout object"},
	{Name: "UPDATE_LOG", Value: updateLogSeq, Doc: "DNE update logs"},
	{Name: "UPDATE_LOG_DIR", Value: 0x20000000a, Doc: "DNE update log directory"},
	{Name: "NORMAL", Value: 0x200000400, Doc: "first sequence given to clients"},
	{Name: "LOV_DEFAULT", Value: 0xffffffffffffffff, Doc: "default layout pseudo sequence"},
})

var FidOid = Enum("fid_oid", "", "object numbers with a meaning of their own", []Value{
	{Name: "LUSTRE_FID_LASTID_OID", Value: 0x0},
	{Name: "LUSTRE_FID_INIT_OID", Value: 0x1},
	{Name: "FID_OID_SPECIAL_BFL", Value: 0x1, Alias: true},
	{Name: "FID_OID_DOT_LUSTRE", Value: 0x1, Alias: true},
	{Name: "FID_OID_DOT_LUSTRE_OBF", Value: 0x2},
	{Name: "FID_OID_DOT_LUSTRE_LPF", Value: 0x3},
	{Name: "FID_OID_ROOT", Value: 0x1, Alias: true},
	{Name: "FID_OID_ECHO_ROOT", Value: 0x2, Alias: true},
})

var LocalOid = Enum("local_oid", "", "objects that each target has for itself: f_oid of FIDs of the sequence 0x200000001", []Value{
	{Name: "FLD_INDEX_OID", Value: 0x3, Doc: "FLD: which target has which sequences"},
	{Name: "FID_SEQ_CTL_OID", Value: 0x4, Doc: "sequences that MDT0000 has not given to a server yet"},
	{Name: "FID_SEQ_SRV_OID", Value: 0x5, Doc: "sequences that a server has not given to a client yet"},
	{Name: "LAST_RECV_OID", Value: 0xb, Doc: "last_rcvd: the clients of the target, for recovery"},
	{Name: "OSD_FS_ROOT_OID", Value: 0xd, Doc: "root directory of the file system on the disk"},
	{Name: "ACCT_USER_OID", Value: 0xf, Doc: "space and inodes by user"},
	{Name: "ACCT_GROUP_OID", Value: 0x10, Doc: "space and inodes by group"},
	{Name: "LFSCK_BOOKMARK_OID", Value: 0x11, Doc: "how far LFSCK has come"},
	{Name: "OTABLE_IT_OID", Value: 0x12, Doc: "stands for all objects of the target, for scrub and LFSCK"},
	{Name: "OSD_LPF_OID", Value: 0x13, Doc: "lost+found of the file system on the disk"},
	{Name: "REPLY_DATA_OID", Value: 0x15, Doc: "reply_data: replies that clients may not have got, for recovery (struct lsd_reply_data)"},
	{Name: "ACCT_PROJECT_OID", Value: 0x16, Doc: "space and inodes by project"},
	{Name: "INDEX_BACKUP_OID", Value: 0x1014, Doc: "backups of indexes"},
	{Name: "OFD_LAST_GROUP_OID", Value: 0x1015, Doc: "LAST_GROUP: highest sequence of objects on the OST"},
	{Name: "LLOG_CATALOGS_OID", Value: 0x1016, Doc: "CATALOGS: list of the llog catalogs"},
	{Name: "MGS_CONFIGS_OID", Value: 0x1017, Doc: "CONFIGS: directory of configuration logs"},
	{Name: "OFD_HEALTH_CHECK_OID", Value: 0x1018, Doc: "health_check: written to find out whether the disk works"},
	{Name: "LFSCK_NAMESPACE_OID", Value: 0x101a, Doc: "state of the namespace LFSCK"},
	{Name: "REMOTE_PARENT_DIR_OID", Value: 0x101b, Doc: "REMOTE_PARENT_DIR: directories whose parents are on other MDTs"},
	{Name: "BATCHID_COMMITTED_OID", Value: 0x101d, Doc: "last distributed operation that is on the disks of all MDTs"},
	{Name: "OFD_FAILURE_DOMAIN_OID", Value: 0x101e, Since: "2.18", Doc: "failure domain of the OST"},
})

var LuFid = &Struct{Name: "lu_fid", Atom: FID, Doc: "file identifier, unique in a file system for all time", Fields: []*Field{
	U64("f_seq", Cookie, "sequence: who may hand the FID out; small ones are special (group fid_seq)"),
	U32("f_oid", Hex, "number in the sequence"),
	U32("f_ver", Hex, "version; zero"),
}}

var ostId = &Struct{Name: "ost_id", Atom: OSTID, Doc: "OST object: an id and a sequence, or a FID", Fields: []*Field{
	U64("oi_id", "object id"),
	U64("oi_seq", Cookie, "sequence"),
	Sub("oi_fid", &LuFid, Over("oi_id"), "the same bytes as a FID"),
}}

var (
	fidOid = LuFid.Field("f_oid")
	oiID   = ostId.Field("oi_id")
	oiSeq  = ostId.Field("oi_seq")
)

var llFid = &Struct{Name: "ll_fid", Doc: "file by inode number, before there were FIDs", Fields: []*Field{
	U64("id", Harmless, "inode number"),
	U32("generation", Harmless, "inode generation"),
	U32("f_type", Octal, "file type"),
}}

var fidArray = &Struct{Name: "fid_array", Doc: "list of FIDs", Fields: []*Field{
	U32("fa_nr", Harmless, "number of FIDs"),
	Padding("fa_padding", 0, 4, 8),
	Subs("fa_fids", -1, &LuFid, CountBy("fa_nr")),
}}

var lustreCapa = &Struct{Name: "lustre_capa",
	Doc: "capability: permission for operations on an object; removed in 2.7, its buffers are empty", Fields: []*Field{
		Sub("lc_fid", &LuFid, "the object"),
		U64("lc_opc", Harmless, Hex, "operations allowed"),
		U64("lc_uid", UserID, "user it was given to"),
		U64("lc_gid", UserID, "group of that user"),
		U32("lc_flags", Harmless, Hex, "kind of capability"),
		U32("lc_keyid", Harmless, "key it is signed with"),
		U32("lc_timeout", TimeSpan, "how long it is valid"),
		U32("lc_expiry", Time, "when it ends"),
		Opaque("lc_hmac", 64, "signature"),
	}}

var (
	bufCapa1 = Sub("capa1", &lustreCapa)
	bufCapa2 = Sub("capa2", &lustreCapa)
)
