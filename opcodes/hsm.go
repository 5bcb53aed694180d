package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

const (
	MDS_HSM_STATE_GET = 54
	MDS_HSM_STATE_SET = 55
)

var HsmStates = Bits("hsm_states", "HS_", "HSM state of a file", []Value{
	{Name: "NONE", Value: 0x0, Doc: "not in the archive"},
	{Name: "EXISTS", Value: 0x1, Doc: "archiving has begun"},
	{Name: "DIRTY", Value: 0x2, Doc: "changed since it was archived"},
	{Name: "RELEASED", Value: 0x4, Doc: "data is in the archive only"},
	{Name: "ARCHIVED", Value: 0x8, Doc: "the archive has a copy"},
	{Name: "NORELEASE", Value: 0x10, Doc: "must not be released"},
	{Name: "NOARCHIVE", Value: 0x20, Doc: "must not be archived"},
	{Name: "LOST", Value: 0x40, Doc: "the copy is lost"},
	{Name: "PCCRW", Value: 0x80, Since: "2.16", Doc: "cached read-write on a client"},
	{Name: "PCCRO", Value: 0x100, Since: "2.16", Doc: "cached read-only on a client"},
})

var HsmProgressStates = Enum("hsm_progress_states", "HPS_", "how far an action is", []Value{
	{Name: "NONE", Value: 0x0, Doc: "none"},
	{Name: "WAITING", Value: 0x1, Doc: "not begun"},
	{Name: "RUNNING", Value: 0x2, Doc: "under way"},
	{Name: "DONE", Value: 0x3, Doc: "done"},
})

var HsmUserAction = Enum("hsm_user_action", "HUA_", "what a user requests", []Value{
	{Name: "NONE", Value: 0x1, Doc: "nothing"},
	{Name: "ARCHIVE", Value: 0xa, Doc: "copy to the archive"},
	{Name: "RESTORE", Value: 0xb, Doc: "copy back"},
	{Name: "RELEASE", Value: 0xc, Doc: "free the space of the data"},
	{Name: "REMOVE", Value: 0xd, Doc: "remove the copy"},
	{Name: "CANCEL", Value: 0xe, Doc: "cancel what is under way"},
})

var HsmRequestFlags = Bits("hsm_request_flags", "HSM_", "how a request is done", []Value{
	{Name: "FORCE_ACTION", Value: 0x1, Doc: "even if it is not needed"},
	{Name: "GHOST_COPY", Value: 0x2, Doc: "no copy is kept"},
	{Name: "REQ_BLOCKING", Value: 0x4, Since: "2.17", Doc: "wait for the end"},
})

var HsmProgressFlags = Bits("hsm_progress_flags", "HP_FLAG_", "what a progress report means", []Value{
	{Name: "COMPLETED", Value: 0x1, Doc: "the action has ended"},
	{Name: "RETRY", Value: 0x2, Doc: "it may be tried again"},
})

var HsmStateSetValid = Bits("hsm_state_set_valid", "HSS_", "which members of an hsm_state_set are valid", []Value{
	{Name: "SETMASK", Value: 0x1, Doc: "states to set"},
	{Name: "CLEARMASK", Value: 0x2, Doc: "states to clear"},
	{Name: "ARCHIVE_ID", Value: 0x4, Doc: "the archive"},
})

var HsmEvent = Enum("hsm_event", "HE_", "HSM events in the changelog", []Value{
	{Name: "ARCHIVE", Value: 0x0, Doc: "archived"},
	{Name: "RESTORE", Value: 0x1, Doc: "restored"},
	{Name: "CANCEL", Value: 0x2, Doc: "an action was cancelled"},
	{Name: "RELEASE", Value: 0x3, Doc: "released"},
	{Name: "REMOVE", Value: 0x4, Doc: "copy removed"},
	{Name: "STATE", Value: 0x5, Doc: "state changed"},
	{Name: "SPARE1", Value: 0x6, Doc: "unused"},
	{Name: "SPARE2", Value: 0x7, Doc: "unused"},
})

var hsmExtent = &Struct{Name: "hsm_extent", Doc: "a range of a file", Fields: []*Field{
	U64("offset", Size, "its first byte"),
	U64("length", Size, "its length; all ones: up to the end"),
}}

var hsmUserState = &Struct{Name: "hsm_user_state", Doc: "HSM state of a file, and what is being done to it", Fields: []*Field{
	U32("hus_states", &HsmStates, "the state"),
	U32("hus_archive_id", Harmless, "the archive it is in"),
	U32("hus_in_progress_state", &HsmProgressStates, "progress of the current action"),
	U32("hus_in_progress_action", &HsmUserAction, "what is being done"),
	Sub("hus_in_progress_location", &hsmExtent, "to which range"),
	Str("hus_extended_info", 0, Removed, "more about it"),
}}

