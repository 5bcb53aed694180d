package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: MDS_GETATTR, Name: "MDS_GETATTR",
	Doc: "Asks for the attributes of an object by its FID, and for the layout, link target or ACL that mbo_valid names. No lock comes with them.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2, bufFileEncctx),
		Ask:     askGetattr, Answer: answerAttrs, Subject: bodySubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_GETATTR_NAME, Name: "MDS_GETATTR_NAME",
	Doc: "Asks for the attributes of an object by its name in a directory, without a lock.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, bufName),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2, bufFileEncctx),
		Ask:     askGetattr, Answer: answerAttrs, Subject: bodySubject,
	}}})

var rpcMdsClose = DefineRPC(&RPC{Opcode: MDS_CLOSE, Name: "MDS_CLOSE",
	Doc:   "Closes an open file, stores times and size, and, when sa_bias says so, ends a lease with a change: a release to the archive, a swap, merge or split of layouts, the end of a resync.",
	Pick:  pickClose,
	Picks: []int{0, saBias.Off + saBias.Size},
	Variants: []*Variant{
		closePlain, closeRelease, closeSwap, closeMerge, closeSplit, closeResync,
	}})

var (
	requestCloseIntent = Bufs(bufPtlrpcBody, bufMdtIoepoch, bufRecReint, bufCapa1, bufCloseData, bufU32Array)
	replyClose         = Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2)

	closePlain = &Variant{
		Request: Bufs(bufPtlrpcBody, bufMdtIoepoch, bufRecReint, bufCapa1),
		Reply:   replyClose,
		Ask:     askClose, Answer: answerAttrs, Subject: setattrSubject,
	}
	closeRelease = closeIntent("HSM_RELEASE")
	closeSwap    = closeIntent("LAYOUT_SWAP")
	closeMerge   = closeIntent("LAYOUT_MERGE")
	closeSplit   = closeIntent("LAYOUT_SPLIT")
	closeResync  = closeIntent("RESYNC_DONE")
)

func closeIntent(name string) *Variant {
	return &Variant{Name: name, Request: requestCloseIntent, Reply: replyClose,
		Ask: askClose, Answer: answerCloseIntent, Subject: setattrSubject}
}

// answerCloseIntent says whether the close did what it was to do beside
// closing: a server may well close the file and leave that out.
func answerCloseIntent(m *Msg, l *Line) {
	answerAttrs(m, l)
	if o := bodyOf(m); len(o.b) > 0 {
		if o.has(closeExecuted) {
			l.Key("")
			l.Add(Good, "done")
		} else {
			l.Key("")
			l.Add(Bad, "only closed")
		}
	}
}

var closeExecuted = ObdMdValid.Bit("CLOSE_INTENT_EXECED")

// pickClose tells what a close does beside closing by the bias of its record.
func pickClose(m *Msg) *Variant {
	bias := saBias.Uint(m.Buf(2), m.Big)
	switch {
	case bias&biasResyncDone != 0:
		return closeResync
	case bias&biasSplit != 0:
		return closeSplit
	case bias&biasMerge != 0:
		return closeMerge
	case bias&biasSwap != 0:
		return closeSwap
	case bias&(biasRelease|biasPCC) != 0:
		return closeRelease
	}
	return closePlain
}

var _ = DefineRPC(&RPC{Opcode: MDS_READPAGE, Name: "MDS_READPAGE",
	Doc:     "Reads pages of a directory from a hash value on. The pages come as bulk data; the client keeps them under its lock on the directory.",
	Context: true,
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBodyReadpage, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody),
		Bulk:    &BulkData{Portal: 14, Type: dirPages},
		Ask: func(m *Msg, l *Line) {
			askBody(m, l)
			o := bodyOf(m)
			l.Key("from ")
			l.Hex(Number, o.word(mboSize))
			l.Key("bytes ")
			l.Num(o.word(mboNlink))
		},
		Subject: bodySubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_PIN, Name: "MDS_PIN", Retired: true, Doc: "Was to keep an object from being removed; no release has sent it."})

var _ = DefineRPC(&RPC{Opcode: MDS_UNPIN, Name: "MDS_UNPIN", Retired: true, Doc: "Was to undo a MDS_PIN; no release has sent it."})

