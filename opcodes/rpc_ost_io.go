package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// ostBulkPortal is where clients expect the data of reads and writes.
const ostBulkPortal = 8

var _ = DefineRPC(&RPC{Opcode: OST_READ, Name: "OST_READ",
	Doc:      "Reads ranges of an object. The data comes as bulk, or in the reply when it is little (short I/O); the status is the number of bytes.",
	Variants: []*Variant{readBulk, readShort},
	Picks:    []int{oFlags.Off + oFlags.Size},
	Pick: func(m *Msg) *Variant {
		if attrsOf(m, 1).flag(flagShortIO) {
			return readShort
		}
		return readBulk
	},
	Guess: func(m *Msg) *Variant {
		if len(m.Buf(2)) > 0 {
			return readShort
		}
		return readBulk
	},
})

var (
	readBulk = &Variant{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufObdIoobj, bufNiobufRemote, bufCapa1, bufShortIo),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody, bufShortIo),
		Bulk:    &BulkData{Portal: ostBulkPortal},
		Ask:     askTransfer, Answer: answerRead, Subject: objectSubject,
	}
	readShort = &Variant{Name: "short-io",
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufObdIoobj, bufNiobufRemote, bufCapa1, bufShortIo),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody, bufShortIo),
		Ask:     askTransfer, Answer: answerRead, Subject: objectSubject,
	}
)

var _ = DefineRPC(&RPC{Opcode: OST_WRITE, Name: "OST_WRITE",
	Doc:      "Writes ranges of an object. The server fetches the data as bulk, or it is in the request when it is little (short I/O); the reply has a result for each range.",
	Variants: []*Variant{writeBulk, writeShort},
	Picks:    []int{oFlags.Off + oFlags.Size},
	Pick: func(m *Msg) *Variant {
		if attrsOf(m, 1).flag(flagShortIO) {
			return writeShort
		}
		return writeBulk
	},
	Guess: func(m *Msg) *Variant {
		if attrsOf(m, 1).flag(flagShortIO) {
			return writeShort
		}
		return writeBulk
	},
})

var (
	writeBulk = &Variant{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufObdIoobj, bufNiobufRemote, bufCapa1, bufShortIo),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody, bufRcs),
		Bulk:    &BulkData{Portal: ostBulkPortal, Get: true},
		Ask:     askTransfer, Answer: answerWrite, Inner: writeError, Subject: objectSubject,
	}
	writeShort = &Variant{Name: "short-io",
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufObdIoobj, bufNiobufRemote, bufCapa1, bufShortIo),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody, bufRcs),
		Ask:     askTransfer, Answer: answerWrite, Inner: writeError, Subject: objectSubject,
	}
)

// askTransfer says what is read or written, and for a write what grant the
// client has.
func askTransfer(m *Msg, l *Line) {
	if b := m.Buf(2); len(b) >= obdIoobj.Size {
		l.ObjectID(b[objectInIoobj:], m.Big)
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
	l.Key("")
	l.Range(start, end-1)
	l.Key("")
	l.Count(bytes, "byte")
	if n > 1 {
		l.Key("niobufs ")
		l.Num(uint64(n))
	}
	if m.Opcode == OST_WRITE {
		attrsOf(m, 1).grant(l)
	}
}

// answerRead: the status, which stands before it, is the number of bytes.
func answerRead(m *Msg, l *Line) {
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

func writeError(m *Msg) int32 {
	_, first := failures(m.Buf(2), m.Big)
	return first
}

// answerWrite says what failed, the grant that came, and which quota is used
// up.
func answerWrite(m *Msg, l *Line) {
	if n, first := failures(m.Buf(2), m.Big); n > 0 {
		l.Key("failed niobufs ")
		l.Num(uint64(n))
		l.Add(Dim, " ")
		l.Errno(first)
	}
	a := attrsOf(m, 1)
	a.grant(l)
	if over := a.word(oFlags) & overQuota; over != 0 && a.valid(validFlags) {
		l.Key("over ")
		l.Flags(ObdoFlags, over)
	}
}

var overQuota = ObdoFlags.Bit("NO_USRQUOTA") | ObdoFlags.Bit("NO_GRPQUOTA") | ObdoFlags.Bit("NO_PRJQUOTA")
