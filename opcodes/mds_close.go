package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const MDS_CLOSE = 35

var MdsOpBias = Bits("mds_op_bias", "MDS_", "what is special about an operation", []Value{
	{Name: "CROSS_REF", Value: 0x2, Doc: "the object is on another MDT than its name"},
	{Name: "PERM_BYPASS", Value: 0x8, Doc: "no permission check"},
	{Name: "QUOTA_IGNORE", Value: 0x20, Doc: "no quota check"},
	{Name: "KEEP_ORPHAN", Value: 0x80, Doc: "keep the object when its last name goes"},
	{Name: "RECOV_OPEN", Value: 0x100, Doc: "open again in recovery"},
	{Name: "DATA_MODIFIED", Value: 0x200, Doc: "data changed while the file was open"},
	{Name: "CREATE_VOLATILE", Value: 0x400, Doc: "temporary file without a name"},
	{Name: "OWNEROVERRIDE", Value: 0x800, Doc: "owner may do it in spite of the mode"},
	{Name: "HSM_RELEASE", Value: 0x1000, Doc: "close releases the data, a copy is archived"},
	{Name: "CLOSE_MIGRATE", Value: 0x2000, Doc: "close ends a migration"},
	{Name: "CLOSE_LAYOUT_SWAP", Value: 0x4000, Doc: "close swaps the layouts of two files"},
	{Name: "CLOSE_LAYOUT_MERGE", Value: 0x8000, Doc: "close adds the layout of another file as a mirror"},
	{Name: "CLOSE_RESYNC_DONE", Value: 0x10000, Doc: "close ends a resync of mirrors"},
	{Name: "CLOSE_LAYOUT_SPLIT", Value: 0x20000, Doc: "close splits a mirror off"},
	{Name: "CLOSE_INTENT", Value: 0x3d000, Doc: "any of what a close can do beside closing", Alias: true},
	{Name: "TRUNC_KEEP_LEASE", Value: 0x40000, Doc: "truncate without breaking the lease"},
	{Name: "PCC_ATTACH", Value: 0x80000, Since: "2.15", Doc: "close hands the data to a client cache"},
	{Name: "CLOSE_UPDATE_TIMES", Value: 0x100000, Doc: "close brings new times"},
	{Name: "SETSTRIPE_CREATE", Value: 0x200000, Since: "2.15", Doc: "create by setstripe"},
	{Name: "FID_OP", Value: 0x400000, Since: "2.15", Doc: "by FID, the name does not matter"},
	{Name: "MIGRATE_NSONLY", Value: 0x800000, Since: "2.15", Doc: "migrate names only, data stays"},
	{Name: "CREATE_DEFAULT_LMV", Value: 0x1000000, Since: "2.16", Doc: "create with the default stripes of the parent"},
	{Name: "CLOSE_LAYOUT_SWAP_HSM", Value: 0x2000000, Since: "2.16", Doc: "swap layouts and HSM state"},
	{Name: "RENAME_AGAIN", Value: 0x4000000, Since: "2.18", Doc: "rename tried again"},
	{Name: "NAMEHASH", Value: 0x8000000, Since: "2.18", Doc: "the name is the hash of an encrypted one"},
})

var mdtIoepoch = &Struct{Name: "mdt_ioepoch", Doc: "the open file that a close or setattr is about", Fields: []*Field{
	Sub("mio_open_handle", &lustreHandle, "open handle that the open gave"),
	Padding("mio_unused", 1, 8, 4),
	Pad("mio_padding", 4),
}}

var closeDataResyncDone = &Struct{Name: "close_data_resync_done", Doc: "components that a resync has brought up to date", Fields: []*Field{
	U32("resync_count", Harmless, "how many; when there are more than 15 all of them travel in the u32_array buffer"),
	Arr("resync_ids_inline", 15, U32(""), Harmless, CountOf(inlineResyncIDs), "their numbers (lcme_id)"),
}}

