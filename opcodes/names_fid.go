package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// SeqOp is the group seq_op.
var SeqOp = Enum("seq_op", "SEQ_ALLOC_", "what sequences are asked for", []Value{
	{Name: "SUPER", Value: 0x0, Doc: "many, for a server that hands them out"},
	{Name: "META", Value: 0x1, Doc: "one, for a client"},
})

// FldOp is the group fld_op.
var FldOp = Enum("fld_op", "FLD_", "what is asked of the FID location database", []Value{
	{Name: "CREATE", Value: 0x0},
	{Name: "DELETE", Value: 0x1},
	{Name: "LOOKUP", Value: 0x2},
})

// Idx is the group idx.
var Idx = Enum("idx", "", "sizes and magic of index pages", []Value{
	{Name: "LU_PAGE_SHIFT", Value: 0xc},
	{Name: "LIP_HDR_SIZE", Value: 0x10},
	{Name: "LU_PAGE_SIZE", Value: 0x1000},
	{Name: "IDX_INFO_MAGIC", Value: 0x3d37cc37},
	{Name: "LIP_MAGIC", Value: 0x8a6d6b6c},
	{Name: "II_END_OFF", Value: 0xfffffffffffffffe},
})

// IdxFlags is the group idx_flags.
var IdxFlags = Bits("idx_flags", "II_FL_", "form of the entries of an index", []Value{
	{Name: "NOHASH", Value: 0x1, Doc: "no hash is stored"},
	{Name: "VARKEY", Value: 0x2, Doc: "keys of different sizes"},
	{Name: "VARREC", Value: 0x4, Doc: "records of different sizes"},
	{Name: "NONUNQ", Value: 0x8, Doc: "keys may occur more than once"},
	{Name: "NOKEY", Value: 0x10, Doc: "no key is stored"},
})

// FidSeq is the group fid_seq.
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
	{Name: "QUOTA", Value: 0x200000005, Doc: "quota index files"},
	{Name: "QUOTA_GLB", Value: 0x200000006, Doc: "global quota index"},
	{Name: "ROOT", Value: 0x200000007, Doc: "root directory"},
	{Name: "LAYOUT_RBTREE", Value: 0x200000008, Doc: "LFSCK layout object"},
	{Name: "UPDATE_LOG", Value: 0x200000009, Doc: "DNE update logs"},
	{Name: "UPDATE_LOG_DIR", Value: 0x20000000a, Doc: "DNE update log directory"},
	{Name: "NORMAL", Value: 0x200000400, Doc: "first sequence given to clients"},
	{Name: "LOV_DEFAULT", Value: 0xffffffffffffffff, Doc: "default layout pseudo sequence"},
})

// FidOid is the group fid_oid.
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

// SeqRangeType is the group seq_range_type.
var SeqRangeType = Enum("seq_range_type", "LU_SEQ_RANGE_", "what kind of target a range of sequences belongs to", []Value{
	{Name: "MDT", Value: 0x0},
	{Name: "OST", Value: 0x1},
	{Name: "ANY", Value: 0x3},
	{Name: "MASK", Value: 0x3, Alias: true},
})
