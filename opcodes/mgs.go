package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const (
	MGS_TARGET_REG  = 253
	MGS_SET_INFO    = 255
	MGS_CONFIG_READ = 256
)

var MgsCfgType = Enum("mgs_cfg_type", "MGS_CFG_T_", "tables and logs of the MGS", []Value{
	{Name: "CONFIG", Value: 0x0, Since: "2.15", Doc: "configuration of a target or client"},
	{Name: "SPTLRPC", Value: 0x1, Since: "2.15", Doc: "security rules"},
	{Name: "RECOVER", Value: mgsRecover, Since: "2.15", Doc: "where targets run: imperative recovery"},
	{Name: "PARAMS", Value: 0x3, Since: "2.15", Doc: "parameters set with set_param -P"},
	{Name: "NODEMAP", Value: 0x4, Since: "2.15", Doc: "nodemaps"},
	{Name: "BARRIER", Value: 0x5, Since: "2.15", Doc: "write barriers"},
})

var MgsNidlistFlags = Bits("mgs_nidlist_flags", "NIDLIST_", "where and how the NIDs of a target are given", []Value{
	{Name: "APPEND", Value: 0x1, Since: "2.17", Doc: "add to the list"},
	{Name: "IN_BULK", Value: 0x2, Since: "2.17", Doc: "the list comes as bulk data"},
	{Name: "COMPRESSED", Value: 0x4, Since: "2.17", Doc: "the list is compressed"},
})

var MtiFlags = Bits("mti_flags", "LDD_F_", "kind and state of a target", []Value{
	{Name: "SV_TYPE_MDT", Value: 0x1, Doc: "an MDT"},
	{Name: "SV_TYPE_OST", Value: 0x2, Doc: "an OST"},
	{Name: "SV_TYPE_MGS", Value: 0x4, Doc: "the MGS"},
	{Name: "SV_TYPE_MASK", Value: 0x7, Alias: true},
	{Name: "SV_ALL", Value: 0x8, Doc: "for all targets"},
	{Name: "NEED_INDEX", Value: 0x10, Doc: "requests an index"},
	{Name: "VIRGIN", Value: 0x20, Doc: "never registered before"},
	{Name: "UPDATE", Value: 0x40, Doc: "update the configuration"},
	{Name: "REWRITE_LDD", Value: 0x80, Doc: "write the label anew"},
	{Name: "WRITECONF", Value: 0x100, Doc: "make the configuration anew"},
	{Name: "PARAM", Value: 0x400, Doc: "parameters have changed"},
	{Name: "NO_PRIMNODE", Value: 0x1000, Doc: "give no node the precedence"},
	{Name: "IR_CAPABLE", Value: 0x2000, Doc: "can do imperative recovery"},
	{Name: "ERROR", Value: 0x4000, Doc: "registration failed"},
	{Name: "PARAM2", Value: 0x8000, Doc: "a parameter for set_param -P"},
	{Name: "MASK", Value: 0xffff, Alias: true, Doc: "the flags that are kept on disk"},
	{Name: "NO_LOCAL_LOGS", Value: 0x10000, Since: "2.15", Doc: "keeps no copy of its configuration"},
	{Name: "LARGE_NID", Value: 0x20000, Since: "2.16", Doc: "NIDs are given as text"},
	{Name: "OPC_REG", Value: 0x10000000, Doc: "operation: register"},
	{Name: "OPC_UNREG", Value: 0x20000000, Doc: "operation: unregister"},
	{Name: "OPC_READY", Value: 0x40000000, Doc: "operation: report that the target runs"},
	{Name: "OPC_MASK", Value: 0xf0000000, Alias: true, Doc: "all operations"},
})

var mgsSendParam = &Struct{Name: "mgs_send_param", Doc: "parameter to be set for a file system", Fields: []*Field{
	Str("mgs_param", 1024, ConfigParams, "key=value"),
}}

// The fields that decide how many NIDs mti_nids holds.
var (
	mtiFlags    = U32("mti_flags", &MtiFlags, "kind and state of the target")
	mtiNidCount = U32("mti_nid_count", Harmless, "NIDs of its server")
)