const maxInlineResyncIDs = 15

// inlineResyncIDs is how many numbers are in close_data: when there are too
// many for it, it should be none.
func inlineResyncIDs(v *View) int {
	used := usedElements(v.Rest, maxInlineResyncIDs, 4)
	if n := resyncCountOf(v.Struct, v.Big); n <= maxInlineResyncIDs {
		return max(int(n), used)
	}
	return used
}

// outerResyncIDs is how many numbers are in the buffer u32_array: as many as
// it holds, when there are too many for close_data. Else it is one word of
// zero.
func outerResyncIDs(v *View) int {
	if allZero(v.Rest) {
		return 0
	}
	return -1
}

func resyncCountOf(b []byte, big bool) uint64 { return ReadUint(b[:min(4, len(b))], big) }

var closeData = &Struct{Name: "close_data",
	Doc: "what a close does beside closing: a release, a swap, merge or split of layouts, the end of a resync", Fields: []*Field{
		U64("cd_handle", Cookie, "handle of the lease that the close gives up; in the sender's byte order, unlike other handles"),
		Sub("cd_fid", &LuFid, "the second file: volatile file of a release or migration, victim of a merge or split"),
		U64("cd_data_version", Cookie, "data version that the file must still have"),
		Pads("cd_reserved", 8, 8, If(closeNeeds(0))),
		Sub("cd_resync", &closeDataResyncDone, Over("cd_reserved"), If(closeNeeds(biasResyncDone)), "components that are in sync again"),
		U16("cd_mirror_id", Harmless, Over("cd_reserved"), If(closeNeeds(biasSplit)), "the mirror that is split off"),
		U32("cd_archive_id", Harmless, Over("cd_reserved"), Since("2.15"), If(closeNeeds(biasPCC)), "the client cache that gets the data"),
		U64("cd_data_version2", Over("cd_reserved"), Since("2.16"), Cookie, If(closeNeeds(biasSwap)),
			"data version that the second file must still have"),
	}}

// The biases that give the last part of close_data a meaning.
var (
	biasResyncDone = MdsOpBias.Bit("CLOSE_RESYNC_DONE")
	biasSplit      = MdsOpBias.Bit("CLOSE_LAYOUT_SPLIT")
	biasPCC        = MdsOpBias.Bit("PCC_ATTACH")
	biasSwap       = MdsOpBias.Bit("CLOSE_LAYOUT_SWAP")
	biasCloseUnion = biasResyncDone | biasSplit | biasPCC | biasSwap
)

// closeNeeds reports whether the record that came with a close has a bias; 0:
// no bias for which close_data has a last part.
func closeNeeds(bias uint64) func(v *View) bool {
	return func(v *View) bool {
		got := closeBias(v.Msg) & biasCloseUnion
		if bias == 0 {
			return got == 0
		}
		// One member at a time, the one with the lowest bit.
		return got&-got == bias
	}
}

// closeBias is the bias of the setattr record of a close, or of the rename
// record of a migration that closes.
func closeBias(m *Msg) uint64 {
	if m == nil {
		return 0
	}
	rec := m.Named("rec_reint")
	if m.Opcode == MDS_REINT {
		return mdtRecRename.Field("rn_bias").Uint(rec, m.Big)
	}
	return saBias.Uint(rec, m.Big)
}

var (
	bufMdtIoepoch = Sub("mdt_ioepoch", &mdtIoepoch)
	bufCloseData  = Sub("close_data", &closeData, "what the close does beside closing")
	bufU32Array   = Arr("u32_array", -1, U32(""), Harmless, CountOf(outerResyncIDs), "components that are in sync again, when they are more than 15")
)