var hsmCurrentAction = &Struct{Name: "hsm_current_action", Doc: "what is being done to a file", Fields: []*Field{
	U32("hca_state", &HsmProgressStates, "how far it is"),
	U32("hca_action", &HsmUserAction, "what it is"),
	Sub("hca_location", &hsmExtent, "to which range"),
}}

var hsmRequest = &Struct{Name: "hsm_request", Doc: "what a user wants done to files; the files follow", Fields: []*Field{
	U32("hr_action", &HsmUserAction, "what to do"),
	U32("hr_archive_id", Harmless, "in which archive; 0: the default one"),
	U64("hr_flags", &HsmRequestFlags, "how"),
	U32("hr_itemcount", Harmless, "number of files"),
	U32("hr_data_len", Size, "bytes of data for the copytool"),
}}

var hsmUserItem = &Struct{Name: "hsm_user_item", Doc: "a file in an HSM request", Fields: []*Field{
	Sub("hui_fid", &LuFid, "the file"),
	Sub("hui_extent", &hsmExtent, "the range"),
}}

var hsmStateSet = &Struct{Name: "hsm_state_set", Doc: "changes the HSM state of a file", Fields: []*Field{
	U32("hss_valid", &HsmStateSetValid, "the valid fields"),
	U32("hss_archive_id", Harmless, When{"hss_valid", "ARCHIVE_ID"}, "the archive"),
	U64("hss_setmask", &HsmStates, When{"hss_valid", "SETMASK"}, "states to set"),
	U64("hss_clearmask", &HsmStates, When{"hss_valid", "CLEARMASK"}, "states to clear"),
}}

var hsmProgressKernel = &Struct{Name: "hsm_progress_kernel", Doc: "how far a copytool is with an action", Fields: []*Field{
	Sub("hpk_fid", &LuFid, "the file"),
	U64("hpk_cookie", Cookie, "names the action in the coordinator; 0: the copytool began it by itself"),
	Sub("hpk_extent", &hsmExtent, "the range done"),
	U16("hpk_flags", &HsmProgressFlags, "whether it has ended"),
	U16("hpk_errval", &Errnos, "how it ended, 0 or a positive errno"),
	Pad("hpk_padding1", 4),
	U64("hpk_data_version", Cookie, "data version of what was copied"),
	Pad("hpk_padding2", 8),
}}

var (
	bufHsmArchive = Arr("hsm_archive", -1, U32("", Remark(remarkArchives)), Harmless, "archives it serves: their numbers, or from older "+
		"clients one bitmap; none: all")
)

// remarkArchives reads a single word as the bitmap that older clients send.
func remarkArchives(v *View, dst []byte) []byte {
	if v.Msg == nil || len(v.Msg.Named("hsm_archive")) != 4 {
		return dst
	}
	dst = append(dst, "or, from an older client, a bitmap of archives"...)
	sep := ": "
	for bits, n := v.Value, uint64(1); bits != 0; bits, n = bits>>1, n+1 {
		if bits&1 != 0 {
			dst = strconv.AppendUint(append(dst, sep...), n, 10)
			sep = ", "
		}
	}
	return dst
}

var bufGenericDataCopytool = Str("generic_data", 0, Removed, "data for the copytool")

