package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var LfsckEvent = Enum("lfsck_event", "LE_", "what LFSCK instances report to each other", []Value{
	{Name: "LASTID_REBUILDING", Value: 0x1, Doc: "an OST works out its last object id anew"},
	{Name: "LASTID_REBUILT", Value: 0x2, Doc: "it has it"},
	{Name: "PHASE1_DONE", Value: 0x3, Doc: "first scan finished"},
	{Name: "PHASE2_DONE", Value: 0x4, Doc: "second scan finished"},
	{Name: "START", Value: 0x5, Doc: "begin"},
	{Name: "STOP", Value: 0x6, Doc: "stop"},
	{Name: "QUERY", Value: 0x7, Doc: "how far are you"},
	{Name: "PEER_EXIT", Value: 0x9, Doc: "a peer has stopped"},
	{Name: "CONDITIONAL_DESTROY", Value: 0xa, Doc: "destroy an object that nothing refers to"},
	{Name: "PAIRS_VERIFY", Value: 0xb, Doc: "do object and parent point at each other"},
	{Name: "SET_LMV_MASTER", Value: 0xf, Doc: "a striped directory has a new master"},
	{Name: "SET_LMV_SLAVE", Value: 0x10, Doc: "a directory is a stripe"},
})

var LfsckEventFlags = Bits("lfsck_event_flags", "LEF_", "whom an event is for, and what else it asks", []Value{
	{Name: "TO_OST", Value: 0x1, Doc: "for an OST"},
	{Name: "FROM_OST", Value: 0x2, Doc: "from an OST"},
	{Name: "SET_LMV_HASH", Value: 0x4, Doc: "set the hash type"},
	{Name: "SET_LMV_ALL", Value: 0x8, Doc: "set all of the layout"},
	{Name: "RECHECK_NAME_HASH", Value: 0x10, Doc: "check the hashes of names again"},
	{Name: "QUERY_ALL", Value: 0x20, Doc: "ask all targets"},
})

var LfsckStatus = Enum("lfsck_status", "LS_", "state of an LFSCK", []Value{
	{Name: "INIT", Value: 0x0},
	{Name: "SCANNING_PHASE1", Value: 0x1},
	{Name: "SCANNING_PHASE2", Value: 0x2},
	{Name: "COMPLETED", Value: 0x3},
	{Name: "FAILED", Value: 0x4},
	{Name: "STOPPED", Value: 0x5},
	{Name: "PAUSED", Value: 0x6},
	{Name: "CRASHED", Value: 0x7},
	{Name: "PARTIAL", Value: 0x8},
	{Name: "CO_FAILED", Value: 0x9},
	{Name: "CO_STOPPED", Value: 0xa},
	{Name: "CO_PAUSED", Value: 0xb},
	{Name: "MAX", Value: 0xc, Alias: true},
})

var LfsckParam = Bits("lfsck_param", "LPF_", "how an LFSCK works", []Value{
	{Name: "RESET", Value: 0x1, Doc: "from the beginning"},
	{Name: "FAILOUT", Value: 0x2, Doc: "stop at the first failure"},
	{Name: "DRYRUN", Value: 0x4, Doc: "look only"},
	{Name: "ALL_TGT", Value: 0x8, Doc: "on all targets"},
	{Name: "BROADCAST", Value: 0x10, Doc: "notify the other targets"},
	{Name: "OST_ORPHAN", Value: 0x20, Doc: "look for orphans on OSTs"},
	{Name: "CREATE_OSTOBJ", Value: 0x40, Doc: "make OST objects that are missing"},
	{Name: "CREATE_MDTOBJ", Value: 0x80, Doc: "make MDT objects that are missing"},
	{Name: "WAIT", Value: 0x100, Doc: "wait for the end"},
	{Name: "DELAY_CREATE_OSTOBJ", Value: 0x200, Doc: "make OST objects at the end"},
})

var LfsckType = Bits("lfsck_type", "LFSCK_TYPE_", "kinds of checks", []Value{
	{Name: "SCRUB", Value: 0x0},
	{Name: "LAYOUT", Value: 0x1, Doc: "files and their OST objects"},
	{Name: "NAMESPACE", Value: 0x4, Doc: "names and what they name"},
	{Name: "LFSCK_TYPES_SUPPORTED", Value: 0x5, Alias: true, NoPrefix: true},
	{Name: "LFSCK_TYPES_DEF", Value: 0x5, Alias: true, NoPrefix: true},
	{Name: "LFSCK_TYPES_ALL", Value: 0xffff, Alias: true, NoPrefix: true},
})

