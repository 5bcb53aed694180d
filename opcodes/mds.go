package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

const (
	MDS_GETATTR      = 33
	MDS_GETATTR_NAME = 34
	MDS_GET_ROOT     = 40
	MDS_SYNC         = 44
	MDS_SWAP_LAYOUTS = 61
	MDS_RMFID        = 62
)

var SwapLayoutsFlags = Bits("swap_layouts_flags", "SWAP_LAYOUTS_", "how layouts are swapped", []Value{
	{Name: "CHECK_DV1", Value: 0x1, Doc: "only if the data version of the first is as given"},
	{Name: "CHECK_DV2", Value: 0x2, Doc: "only if the data version of the second is as given"},
	{Name: "KEEP_MTIME", Value: 0x4, Doc: "keep modification times"},
	{Name: "KEEP_ATIME", Value: 0x8, Doc: "keep access times"},
	{Name: "CLOSE", Value: 0x10, Doc: "as part of a close"},
	{Name: "WITH_DV12", Value: 0x20, Since: "2.18", Doc: "the request brings data versions"},
	{Name: "MDS_RELEASE", Value: 0x80000000, Since: "2.16", Doc: "swap HSM state too"},
	{Name: "MDS_HSM", Value: 0xffffffff80000000, Doc: "swap HSM state too, sign-extended", Alias: true},
})

var lustreSwapLayouts = &Struct{Name: "lustre_swap_layouts", Doc: "what a user asks of the client to swap the layouts of two files",
	Fields: []*Field{
		U64("sl_flags", &SwapLayoutsFlags, "what to check and keep"),
		U32("sl_fd", Harmless, "descriptor of the second file"),
		U32("sl_gid", Harmless, "group lock that keeps others out"),
		U64("sl_dv1", Cookie, When{"sl_flags", "CHECK_DV1"}, "data version that the first file must have"),
		U64("sl_dv2", Cookie, When{"sl_flags", "CHECK_DV2"}, "data version that the second file must have"),
	}}

var mdcSwapLayouts = &Struct{Name: "mdc_swap_layouts", Shorter: []int{8}, Doc: "how the layouts of two files are swapped", Fields: []*Field{
	U64("msl_flags", &SwapLayoutsFlags, "what to check and keep"),
	U64("msl_dv1", Since("2.18"), Cookie, When{"msl_flags", "WITH_DV12"}, "data version that the first file must have"),
	U64("msl_dv2", Since("2.18"), Cookie, When{"msl_flags", "WITH_DV12"}, "data version that the second file must have"),
}}

var mdcSwapLayouts217 = &Struct{Name: "mdc_swap_layouts_217", Since: "2.18", Doc: "mdc_swap_layouts as releases up to 2.17 send it",
	Fields: []*Field{
		U64("msl_flags", &SwapLayoutsFlags, "what to keep"),
	}}

var (
	bufSelinuxPol = Str("selinux_pol", 0, JobName, "SELinux policy of the client: mode:name:version:hash")
	bufFidArray   = Subs("fid_array", -1, &LuFid, "the objects")
)

// bufFileset is the directory to mount.
var bufFileset = Str("name", 0, FilePath, "path of the subdirectory to mount; empty for the root")

var bufName = Str("name", 0, EntryName, "name in the directory; may be encrypted")

var _ = DefineRPC(&RPC{Opcode: MDS_GET_ROOT, Name: "MDS_GET_ROOT",
	Doc: "Asks for the FID of the root directory, or of the subdirectory that the client mounts. First step of a mount, once connected.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufFileset),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Subject: NoSubject, // clients do not fill in the FID
		SummarizeRequest: func(m *Msg, l *Line) {
			if fileset := TrimNUL(m.Buf(2)); len(fileset) > 0 {
				l.Key("fileset ").Label(Name, fileset)
			}
		},
		SummarizeReply: func(m *Msg, l *Line) {
			if body := m.Buf(1); m.Status >= 0 && len(body) >= fidSize {
				l.Key("").FID(body, m.Big)
			}
		},
	}}})

const fidSize = 16

var _ = DefineRPC(&RPC{Opcode: MDS_GETATTR, Name: "MDS_GETATTR", Does: Stats | OfFile,
	Doc: "Asks for the attributes of an object by its FID, and for the layout, link target or ACL that mbo_valid names. No lock comes with them.",
	Variants: []*Variant{{
		Request:          Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:            Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2, bufFileEncctx),
		SummarizeRequest: summarizeGetattrRequest, SummarizeReply: summarizeAttrsReply, Subject: bodySubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_GETATTR_NAME, Name: "MDS_GETATTR_NAME",
	Doc: "Asks for the attributes of an object by its name in a directory, without a lock.",
	Variants: []*Variant{{
		Request:          Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, bufName),
		Reply:            Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2, bufFileEncctx),
		SummarizeRequest: summarizeGetattrRequest, SummarizeReply: summarizeAttrsReply, Subject: bodySubject,
	}}})

var interestingAttrs = ObdMdValid.Bit("FLEASIZE", "FLDIREA", "LINKNAME", "MEA", "DEFAULT_MEA", "FLXATTR", "FLXATTRLS", "FLACL")

// summarizeBodyRequest names the object that a request's mdt_body is about.
func summarizeBodyRequest(m *Msg, l *Line) {
	o := bodyOf(m)
	addEntry(l, mboFid1.Bytes(o.b), o.big, m.Named("name"))
}