var _ = DefineRPC(&RPC{Opcode: MDS_CLOSE, Name: "MDS_CLOSE",
	Doc: "Closes an open file, stores times and size, and, depending on sa_bias, ends a lease with a change: a release to the " +
		"archive, a swap, merge or split of layouts, the end of a resync.",
	Pick:      pickClose,
	PickBytes: []int{0, saBias.Off + saBias.Size},
	Variants: []*Variant{
		closePlain, closeRelease, closeSwap, closeMerge, closeSplit, closeResync,
	}})

var (
	requestCloseIntent = Bufs(bufPtlrpcBody, bufMdtIoepoch, bufRecReintSetattr, bufCapa1, bufCloseData, bufU32Array)
	replyClose         = Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2)

	closePlain = &Variant{
		Request:          Bufs(bufPtlrpcBody, bufMdtIoepoch, bufRecReintSetattr, bufCapa1),
		Reply:            replyClose,
		SummarizeRequest: summarizeCloseRequest, SummarizeReply: summarizeAttrsReply, Subject: setattrSubject,
	}
	closeRelease = closeIntent("HSM_RELEASE", 0)
	closeSwap    = closeIntent("LAYOUT_SWAP", SwapsLayouts)
	closeMerge   = closeIntent("LAYOUT_MERGE", MergesLayouts)
	closeSplit   = closeIntent("LAYOUT_SPLIT", 0)
	closeResync  = closeIntent("RESYNC_DONE", 0)
)

func closeIntent(name string, does Actions) *Variant {
	return &Variant{Name: name, Does: does, Request: requestCloseIntent, Reply: replyClose,
		SummarizeRequest: summarizeCloseRequest, SummarizeReply: summarizeCloseIntentReply, Subject: setattrSubject}
}

// summarizeCloseRequest appends the file, its size, and what the close does besides closing.
func summarizeCloseRequest(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, nil)
	if r.word(saValid)&attrSize != 0 {
		l.Key("size ").Num(r.word(saSize))
	}
	bias := r.word(saBias)
	l.FlagsIfSet("", MdsOpBias, bias&biasShown)
	data := m.Named("close_data")
	if other := cdFid.Bytes(data); len(other) > 0 && !allZero(other) {
		l.Key("with ").FID(other, m.Big)
	}
	switch {
	case bias&biasSplit != 0:
		l.Key("mirror ").Num(closeData.Field("cd_mirror_id").Uint(data, m.Big))
	case bias&biasResyncDone != 0 && len(data) >= cdResync.Off+4:
		l.Key("components ").Num(resyncCountOf(data[cdResync.Off:], m.Big))
	}
}

var (
	cdFid    = closeData.Field("cd_fid")
	cdResync = closeData.Field("cd_resync")
	// What the name of the variant does not contain.
	biasShown = biasPCC | MdsOpBias.Bit("CLOSE_MIGRATE", "DATA_MODIFIED")
)

// summarizeCloseIntentReply reports whether the close did what it was to do beside
// closing: a server may well close the file and leave that out.
func summarizeCloseIntentReply(m *Msg, l *Line) {
	summarizeAttrsReply(m, l)
	if o := bodyOf(m); len(o.b) > 0 {
		if o.has(closeExecuted) {
			l.Key("").Add(Good, "done")
		} else {
			l.Key("").Add(Bad, "only closed")
		}
	}
}

var closeExecuted = ObdMdValid.Bit("CLOSE_INTENT_EXECED")

// pickClose selects the variant of a close by the bias of its record.
func pickClose(m *Msg) *Variant {
	bias := saBias.Uint(m.Buf(2), m.Big)
	switch {
	case bias&biasResyncDone != 0:
		return closeResync
	case bias&biasSplit != 0:
		return closeSplit
	case bias&MdsOpBias.Bit("CLOSE_LAYOUT_MERGE") != 0:
		return closeMerge
	case bias&biasSwap != 0:
		return closeSwap
	case bias&(MdsOpBias.Bit("HSM_RELEASE")|biasPCC) != 0:
		return closeRelease
	}
	return closePlain
}
