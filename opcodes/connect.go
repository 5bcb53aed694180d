package opcodes

import (
	"math/bits"

	. "github.com/lshark/lshark/opcodes/schema"
)

const (
	OST_CONNECT    = 8
	OST_DISCONNECT = 9
	MDS_CONNECT    = 38
	MDS_DISCONNECT = 39
	MGS_CONNECT    = 250
	MGS_DISCONNECT = 251
	OBD_PING       = 400
	OBD_LOG_CANCEL = 401
)

var ObdConnectFlags = Bits("obd_connect_flags", "OBD_CONNECT_", "what client and server can do and which fields of the connect data are "+
	"filled in: the request proposes, the reply grants a subset", []Value{
	{Name: "RDONLY", Value: 0x1, Doc: "The client mounts read-only, or the server grants no more than that."},
	{Name: "INDEX", Value: 0x2, Doc: "The index of the target is in ocd_index."},
	{Name: "MDS", Value: 0x4, Doc: "The connection is made by an MDT; ocd_group is the index of the MDT."},
	{Name: "GRANT", Value: 0x8, Doc: "The client reserves space for cached writes; ocd_grant is how much it has or gets."},
	{Name: "SRVLOCK", Value: 0x10, Doc: "The server can take locks for the client, for I/O without a lock of its own."},
	{Name: "VERSION", Value: 0x20, Doc: "The sender's release is in ocd_version."},
	{Name: "MGS_NIDLIST", Value: 0x40, Since: "2.17", Doc: "A target registers at the MGS with its NIDs in a buffer of their own (2.17). " +
		"Up to 2.16 the bit was REQPORTAL."},
	{Name: "REQPORTAL", Value: 0x40, Doc: "Up to 2.16: requests go to a portal of their own, apart from replies. Every peer did. The bit " +
		"is MGS_NIDLIST since 2.17.", Alias: true},
	{Name: "ACL", Value: 0x80, Doc: "POSIX access control lists are in use."},
	{Name: "XATTR", Value: 0x100, Doc: "Extended attributes of users are in use."},
	{Name: "LARGE_ACL", Value: 0x200, Doc: "Access control lists may have more than 32 entries."},
	{Name: "OLD_FALLOC", Value: 0x400, Since: "2.15", Doc: "Since 2.15: the peer sends OST_FALLOCATE without valid bits, as the first " +
		"releases with it did. Up to 2.12 the bit was TRUNCLOCK."},
	{Name: "TRUNCLOCK", Value: 0x400, Doc: "Up to 2.12: the server locks by itself when it truncates. The bit is OLD_FALLOC since 2.15.",
		Alias: true},
	{Name: "TRANSNO", Value: 0x800, Doc: "The first transaction that the client wants to replay is in ocd_transno."},
	{Name: "IBITS", Value: 0x1000, Doc: "The inode lock bits that the client understands are in ocd_ibits_known. Servers do not check the flag since 2.11."},
	{Name: "BARRIER", Value: 0x2000, Doc: "The MDT can be frozen by a write barrier, for snapshots of the whole file system. In very old " +
		"releases the bit was JOIN: files joined end to end."},
	{Name: "ATTRFID", Value: 0x4000, Doc: "Attributes are requested by FID alone."},
	{Name: "NODEVOH", Value: 0x8000, Doc: "No open handles are kept for device files, pipes and sockets."},
	{Name: "RMT_CLIENT", Value: 0x10000, Doc: "Was for clients whose user ids differ from the servers'; never in use."},
	{Name: "RMT_CLIENT_FORCE", Value: 0x20000, Doc: "Was for forcing RMT_CLIENT on a client; never in use."},
	{Name: "BRW_SIZE", Value: 0x40000, Doc: "The largest bulk transfer of one RPC is in ocd_brw_size."},
	{Name: "QUOTA64", Value: 0x80000, Doc: "64-bit quota limits; always in use since 2.4."},
	{Name: "MDS_CAPA", Value: 0x100000, Doc: "Capabilities protect metadata requests; removed in 2.7."},
	{Name: "OSS_CAPA", Value: 0x200000, Doc: "Capabilities protect object requests; removed in 2.7."},
	{Name: "CANCELSET", Value: 0x400000, Doc: "Other requests may carry lock cancels."},
	{Name: "SOM", Value: 0x800000, Doc: "The MDT stores file sizes (size on MDS); removed in 2.7."},
	{Name: "AT", Value: 0x1000000, Doc: "Timeouts adapt to the load, and servers send early replies to gain time."},
	{Name: "LRU_RESIZE", Value: 0x2000000, Doc: "The server controls the number of locks in the client's LRU, by pb_limit and pb_slv."},
	{Name: "MDS_MDS", Value: 0x4000000, Doc: "The connection is between two MDTs."},
	{Name: "REAL", Value: 0x8000000, Doc: "The client is not an echo client; removed in 2.8."},
	{Name: "CHANGE_QS", Value: 0x10000000, Doc: "Quota unit sizes may change; removed in 2.4."},
	{Name: "CKSUM", Value: 0x20000000, Doc: "The checksum types for bulk data are in ocd_cksum_types: in the request those of the client, " +
		"in the reply those of both."},
	{Name: "FID", Value: 0x40000000, Doc: "Objects are identified by FIDs."},
	{Name: "VBR", Value: 0x80000000, Doc: "Version-based recovery: objects have versions, so replay can go on when clients are missing."},
	{Name: "LOV_V3", Value: 0x100000000, Doc: "Layouts may name an OST pool."},
	{Name: "GRANT_SHRINK", Value: 0x200000000, Doc: "The client gives back grant that it does not use."},
	{Name: "SKIP_ORPHAN", Value: 0x400000000, Doc: "Object ids of orphans are skipped, not reused."},
	{Name: "MAX_EASIZE", Value: 0x800000000, Doc: "The size of the largest extended attribute that the server stores is in ocd_max_easize."},
	{Name: "FULL20", Value: 0x1000000000, Doc: "The peer supports the 2.x protocol."},
	{Name: "LAYOUTLOCK", Value: 0x2000000000, Doc: "A lock bit protects the layout of a file, so that it can change while in use."},
	{Name: "64BITHASH", Value: 0x4000000000, Doc: "Directory positions are 64-bit hashes."},
	{Name: "MAXBYTES", Value: 0x8000000000, Doc: "The size of the largest object of the OST is in ocd_maxbytes."},
	{Name: "IMP_RECOV", Value: 0x10000000000, Doc: "The MGS notifies clients when a target restarts (imperative recovery); the number of " +
		"its starts is in ocd_instance."},
	{Name: "JOBSTATS", Value: 0x20000000000, Doc: "Requests carry a job id in pb_jobid."},
	{Name: "UMASK", Value: 0x40000000000, Doc: "The client sends its umask with a create, and the server applies it where no default ACL does."},
	{Name: "EINPROGRESS", Value: 0x80000000000, Doc: "The server may return -EINPROGRESS; the client retries later."},
	{Name: "GRANT_PARAM", Value: 0x100000000000, Doc: "The server sends its parameters for grant: block size, inode size and extent tax."},
	{Name: "HPREQ_CHECK1", Value: 0x200000000000, Since: "2.18", Doc: "Since 2.18: how high-priority requests are checked has changed. Up " +
		"to 2.17 the bit was FLOCK_OWNER."},
	{Name: "FLOCK_OWNER", Value: 0x200000000000, Doc: "Up to 2.17: flock requests carry the owner of the lock. The bit is HPREQ_CHECK1 since 2.18.", Alias: true},
	{Name: "LVB_TYPE", Value: 0x400000000000, Doc: "The lock value block of a reply may have types other than size and times of an object."},
	{Name: "NANOSEC_TIME", Value: 0x800000000000, Doc: "Reserved for times in nanoseconds."},
	{Name: "LIGHTWEIGHT", Value: 0x1000000000000, Doc: "A connection between servers that takes no part in recovery (LWP)."},
	{Name: "SHORTIO", Value: 0x2000000000000, Doc: "Small reads and writes carry the data in the RPC itself, without bulk."},
	{Name: "PINGLESS", Value: 0x4000000000000, Doc: "An idle client need not send pings."},
	{Name: "FLOCK_DEAD", Value: 0x8000000000000, Doc: "The server can notify a client that its flock would deadlock."},
	{Name: "DISP_STRIPE", Value: 0x10000000000000, Doc: "The server reports whether an open created the objects of the file."},
	{Name: "OPEN_BY_FID", Value: 0x20000000000000, Doc: "A file may be opened by its FID, without its parent and name."},
	{Name: "LFSCK", Value: 0x40000000000000, Doc: "The peer takes part in consistency checks across targets."},
	{Name: "UNLINK_CLOSE", Value: 0x100000000000000, Doc: "The MDT destroys the objects of an unlinked file at its last close."},
	{Name: "MULTIMODRPCS", Value: 0x200000000000000, Doc: "Several modifying requests may be in flight, at most ocd_maxmodrpcs; each has a " +
		"slot number in pb_tag."},
	{Name: "DIR_STRIPE", Value: 0x400000000000000, Doc: "Directories may be spread over several MDTs."},
	{Name: "SUBTREE", Value: 0x800000000000000, Doc: "The client may mount a subdirectory; deprecated since 2.17."},
	{Name: "LOCKAHEAD_OLD", Value: 0x1000000000000000, Doc: "The first form of lockahead, of 2.12 and 2.13; gone since."},
	{Name: "BULK_MBITS", Value: 0x2000000000000000, Doc: "pb_mbits numbers bulk parts, so that a resent request can have new ones."},
	{Name: "OBDOPACK", Value: 0x4000000000000000, Doc: "Attributes in OUT updates are packed to the fields that are set."},
	{Name: "FLAGS2", Value: 0x8000000000000000, Doc: "ocd_connect_flags2 is filled in."},
})