var mgsTargetInfo = &Struct{Name: "mgs_target_info",
	Doc: "a target that registers with the MGS, and what the MGS made of it", Fields: []*Field{
		U32("mti_lustre_ver", Version, "release of the server"),
		U32("mti_stripe_index", Harmless, "index of the target"),
		U32("mti_config_ver", Harmless, "version of its configuration"),
		mtiFlags,
		mtiNidCount,
		U32("mti_instance", Harmless, "counts the starts of the target"),
		Str("mti_fsname", 64, TargetName, "file system"),
		Str("mti_svname", 64, TargetName, "name of the target"),
		Str("mti_uuid", 40, TargetName, "its uuid"),
		Arr("mti_nids", 32, U64("", NID4), CountOf(targetNids), "NIDs of its server, when all have short addresses"),
		Str("mti_params", 4096, ConfigParams, "parameters from its disk: key=value, separated by spaces"),
		Arr("mti_nidlist", -1, Str("", nidTextSize), Address, Since("2.16"), "NIDs as text, when some have large addresses"),
	}}

const nidTextSize = 64

var nidsAsText = MtiFlags.Bit("LARGE_NID")

// targetNids: the array has room for 32, of which mti_nid_count are used; none
// when the NIDs are text.
func targetNids(v *View) int {
	const room = 32
	n := usedElements(v.Rest, room, 8)
	if v.Uint(mtiFlags)&nidsAsText != 0 {
		return n
	}
	return max(n, int(min(v.Uint(mtiNidCount), room)))
}

// usedElements is the number of elements up to the last that is not zero, of
// an array of n elements of size bytes.
func usedElements(b []byte, n, size int) int {
	b = b[:min(len(b), n*size)]
	for i := len(b); i > 0; i-- {
		if b[i-1] != 0 {
			return (i + size - 1) / size
		}
	}
	return 0
}

var mgsTargetNidlist = &Struct{Name: "mgs_target_nidlist", Since: "2.17", Doc: "NIDs of a target's server, as text", Fields: []*Field{
	U32("mtn_flags", &MgsNidlistFlags, "where the list is"),
	U32("mtn_nids", Harmless, "NIDs in the list"),
	Arr("mtn_inline_list", -1, Str("", nidTextSize), Address, "the list, unless it comes as bulk data"),
}}

// targetNidsBulk is the list when it comes as bulk data.
var targetNidsBulk = &Struct{Name: "mgs_target_nids", Since: "2.17", Doc: "NIDs of a target's server, as text", Fields: []*Field{
	Arr("nids", -1, Str("", nidTextSize), Address),
}}

var mgsNidtblEntry = &Struct{Name: "mgs_nidtbl_entry", Doc: "where a target runs now, for imperative recovery", Fields: []*Field{
	U64("mne_version", Harmless, "version of the table with this entry"),
	U32("mne_instance", Harmless, "start of the target; clients connect anew when it changes"),
	U32("mne_index", Harmless, "index of the target"),
	mneLength,
	U8("mne_type", &nidtblType, "kind of target"),
	U8("mne_nid_type", Harmless, "form of the NIDs; 0: 8 bytes each, 1: large ones"),
	U8("mne_nid_size", Size, "bytes of a NID"),
	U8("mne_nid_count", Harmless, "number of NIDs"),
	Arr("nids", -1, U64("", NID4), CountBy("mne_nid_count"), IfNot(hasLargeNids), "NIDs of its server"),
	Subs("nidlist", -1, &LnetNid, Over("nids"), CountBy("mne_nid_count"), If(hasLargeNids), Since("2.16"),
		"NIDs of its server"),
}}

// nidtblType: the kinds of targets by the flags of mti_flags.
var nidtblType = Enum("mne_type", "", "kind of a target in the table of imperative recovery", []Value{
	{Name: "MDT", Value: 1},
	{Name: "OST", Value: 2},
})

var mneLength = U32("mne_length", Size, "bytes of the entry; the last of a unit fills it")

func hasLargeNids(v *View) bool {
	const at = 21
	return len(v.Struct) > at && v.Struct[at] != 0
}

