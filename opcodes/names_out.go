package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// OutUpdateType is the group out_update_type.
var OutUpdateType = Enum("out_update_type", "OUT_", "what an update does to an object", []Value{
	{Name: "START", Value: 0x0},
	{Name: "CREATE", Value: 0x1, Doc: "make the object"},
	{Name: "DESTROY", Value: 0x2, Doc: "destroy it"},
	{Name: "REF_ADD", Value: 0x3, Doc: "one more link"},
	{Name: "REF_DEL", Value: 0x4, Doc: "one link less"},
	{Name: "ATTR_SET", Value: 0x5, Doc: "set attributes"},
	{Name: "ATTR_GET", Value: 0x6, Doc: "ask for attributes"},
	{Name: "XATTR_SET", Value: 0x7, Doc: "set an xattr"},
	{Name: "XATTR_GET", Value: 0x8, Doc: "ask for an xattr"},
	{Name: "INDEX_LOOKUP", Value: 0x9, Doc: "look a name up"},
	{Name: "INDEX_INSERT", Value: 0xa, Doc: "insert a name"},
	{Name: "INDEX_DELETE", Value: 0xb, Doc: "remove a name"},
	{Name: "WRITE", Value: 0xc, Doc: "write data"},
	{Name: "XATTR_DEL", Value: 0xd, Doc: "remove an xattr"},
	{Name: "PUNCH", Value: 0xe, Doc: "cut a range out"},
	{Name: "READ", Value: 0xf, Doc: "read data"},
	{Name: "NOOP", Value: 0x10, Doc: "nothing"},
	{Name: "XATTR_LIST", Value: 0x11, Doc: "ask for the names of xattrs"},
})

// OutUpdateFlags is the group out_update_flags.
var OutUpdateFlags = Bits("out_update_flags", "UPDATE_FL_", "how an update is to be made", []Value{
	{Name: "OST", Value: 0x1, Doc: "the object is on an OST"},
	{Name: "SYNC", Value: 0x2, Doc: "wait until it is on disk"},
	{Name: "COMMITTED", Value: 0x4, Doc: "already on disk"},
	{Name: "NOLOG", Value: 0x8, Doc: "not to be logged"},
	{Name: "IGNORE_QUOTA", Value: 0x10, Since: "2.18", Doc: "whatever the quota"},
})

// OutMagic is the group out_magic.
var OutMagic = Enum("out_magic", "", "magic and sizes of updates", []Value{
	{Name: "OUT_UPDATE_MAX_INLINE_SIZE", Value: 0x1000},
	{Name: "UPDATE_REPLY_MAGIC_V1", Value: 0xbd0001},
	{Name: "UPDATE_REPLY_MAGIC", Value: 0xbd0002},
	{Name: "UPDATE_REPLY_MAGIC_V2", Value: 0xbd0002, Alias: true},
	{Name: "UPDATE_REQUEST_MAGIC_V1", Value: 0xbdde0001},
	{Name: "UPDATE_REQUEST_MAGIC", Value: 0xbdde0002},
	{Name: "UPDATE_REQUEST_MAGIC_V2", Value: 0xbdde0002, Doc: "the one in use", Alias: true},
	{Name: "OUT_UPDATE_HEADER_MAGIC", Value: 0xbddf0001, Doc: "first buffer of an OUT_UPDATE"},
})

// BatchMagic is the group batch_magic.
var BatchMagic = Enum("batch_magic", "", "magic of batches", []Value{
	{Name: "BUT_REPLY_MAGIC", Value: 0xad0001, Since: "2.16", Doc: "batch reply"},
	{Name: "BUT_REQUEST_MAGIC", Value: 0xbade0001, Since: "2.16", Doc: "batch body"},
	{Name: "BUT_HEADER_MAGIC", Value: 0xbadf0001, Since: "2.16", Doc: "first buffer of MDS_BATCH"},
})

// UpdateRecordsFlag is the group update_records_flag.
var UpdateRecordsFlag = Bits("update_records_flag", "UPDATE_RECORD_", "form of the record of a distributed operation", []Value{
	{Name: "CONTINUE", Value: 0x1},
})