var ObdConnectFlags2 = Bits("obd_connect_flags2", "OBD_CONNECT2_", "more of what client and server can do; valid only with FLAGS2", []Value{
	{Name: "FILE_SECCTX", Value: 0x1, Doc: "Creates and opens set the security context of the new file."},
	{Name: "LOCKAHEAD", Value: 0x2, Doc: "The client may ask for extent locks before it needs them."},
	{Name: "DIR_MIGRATE", Value: 0x4, Doc: "Striped directories can move between MDTs."},
	{Name: "SUM_STATFS", Value: 0x8, Doc: "One MDT can return the totals of the file system in a statfs reply."},
	{Name: "OVERSTRIPING", Value: 0x10, Since: "2.15", Doc: "A file may have several stripes on one OST."},
	{Name: "FLR", Value: 0x20, Doc: "Files may have mirrors."},
	{Name: "WBC_INTENTS", Value: 0x40, Doc: "Lock requests may carry the intents of a metadata write-back cache."},
	{Name: "LOCK_CONVERT", Value: 0x80, Doc: "The client may give up some bits of an inode lock and keep the rest, with LDLM_CONVERT."},
	{Name: "ARCHIVE_ID_ARRAY", Value: 0x100, Doc: "A copytool names its archives in a list of numbers, not in 32 bits."},
	{Name: "INC_XID", Value: 0x200, Since: "2.15", Doc: "The xids of a connection only increase, and pb_last_xid is kept up to date."},
	{Name: "SELINUX_POLICY", Value: 0x400, Doc: "Requests carry the SELinux policy of the client; the server compares it with the expected one."},
	{Name: "LSOM", Value: 0x800, Doc: "The MDT stores an approximate size of each file (lazy size on MDT)."},
	{Name: "PCC", Value: 0x1000, Since: "2.15", Doc: "Files may be cached on a client's own disk (persistent client cache)."},
	{Name: "CRUSH", Value: 0x2000, Since: "2.15", Doc: "Striped directories may place names by the CRUSH hash."},
	{Name: "ASYNC_DISCARD", Value: 0x4000, Doc: "The MDT drops the data of removed files with data on MDT later, in the background."},
	{Name: "ENCRYPT", Value: 0x8000, Doc: "Files may be encrypted by the client; the server stores the encryption context."},
	{Name: "FIDMAP", Value: 0x10000, Doc: "The MDT may keep a map from old FIDs to new ones after a migration."},
	{Name: "GETATTR_PFID", Value: 0x20000, Doc: "Attribute requests by FID carry the FID of the parent."},
	{Name: "LSEEK", Value: 0x40000, Since: "2.15", Doc: "The OST finds holes and data for seeks."},
	{Name: "DOM_LVB", Value: 0x80000, Since: "2.15", Doc: "Size and times of a file with data on MDT come with its lock."},
	{Name: "REP_MBITS", Value: 0x100000, Since: "2.15", Doc: "A reply has the match bits in pb_mbits of the request, not the xid."},
	{Name: "MODE_CONVERT", Value: 0x200000, Since: "2.15", Doc: "A lock may be converted to another mode."},
	{Name: "BATCH_RPC", Value: 0x400000, Since: "2.15", Doc: "One MDS_BATCH may carry several metadata requests."},
	{Name: "PCCRO", Value: 0x800000, Since: "2.15", Doc: "Files may be cached on clients for reading (read-only PCC)."},
	{Name: "MNE_TYPE", Value: 0x1000000, Since: "2.16", Doc: "Entries of the recovery table contain the type of their NIDs."},
	{Name: "LOCK_CONTENTION", Value: 0x2000000, Since: "2.16", Doc: "The server reports contended locks, so that clients can do direct I/O instead."},
	{Name: "ATOMIC_OPEN_LOCK", Value: 0x4000000, Since: "2.15", Doc: "The MDT may grant an open lock with the first open of a file."},
	{Name: "ENCRYPT_NAME", Value: 0x8000000, Since: "2.15", Doc: "File names may be encrypted."},
	{Name: "DMV_IMP_INHERIT", Value: 0x20000000, Since: "2.16", Doc: "Directories inherit the default directory layout of the root without storing it."},
	{Name: "ENCRYPT_FID2PATH", Value: 0x40000000, Since: "2.16", Doc: "Paths of encrypted files can be looked up by FID."},
	{Name: "REPLAY_CREATE", Value: 0x80000000, Since: "2.16", Doc: "OST_CREATE can be replayed after the OST was restarted."},
	{Name: "LARGE_NID", Value: 0x100000000, Since: "2.16", Doc: "The peer understands NIDs longer than 8 bytes in configuration and " +
		"recovery tables."},
	{Name: "COMPRESS", Value: 0x200000000, Since: "2.16", Doc: "Clients may compress file data; the methods are in ocd_compr_type."},
	{Name: "UNALIGNED_DIO", Value: 0x400000000, Since: "2.16", Doc: "Direct I/O need not begin on a page; the low bits of ioo_max_brw " +
		"carry the offset."},
	{Name: "CONN_POLICY", Value: 0x800000000, Since: "2.16", Doc: "ocd_conn_policy is filled in."},
	{Name: "SPARSE", Value: 0x1000000000, Since: "2.17", Doc: "Read replies can report holes in a file."},
	{Name: "MIRROR_ID_FIX", Value: 0x2000000000, Since: "2.16", Doc: "A mirror resync has the mirror id in place of the umask of other records."},
	{Name: "UPDATE_LAYOUT", Value: 0x4000000000, Since: "2.17", Doc: "The client may ask the MDT to change flags of a layout."},
	{Name: "READDIR_OPEN", Value: 0x8000000000, Since: "2.17", Doc: "Opening a directory may bring its first pages."},
	{Name: "FLR_EC", Value: 0x10000000000, Since: "2.17", Doc: "Mirrors may be parity by erasure coding."},
	{Name: "FLR_IMMED_MIRROR", Value: 0x20000000000, Since: "2.17", Doc: "Writes go to all mirrors at once."},
	{Name: "NO_APPEND", Value: 0x40000000000, Since: "2.17", Doc: "The client need not lock the whole file to append."},
	{Name: "FLR_EC_WR", Value: 0x80000000000, Since: "2.18", Doc: "Files with erasure coding can be written."},
	{Name: "PERFSTATS", Value: 0x100000000000, Since: "2.18", Doc: "Statfs replies have performance figures of the target."},
})

