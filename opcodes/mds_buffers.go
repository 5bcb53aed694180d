package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// Forms of buffers that the metadata operations share.

var layoutFormsUser = []*Field{formUserV1, formUserV3, formComp, formForeign, formHsm, formUserLmv, formLmvForeign,
	formLovV1, formLovV3, formLmv}

// chooseDefaultMd is the form of the default stripes of a directory.
func chooseDefaultMd(v *View) *Field {
	switch layoutMagic(v.Rest) {
	case lmvMagicV1:
		return formLmv
	case lmvMagicForeign:
		return formLmvForeign
	case lmvMagicUser, lmvMagicSpecific:
		return formUserLmv
	}
	return nil
}

// inlineData is what an open brings of a small file that lies on the MDT.
var inlineData = Define("niobuf_inline",
	"the beginning of a file whose data lies on the MDT",
	Sub("niobuf_remote", niobufRemote, "which bytes these are"),
	Opaque("data", 0, CountOf(inlineBytes), "the bytes"),
)

var (
	formInline   = Sub("niobuf_inline", inlineData)
	formDirPages = Sub("dir_pages", dirPages)
)

// inlineBytes is the length that the niobuf in front gives.
func inlineBytes(v *View) int {
	const atLen = 8
	if len(v.Struct) < atLen+4 {
		return 0
	}
	return int(uint32(ReadUint(v.Struct[atLen:atLen+4], v.Big)))
}

// chooseInline tells data of a file from pages of a directory by the type in
// mbo_mode. A server that has nothing to bring leaves zeros.
func chooseInline(v *View) *Field {
	if allZero(v.Rest) {
		return nil
	}
	if isDir(mboMode.Uint(v.Msg.Named("mdt_body"), v.Msg.Big)) && len(v.Rest) > niobufRemote.Size {
		return formDirPages
	}
	return formInline
}

// The file types in a mode.
const (
	modeType    = 0o170000
	modeDir     = 0o040000
	modeSymlink = 0o120000
	modePerm    = 0o7777
)

func isDir(mode uint64) bool { return mode&modeType == modeDir }

// remarkArchives reads a single word as the bitmap that older clients send.
func remarkArchives(v *View, dst []byte) []byte {
	if v.Msg == nil || len(v.Msg.Named("hsm_archive")) != 4 || len(v.Rest) < 4 {
		return dst
	}
	dst = append(dst, "or, from an older client, a bitmap of archives"...)
	sep := ": "
	for bits, n := ReadUint(v.Rest[:4], v.Big), uint64(1); bits != 0; bits, n = bits>>1, n+1 {
		if bits&1 != 0 {
			dst = appendDecimal(append(dst, sep...), n)
			sep = ", "
		}
	}
	return dst
}

var formReadOnly = U32("read_only", "1: the client mounts read-only")

// chooseSetinfo is the form of a value, by its key.
func chooseSetinfo(v *View) *Field {
	if string(TrimNUL(v.Msg.Named("setinfo_key"))) == "read-only" && len(v.Rest) >= 4 {
		return formReadOnly
	}
	return formBytes
}