// summarizeGetattrRequest appends the object and what is requested besides attributes.
func summarizeGetattrRequest(m *Msg, l *Line) {
	summarizeBodyRequest(m, l)
	l.FlagsIfSet("want ", ObdMdValid, bodyOf(m).word(mboValid)&interestingAttrs)
}

// summarizeAttrsReply appends what a reply contains about an object: its FID, type, mode,
// size and layout.
func summarizeAttrsReply(m *Msg, l *Line) {
	o := bodyOf(m)
	if len(o.b) == 0 {
		return
	}
	if o.has(bodyFID) && !allZero(mboFid1.Bytes(o.b)) {
		l.Key("").FID(mboFid1.Bytes(o.b), o.big)
	}
	if o.has(bodyMoved) {
		l.Key("on another MDT")
	}
	if o.has(bodyMode) {
		mode := o.word(mboMode)
		addFileType(l, mode)
		l.Key("")
		addMode(l, mode&modePerm)
	}
	if o.has(bodySize) {
		l.Key("size ").Num(o.word(mboSize))
	}
	if o.has(mdLinkname) {
		l.Key("-> ").Label(Name, m.Named("mdt_md"))
	} else {
		addLayout(l, m.Named("mdt_md"), userWrote(m))
	}
}

// bodySubject is the object that a mdt_body is about, and the name.
func bodySubject(m *Msg) (fid, name []byte) {
	return mboFid1.Bytes(m.Named("mdt_body")), TrimNUL(m.Named("name"))
}

var inlineData = &Struct{Name: "niobuf_inline", Doc: "the beginning of a file whose data is on the MDT (DoM)", Fields: []*Field{
	Sub("niobuf_remote", &niobufRemote, "which bytes these are"),
	Opaque("data", 0, CountOf(func(v *View) int { return int(v.Uint(rnbLen)) }), "the bytes"),
}}

var formInline = Sub("niobuf_inline", &inlineData)

// chooseInline selects data of a file or pages of a directory by the type in
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

var bufNiobufInline = OneOf("niobuf_inline", chooseInline, []*Field{formInline, formDirPages}, Tagged(true),
	"beginning of the file, or pages of the directory")

// addEntry appends a name and its directory: [0x200000007:0x1:0x0]/name.
func addEntry(l *Line, dir []byte, big bool, name []byte) {
	l.FID(dir, big)
	if len(TrimNUL(name)) > 0 {
		l.Add(Dim, "/")
		l.Label(Name, name)
	}
}

func addMode(l *Line, mode uint64) {
	l.Text = append(l.Text, '0')
	for digit := uint64(0o100); digit > mode && digit > 1; digit >>= 3 {
		l.Text = append(l.Text, '0')
	}
	l.Text = strconv.AppendUint(l.Text, mode, 8)
	l.Mark(Flag)
}

// fileTypes are the types of files by the top bits of the mode.
var fileTypes = [16]string{1: "fifo", 2: "char", 4: "dir", 6: "block", 8: "file", 10: "symlink", 12: "socket"}

func addFileType(l *Line, mode uint64) {
	if t := fileTypes[mode>>12&15]; t != "" {
		l.Key("").Add(Flag, t)
	}
}

var _ = DefineRPC(&RPC{Opcode: MDS_SYNC, Name: "MDS_SYNC", Does: Syncs | OfFile,
	Doc: "Has the MDT write an object, or without a FID everything, to disk before it replies: an fsync or sync.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody),
		SummarizeRequest: func(m *Msg, l *Line) {
			if allZero(mboFid1.Bytes(m.Named("mdt_body"))) {
				l.Key("all")
				return
			}
			summarizeBodyRequest(m, l)
		},
		SummarizeReply: summarizeAttrsReply, Subject: bodySubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_SWAP_LAYOUTS, Name: "MDS_SWAP_LAYOUTS", Does: SwapsLayouts | OfFile,
	Doc: "Swaps the layouts, and so the data, of two files at once.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, Sub("swap_layouts", &mdcSwapLayouts, "how they are swapped"), bufCapa1, bufCapa2, bufDlmReq),
		SummarizeRequest: func(m *Msg, l *Line) {
			summarizeBodyRequest(m, l)
			l.Key("with ").FID(mboFid2.Bytes(m.Named("mdt_body")), m.Big)
		},
		Subject: bodySubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_RMFID, Name: "MDS_RMFID", Does: OfFile,
	Doc: "Removes files by FID, with all their names. The reply has a result for each.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufFidArray, bufCapa1, bufCapa2),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufFidArray, bufRcs),
		SummarizeRequest: func(m *Msg, l *Line) {
			fids := m.Named("fid_array")
			l.Key("files ").Num(uint64(len(fids) / 16))
			if len(fids) >= 16 {
				l.Key("").FID(fids[:16], m.Big)
			}
		},
		SummarizeReply: func(m *Msg, l *Line) {
			if n, first := failures(m.Named("rcs"), m.Big); n > 0 {
				l.Key("failed ").Num(uint64(n))
				l.Add(Dim, " ")
				l.Errno(first)
			}
		},
		InnerError: func(m *Msg) int32 {
			_, first := failures(m.Named("rcs"), m.Big)
			return first
		},
		Subject: func(m *Msg) (fid, name []byte) {
			if list := m.Named("fid_array"); len(list) >= fidSize {
				fid = list[:fidSize]
			}
			return fid, nil
		},
	}}})
