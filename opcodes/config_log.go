package opcodes

import (
	"cmp"
	"strconv"
	"time"

	. "github.com/lshark/lshark/opcodes/schema"
)

var LcfgCommand = Enum("lcfg_command", "LCFG_", "commands of configuration records; a client that does not know one with bit 0x1000 "+
	"must not mount", []Value{
	{Name: "ATTACH", Value: 0xcf001, Doc: "make a device"},
	{Name: "DETACH", Value: 0xcf002},
	{Name: "SETUP", Value: lcfgSetup, Doc: "start a device"},
	{Name: "CLEANUP", Value: 0xcf004},
	{Name: "ADD_UUID", Value: lcfgAddUUID, Doc: "give a NID a name"},
	{Name: "DEL_UUID", Value: lcfgDelUUID, Doc: "forget a name"},
	{Name: "MOUNTOPT", Value: 0xcf007, Doc: "which LOV and LMV a mount uses"},
	{Name: "DEL_MOUNTOPT", Value: 0xcf008},
	{Name: "SET_TIMEOUT", Value: lcfgSetTimeout, Doc: "set obd_timeout"},
	{Name: "SET_UPCALL", Value: 0xcf00a},
	{Name: "ADD_CONN", Value: 0xcf00b, Doc: "another node that serves a target"},
	{Name: "DEL_CONN", Value: 0xcf00c},
	{Name: "LOV_ADD_OBD", Value: 0xcf00d, Doc: "add an OST"},
	{Name: "LOV_DEL_OBD", Value: 0xcf00e},
	{Name: "PARAM", Value: 0xcf00f, Doc: "set a parameter of a device"},
	{Name: "MARKER", Value: lcfgMarker, Doc: "delimits records of one target; carries cfg_marker in buffer 1"},
	{Name: "LOG_START", Value: 0xce011},
	{Name: "LOG_END", Value: 0xce012},
	{Name: "LOV_ADD_INA", Value: 0xce013, Doc: "add an OST that is not in use"},
	{Name: "ADD_MDC", Value: 0xcf014, Doc: "add an MDT"},
	{Name: "DEL_MDC", Value: 0xcf015},
	{Name: "SPTLRPC_CONF", Value: 0xce016, Doc: "security rule"},
	{Name: "POOL_NEW", Value: 0xce020, Doc: "make a pool"},
	{Name: "POOL_ADD", Value: 0xce021, Doc: "add an OST to a pool"},
	{Name: "POOL_REM", Value: 0xce022, Doc: "take an OST out of a pool"},
	{Name: "POOL_DEL", Value: 0xce023, Doc: "remove a pool"},
	{Name: "SET_LDLM_TIMEOUT", Value: lcfgSetLdlmTimeout, Doc: "set ldlm_timeout"},
	{Name: "PRE_CLEANUP", Value: 0xcf031},
	{Name: "SET_PARAM", Value: 0xce032, Doc: "set a parameter by its path"},
	{Name: "NODEMAP_ADD", Value: 0xce040},
	{Name: "NODEMAP_DEL", Value: 0xce041},
	{Name: "NODEMAP_ADD_RANGE", Value: 0xce042},
	{Name: "NODEMAP_DEL_RANGE", Value: 0xce043},
	{Name: "NODEMAP_ADD_UIDMAP", Value: 0xce044},
	{Name: "NODEMAP_DEL_UIDMAP", Value: 0xce045},
	{Name: "NODEMAP_ADD_GIDMAP", Value: 0xce046},
	{Name: "NODEMAP_DEL_GIDMAP", Value: 0xce047},
	{Name: "NODEMAP_ACTIVATE", Value: 0xce048},
	{Name: "NODEMAP_ADMIN", Value: 0xce049},
	{Name: "NODEMAP_ADD_PROJIDMAP", Value: 0xce04a, Since: "2.15"},
	{Name: "NODEMAP_DEL_PROJIDMAP", Value: 0xce04b, Since: "2.15"},
	{Name: "NODEMAP_ADD_OFFSET", Value: 0xce04c, Since: "2.17"},
	{Name: "NODEMAP_DEL_OFFSET", Value: 0xce04d, Since: "2.17"},
	{Name: "NODEMAP_TRUSTED", Value: 0xce050},
	{Name: "NODEMAP_SQUASH_UID", Value: 0xce051},
	{Name: "NODEMAP_SQUASH_GID", Value: 0xce052},
	{Name: "NODEMAP_ADD_SHKEY", Value: 0xce053},
	{Name: "NODEMAP_DEL_SHKEY", Value: 0xce054},
	{Name: "NODEMAP_TEST_NID", Value: 0xce055},
	{Name: "NODEMAP_TEST_ID", Value: 0xce056},
	{Name: "NODEMAP_SET_FILESET", Value: 0xce057},
	{Name: "NODEMAP_DENY_UNKNOWN", Value: 0xce058},
	{Name: "NODEMAP_MAP_MODE", Value: 0xce059},
	{Name: "NODEMAP_AUDIT_MODE", Value: 0xce05a},
	{Name: "NODEMAP_SET_SEPOL", Value: 0xce05b},
	{Name: "NODEMAP_FORBID_ENCRYPT", Value: 0xce05c, Since: "2.15"},
	{Name: "NODEMAP_SQUASH_PROJID", Value: 0xce05d, Since: "2.15"},
	{Name: "NODEMAP_READONLY_MOUNT", Value: 0xce05e, Since: "2.16"},
	{Name: "NODEMAP_RBAC", Value: 0xce05f, Since: "2.16"},
	{Name: "NODEMAP_DENY_MOUNT", Value: 0xce060, Since: "2.17"},
	{Name: "NODEMAP_RAISE_PRIVS", Value: 0xce061, Since: "2.17"},
	{Name: "NODEMAP_FILESET_ADD", Value: 0xce062, Since: "2.17"},
	{Name: "NODEMAP_SET_CAPS", Value: 0xce063, Since: "2.17"},
	{Name: "NODEMAP_FILESET_DEL", Value: 0xce064, Since: "2.17"},
	{Name: "NODEMAP_GSS_IDENTIFY", Value: 0xce065, Since: "2.17"},
	{Name: "NODEMAP_LOOKUP_SHA", Value: 0xce066, Since: "2.17"},
	{Name: "NODEMAP_FILESET_MODIFY", Value: 0xce067, Since: "2.17"},
	{Name: "NODEMAP_BANLIST_ADD", Value: 0xce068, Since: "2.17"},
	{Name: "NODEMAP_BANLIST_DEL", Value: 0xce069, Since: "2.17"},
	{Name: "REQUIRED", Value: 0x1000, Doc: "bit: a client that does not know the command must not mount"},
})