var CksumTypes = Bits("cksum_types", "OBD_CKSUM_", "checksums for bulk data", []Value{
	{Name: "CRC32", Value: 0x1, Doc: "CRC-32"},
	{Name: "ADLER", Value: 0x2, Doc: "Adler-32"},
	{Name: "T10_TOP", Value: 0x2, Doc: "what the guard tags themselves are summed up with", Alias: true},
	{Name: "CRC32C", Value: 0x4, Doc: "CRC-32C, which many processors compute themselves"},
	{Name: "RESERVED", Value: 0x8, Doc: "not in use"},
	{Name: "T10IP512", Value: 0x10, Doc: "over T10-PI guard tags: IP checksums of 512-byte sectors"},
	{Name: "T10IP4K", Value: 0x20, Doc: "over T10-PI guard tags: IP checksums of 4096-byte sectors"},
	{Name: "T10CRC512", Value: 0x40, Doc: "over T10-PI guard tags: CRCs of 512-byte sectors"},
	{Name: "T10CRC4K", Value: 0x80, Doc: "over T10-PI guard tags: CRCs of 4096-byte sectors"},
	{Name: "T10_ALL", Value: 0xf0, Doc: "all T10 kinds", Alias: true},
	{Name: "ALL", Value: 0xf7, Doc: "all kinds", Alias: true},
})