var LfsckStartValid = Bits("lfsck_start_valid", "LSV_", "parameters that a start gives", []Value{
	{Name: "SPEED_LIMIT", Value: 0x1, Doc: "how many objects are checked in a second"},
	{Name: "ERROR_HANDLE", Value: 0x2, Doc: "whether a failure ends the check"},
	{Name: "DRYRUN", Value: 0x4, Doc: "whether it only looks"},
	{Name: "ASYNC_WINDOWS", Value: 0x8, Doc: "how many requests to OSTs may be in flight"},
	{Name: "CREATE_OSTOBJ", Value: 0x10, Doc: "whether missing OST objects are made"},
	{Name: "CREATE_MDTOBJ", Value: 0x20, Doc: "whether missing MDT objects are made"},
	{Name: "DELAY_CREATE_OSTOBJ", Value: 0x40, Doc: "whether missing OST objects are made at the end"},
})

var lfsckRequest = &Struct{Name: "lfsck_request",
	Doc: "request or notification from the LFSCK of one server to another's", Fields: []*Field{
		lrEvent,
		U32("lr_index", Harmless, "index of the sending target"),
		U32("lr_flags", &LfsckEventFlags, "who is asked, and how far"),
		U32("lr_valid", &LfsckStartValid, "of a start: which of the parameters are given"),
		U32("lr_speed", Harmless, If(isLfsckStart), When{"lr_valid", "SPEED_LIMIT"}, "of a start: objects a second at most; 0: no limit"),
		U32("lr_status", Over("lr_speed"), &LfsckStatus, IfNot(isLfsckStart), "state of the sender"),
		U16("lr_version", Harmless, "version of the LFSCK files; decides the form of orphan records"),
		U16("lr_active", &LfsckType, "which kinds of check"),
		U16("lr_param", &LfsckParam, "how to check"),
		U16("lr_async_windows", Harmless, When{"lr_valid", "ASYNC_WINDOWS"}, "requests that the pipeline may hold"),
		U32("lr_flags2", &LfsckEventFlags, "more flags of the kind in lr_flags"),
		Sub("lr_fid", &LuFid, "the object or directory, as the event needs it"),
		Sub("lr_fid2", &LuFid, "of PAIRS_VERIFY: the parent"),
		U32("lr_comp_id", Harmless, "component of the parent's layout that the object belongs to"),
		Padding("lr_padding_", 0, 4, 8, 8, 8),
	}}

var lrEvent = U32("lr_event", &LfsckEvent, "what it is about")

func isLfsckStart(v *View) bool { return lrEvent.Uint(v.Struct, v.Big) == LfsckEvent.Number("START") }

var lfsckReply = &Struct{Name: "lfsck_reply", Doc: "how far a server's LFSCK is", Fields: []*Field{
	U32("lr_status", &LfsckStatus, "its state"),
	Pad("lr_padding_1", 4),
	U64("lr_repaired", Harmless, "what it has repaired so far"),
}}

var bufLfsckRequest = Sub("lfsck_request", &lfsckRequest)

var _ = DefineRPC(&RPC{Opcode: 1101, Name: "LFSCK_NOTIFY", Variants: []*Variant{{
	Request:          Bufs(bufPtlrpcBody, bufLfsckRequest),
	SummarizeRequest: summarizeLfsckRequest,
	Subject:          func(m *Msg) (fid, name []byte) { return lrFid.Bytes(m.Buf(1)), nil },
}},
	Doc: "Tells the LFSCK (file system check) of another server to start, stop or act on an object, or that a phase is done."})

var _ = DefineRPC(&RPC{Opcode: 1102, Name: "LFSCK_QUERY", Variants: []*Variant{{
	Request:          Bufs(bufPtlrpcBody, bufLfsckRequest),
	Reply:            Bufs(bufPtlrpcBody, Sub("lfsck_reply", &lfsckReply)),
	Subject:          NoSubject, // clients do not fill in the FID
	SummarizeRequest: summarizeLfsckRequest,
	SummarizeReply: func(m *Msg, l *Line) {
		if b := m.Buf(1); len(b) >= lfsckReply.Size {
			l.Key("").Value(Flag, LfsckStatus, lfsckReply.Fields[0].Uint(b, m.Big))
			l.Key("repaired ").Num(lfsckReply.Field("lr_repaired").Uint(b, m.Big))
		}
	},
}},
	Doc: "Asks the LFSCK of another server how far it is."})

var lrFid = lfsckRequest.Field("lr_fid")

// summarizeLfsckRequest: the event, the kinds of check, and the object if there is one.
func summarizeLfsckRequest(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < 8 {
		return
	}
	l.Value(Flag, LfsckEvent, lrEvent.Uint(b, m.Big))
	l.FlagsIfSet("", LfsckType, lfsckRequest.Field("lr_active").Uint(b, m.Big))
	if fid := lrFid.Bytes(b); len(fid) >= 16 && !allZero(fid) {
		l.Key("").FID(fid, m.Big)
	}
}

// What is on disk beside objects.
var ()
