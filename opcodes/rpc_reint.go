package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var rpcMdsReint = DefineRPC(&RPC{Opcode: MDS_REINT, Name: "MDS_REINT",
	Doc:   "Changes the namespace or attributes: the operation is the first word of the record rec_reint. The client keeps the request until the change is on disk, to replay it (\"reintegrate\") when the server fails.",
	Picks: []int{4}, // a link is as good as another CREATE
	Pick:  pickReint, Guess: guessReint, Context: true,
	Variants: []*Variant{
		variantSetattr, variantCreate, variantSymlink, variantLink, variantUnlink, variantRmentry,
		variantRename, variantMigrate, variantOpen, variantSetxattr, variantResync,
	}})

var (
	variantSetattr = &Variant{Name: "SETATTR",
		Request: Bufs(bufPtlrpcBody, bufRecReint, bufCapa1, bufMdtIoepoch, bufEadata, bufLogcookies, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2),
		Ask:     askSetattr, Answer: answerAttrs, Subject: setattrSubject,
	}
	variantCreate = &Variant{Name: "CREATE",
		Request: Bufs(bufPtlrpcBody, bufRecReintMdtRecCreate, bufCapa1, bufName, bufEadata2, bufDlmReq, bufFileSecctxName, bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, bufMdtMd),
		Ask:     askCreate, Answer: answerAttrs, Subject: reintSubject,
	}
	variantSymlink = &Variant{Name: "CREATE",
		Request: Bufs(bufPtlrpcBody, bufRecReintMdtRecCreate, bufCapa1, bufName, bufSymtgt, bufDlmReq, bufFileSecctxName, bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, bufMdtMd),
		Ask:     askCreate, Answer: answerAttrs, Subject: reintSubject,
	}
	variantLink = &Variant{Name: "LINK",
		Request: Bufs(bufPtlrpcBody, bufRecReintMdtRecLink, bufCapa1, bufCapa2, bufName, bufDlmReq, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody),
		Ask:     askLink, Answer: answerAttrs, Subject: reintSubject,
	}
	variantUnlink = &Variant{Name: "UNLINK",
		Request: Bufs(bufPtlrpcBody, bufRecReintMdtRecUnlink, bufCapa1, bufName, bufDlmReq, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2),
		Ask:     askUnlink, Answer: answerAttrs, Subject: reintSubject,
	}
	variantRmentry = &Variant{Name: "RMENTRY",
		Request: Bufs(bufPtlrpcBody, bufRecReintMdtRecUnlink, bufCapa1, bufName, bufDlmReq, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2),
		Ask:     askUnlink, Answer: answerAttrs, Subject: reintSubject,
	}
	variantRename = &Variant{Name: "RENAME",
		Request: Bufs(bufPtlrpcBody, bufRecReintMdtRecRename, bufCapa1, bufCapa2, bufName, bufTargetName, bufDlmReq, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2),
		Ask:     askRename, Answer: answerAttrs, Subject: reintSubject,
	}
	variantMigrate = &Variant{Name: "MIGRATE",
		Request: Bufs(bufPtlrpcBody, bufRecReintMdtRecRename, bufCapa1, bufCapa2, bufName, bufTargetName, bufDlmReq, bufSelinuxPol, bufMdtIoepoch, bufCloseData, bufEadataLmvUserMdV1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2),
		Ask:     askMigrate, Answer: answerAttrs, Subject: reintSubject,
	}
	variantOpen = &Variant{Name: "OPEN",
		Request: Bufs(bufPtlrpcBody, bufRecReintMdtRecCreate, bufCapa1, bufCapa2, bufName, bufEadata3, bufFileSecctxName, bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2),
		Ask:     askOpen, Answer: answerAttrs, Subject: reintSubject,
	}
	variantSetxattr = &Variant{Name: "SETXATTR",
		Request: Bufs(bufPtlrpcBody, bufRecReintMdtRecSetxattr, bufCapa1, bufName, bufEadataSetxattr, bufDlmReq, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody),
		Ask:     askSetxattr, Answer: answerAttrs, Subject: reintSubject,
	}
	variantResync = &Variant{Name: "RESYNC",
		Request: Bufs(bufPtlrpcBody, bufRecReintMdtRecResync, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody),
		Ask:     askResync, Answer: answerAttrs, Subject: reintSubject,
	}
)

// reintVariants are the variants by their operation.
var reintVariants = [...]*Variant{
	reintSetattr: variantSetattr, reintCreate: variantCreate, reintLink: variantLink, reintUnlink: variantUnlink,
	reintRename: variantRename, reintOpen: variantOpen, reintSetxattr: variantSetxattr, reintRmentry: variantRmentry,
	reintMigrate: variantMigrate, reintResync: variantResync,
}

// pickReint tells the operations apart by the first word of the record; a new
// symbolic link has its target where others have a layout.
func pickReint(m *Msg) *Variant {
	rec := m.Buf(1)
	op := rrOpcode.Uint(rec, m.Big)
	switch {
	case op == reintCreate && crMode.Uint(rec, m.Big)&modeType == modeSymlink:
		return variantSymlink
	case op < uint64(len(reintVariants)) && reintVariants[op] != nil:
		return reintVariants[op]
	}
	return nil
}

// guessReint reads a reply without its request by the number of its buffers.
func guessReint(m *Msg) *Variant {
	switch len(m.Bufs) {
	case 2:
		return variantLink
	case 3, 4:
		return variantCreate
	}
	if acl := m.Buf(3); len(acl) >= 4 && ReadUint(acl[:4], false) == 2 {
		return variantOpen
	}
	return variantUnlink
}