var CfgMarkerFlags = Bits("cfg_marker_flags", "CM_", "what a marker in a configuration log means", []Value{
	{Name: "START", Value: 0x1, Doc: "marker opens a section"},
	{Name: "END", Value: 0x2, Doc: "marker closes a section"},
	{Name: "SKIP", Value: 0x4, Doc: "section is to be ignored"},
	{Name: "START_SKIP", Value: 0x5, Alias: true},
	{Name: "UPGRADE146", Value: 0x8, Doc: "log upgraded from 1.4.6"},
	{Name: "EXCLUDE", Value: 0x10, Doc: "excluded on this mount"},
})

var cfgMarker = &Struct{Name: "cfg_marker", Doc: "begins or ends a section of a config log", Fields: []*Field{
	U32("cm_step", Harmless, "number of the section; both its markers have it"),
	U32("cm_flags", &CfgMarkerFlags, "begin or end, and whether the section counts"),
	U32("cm_vers", Version, "release of the server that wrote it"),
	Pad("cm_padding", 4),
	S64("cm_createtime", Time, "when it was written"),
	S64("cm_canceltime", Time, "when it was cancelled, or 0"),
	Str("cm_tgtname", 64, TargetName, "target that the section is about"),
	Str("cm_comment", 64, ConfigComment, "what the section does"),
}}