var ImportState = Enum("import_state", "LUSTRE_IMP_", "states of a connection, as the client sees it", []Value{
	{Name: "CLOSED", Value: 0x1, Doc: "shut down"},
	{Name: "NEW", Value: 0x2, Doc: "set up, never connected"},
	{Name: "DISCON", Value: 0x3, Doc: "not connected; the client will try"},
	{Name: "CONNECTING", Value: 0x4, Doc: "a connect request is in flight"},
	{Name: "REPLAY", Value: 0x5, Doc: "the client replays requests whose changes were lost"},
	{Name: "REPLAY_LOCKS", Value: 0x6, Doc: "the client replays its locks"},
	{Name: "REPLAY_WAIT", Value: 0x7, Doc: "the client waits for the end of recovery"},
	{Name: "RECOVER", Value: 0x8, Doc: "the client resends requests without a reply"},
	{Name: "FULL", Value: 0x9, Doc: "connected and in use"},
	{Name: "EVICTED", Value: 0xa, Doc: "the server has dropped the client and its locks"},
	{Name: "IDLE", Value: 0xb, Doc: "disconnected because it was idle"},
})

// ConnPolicy are the bits that conn_policy_bit numbers.
var ConnPolicy = Bits("conn_policy", "", "how a server is to treat a connect", []Value{
	{Name: "BYPASS_SOFT_BLOCK", Value: 0x1, Since: "2.16", Doc: "a soft limit does not refuse it"},
})

