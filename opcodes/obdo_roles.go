package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

// SeekWhence says what a seek looks for.
var SeekWhence = Enum("seek_whence", "SEEK_", "what a seek looks for", []Value{
	{Name: "SET", Value: 0, Doc: "the offset itself"},
	{Name: "CUR", Value: 1, Doc: "from where the file is"},
	{Name: "END", Value: 2, Doc: "from the end"},
	{Name: "DATA", Value: 3, Doc: "the next data"},
	{Name: "HOLE", Value: 4, Doc: "the next hole"},
})

// FallocMode is the mode of a fallocate.
var FallocMode = Bits("falloc_mode", "FALLOC_FL_", "mode of a fallocate; 0 allocates", []Value{
	{Name: "KEEP_SIZE", Value: 0x1, Doc: "leave the size as it is"},
	{Name: "PUNCH_HOLE", Value: 0x2, Doc: "free the range"},
	{Name: "NO_HIDE_STALE", Value: 0x4, Doc: "old data may show"},
	{Name: "COLLAPSE_RANGE", Value: 0x8, Doc: "cut the range out"},
	{Name: "ZERO_RANGE", Value: 0x10, Doc: "make the range zero"},
	{Name: "INSERT_RANGE", Value: 0x20, Doc: "push what follows up"},
	{Name: "UNSHARE_RANGE", Value: 0x40, Doc: "give the range blocks of its own"},
})

var (
	validGrant    = ObdMdValid.Bit("FLGRANT")
	validChecksum = ObdMdValid.Bit("FLCKSUM")
	validCount    = ObdMdValid.Bit("FLOBJCOUNT")
)

// asksGrant: a client tells its side of the grants, in slots that mean
// something else in all other messages.
func asksGrant(v *View) bool {
	return v.Uint(oValid)&validGrant != 0 && v.Msg != nil && !v.Msg.Reply
}

func withChecksum(v *View) bool { return v.Uint(oValid)&validChecksum != 0 }

// opcodeOf returns the operation of the message that v is part of, OST_REPLY
// outside of messages.
func opcodeOf(v *View) uint32 {
	if v.Msg == nil {
		return OST_REPLY
	}
	return v.Msg.Opcode
}

func inSeek(v *View) bool      { return opcodeOf(v) == OST_SEEK }
func inFallocate(v *View) bool { return opcodeOf(v) == OST_FALLOCATE }

// sizeRole says what o_size is in a request that is about a range.
func sizeRole(v *View, dst []byte) []byte {
	if v.Msg == nil || v.Msg.Reply {
		return dst
	}
	switch opcodeOf(v) {
	case OST_PUNCH, OST_SYNC, OST_FALLOCATE:
		return append(dst, "start of the range"...)
	case OST_SEEK:
		return append(dst, "offset"...)
	}
	return dst
}

// blocksRole says what o_blocks is where it is no count of blocks.
func blocksRole(v *View, dst []byte) []byte {
	if v.Msg == nil || v.Msg.Reply {
		return dst
	}
	switch opcodeOf(v) {
	case OST_PUNCH, OST_SYNC, OST_FALLOCATE:
		return append(dst, "end of the range"...)
	}
	if asksGrant(v) {
		return append(dst, "dirty bytes on the client"...)
	}
	return dst
}

func miscRole(v *View, dst []byte) []byte {
	switch valid := v.Uint(oValid); {
	case asksGrant(v):
		return append(dst, "grant in bytes that the client dropped"...)
	case valid&validCount != 0:
		return append(dst, "objects"...)
	}
	return dst
}

// parentText is the FID of the file, whose parts lie apart in an obdo.
func parentText(v *View, dst []byte) []byte {
	if len(v.Struct) < 128 {
		return dst
	}
	u32 := func(at int) uint32 { return uint32(ReadUint(v.Struct[at:at+4], v.Big)) }
	return AppendFID(append(dst, "file "...), ReadUint(v.Struct[24:32], v.Big), u32(104), u32(124))
}

// maxBrwText takes ioo_max_brw apart.
func maxBrwText(v *View, dst []byte) []byte {
	if len(v.Rest) < 4 {
		return dst
	}
	word := ReadUint(v.Rest[:4], v.Big)
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
}