var _ = DefineRPC(&RPC{Opcode: MDS_HSM_STATE_GET, Name: "MDS_HSM_STATE_GET", Does: OfFile,
	Doc: "Gets the HSM state of a file: whether the archive has a copy, whether the data is released.",
	Variants: []*Variant{{
		Request:          Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:            Bufs(bufPtlrpcBody, bufMdtBody, Sub("hsm_user_state", &hsmUserState)),
		SummarizeRequest: summarizeBodyRequest, Subject: bodySubject,
		SummarizeReply: func(m *Msg, l *Line) {
			state := m.Named("hsm_user_state")
			if len(state) == 0 {
				return
			}
			l.Key("state ")
			set := hsmUserState.Field("hus_states").Uint(state, m.Big)
			if set == 0 {
				l.Add(Flag, "NONE")
				return
			}
			l.Flags(HsmStates, set)
			l.Key("archive ").Num(hsmUserState.Field("hus_archive_id").Uint(state, m.Big))
		},
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_HSM_STATE_SET, Name: "MDS_HSM_STATE_SET", Does: OfFile,
	Doc: "Sets or clears HSM states of a file by hand, or the archive it belongs to.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, Sub("hsm_state_set", &hsmStateSet)),
		SummarizeRequest: func(m *Msg, l *Line) {
			summarizeBodyRequest(m, l)
			set := m.Named("hsm_state_set")
			l.FlagsIfSet("set ", HsmStates, hsmStateSet.Field("hss_setmask").Uint(set, m.Big))
			l.FlagsIfSet("clear ", HsmStates, hsmStateSet.Field("hss_clearmask").Uint(set, m.Big))
		},
		Subject: bodySubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: 56, Name: "MDS_HSM_ACTION", Does: OfFile,
	Doc: "Gets the HSM action in progress on a file.",
	Variants: []*Variant{{
		Request:          Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:            Bufs(bufPtlrpcBody, bufMdtBody, Sub("hsm_current_action", &hsmCurrentAction)),
		SummarizeRequest: summarizeBodyRequest, Subject: bodySubject,
		SummarizeReply: func(m *Msg, l *Line) {
			if now := m.Named("hsm_current_action"); len(now) >= hcaAction.Off+hcaAction.Size {
				l.Key("").Value(Flag, HsmUserAction, hcaAction.Uint(now, m.Big))
				l.Key("").Value(Flag, HsmProgressStates, hsmCurrentAction.Field("hca_state").Uint(now, m.Big))
			}
		},
	}}})

var hcaAction = hsmCurrentAction.Field("hca_action")

var _ = DefineRPC(&RPC{Opcode: 57, Name: "MDS_HSM_PROGRESS", Does: OfFile,
	Doc: "A copytool reports how far it is with an action, or that it has ended.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, Sub("hsm_progress", &hsmProgressKernel)),
		SummarizeRequest: func(m *Msg, l *Line) {
			p := m.Named("hsm_progress")
			l.FID(hpkFid.Bytes(p), m.Big)
			l.Key("cookie ").Hex(Object, hsmProgressKernel.Field("hpk_cookie").Uint(p, m.Big))
			l.FlagsIfSet("", HsmProgressFlags, hsmProgressKernel.Field("hpk_flags").Uint(p, m.Big))
			if errval := hsmProgressKernel.Field("hpk_errval").Uint(p, m.Big); errval != 0 {
				l.Key("error ").Value(Bad, Errnos, errval)
			}
		},
		Subject: func(m *Msg) (fid, name []byte) { return hpkFid.Bytes(m.Named("hsm_progress")), nil },
	}}})

var hpkFid = hsmProgressKernel.Field("hpk_fid")

var _ = DefineRPC(&RPC{Opcode: 58, Name: "MDS_HSM_REQUEST", Does: OfFile,
	Doc: "A user requests to archive, restore, release or remove files, or to cancel that.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, Sub("hsm_request", &hsmRequest), Subs("hsm_user_item", -1, &hsmUserItem, "the files"), bufGenericDataCopytool),
		SummarizeRequest: func(m *Msg, l *Line) {
			req, items := m.Named("hsm_request"), m.Named("hsm_user_item")
			l.Value(Flag, HsmUserAction, hsmRequest.Field("hr_action").Uint(req, m.Big))
			if fid := huiFid.Bytes(items); fid != nil {
				l.Key("").FID(fid, m.Big)
			}
			if n := hsmRequest.Field("hr_itemcount").Uint(req, m.Big); n > 1 {
				l.Key("files ").Num(n)
			}
			l.NumIfSet("archive ", hsmRequest.Field("hr_archive_id").Uint(req, m.Big))
		},
		Subject: func(m *Msg) (fid, name []byte) { return huiFid.Bytes(m.Named("hsm_user_item")), nil },
	}}})

var huiFid = hsmUserItem.Field("hui_fid")

var _ = DefineRPC(&RPC{Opcode: 59, Name: "MDS_HSM_CT_REGISTER",
	Doc: "A client announces a copytool and the archives it serves; actions are then sent to it.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufHsmArchive),
		Subject: NoSubject, // clients do not fill in the FID
		SummarizeRequest: func(m *Msg, l *Line) {
			ids := m.Named("hsm_archive")
			if len(ids) < 4 {
				l.Key("all archives")
				return
			}
			l.Key("archives ")
			for i := 0; i+4 <= min(len(ids), 32); i += 4 {
				if i > 0 {
					l.Add(Dim, ",")
				}
				l.Num(ReadUint(ids[i:i+4], m.Big))
			}
		},
	}}})

var _ = DefineRPC(&RPC{Opcode: 60, Name: "MDS_HSM_CT_UNREGISTER",
	Doc: "A client reports that its copytool has ended.",
	Variants: []*Variant{{
		Request:          Bufs(bufPtlrpcBody, bufMdtBody),
		SummarizeRequest: NoSummary, Subject: NoSubject, // clients do not fill in the FID
	}}})

var _ = DefineRPC(&RPC{Opcode: 64, Name: "MDS_HSM_DATA_VERSION", Since: "2.16",
	Doc: "Sets the data version that the archive's copy of a file has.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody),
		SummarizeRequest: func(m *Msg, l *Line) {
			summarizeBodyRequest(m, l)
			if o := bodyOf(m); o.has(ObdMdValid.Bit("FLDATAVERSION")) {
				l.Key("version ").Hex(Object, o.word(mdtBody.Field("mbo_version")))
			}
		},
		Subject: bodySubject,
	}}})