var ObdConnectData = &Struct{Name: "obd_connect_data", Shorter: []int{72},
	Doc: "what both sides of a connection support: the request proposes, the reply grants", Fields: []*Field{
		U64("ocd_connect_flags", Negotiated(true), &ObdConnectFlags, "what the sender can do, and which of the fields below are valid; a "+
			"reply has only flags of the request"),
		U32("ocd_version", Version, When{"ocd_connect_flags", "VERSION"}, "release of the sender"),
		U32("ocd_grant", Size, When{"ocd_connect_flags", "GRANT"}, "space for cached writes that the client has or would like, and gets"),
		U32("ocd_index", Harmless, When{"ocd_connect_flags", "INDEX"}, "number of the target in the file system"),
		U32("ocd_brw_size", Size, When{"ocd_connect_flags", "BRW_SIZE"}, "largest bulk transfer of one RPC"),
		U64("ocd_ibits_known", Negotiated(true), &LdlmInodebits, When{"ocd_connect_flags", "IBITS"},
			"inode lock bits that the client understands, and may use"),
		U8("ocd_grant_blkbits", Harmless, When{"ocd_connect_flags", "GRANT_PARAM"}, "log2 of the server's block size"),
		U8("ocd_grant_inobits", Harmless, When{"ocd_connect_flags", "GRANT_PARAM"}, "log2 of the space that an object takes"),
		U16("ocd_grant_tax_kb", Harmless, When{"ocd_connect_flags", "GRANT_PARAM"}, "KiB that an extent costs beyond its data"),
		U32("ocd_grant_max_blks", Harmless, When{"ocd_connect_flags", "GRANT_PARAM"}, "blocks that an extent has at most"),
		U64("ocd_transno", ID, When{"ocd_connect_flags", "TRANSNO"}, ValidIf(connectsWithTransno),
			"first transaction that the client wants to replay"),
		U32("ocd_group", Harmless, When{"ocd_connect_flags", "MDS"}, "index of the MDT that connects"),
		U32("ocd_cksum_types", Negotiated(true), &CksumTypes, When{"ocd_connect_flags", "CKSUM"},
			"checksums over bulk data that the sender knows"),
		U32("ocd_max_easize", Size, When{"ocd_connect_flags", "MAX_EASIZE"}, "largest extended attribute"),
		U32("ocd_instance", Harmless, "how many times the target was started"),
		U64("ocd_maxbytes", Size, When{"ocd_connect_flags", "MAXBYTES"}, "largest object"),
		U16("ocd_maxmodrpcs", Harmless, When{"ocd_connect_flags", "MULTIMODRPCS"}, "modifying requests that may be in flight"),
		U8("ocd_conn_policy", &ConnPolicy, Since("2.16"), When{"ocd_connect_flags", "FLAGS2"}, When{"ocd_connect_flags2", "CONN_POLICY"},
			"how the server is to treat the connect"),
		Padding("padding", 0, 1, 4),
		U64("ocd_connect_flags2", Negotiated(true), &ObdConnectFlags2, When{"ocd_connect_flags", "FLAGS2"}, "more of what the sender can do"),
		U64("ocd_compr_type", Harmless, Hex, Since("2.16"), When{"ocd_connect_flags", "FLAGS2"}, When{"ocd_connect_flags2", "COMPRESS"},
			"compression methods that the sender knows, a bit each; padding up to 2.15"),
		Padding("padding", 4, 8, 8, 8, 8, 8, 8),
		Pad("paddingA", 8),
		Pad("paddingB", 8),
		Pad("paddingC", 8),
		Pad("paddingD", 8),
		Pad("paddingE", 8),
		Pad("paddingF", 8),
	}}

