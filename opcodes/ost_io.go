package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

const (
	OST_READ  = 3
	OST_WRITE = 4
)

var ObdBrwFlags = Bits("obd_brw_flags", "OBD_BRW_", "how the pages of a range are to be treated", []Value{
	{Name: "READ", Value: 0x1, Doc: "read"},
	{Name: "WRITE", Value: 0x2, Doc: "write"},
	{Name: "RWMASK", Value: 0x3, Doc: "read or write", Alias: true},
	{Name: "NDELAY", Value: 0x4, Doc: "do not wait"},
	{Name: "SYNC", Value: 0x8, Doc: "to disk before the reply"},
	{Name: "CHECK", Value: 0x10, Doc: "check only"},
	{Name: "FROM_GRANT", Value: 0x20, Doc: "space comes out of the grant"},
	{Name: "GRANTED", Value: 0x40, Doc: "the grant was accounted"},
	{Name: "NOCACHE", Value: 0x80, Doc: "do not keep in the cache of the server"},
	{Name: "NOQUOTA", Value: 0x100, Doc: "no quota check"},
	{Name: "SRVLOCK", Value: 0x200, Doc: "the server takes the lock"},
	{Name: "ASYNC", Value: 0x400, Doc: "the server may answer before the data is on disk"},
	{Name: "MEMALLOC", Value: 0x800, Doc: "written to free memory"},
	{Name: "OVER_USRQUOTA", Value: 0x1000, Doc: "the user is over quota"},
	{Name: "OVER_GRPQUOTA", Value: 0x2000, Doc: "the group is over quota"},
	{Name: "SOFT_SYNC", Value: 0x4000, Doc: "please commit soon"},
	{Name: "OVER_PRJQUOTA", Value: 0x8000, Doc: "the project is over quota"},
	{Name: "OVER_ALLQUOTA", Value: 0xb000, Doc: "over any quota", Alias: true},
	{Name: "ROOT_PRJQUOTA", Value: 0x10000, Since: "2.16", Doc: "project quota holds for root too"},
	{Name: "RDMA_ONLY", Value: 0x20000, Since: "2.15", Doc: "pages of a device, for RDMA only"},
	{Name: "SYS_RESOURCE", Value: 0x40000, Since: "2.15", Doc: "may use reserved space"},
	{Name: "COMPRESSED", Value: 0x80000, Since: "2.16", Doc: "compressed"},
	{Name: "SPECULATIVE_COMPR", Value: 0x100000, Since: "2.16", Doc: "compressed if it pays"},
	{Name: "DONE", Value: 0x40000000, Since: "2.15", Doc: "local state: done"},
	{Name: "LOCAL1", Value: 0x80000000, Doc: "local state"},
	{Name: "LOCALS", Value: 0xc0000000, Doc: "local states; 0x80000000 in 2.12", Alias: true},
})

var obdIoobj = &Struct{Name: "obd_ioobj", Doc: "an object to read or write", Fields: []*Field{
	Sub("ioo_oid", &ostId, "the object"),
	U32("ioo_max_brw", Harmless, Hex, Remark(func(v *View, dst []byte) []byte {
		word := v.Value
		transfers := word>>16 + 1
		if transfers == 1<<16 { // 0 minus 1: the data is in the message
			return append(dst, "no bulk"...)
		}
		dst = strconv.AppendUint(dst, transfers, 10)
		dst = append(dst, " bulk transfers at most"...)
		if in := word & 0xf; in != 0 {
			dst = strconv.AppendUint(append(dst, ", page offset "...), in, 10)
		}
		return dst
	}), "upper half: bulk transfers minus 1; low 4 bits: offset in the page, for direct I/O that "+
		"is not aligned"),
	iooBufcnt,
}}

var iooBufcnt = U32("ioo_bufcnt", Harmless, "how many of the niobufs are of this object")

var niobufRemote = &Struct{Name: "niobuf_remote", Doc: "a range of an object to read or write", Fields: []*Field{
	rnbOffset, rnbLen,
	U32("rnb_flags", &ObdBrwFlags, "how the pages are to be treated"),
}}

var (
	rnbOffset = U64("rnb_offset", Size, "first byte")
	rnbLen    = U32("rnb_len", Size, "bytes")
)

var (
	bufObdIoobj     = Subs("obd_ioobj", -1, &obdIoobj, "the objects to read or write")
	bufNiobufRemote = Subs("niobuf_remote", -1, &niobufRemote, "the ranges to read or write, object by object")
	bufShortIo      = Opaque("short_io", 0, "the data, of short I/O")
	bufRcs          = Arr("rcs", -1, S32("", Errno), "result for each range or object, 0 or an errno")
)

// OstBulkPortal is where clients expect the data of reads and writes.
const OstBulkPortal = 8