// nidTable is the bulk data of a MGS_CONFIG_READ for imperative recovery.
var nidTable = &Struct{Name: "mgs_nidtbl",
	Doc: "where targets run now: what has changed since the version that the client knows", Fields: []*Field{
		Records("entries", nextNidtblEntry, []*Field{nidtblEntry}),
	}}

var nidtblEntry = Sub("", &mgsNidtblEntry)

func nextNidtblEntry(v *View) (*Field, int) {
	n := int(mneLength.Uint(v.Rest, v.Big))
	if n < mgsNidtblEntry.Size {
		return nil, 0
	}
	return nidtblEntry, n
}

var mgsConfigBody = &Struct{Name: "mgs_config_body", Doc: "which table of the MGS, and from where on", Fields: []*Field{
	Str("mcb_name", 64, TargetName, "file system and table"),
	U64("mcb_offset", Harmless, "first version or hash that is wanted"),
	mcbType,
	U8("mcb_nm_cur_pass", Harmless, IfNot(isRecoverTable), "of nodemaps: counts the passes over the table"),
	U8("mcb_rec_nid_size", Over("mcb_nm_cur_pass"), Size, If(isRecoverTable), Since("2.16"),
		"of recovery tables: bytes of the largest NID that the client understands; 0: 8"),
	U8("mcb_bits", Harmless, "size of a unit of bulk data, as the exponent of 2"),
	U32("mcb_units", Harmless, "units of bulk data that the client has room for"),
}}

const mgsRecover = 2

var mcbType = U16("mcb_type", &MgsCfgType, "kind of table")

func isRecoverTable(v *View) bool { return mcbType.Uint(v.Struct, v.Big) == mgsRecover }

var mgsConfigRes = &Struct{Name: "mgs_config_res", Doc: "how much of a table came", Fields: []*Field{
	U64("mcr_offset", Harmless, Remark(remarkConfigEnd), "last version that was sent, or hash to go on with"),
	U64("mcr_size", Harmless, IfNot(isNodemapRead), "newest version of the table"),
	U64("mcr_nm_cur_pass", Harmless, Over("mcr_size"), If(isNodemapRead), "of nodemaps: the pass that this is"),
}}

// remarkConfigEnd marks the end of a nodemap table.
func remarkConfigEnd(v *View, dst []byte) []byte {
	if !isNodemapRead(v) || v.Value != dirHashEnd {
		return dst
	}
	return append(dst, "end of the table"...)
}

func isNodemapRead(v *View) bool {
	return v.Msg != nil && v.Msg.Variant.String() == "nodemap"
}

var mgsNidtblNids = &Struct{Name: "mgs_nidtbl_nids", Doc: "NIDs in an entry of the table of imperative recovery", Fields: []*Field{
	Arr("nid4", -1, U64("", NID4), "when mne_nid_type is 0"),
	Subs("nid16", -1, &LnetNid, Over("nid4"), Since("2.16"), "else; mne_nid_size bytes each"),
}}

var (
	bufMgsTargetInfo = Sub("mgs_target_info", &mgsTargetInfo)
	bufMgsSendParam  = Sub("mgs_send_param", &mgsSendParam)
	bufMgsConfigBody = Sub("mgs_config_body", &mgsConfigBody)
	bufMgsConfigRes  = Sub("mgs_config_res", &mgsConfigRes)
)

var _ = DefineRPC(&RPC{Opcode: MGS_TARGET_REG, Name: "MGS_TARGET_REG",
	Doc: "A target that starts registers at the MGS with its name, index, NIDs and parameters. The MGS adds it to the configuration, " +
		"gives it an index if it has none, and answers with what counts.",
	Variants: []*Variant{
		{
			Request:          Bufs(bufPtlrpcBody, bufMgsTargetInfo),
			Reply:            Bufs(bufPtlrpcBody, bufMgsTargetInfo),
			SummarizeRequest: addTarget, SummarizeReply: addTarget, Subject: targetName,
		},
		{Name: "nidlist",
			Request:          Bufs(bufPtlrpcBody, bufMgsTargetInfo, Sub("mgs_target_nidlist", &mgsTargetNidlist)),
			Reply:            Bufs(bufPtlrpcBody, bufMgsTargetInfo),
			Bulk:             &BulkData{Portal: portalMGSBulk, Get: true, Type: targetNidsBulk},
			SummarizeRequest: addTarget, SummarizeReply: addTarget, Subject: targetName,
		},
	},
	PickBytes: []int{0, 1},
	Pick: func(m *Msg) *Variant {
		if len(m.Buf(2)) > 0 {
			return m.RPC.Variants[1]
		}
		return m.RPC.Variants[0]
	},
})