// connectsWithTransno reports whether pb_op_flags has TRANSNO: peers set the flag
// there or in ocd_connect_flags.
func connectsWithTransno(v *View) bool {
	return v.Msg != nil && !v.Msg.Reply && opFlags(v.Msg)&MsgConnectFlags.Bit("TRANSNO") != 0
}

func opFlags(m *Msg) uint64 { return PbOpFlags.Uint(m.Buf(0), m.Big) }

var (
	bufTargetUuid  = Str("target_uuid", 0, TargetName, "the target to connect to")
	bufClientUuid  = Str("client_uuid", 0, TargetName, "the client, or the device of a server that acts as one")
	bufConn        = Sub("conn", &lustreHandle, "handle on the client, under which the server will call back")
	bufConnectData = Sub("connect_data", &ObdConnectData, "what the sender can do")
)

const connectDoc = " The request names the target and the client and lists the client's features. The reply has the handle of the " +
	"connection and the features that the server grants."

const disconnectDoc = " The client ends the connection; its locks and open files are released."

var _ = DefineRPC(&RPC{Opcode: OST_CONNECT, Name: "OST_CONNECT", Does: Connects, Context: true,
	Doc: "Connects a client, or an MDT, to an OST." + connectDoc, Variants: connectVariants})

var _ = DefineRPC(&RPC{Opcode: MDS_CONNECT, Name: "MDS_CONNECT", Does: Connects, Context: true,
	Doc: "Connects a client, or another server, to an MDT." + connectDoc, Variants: connectVariants})

var _ = DefineRPC(&RPC{Opcode: MGS_CONNECT, Name: "MGS_CONNECT", Does: Connects, Context: true,
	Doc: "Connects a node to the management server." + connectDoc, Variants: connectVariants})

var _ = DefineRPC(&RPC{Opcode: OST_DISCONNECT, Name: "OST_DISCONNECT", Does: Disconnects,
	Doc: "Ends a connection to an OST." + disconnectDoc, Variants: bodyOnly})

var _ = DefineRPC(&RPC{Opcode: MDS_DISCONNECT, Name: "MDS_DISCONNECT", Does: Disconnects,
	Doc: "Ends a connection to an MDT." + disconnectDoc, Variants: bodyOnly})

var _ = DefineRPC(&RPC{Opcode: MGS_DISCONNECT, Name: "MGS_DISCONNECT", Does: Disconnects,
	Doc: "Ends a connection to the management server." + disconnectDoc, Variants: bodyOnly})

var connectVariants = []*Variant{{
	Request:          Bufs(bufPtlrpcBody, bufTargetUuid, bufClientUuid, bufConn, bufConnectData, bufSelinuxPol),
	Reply:            Bufs(bufPtlrpcBody, bufConnectData),
	SummarizeRequest: summarizeConnectRequest,
	SummarizeReply:   summarizeConnectReply,
}}

