package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

var _ = DefineRPC(&RPC{Opcode: OST_STATFS, Name: "OST_STATFS",
	Doc: "Asks an OST for its space and objects. MDTs ask every few seconds to spread new files, clients for df.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody, bufObdStatfs),
		Answer:  answerStatfs,
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_STATFS, Name: "MDS_STATFS",
	Doc:  "Asks an MDT for its space and inodes, or for the totals of the file system.",
	Pick: pickStatfs,
	Variants: []*Variant{
		{
			Request: Bufs(bufPtlrpcBody),
			Reply:   Bufs(bufPtlrpcBody, bufObdStatfs),
			Answer:  answerStatfs,
		},
		{Name: "aggregate",
			Request: Bufs(bufPtlrpcBody, bufMdtBody),
			Reply:   Bufs(bufPtlrpcBody, bufObdStatfs),
			Answer:  answerStatfs,
		},
	}})

// pickStatfs tells the two requests apart by the buffer that asks for totals.
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

func answerStatfs(m *Msg, l *Line) {
	b := m.Buf(1)
	if m.Status < 0 || len(b) < obdStatfs.Size {
		return
	}
	block := osBsize.Uint(b, m.Big)
	l.Key("free ")
	l.Text = appendBinarySize(l.Text, osBavail.Uint(b, m.Big), block)
	l.Mark(Number)
	l.Add(Dim, " of ")
	l.Text = appendBinarySize(l.Text, osBlocks.Uint(b, m.Big), block)
	l.Mark(Number)
	l.Key("objects ")
	l.Num(osFfree.Uint(b, m.Big))
	if state := osState.Uint(b, m.Big); state != 0 {
		l.Key("")
		l.Flags(ObdStatfsState, state)
	}
}

// appendBinarySize appends a number of blocks as a short size: 1.5T, 20M, 512.
func appendBinarySize(dst []byte, blocks, block uint64) []byte {
	size, unit := float64(blocks)*float64(block), 0
	const units = "KMGTPEZ"
	for size >= 1024 && unit < len(units) {
		size /= 1024
		unit++
	}
	precision := 0
	if size < 10 && unit > 0 {
		precision = 1
	}
	dst = strconv.AppendFloat(dst, size, 'f', precision, 64)
	if unit > 0 {
		dst = append(dst, units[unit-1])
	}
	return dst
}