var cfgMarker32 = &Struct{Name: "cfg_marker_32", Doc: "cfg_marker of an old 32-bit server: times of 4 bytes", Fields: []*Field{
	U32("cm_step", Harmless, "number of the section; both its markers have it"),
	U32("cm_flags", &CfgMarkerFlags, "begin or end, and whether the section counts"),
	U32("cm_vers", Version, "release of the server that wrote it"),
	Pad("cm_padding", 4),
	U32("cm_createtime", Time, "when it was written"),
	U32("cm_canceltime", Time, "when it was cancelled, or 0"),
	Str("cm_tgtname", 64, TargetName, "target that the section is about"),
	Str("cm_comment", 64, ConfigComment, "what the section does"),
}}

var lustreCfg = &Struct{Name: "lustre_cfg", Detect: func(b []byte, big bool) bool { return magicAt(b, 0, lustreCfgMagic, big) },
	Doc: "one step of a configuration: a command and its arguments", Fields: []*Field{
		U32("lcfg_version", Harmless, Hex, "magic; gives the byte order"),
		lcfgCommand,
		lcfgNum,
		U32("lcfg_flags", Harmless, Hex, "unused"),
		lcfgNid,
		U32("lcfg_nal", Harmless, "obsolete"),
		lcfgBufcount,
		Arr("lcfg_buflens", -1, U32(""), Harmless, CountOf(cfgArguments), "bytes of each argument"),
		Pad("lcfg_padding", 0, CountOf(func(v *View) int { return cfgArguments(v) % 2 * 4 })),
		Records("lcfg_bufs", nextArgument, []*Field{argText, argMarker, argMarker32, argLovDesc, argLmvDesc},
			"the arguments, each padded to 8 bytes; the first is the device"),
	}}

var llogConfigRec = &Struct{Name: "llog_cfg_rec", Detect: llogBig, Doc: "step of a configuration", Fields: []*Field{
	Derived("text", configText, "the command as one would type it"),
	Sub("cfg_hdr", &llogRecHdr),
	Sub("cfg", &lustreCfg),
	Pad("cfg_padding", 0, CountOf(beforeTail), AfterPrevious(true)),
	Sub("cfg_tail", &llogRecTail),
}}

const (
	lustreCfgMagic = 0x1cf60001
	lustreCfgFixed = 32
	maxArguments   = 32 // Lustre allows 8
	lcfgMarker     = 0xcf010
	lcfgSetup      = 0xcf003
	lovDescMagic   = 0xb0ccde5c // where the number of active OSTs is later
)