type connectData struct {
	flags, flags2 uint64
	version       uint32
}

func (c connectData) count() int { return bits.OnesCount64(c.flags) + bits.OnesCount64(c.flags2) }

func readConnectData(b []byte, big bool) connectData {
	c := connectData{flags: ObdConnectData.Field("ocd_connect_flags").Uint(b, big)}
	if c.flags&ObdConnectFlags.Bit("FLAGS2") != 0 {
		c.flags2 = ObdConnectData.Field("ocd_connect_flags2").Uint(b, big)
	}
	if c.flags&ObdConnectFlags.Bit("VERSION") != 0 {
		c.version = uint32(ObdConnectData.Field("ocd_version").Uint(b, big))
	}
	return c
}

func (c connectData) appendVersion(l *Line) {
	if c.version == 0 {
		return
	}
	l.Key("version ")
	l.Text = AppendVersion(l.Text, c.version)
	l.Mark(Number)
}

func summarizeConnectRequest(m *Msg, l *Line) {
	l.Key("").Label(Node, m.Buf(1))
	l.Key("from ").Label(Node, m.Buf(2))
	if data := m.Buf(4); len(data) > 0 {
		requested := readConnectData(data, m.Big)
		requested.appendVersion(l)
		l.Key("asks ").Num(uint64(requested.count()))
		l.Add(Dim, " flags")
	}
	appendConnectFlags(m, l)
}

func summarizeConnectReply(m *Msg, l *Line) {
	appendConnectFlags(m, l)
	if data := m.Buf(1); m.Status >= 0 && len(data) > 0 {
		got := readConnectData(data, m.Big)
		got.appendVersion(l)
		l.Key("grants ").Num(uint64(got.count()))
		if m.Req != nil && len(m.Req.Buf(4)) > 0 {
			requested := readConnectData(m.Req.Buf(4), m.Req.Big)
			l.Add(Dim, " of ")
			l.Num(uint64(requested.count()))
			appendRefused(l, requested.flags&^got.flags, requested.flags2&^got.flags2)
		} else {
			l.Add(Dim, " flags")
		}
	}
}

// appendConnectFlags appends the flags of pb_op_flags: the state of the target,
// or the wishes of the client.
func appendConnectFlags(m *Msg, l *Line) {
	l.FlagsIfSet("", MsgConnectFlags, opFlags(m))
}

// maxNamedRefusals is the number of refused flags that a summary names.
const maxNamedRefusals = 6

// appendRefused names the flags that were requested and not granted, or counts
// them when they are many.
func appendRefused(l *Line, flags, flags2 uint64) {
	n := bits.OnesCount64(flags) + bits.OnesCount64(flags2)
	if n == 0 {
		return
	}
	l.Key("refuses ")
	if n > maxNamedRefusals {
		l.Num(uint64(n))
		return
	}
	if flags != 0 {
		l.Flags(ObdConnectFlags, flags)
	}
	if flags != 0 && flags2 != 0 {
		l.Add(Dim, "|")
	}
	if flags2 != 0 {
		l.Flags(ObdConnectFlags2, flags2)
	}
}

var _ = DefineRPC(&RPC{Opcode: OBD_PING, Name: "OBD_PING",
	Doc: "Shows that client and server are alive; the reply has the last committed transaction. The last ping of a recovery marks the end " +
		"of the client's replay.",
	Pick: pickPing,
	Variants: []*Variant{
		{},
		{Name: "final(recovery)",
			SummarizeRequest: func(_ *Msg, l *Line) {
				l.Key("").Add(Flag, "end of replay")
			},
		},
	}})

// pickPing recognises the last ping of a recovery by its flags.
func pickPing(m *Msg) *Variant {
	if len(m.Buf(0)) < PbFlags.Off+PbFlags.Size {
		return m.RPC.Common
	}
	done := MsgFlags.Bit("REQ_REPLAY_DONE", "LOCK_REPLAY_DONE")
	if PbFlags.Uint(m.Buf(0), m.Big)&done == done {
		return m.RPC.Variants[1]
	}
	return m.RPC.Variants[0]
}
