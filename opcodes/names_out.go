package opcodes

// OutUpdateType is the group out_update_type.
var OutUpdateType = Enum("out_update_type", "OUT_", "", []Value{
	{Name: "START", Value: 0x0},
	{Name: "CREATE", Value: 0x1},
	{Name: "DESTROY", Value: 0x2},
	{Name: "REF_ADD", Value: 0x3},
	{Name: "REF_DEL", Value: 0x4},
	{Name: "ATTR_SET", Value: 0x5},
	{Name: "ATTR_GET", Value: 0x6},
	{Name: "XATTR_SET", Value: 0x7},
	{Name: "XATTR_GET", Value: 0x8},
	{Name: "INDEX_LOOKUP", Value: 0x9},
	{Name: "INDEX_INSERT", Value: 0xa},
	{Name: "INDEX_DELETE", Value: 0xb},
	{Name: "WRITE", Value: 0xc},
	{Name: "XATTR_DEL", Value: 0xd},
	{Name: "PUNCH", Value: 0xe},
	{Name: "READ", Value: 0xf},
	{Name: "NOOP", Value: 0x10},
	{Name: "XATTR_LIST", Value: 0x11},
})

// OutUpdateFlags is the group out_update_flags.
var OutUpdateFlags = Bits("out_update_flags", "UPDATE_FL_", "", []Value{
	{Name: "OST", Value: 0x1},
	{Name: "SYNC", Value: 0x2},
	{Name: "COMMITTED", Value: 0x4},
	{Name: "NOLOG", Value: 0x8},
	{Name: "IGNORE_QUOTA", Value: 0x10, Since: "2.18"},
})

// OutMagic is the group out_magic.
var OutMagic = Enum("out_magic", "", "", []Value{
	{Name: "OUT_UPDATE_MAX_INLINE_SIZE", Value: 0x1000},
	{Name: "UPDATE_REPLY_MAGIC_V1", Value: 0xbd0001},
	{Name: "UPDATE_REPLY_MAGIC", Value: 0xbd0002},
	{Name: "UPDATE_REPLY_MAGIC_V2", Value: 0xbd0002, Alias: true},
	{Name: "UPDATE_REQUEST_MAGIC_V1", Value: 0xbdde0001},
	{Name: "UPDATE_REQUEST_MAGIC", Value: 0xbdde0002},
	{Name: "UPDATE_REQUEST_MAGIC_V2", Value: 0xbdde0002, Doc: "current", Alias: true},
	{Name: "OUT_UPDATE_HEADER_MAGIC", Value: 0xbddf0001, Doc: "first buffer of OUT_UPDATE"},
})

// BatchMagic is the group batch_magic.
var BatchMagic = Enum("batch_magic", "BUT_", "", []Value{
	{Name: "REPLY_MAGIC", Value: 0xad0001, Since: "2.16", Doc: "batch reply"},
	{Name: "REQUEST_MAGIC", Value: 0xbade0001, Since: "2.16", Doc: "batch body"},
	{Name: "HEADER_MAGIC", Value: 0xbadf0001, Since: "2.16", Doc: "first buffer of MDS_BATCH"},
})

// UpdateRecordsFlag is the group update_records_flag.
var UpdateRecordsFlag = Bits("update_records_flag", "UPDATE_RECORD_", "", []Value{
	{Name: "CONTINUE", Value: 0x1},
})
