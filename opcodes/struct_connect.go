package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// obdStatfs is struct obd_statfs.
var obdStatfs = Define("obd_statfs",
	"space and objects of a target, or of the whole file system",
	U64("os_type", Hex, Remark(remarkBackend), "magic number of the file system underneath"),
	U64("os_blocks", "blocks of os_bsize bytes in all"),
	U64("os_bfree", "blocks that are free"),
	U64("os_bavail", "blocks that users may take"),
	U64("os_files", "objects there can be"),
	U64("os_ffree", "objects that can still be made"),
	Opaque("os_fsid", 40, "identity of the file system, zero as a rule"),
	U32("os_bsize", Size, "size of a block"),
	U32("os_namelen", Size, "longest file name"),
	U64("os_maxbytes", Size, "largest object"),
	U32("os_state", ObdStatfsState, "what is special about the target"),
	U32("os_fprecreated", "OST: objects made ahead and not yet given out"),
	U32("os_granted", "OST: space granted to clients, in blocks"),
	Pad("os_spare3", 4),
	Pad("os_spare4", 4),
	Pad("os_spare5", 4),
	Pad("os_spare6", 4),
	Pad("os_spare7", 4),
	Pad("os_spare8", 4),
	Pad("os_spare9", 4),
)

func remarkBackend(v *View, dst []byte) []byte {
	const ext4, zfs = 0xef53, 0xbab10c
	if len(v.Rest) < 8 {
		return dst
	}
	switch ReadUint(v.Rest[:8], v.Big) {
	case ext4:
		return append(dst, "ldiskfs"...)
	case zfs:
		return append(dst, "ZFS"...)
	}
	return dst
}

// granted makes a field of the connect data valid by the flag that stands for
// it.
func granted(flag string) Cond { return When("ocd_connect_flags", flag) }

// granted2 is granted for a flag of the second word.
func granted2(flag string) Cond { return When("ocd_connect_flags2", flag) }

// obdConnectData is struct obd_connect_data.
var obdConnectData = Define("obd_connect_data",
	Shorter{72},
	"what the two ends of a connection can do: the request asks, the reply grants",
	U64("ocd_connect_flags", ObdConnectFlags, "what the sender can do, and which of the fields below mean something; a reply has no flag that the request had not"),
	U32("ocd_version", Version, granted("VERSION"), "release of the sender"),
	U32("ocd_grant", Size, granted("GRANT"), "space for cached writes that the client has or would like, and gets"),
	U32("ocd_index", granted("INDEX"), "number of the target in the file system"),
	U32("ocd_brw_size", Size, granted("BRW_SIZE"), "largest bulk transfer of one RPC"),
	U64("ocd_ibits_known", LdlmInodebits, granted("IBITS"), "inode lock bits that the client understands, and may use"),
	U8("ocd_grant_blkbits", granted("GRANT_PARAM"), "log2 of the server's block size"),
	U8("ocd_grant_inobits", granted("GRANT_PARAM"), "log2 of the space that an object takes"),
	U16("ocd_grant_tax_kb", granted("GRANT_PARAM"), "KiB that an extent costs beyond its data"),
	U32("ocd_grant_max_blks", granted("GRANT_PARAM"), "blocks that an extent has at most"),
	U64("ocd_transno", ID, granted("TRANSNO"), Anyway(connectsWithTransno), "first transaction that the client wants to replay"),
	U32("ocd_group", granted("MDS"), "sequence of the objects that the MDT makes"),
	U32("ocd_cksum_types", CksumTypes, granted("CKSUM"), "checksums over bulk data that the sender knows"),
	U32("ocd_max_easize", Size, granted("MAX_EASIZE"), "largest extended attribute"),
	U32("ocd_instance", granted("IMP_RECOV"), "how many times the target was started"),
	U64("ocd_maxbytes", Size, granted("MAXBYTES"), "largest object"),
	U16("ocd_maxmodrpcs", granted("MULTIMODRPCS"), "modifying requests that may be in flight"),
	U8("ocd_conn_policy", ConnPolicy, Since("2.16"), granted("FLAGS2"), granted2("CONN_POLICY"), "how the server is to treat the connect"),
	Pad("padding0", 1),
	Pad("padding1", 4),
	U64("ocd_connect_flags2", ObdConnectFlags2, granted("FLAGS2"), "more of what the sender can do"),
	U64("ocd_compr_type", Hex, Since("2.16"), granted("FLAGS2"), granted2("COMPRESS"), "compression methods that the sender knows, a bit each; padding up to 2.15"),
	Pad("padding4", 8),
	Pad("padding5", 8),
	Pad("padding6", 8),
	Pad("padding7", 8),
	Pad("padding8", 8),
	Pad("padding9", 8),
	Pad("paddingA", 8),
	Pad("paddingB", 8),
	Pad("paddingC", 8),
	Pad("paddingD", 8),
	Pad("paddingE", 8),
	Pad("paddingF", 8),
)

// connectsWithTransno says whether the ptlrpc_body speaks of a transaction in
// the connect data. Peers set the flag there or here.
func connectsWithTransno(v *View) bool {
	return v.Msg != nil && !v.Msg.Reply && opFlags(v.Msg)&MsgConnectFlags.Bit("TRANSNO") != 0
}

func opFlags(m *Msg) uint64 { return PbOpFlags.Uint(m.Buf(0), m.Big) }