var _ = DefineRPC(&RPC{Opcode: MDS_SYNC, Name: "MDS_SYNC",
	Doc: "Has the MDT bring an object, or without a FID everything, to disk before it answers: an fsync or sync.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody),
		Ask: func(m *Msg, l *Line) {
			if allZero(mboFid1.Bytes(m.Named("mdt_body"))) {
				l.Key("all")
				return
			}
			askBody(m, l)
		},
		Answer: answerAttrs, Subject: bodySubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_DONE_WRITING, Name: "MDS_DONE_WRITING", Retired: true,
	Doc: "Told the MDT the size of a file when its last writer was done; gone since 2.8."})

var _ = DefineRPC(&RPC{Opcode: MDS_QUOTACHECK, Name: "MDS_QUOTACHECK", Retired: true,
	Doc: "Had the MDT count the files of all users; gone since 2.4, as accounting is always on."})

var _ = DefineRPC(&RPC{Opcode: MDS_QUOTACTL, Name: "MDS_QUOTACTL",
	Doc: "Reads or sets limits, usage and grace times of a user, group or project, or of a pool. MDT0000 holds the limits of the file system.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufObdQuotactl),
		Reply:   Bufs(bufPtlrpcBody, bufObdQuotactl, bufQuotaIter),
		Ask:     askQuota, Answer: answerQuota,
	}}})

var rpcMdsGetxattr = DefineRPC(&RPC{Opcode: MDS_GETXATTR, Name: "MDS_GETXATTR",
	Doc:     "Asks for the value of an extended attribute, or for the names of all. Room of zero bytes asks for the size only.",
	Context: true,
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBodyGetxattr, bufCapa1, bufName, bufEadataIgnored, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufEadata4),
		Ask: func(m *Msg, l *Line) {
			o := bodyOf(m)
			l.FID(mboFid1.Bytes(o.b), o.big)
			l.Key("")
			if name := TrimNUL(m.Named("name")); len(name) > 0 {
				l.Label(Name, name)
			} else {
				l.Add(Flag, "all names")
			}
			l.Key("room ")
			l.Num(o.word(mboEadatasize))
		},
		Answer: func(m *Msg, l *Line) {
			o := bodyOf(m)
			if len(o.b) > 0 {
				l.Key("bytes ")
				l.Num(o.word(mboEadatasize))
			}
			addLayout(l, m.Named("eadata"), false)
		},
		Subject: bodySubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_SETXATTR, Name: "MDS_SETXATTR", Retired: true,
	Doc: "Set an extended attribute; MDS_REINT does it now."})

var _ = DefineRPC(&RPC{Opcode: MDS_WRITEPAGE, Name: "MDS_WRITEPAGE", Retired: true, Doc: "A number that was kept for writing directory pages and never used."})

var _ = DefineRPC(&RPC{Opcode: MDS_IS_SUBDIR, Name: "MDS_IS_SUBDIR", Retired: true, Doc: "Was to ask whether one directory lies below another; no release has sent it."})

var _ = DefineRPC(&RPC{Opcode: MDS_SWAP_LAYOUTS, Name: "MDS_SWAP_LAYOUTS",
	Doc: "Swaps the layouts, and so the data, of two files at once.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufSwapLayouts, bufCapa1, bufCapa2, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody),
		Ask: func(m *Msg, l *Line) {
			askBody(m, l)
			l.Key("with ")
			l.FID(mboFid2.Bytes(m.Named("mdt_body")), m.Big)
		},
		Subject: bodySubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_RMFID, Name: "MDS_RMFID",
	Doc: "Removes files by FID, with all their names. The reply has a result for each.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufFidArray, bufCapa1, bufCapa2),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufFidArray, bufRcs),
		Ask: func(m *Msg, l *Line) {
			fids := m.Named("fid_array")
			l.Key("files ")
			l.Num(uint64(len(fids) / 16))
			if len(fids) >= 16 {
				l.Key("")
				l.FID(fids[:16], m.Big)
			}
		},
		Answer: func(m *Msg, l *Line) {
			if n, first := failures(m.Named("rcs"), m.Big); n > 0 {
				l.Key("failed ")
				l.Num(uint64(n))
				l.Add(Dim, " ")
				l.Errno(first)
			}
		},
		Inner: func(m *Msg) int32 {
			_, first := failures(m.Named("rcs"), m.Big)
			return first
		},
		Subject: func(m *Msg) (fid, name []byte) { return firstFID(m.Named("fid_array")), nil },
	}}})

// firstFID is the first of an array of FIDs.
func firstFID(b []byte) []byte {
	if len(b) < 16 {
		return nil
	}
	return b[:16]
}
