package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const (
	OST_STATFS = 13
	MDS_STATFS = 41
)

var ObdStatfsState = Bits("obd_statfs_state", "OS_STATFS_", "state of a target", []Value{
	{Name: "DEGRADED", Value: 0x1, Since: "2.15", Doc: "its RAID is degraded"},
	{Name: "OS_STATE_DEGRADED", Value: 0x1, Doc: "name in 2.12", Alias: true, NoPrefix: true},
	{Name: "READONLY", Value: 0x2, Since: "2.15", Doc: "read-only"},
	{Name: "OS_STATE_READONLY", Value: 0x2, Doc: "name in 2.12", Alias: true, NoPrefix: true},
	{Name: "NOCREATE", Value: 0x4, Since: "2.16", Doc: "takes no new objects"},
	{Name: "NOPRECREATE", Value: 0x4, Since: "2.15", Doc: "takes no new objects, in 2.15", Alias: true},
	{Name: "OS_STATE_NOPRECREATE", Value: 0x4, Doc: "name in 2.12", Alias: true, NoPrefix: true},
	{Name: "UNUSED1", Value: 0x8, Since: "2.15", Doc: "unused"},
	{Name: "OS_STATE_UNUSED1", Value: 0x8, Doc: "name in 2.12", Alias: true, NoPrefix: true},
	{Name: "UNUSED2", Value: 0x10, Since: "2.15", Doc: "unused"},
	{Name: "OS_STATE_UNUSED2", Value: 0x10, Doc: "name in 2.12", Alias: true, NoPrefix: true},
	{Name: "ENOSPC", Value: 0x20, Since: "2.15", Doc: "out of space"},
	{Name: "OS_STATE_ENOSPC", Value: 0x20, Doc: "name in 2.12", Alias: true, NoPrefix: true},
	{Name: "ENOINO", Value: 0x40, Since: "2.15", Doc: "out of inodes"},
	{Name: "OS_STATE_ENOINO", Value: 0x40, Doc: "name in 2.12", Alias: true, NoPrefix: true},
	{Name: "DOWNGRADE", Value: 0x67, Since: "2.17", Doc: "states that make a target less welcome", Alias: true},
	{Name: "SUM", Value: 0x100, Since: "2.15", Doc: "the numbers are sums over all targets"},
	{Name: "OS_STATE_SUM", Value: 0x100, Doc: "name in 2.12", Alias: true, NoPrefix: true},
	{Name: "NONROT", Value: 0x200, Since: "2.15", Doc: "flash"},
	{Name: "UPGRADE", Value: 0x200, Since: "2.17", Doc: "states that make it more welcome", Alias: true},
	{Name: "OS_STATE_NONROT", Value: 0x200, Doc: "name in 2.12", Alias: true, NoPrefix: true},
})

var obdStatfs = &Struct{Name: "obd_statfs", Doc: "space and objects of a target, or of the whole file system", Fields: []*Field{
	U64("os_type", Harmless, Hex, Remark(func(v *View, dst []byte) []byte {
		const ext4, zfs = 0xef53, 0xbab10c
		switch v.Value {
		case ext4:
			return append(dst, "ldiskfs"...)
		case zfs:
			return append(dst, "ZFS"...)
		}
		return dst
	}), "magic number of the file system underneath"),
	U64("os_blocks", Harmless, "blocks of os_bsize bytes in all"),
	U64("os_bfree", Harmless, "blocks that are free"),
	U64("os_bavail", Harmless, "blocks that users may take"),
	U64("os_files", Harmless, "objects there can be"),
	U64("os_ffree", Harmless, "objects that can still be made"),
	Opaque("os_fsid", 40, "identity of the file system, zero as a rule"),
	U32("os_bsize", Size, "size of a block"),
	U32("os_namelen", Size, "longest file name"),
	U64("os_maxbytes", Size, "largest object"),
	U32("os_state", &ObdStatfsState, "what is special about the target"),
	U32("os_fprecreated", Harmless, "OST: objects made ahead and not yet given out"),
	U32("os_granted", Harmless, "OST: space granted to clients, in blocks"),
	Padding("os_spare", 3, 4, 4, 4, 4, 4, 4, 4),
}}