var _ = DefineRPC(&RPC{Opcode: MGS_SET_INFO, Name: "MGS_SET_INFO", Variants: []*Variant{{
	Request:          Bufs(bufPtlrpcBody, bufMgsSendParam),
	Reply:            Bufs(bufPtlrpcBody, bufMgsSendParam),
	SummarizeRequest: func(m *Msg, l *Line) { l.Label(Name, m.Buf(1)) }, SummarizeReply: NoSummary,
}},
	Doc: "Asks the MGS to set a parameter of a file system for good. Planned to go away after 2.18."})

var _ = DefineRPC(&RPC{Opcode: MGS_CONFIG_READ, Name: "MGS_CONFIG_READ",
	Doc: "Reads a table of the MGS that is not a log: where targets run now, so that clients need not wait for timeouts " +
		"when a server comes back (imperative recovery), or the nodemaps. The table comes as bulk data.",
	Variants: []*Variant{
		{Name: RecoveryTable,
			Request:          Bufs(bufPtlrpcBody, bufMgsConfigBody),
			Reply:            Bufs(bufPtlrpcBody, bufMgsConfigRes),
			Bulk:             &BulkData{Portal: portalMGSBulk, Type: nidTable},
			SummarizeRequest: summarizeConfigRequest, SummarizeReply: summarizeConfigReply, Subject: configName,
		},
		{Name: "nodemap",
			Request:          Bufs(bufPtlrpcBody, bufMgsConfigBody),
			Reply:            Bufs(bufPtlrpcBody, bufMgsConfigRes),
			Bulk:             &BulkData{Portal: portalMGSBulk, Type: indexPages},
			SummarizeRequest: summarizeConfigRequest, SummarizeReply: summarizeConfigReply, Subject: configName,
		},
	},
	PickBytes: []int{mgsConfigBody.Resolve().Field("mcb_type").Off + mcbType.Size},
	Pick: func(m *Msg) *Variant {
		if mcbType.Uint(m.Buf(1), m.Big) == mgsRecover {
			return m.RPC.Variants[0]
		}
		return m.RPC.Variants[1]
	},
	PickReply: func(m *Msg) *Variant { return m.RPC.Variants[0] },
	Context:   true,
})

const (
	portalMDSBulk = 14
	portalMGSBulk = 33
)

var (
	mtiSvname  = mgsTargetInfo.Field("mti_svname")
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
		l.Label(Node, mgsTargetInfo.Field("mti_fsname").Bytes(b))
		l.Key("index ").Num(mgsTargetInfo.Field("mti_stripe_index").Uint(b, m.Big))
	}
	l.Key("").Flags(MtiFlags, mtiFlags.Uint(b, m.Big))
}

func summarizeConfigRequest(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < mgsConfigBody.Size {
		return
	}
	if name := TrimNUL(mcbName.Bytes(b)); string(name) != m.Variant.Name {
		l.Label(Name, name)
	}
	l.Key("from ").Num(mcbOffset.Uint(b, m.Big))
}

func summarizeConfigReply(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < mgsConfigRes.Size {
		return
	}
	upto := mcrOffset.Uint(b, m.Big)
	if m.Variant.String() == "nodemap" {
		l.Key("pass ").Num(mcrVersion.Uint(b, m.Big))
		if upto == dirHashEnd {
			l.Key("end")
		}
		return
	}
	l.Key("up to ").Num(upto)
	l.Key("of ").Num(mcrVersion.Uint(b, m.Big))
}