var (
	lcfgCommand  = U32("lcfg_command", &LcfgCommand, "what to do")
	lcfgNum      = U32("lcfg_num", Harmless, "number, where the command takes one: a timeout")
	lcfgNid      = U64("lcfg_nid", NID4, ValidIf(func(v *View) bool { return v.Uint(v.Type.Field("lcfg_nid")) != 0 }), "NID, where the command takes one")
	lcfgBufcount = U32("lcfg_bufcount", Harmless, "number of arguments")

	argText     = Str("", 0, CommandArgument)
	argMarker   = Sub("", &cfgMarker, Tagged(true))
	argLovDesc  = Sub("", &lovDesc, Tagged(true))
	argLmvDesc  = Sub("", &lmvDesc, Tagged(true))
	argMarker32 = Sub("", &cfgMarker32, Tagged(true))
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

// isDesc reports whether argument i is the description of a LOV or LMV, which
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

// configVerbs are the names of config commands that differ from those of the
// constants.
var configVerbs = map[string]string{"MOUNTOPT": "mount_option", "DEL_MOUNTOPT": "del_mount_option"}

const (
	lcfgAddUUID        = 0xcf005
	lcfgDelUUID        = 0xcf006
	lcfgSetTimeout     = 0xcf009
	lcfgSetLdlmTimeout = 0xce030
)

// configText puts a config record into one line: the command, the device and
// the arguments.
func configText(v *View, dst []byte) []byte {
	if len(v.Struct) < llogRecHdr.Size+lustreCfgFixed {
		return dst
	}
	b := v.Struct[llogRecHdr.Size:]
	big := lustreCfg.Big(b, v.Big)
	command := lcfgCommand.Uint(b, big)
	if command == lcfgMarker {
		return markerText(b, big, dst)
	}
	dst = appendVerb(dst, command)
	switch command {
	case lcfgAddUUID:
		return addUUIDText(b, big, dst)
	case lcfgDelUUID:
		if nid := lcfgNid.Uint(b, big); nid != 0 {
			dst = AppendNID4(append(dst, ' '), nid)
		}
	case lcfgSetTimeout, lcfgSetLdlmTimeout:
		dst = strconv.AppendUint(append(dst, ' '), lcfgNum.Uint(b, big), 10)
	}
	for i := range int(min(lcfgBufcount.Uint(b, big), maxArguments)) {
		if text := argumentText(b, i, big); len(text) > 0 {
			dst = append(append(dst, ' '), text...)
		}
	}
	return dst
}

func appendVerb(dst []byte, command uint64) []byte {
	name := LcfgCommand.Name(command)
	if name == "" {
		return AppendHex(append(dst, "command "...), command)
	}
	return appendLower(dst, cmp.Or(configVerbs[name], name))
}

// appendLower appends a name of a header in lower case.
func appendLower(dst []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func argumentText(b []byte, i int, big bool) []byte {
	off, size := argument(b, i, big)
	if off+size > len(b) || isDesc(b, i, size, big) {
		return nil
	}
	return TrimNUL(b[off : off+size])
}

// addUUIDText: the NID comes first; that of a large address is the text in the
// third argument.
func addUUIDText(b []byte, big bool, dst []byte) []byte {
	dst = append(dst, ' ')
	if text := argumentText(b, 2, big); len(text) > 0 {
		dst = append(dst, text...)
	} else {
		dst = AppendNID4(dst, lcfgNid.Uint(b, big))
	}
	for i := range 2 {
		if text := argumentText(b, i, big); len(text) > 0 {
			dst = append(append(dst, ' '), text...)
		}
	}
	return dst
}

// markerText: "marker 4 start lustre-OST0000 'lov setup' 2026-11-21 08:06:41".
func markerText(b []byte, big bool, dst []byte) []byte {
	off, size := argument(b, 1, big)
	if off == 0 || off+size > len(b) || size < cfgMarker32.Size {
		return append(dst, "marker"...)
	}
	s := cfgMarker
	if size == cfgMarker32.Size {
		s = cfgMarker32
	}
	m := b[off : off+size]
	dst = strconv.AppendUint(append(dst, "marker "...), s.Field("cm_step").Uint(m, big), 10)
	flags := s.Field("cm_flags").Uint(m, big)
	for i := range CfgMarkerFlags.Values {
		if f := &CfgMarkerFlags.Values[i]; !f.Alias && flags&f.Value != 0 {
			dst = appendLower(append(dst, ' '), f.Name)
		}
	}
	dst = append(append(dst, ' '), TrimNUL(s.Field("cm_tgtname").Bytes(m))...)
	dst = append(append(dst, " '"...), TrimNUL(s.Field("cm_comment").Bytes(m))...)
	dst = append(dst, "' "...)
	created := time.Unix(int64(s.Field("cm_createtime").Uint(m, big)), 0).UTC()
	return created.AppendFormat(dst, "2006-01-02 15:04:05")
}
