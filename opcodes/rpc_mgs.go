package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: MGS_EXCEPTION, Name: "MGS_EXCEPTION", Retired: true,
	Doc: "Reserved for errors that the MGS would report. No release since 2.12 sends it."})

var _ = DefineRPC(&RPC{Opcode: MGS_TARGET_DEL, Name: "MGS_TARGET_DEL", Retired: true,
	Doc: "Reserved for taking a target out of the configuration. No release since 2.12 sends it."})

var _ = DefineRPC(&RPC{Opcode: MGS_TARGET_REG, Name: "MGS_TARGET_REG",
	Doc: "A target that starts tells the MGS its name, index, NIDs and parameters. The MGS adds it to the configuration, " +
		"gives it an index if it has none, and answers with what counts.",
	Variants: []*Variant{
		{
			Request: Bufs(bufPtlrpcBody, bufMgsTargetInfo),
			Reply:   Bufs(bufPtlrpcBody, bufMgsTargetInfo),
			Ask:     addTarget, Answer: addTarget, Subject: targetName,
		},
		{Name: "nidlist",
			Request: Bufs(bufPtlrpcBody, bufMgsTargetInfo, bufMgsTargetNidlist),
			Reply:   Bufs(bufPtlrpcBody, bufMgsTargetInfo),
			Bulk:    &BulkData{Portal: portalMGSBulk, Get: true, Type: targetNidsBulk},
			Ask:     addTarget, Answer: addTarget, Subject: targetName,
		},
	},
	Picks: []int{0, 1},
	Pick: func(m *Msg) *Variant {
		if len(m.Buf(2)) > 0 {
			return m.RPC.Variants[1]
		}
		return m.RPC.Variants[0]
	},
})

var _ = DefineRPC(&RPC{Opcode: MGS_SET_INFO, Name: "MGS_SET_INFO", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufMgsSendParam),
	Reply:   Bufs(bufPtlrpcBody, bufMgsSendParam),
	Ask:     func(m *Msg, l *Line) { l.Label(Name, m.Buf(1)) },
}},
	Doc: "Asks the MGS to set a parameter of a file system for good. Planned to go away after 2.18."})

var _ = DefineRPC(&RPC{Opcode: MGS_CONFIG_READ, Name: "MGS_CONFIG_READ",
	Doc: "Reads a table of the MGS that is not a log: where targets run now, so that clients need not wait for timeouts " +
		"when a server comes back (imperative recovery), or the nodemaps. The table comes as bulk data.",
	Variants: []*Variant{
		{Name: "recover",
			Request: Bufs(bufPtlrpcBody, bufMgsConfigBody),
			Reply:   Bufs(bufPtlrpcBody, bufMgsConfigRes),
			Bulk:    &BulkData{Portal: portalMGSBulk, Type: nidTable},
			Ask:     askConfig, Answer: answerConfig, Subject: configName,
		},
		{Name: "nodemap",
			Request: Bufs(bufPtlrpcBody, bufMgsConfigBody),
			Reply:   Bufs(bufPtlrpcBody, bufMgsConfigRes),
			Bulk:    &BulkData{Portal: portalMGSBulk, Type: indexPages},
			Ask:     askConfig, Answer: answerConfig, Subject: configName,
		},
	},
	Picks: []int{mcbType.Off + mcbType.Size},
	Pick: func(m *Msg) *Variant {
		if mcbType.Uint(m.Buf(1), m.Big) == mgsRecover {
			return m.RPC.Variants[0]
		}
		return m.RPC.Variants[1]
	},
	Guess:   func(m *Msg) *Variant { return m.RPC.Variants[0] },
	Context: true,
})

const (
	portalMDSBulk = 14
	portalMGSBulk = 33
)

var (
	mtiSvname  = mgsTargetInfo.Field("mti_svname")
	mtiFsname  = mgsTargetInfo.Field("mti_fsname")
	mtiFlags   = mgsTargetInfo.Field("mti_flags")
	mtiIndex   = mgsTargetInfo.Field("mti_stripe_index")
	mcbName    = mgsConfigBody.Field("mcb_name")
	mcbOffset  = mgsConfigBody.Field("mcb_offset")
	mcrOffset  = mgsConfigRes.Field("mcr_offset")
	mcrVersion = mgsConfigRes.Field("mcr_size")
)

func targetName(m *Msg) (fid, name []byte) { return nil, TrimNUL(mtiSvname.Bytes(m.Buf(1))) }

func configName(m *Msg) (fid, name []byte) { return nil, TrimNUL(mcbName.Bytes(m.Buf(1))) }

// addTarget: the target's name, or its file system and index, and its flags.
func addTarget(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < mgsTargetInfo.Size {
		return
	}
	if name := TrimNUL(mtiSvname.Bytes(b)); len(name) > 0 {
		l.Label(Node, name)
	} else {
		l.Label(Node, mtiFsname.Bytes(b))
		l.Key("index ")
		l.Num(mtiIndex.Uint(b, m.Big))
	}
	l.Key("")
	l.Flags(MtiFlags, mtiFlags.Uint(b, m.Big))
}

func askConfig(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < mgsConfigBody.Size {
		return
	}
	if name := TrimNUL(mcbName.Bytes(b)); m.Variant == nil || string(name) != m.Variant.Name {
		l.Label(Name, name)
	}
	l.Key("from ")
	l.Num(mcbOffset.Uint(b, m.Big))
}

func answerConfig(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < mgsConfigRes.Size {
		return
	}
	upto := mcrOffset.Uint(b, m.Big)
	if m.Variant != nil && m.Variant.Name == "nodemap" {
		l.Key("pass ")
		l.Num(mcrVersion.Uint(b, m.Big))
		if upto == dirHashEnd {
			l.Key("end")
		}
		return
	}
	l.Key("up to ")
	l.Num(upto)
	l.Key("of ")
	l.Num(mcrVersion.Uint(b, m.Big))
}
