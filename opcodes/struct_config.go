package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// cfgMarker is struct cfg_marker.
var cfgMarker = Define("cfg_marker", "begins or ends a section of a config log",
	U32("cm_step", "number of the section; both its markers have it"),
	U32("cm_flags", CfgMarkerFlags, "begin or end, and whether the section counts"),
	U32("cm_vers", Version, "release of the server that wrote it"),
	Pad("cm_padding", 4),
	S64("cm_createtime", Seconds, "when it was written"),
	S64("cm_canceltime", Seconds, "when it was cancelled, or 0"),
	Str("cm_tgtname", 64, "target that the section is about"),
	Str("cm_comment", 64, "what the section does"),
)

// cfgMarker32 is struct cfg_marker as 32-bit servers wrote it.
var cfgMarker32 = Define("cfg_marker_32", "cfg_marker of an old 32-bit server: times of 4 bytes",
	U32("cm_step", "number of the section; both its markers have it"),
	U32("cm_flags", CfgMarkerFlags, "begin or end, and whether the section counts"),
	U32("cm_vers", Version, "release of the server that wrote it"),
	Pad("cm_padding", 4),
	U32("cm_createtime", Seconds, "when it was written"),
	U32("cm_canceltime", Seconds, "when it was cancelled, or 0"),
	Str("cm_tgtname", 64, "target that the section is about"),
	Str("cm_comment", 64, "what the section does"),
)

// lustreCfg is struct lustre_cfg.
var lustreCfg = Define("lustre_cfg", "one step of a configuration: a command and its arguments",
	Detect(func(b []byte, big bool) bool {
		switch {
		case len(b) < 4:
			return big
		case ReadUint(b[:4], false) == lustreCfgMagic:
			return false
		case ReadUint(b[:4], true) == lustreCfgMagic:
			return true
		}
		return big
	}),
	U32("lcfg_version", Hex, "magic; tells the byte order"),
	U32("lcfg_command", LcfgCommand, "what to do"),
	U32("lcfg_num", "number, where the command takes one: a timeout"),
	U32("lcfg_flags", Hex),
	U64("lcfg_nid", NID4, Unless(func(v *View) bool { return lcfgNid.Uint(v.Struct, v.Big) == 0 }),
		"NID, where the command takes one"),
	U32("lcfg_nal", "obsolete"),
	U32("lcfg_bufcount", "number of arguments"),
	Arr("lcfg_buflens", -1, U32(""), CountOf(cfgArguments), "bytes of each argument"),
	Pad("lcfg_padding", 0, CountOf(func(v *View) int { return cfgArguments(v) % 2 * 4 })),
	Records("lcfg_bufs", nextArgument, []*Field{argText, argMarker, argMarker32, argLovDesc, argLmvDesc},
		"the arguments, each padded to 8 bytes; the first is the device"),
)

// llogConfigRec is a config record: the commands that make up the
// configuration of a client or a server.
var llogConfigRec = Define("llog_cfg_rec", "step of a configuration", Detect(llogBig),
	Says("text", configText, "the command as one would type it"),
	Sub("cfg_hdr", llogRecHdr),
	Sub("cfg", lustreCfg),
	Pad("cfg_padding", 0, CountOf(beforeTail), Floats(true)),
	Sub("cfg_tail", llogRecTail),
)

const (
	lustreCfgMagic = 0x1cf60001
	lustreCfgFixed = 32
	maxArguments   = 32 // Lustre allows 8
	lcfgMarker     = 0xcf010
	lcfgSetup      = 0xcf003
	lovDescMagic   = 0xb0ccde5c // where the number of active OSTs is later
)

var (
	lcfgCommand  = Field{Off: 4, Size: 4}
	lcfgNum      = Field{Off: 8, Size: 4}
	lcfgNid      = Field{Off: 16, Size: 8}
	lcfgBufcount = Field{Off: 28, Size: 4}

	argText     = Str("", 0)
	argMarker   = Sub("", cfgMarker, Tagged(true))
	argLovDesc  = Sub("", lovDesc, Tagged(true))
	argLmvDesc  = Sub("", lmvDesc, Tagged(true))
	argMarker32 = Sub("", cfgMarker32, Tagged(true))
)

func cfgArguments(v *View) int { return int(min(lcfgBufcount.Uint(v.Struct, v.Big), maxArguments)) }

// argument is where argument i of the lustre_cfg at b lies; all its bytes may
// not be there.
func argument(b []byte, i int, big bool) (off, size int) {
	n := int(min(lcfgBufcount.Uint(b, big), maxArguments))
	if i >= n || lustreCfgFixed+4*n > len(b) {
		return 0, 0
	}
	off = pad8(lustreCfgFixed + 4*n)
	for k := 0; ; k++ {
		at := lustreCfgFixed + 4*k
		size = int(min(ReadUint(b[at:at+4], big), 1<<16))
		if k == i {
			return off, size
		}
		off += pad8(size)
	}
}

func pad8(n int) int { return (n + 7) &^ 7 }

// isDesc says whether argument i is the description of a LOV or LMV, which
// is not text.
func isDesc(b []byte, i, size int, big bool) bool {
	return i == 1 && size == lovDesc.Size && lcfgCommand.Uint(b, big) == lcfgSetup
}

// nextArgument is asked for the arguments of a lustre_cfg in turn.
func nextArgument(v *View) (*Field, int) {
	if v.Index >= cfgArguments(v) {
		return nil, 0
	}
	_, size := argument(v.Struct, v.Index, v.Big)
	switch {
	case size == 0:
		return argText, EmptyRecord
	case isDesc(v.Struct, v.Index, size, v.Big):
		if len(v.Rest) >= 8 && ReadUint(v.Rest[4:8], v.Big) == lovDescMagic {
			return argLovDesc, size
		}
		return argLmvDesc, size
	case lcfgCommand.Uint(v.Struct, v.Big) != lcfgMarker || v.Index != 1:
		return argText, pad8(size)
	case size == cfgMarker32.Size:
		return argMarker32, size
	}
	return argMarker, pad8(size)
}
