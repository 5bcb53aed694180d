package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// lfsckRequest is struct lfsck_request.
var lfsckRequest = Define("lfsck_request", "what one server's LFSCK tells or asks another's",
	U32("lr_event", LfsckEvent, "what it is about"),
	U32("lr_index", "index of the sending target"),
	U32("lr_flags", LfsckEventFlags, "who is asked, and how far"),
	U32("lr_valid", LfsckStartValid, "of a start: which of the parameters are given"),
	U32("lr_speed", If(isLfsckStart), When("lr_valid", "SPEED_LIMIT"), "of a start: objects a second at most; 0: no limit"),
	U32("lr_status", Over("lr_speed"), LfsckStatus, If(func(v *View) bool { return !isLfsckStart(v) }), "state of the sender"),
	U16("lr_version", "version of the LFSCK files; decides the form of orphan records"),
	U16("lr_active", LfsckType, "which kinds of check"),
	U16("lr_param", LfsckParam, "how to check"),
	U16("lr_async_windows", When("lr_valid", "ASYNC_WINDOWS"), "requests that the pipeline may hold"),
	U32("lr_flags2", LfsckEventFlags, "more flags of the kind in lr_flags"),
	Sub("lr_fid", luFid, "the object or directory, as the event needs it"),
	Sub("lr_fid2", luFid, "of PAIRS_VERIFY: the parent"),
	U32("lr_comp_id", "component of the parent's layout that the object belongs to"),
	Pad("lr_padding_0", 4),
	Pad("lr_padding_1", 8),
	Pad("lr_padding_2", 8),
	Pad("lr_padding_3", 8),
)

const lfsckStart = 5

var lrEvent = Field{Size: 4}

func isLfsckStart(v *View) bool { return lrEvent.Uint(v.Struct, v.Big) == lfsckStart }

// lfsckReply is struct lfsck_reply.
var lfsckReply = Define("lfsck_reply", "how far a server's LFSCK is",
	U32("lr_status", LfsckStatus, "its state"),
	Pad("lr_padding_1", 4),
	U64("lr_repaired", "what it has repaired so far"),
)