var bufObdStatfs = Sub("obd_statfs", &obdStatfs, "space and objects")

var _ = DefineRPC(&RPC{Opcode: OST_STATFS, Name: "OST_STATFS",
	Doc: "Asks an OST for its space and objects. MDTs ask every few seconds to spread new files, clients for df.",
	Variants: []*Variant{{
		Reply:          Bufs(bufPtlrpcBody, bufObdStatfs),
		SummarizeReply: summarizeStatfsReply,
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_STATFS, Name: "MDS_STATFS",
	Doc:  "Asks an MDT for its space and inodes, or for the totals of the file system.",
	Pick: pickStatfs,
	Variants: []*Variant{
		{
			Reply:          Bufs(bufPtlrpcBody, bufObdStatfs),
			SummarizeReply: summarizeStatfsReply,
		},
		{Name: "aggregate",
			Request:          Bufs(bufPtlrpcBody, bufMdtBody),
			Reply:            Bufs(bufPtlrpcBody, bufObdStatfs),
			SummarizeRequest: NoSummary, Subject: NoSubject, // clients do not fill in the FID
			SummarizeReply: summarizeStatfsReply,
		},
	}})

// pickStatfs selects the variant by the buffer that asks for totals.
func pickStatfs(m *Msg) *Variant {
	if len(m.Bufs) > 1 {
		return m.RPC.Variants[1]
	}
	return m.RPC.Variants[0]
}

var (
	osBlocks = obdStatfs.Field("os_blocks")
	osBavail = obdStatfs.Field("os_bavail")
	osFfree  = obdStatfs.Field("os_ffree")
	osBsize  = obdStatfs.Field("os_bsize")
	osState  = obdStatfs.Field("os_state")
)

func summarizeStatfsReply(m *Msg, l *Line) {
	b := m.Buf(1)
	if m.Status < 0 || len(b) < obdStatfs.Size {
		return
	}
	block := float64(osBsize.Uint(b, m.Big))
	l.Key("free ")
	l.Text = AppendSize(l.Text, block*float64(osBavail.Uint(b, m.Big)))
	l.Mark(Number)
	l.Add(Dim, " of ")
	l.Text = AppendSize(l.Text, block*float64(osBlocks.Uint(b, m.Big)))
	l.Mark(Number)
	l.Key("objects ").Num(osFfree.Uint(b, m.Big))
	l.FlagsIfSet("", ObdStatfsState, osState.Uint(b, m.Big))
}

// TargetSpace is what a target says about its space, in bytes and objects.
type TargetSpace struct {
	Size, Free, Available uint64 // Available is what may still be used: less than Free by what is reserved or granted
	Objects, FreeObjects  uint64
	Granted               uint64 // to clients for writes that they have cached
	State                 uint64 // of ObdStatfsState
}

var osGranted = obdStatfs.Field("os_granted")

// TargetSpaceOf reads the reply to an OST_STATFS or MDS_STATFS; ok is false when it
// has none, or when the numbers are those of the whole file system.
func TargetSpaceOf(m *Msg) (s TargetSpace, ok bool) {
	b := m.Buf(1)
	if m.Status < 0 || len(b) < osGranted.Off+osGranted.Size {
		return s, false
	}
	block := osBsize.Uint(b, m.Big)
	s = TargetSpace{
		Size: osBlocks.Uint(b, m.Big) * block, Free: obdStatfs.Field("os_bfree").Uint(b, m.Big) * block, Available: osBavail.Uint(b, m.Big) * block,
		Objects: obdStatfs.Field("os_files").Uint(b, m.Big), FreeObjects: osFfree.Uint(b, m.Big),
		Granted: osGranted.Uint(b, m.Big) * block, State: osState.Uint(b, m.Big),
	}
	return s, s.Size != 0 && s.State&ObdStatfsState.Bit("SUM") == 0
}