var _ = DefineRPC(&RPC{Opcode: OST_READ, Name: "OST_READ", Does: Reads | OfObject,
	Doc:       "Reads ranges of an object. The data comes as bulk, or in the reply when it is little (short I/O); the status is the number of bytes.",
	Variants:  []*Variant{readBulk, readShort},
	PickBytes: []int{oFlags.Off + oFlags.Size},
	Pick:      pickShortIO,
	PickReply: func(m *Msg) *Variant {
		if len(m.Buf(2)) > 0 {
			return readShort
		}
		return readBulk
	},
})

var (
	readBulk = &Variant{
		Request:          Bufs(bufPtlrpcBody, bufOstBody, bufObdIoobj, bufNiobufRemote, bufCapa1, bufShortIo),
		Reply:            Bufs(bufPtlrpcBody, bufOstBody, bufShortIo),
		Bulk:             &BulkData{Portal: OstBulkPortal},
		SummarizeRequest: summarizeTransferRequest, SummarizeReply: summarizeReadReply, Subject: objectSubject,
	}
	readShort = shortIO(readBulk)
)

var _ = DefineRPC(&RPC{Opcode: OST_WRITE, Name: "OST_WRITE", Does: Writes | OfObject,
	Doc: "Writes ranges of an object. The server fetches the data as bulk, or it is in the request when it is little (short I/O); " +
		"the reply has a result for each range.",
	Variants:  []*Variant{writeBulk, writeShort},
	PickBytes: []int{oFlags.Off + oFlags.Size},
	Pick:      pickShortIO,
	PickReply: pickShortIO,
})

var (
	writeBulk = &Variant{
		Request:          Bufs(bufPtlrpcBody, bufOstBody, bufObdIoobj, bufNiobufRemote, bufCapa1, bufShortIo),
		Reply:            Bufs(bufPtlrpcBody, bufOstBody, bufRcs),
		Bulk:             &BulkData{Portal: OstBulkPortal, Get: true},
		SummarizeRequest: summarizeTransferRequest, SummarizeReply: summarizeWriteReply, InnerError: func(m *Msg) int32 {
			_, first := failures(m.Buf(2), m.Big)
			return first
		}, Subject: objectSubject,
	}
	writeShort = shortIO(writeBulk)
)

// shortIO is a variant with the data in the message itself.
func shortIO(bulk *Variant) *Variant {
	v := bulk.As("short-io")
	v.Bulk = nil
	return v
}

func pickShortIO(m *Msg) *Variant {
	if attrsOf(m, 1).flag(flagShortIO) {
		return m.RPC.Variants[1]
	}
	return m.RPC.Variants[0]
}

// summarizeTransferRequest appends what is read or written, and for a write what grant the
// client has.
func summarizeTransferRequest(m *Msg, l *Line) {
	if b := m.Buf(2); len(b) >= obdIoobj.Size {
		l.ObjectID(b, m.Big)
	}
	ranges := m.Buf(3)
	n := len(ranges) / niobufRemote.Size
	if n == 0 {
		return
	}
	var bytes, end uint64
	start := ^uint64(0)
	for i := range n {
		b := ranges[i*niobufRemote.Size:]
		at, size := rnbOffset.Uint(b, m.Big), rnbLen.Uint(b, m.Big)
		bytes += size
		start, end = min(start, at), max(end, at+size)
	}
	l.Key("").Range(start, end-1)
	l.Key("").Count(bytes, "byte")
	if n > 1 {
		l.Key("niobufs ").Num(uint64(n))
	}
	if m.Opcode == OST_WRITE {
		attrsOf(m, 1).grant(l)
	}
}

// summarizeReadReply: the status, which stands before it, is the number of bytes.
func summarizeReadReply(m *Msg, l *Line) {
	if m.Status > 0 {
		l.Add(Dim, "bytes")
	}
}

// failures counts the results that are errors, in an array of them.
func failures(results []byte, big bool) (n int, first int32) {
	for b := results; len(b) >= 4; b = b[4:] {
		if rc := int32(ReadUint(b[:4], big)); rc != 0 {
			if n == 0 {
				first = rc
			}
			n++
		}
	}
	return n, first
}

// summarizeWriteReply appends what failed, the grant received, and which quota is used
// up.
func summarizeWriteReply(m *Msg, l *Line) {
	if n, first := failures(m.Buf(2), m.Big); n > 0 {
		l.Key("failed niobufs ").Num(uint64(n))
		l.Add(Dim, " ")
		l.Errno(first)
	}
	a := attrsOf(m, 1)
	a.grant(l)
	if over := a.word(oFlags) & ObdoFlags.Bit("NO_USRQUOTA", "NO_GRPQUOTA", "NO_PRJQUOTA"); over != 0 && a.valid(validFlags) {
		l.Key("over ").Flags(ObdoFlags, over)
	}
}
