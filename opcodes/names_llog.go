package opcodes

// LlogRecType is the group llog_rec_type.
var LlogRecType = Enum("llog_rec_type", "", "", []Value{
	{Name: "LLOG_PAD_MAGIC", Value: 0x10600000},
	{Name: "OST_SZ_REC", Value: 0x10600f00},
	{Name: "MDS_UNLINK_REC", Value: 0x10612404},
	{Name: "MDS_UNLINK64_REC", Value: 0x10692404},
	{Name: "MDS_SETATTR64_REC", Value: 0x10692401},
	{Name: "OBD_CFG_REC", Value: 0x10620000},
	{Name: "LLOG_GEN_REC", Value: 0x10640000},
	{Name: "CHANGELOG_REC", Value: 0x10660000},
	{Name: "CHANGELOG_USER_REC", Value: 0x10670000},
	{Name: "CHANGELOG_USER_REC2", Value: 0x10670002},
	{Name: "HSM_AGENT_REC", Value: 0x10680000},
	{Name: "UPDATE_REC", Value: 0x106a0000},
	{Name: "LLOG_HDR_MAGIC", Value: 0x10645539},
	{Name: "LLOG_LOGID_MAGIC", Value: 0x1064553b},
	{Name: "LLOG_OP_MAGIC", Value: 0x10600000, Alias: true},
	{Name: "LLOG_OP_MASK", Value: 0xfff00000},
})

// LlogFlags is the group llog_flags.
var LlogFlags = Bits("llog_flags", "LLOG_F_", "", []Value{
	{Name: "ZAP_WHEN_EMPTY", Value: 0x1},
	{Name: "IS_CAT", Value: 0x2},
	{Name: "IS_PLAIN", Value: 0x4},
	{Name: "EXT_JOBID", Value: 0x8},
	{Name: "IS_FIXSIZE", Value: 0x10},
	{Name: "EXT_EXTRA_FLAGS", Value: 0x20},
	{Name: "EXT_X_UIDGID", Value: 0x40},
	{Name: "EXT_X_NID", Value: 0x80},
	{Name: "EXT_X_OMODE", Value: 0x100},
	{Name: "EXT_X_XATTR", Value: 0x200},
	{Name: "RM_ON_ERR", Value: 0x400},
	{Name: "MAX_AGE", Value: 0x800, Since: "2.16"},
	{Name: "EXT_X_NID_BE", Value: 0x1000, Since: "2.16"},
	{Name: "UNLCK_SEM", Value: 0x2000, Since: "2.17"},
	{Name: "EXT_MASK", Value: 0x33e8, Doc: "value changed: <=2.12=0x3e8, 2.15=0x3e8, 2.16=0x13e8, 2.17=0x33e8, 2.18=0x33e8", Alias: true},
})

// LlogCtxt is the group llog_ctxt.
var LlogCtxt = Enum("llog_ctxt", "LLOG_", "", []Value{
	{Name: "CONFIG_ORIG_CTXT", Value: 0x0},
	{Name: "CONFIG_REPL_CTXT", Value: 0x1},
	{Name: "MDS_OST_ORIG_CTXT", Value: 0x2},
	{Name: "MDS_OST_REPL_CTXT", Value: 0x3},
	{Name: "SIZE_ORIG_CTXT", Value: 0x4},
	{Name: "SIZE_REPL_CTXT", Value: 0x5},
	{Name: "TEST_ORIG_CTXT", Value: 0x8},
	{Name: "TEST_REPL_CTXT", Value: 0x9},
	{Name: "CHANGELOG_ORIG_CTXT", Value: 0xc},
	{Name: "CHANGELOG_REPL_CTXT", Value: 0xd},
	{Name: "CHANGELOG_USER_ORIG_CTXT", Value: 0xe},
	{Name: "AGENT_ORIG_CTXT", Value: 0xf},
	{Name: "UPDATELOG_ORIG_CTXT", Value: 0x10},
	{Name: "UPDATELOG_REPL_CTXT", Value: 0x11},
})

// LlogSizes is the group llog_sizes.
var LlogSizes = Enum("llog_sizes", "LLOG_MIN_", "", []Value{
	{Name: "REC_SIZE", Value: 0x18},
	{Name: "CHUNK_SIZE", Value: 0x2000},
})

// ChangelogType is the group changelog_type.
var ChangelogType = Enum("changelog_type", "CL_", "", []Value{
	{Name: "NONE", Value: 0xffffffffffffffff},
	{Name: "MARK", Value: 0x0},
	{Name: "CREATE", Value: 0x1},
	{Name: "MKDIR", Value: 0x2},
	{Name: "HARDLINK", Value: 0x3},
	{Name: "SOFTLINK", Value: 0x4},
	{Name: "MKNOD", Value: 0x5},
	{Name: "UNLINK", Value: 0x6},
	{Name: "RMDIR", Value: 0x7},
	{Name: "RENAME", Value: 0x8},
	{Name: "EXT", Value: 0x9},
	{Name: "OPEN", Value: 0xa},
	{Name: "CLOSE", Value: 0xb},
	{Name: "LAYOUT", Value: 0xc},
	{Name: "TRUNC", Value: 0xd},
	{Name: "SETATTR", Value: 0xe},
	{Name: "SETXATTR", Value: 0xf},
	{Name: "XATTR", Value: 0xf, Alias: true},
	{Name: "HSM", Value: 0x10},
	{Name: "MTIME", Value: 0x11},
	{Name: "CTIME", Value: 0x12},
	{Name: "ATIME", Value: 0x13},
	{Name: "MIGRATE", Value: 0x14},
	{Name: "FLRW", Value: 0x15},
	{Name: "RESYNC", Value: 0x16},
	{Name: "GETXATTR", Value: 0x17},
	{Name: "DN_OPEN", Value: 0x18},
	{Name: "LAST", Value: 0x19},
})

// ChangelogFlags is the group changelog_flags.
var ChangelogFlags = Bits("changelog_flags", "CLF_", "", []Value{
	{Name: "VERSION", Value: 0x1000},
	{Name: "RENAME", Value: 0x2000},
	{Name: "JOBID", Value: 0x4000},
	{Name: "EXTRA_FLAGS", Value: 0x8000},
	{Name: "SUPPORTED", Value: 0xf000, Alias: true},
	{Name: "FLAGMASK", Value: 0xfff, Alias: true},
	{Name: "VERMASK", Value: 0xfffffffffffff000, Alias: true},
	{Name: "HSM_ERR_L", Value: 0x0},
	{Name: "HSM_SUCCESS", Value: 0x0, Alias: true},
	{Name: "HSM_DIRTY", Value: 0x1, Alias: true},
	{Name: "RENAME_LAST", Value: 0x1, Alias: true},
	{Name: "UNLINK_LAST", Value: 0x1, Alias: true},
	{Name: "UNLINK_HSM_EXISTS", Value: 0x2, Alias: true},
	{Name: "RENAME_LAST_EXISTS", Value: 0x2, Alias: true},
	{Name: "HSM_ERR_H", Value: 0x6, Alias: true},
	{Name: "HSM_EVENT_L", Value: 0x7, Alias: true},
	{Name: "HSM_EVENT_H", Value: 0x9, Alias: true},
	{Name: "HSM_FLAG_L", Value: 0xa, Alias: true},
	{Name: "HSM_FLAG_H", Value: 0xb, Alias: true},
	{Name: "HSM_SPARE_L", Value: 0xc, Alias: true},
	{Name: "FLAGSHIFT", Value: 0xc, Alias: true},
	{Name: "HSM_LAST", Value: 0xf, Alias: true},
	{Name: "HSM_SPARE_H", Value: 0xf, Alias: true},
	{Name: "HSM_MAXERROR", Value: 0x7e, Alias: true},
	{Name: "HSM_ERROVERFLOW", Value: 0x7f, Alias: true},
})

// ChangelogExtraFlags is the group changelog_extra_flags.
var ChangelogExtraFlags = Bits("changelog_extra_flags", "CLFE_", "", []Value{
	{Name: "INVALID", Value: 0x0},
	{Name: "UIDGID", Value: 0x1},
	{Name: "NID", Value: 0x2},
	{Name: "OPEN", Value: 0x4},
	{Name: "XATTR", Value: 0x8},
	{Name: "NID_BE", Value: 0x10, Since: "2.16"},
	{Name: "SUPPORTED", Value: 0x1f, Doc: "value changed: <=2.12=0xf, 2.15=0xf, 2.16=0x1f, 2.17=0x1f, 2.18=0x1f", Alias: true},
})

// ChangelogSendFlags is the group changelog_send_flags.
var ChangelogSendFlags = Bits("changelog_send_flags", "CHANGELOG_FLAG_", "", []Value{
	{Name: "FOLLOW", Value: 0x1},
	{Name: "BLOCK", Value: 0x2},
	{Name: "JOBID", Value: 0x4},
	{Name: "EXTRA_FLAGS", Value: 0x8},
	{Name: "NID_BE", Value: 0x10, Since: "2.16"},
})

// ChangelogMisc is the group changelog_misc.
var ChangelogMisc = Enum("changelog_misc", "CHANGELOG_", "", []Value{
	{Name: "MINMASK", Value: 0x1},
	{Name: "USER_NAMELEN", Value: 0x10, Since: "2.15"},
	{Name: "USER_NAMELEN_FULL", Value: 0x1e, Since: "2.15"},
	{Name: "DEFMASK", Value: 0x77fbff, Doc: "value changed: <=2.12=0xfe77fbff, 2.15=0x77fbff, 2.16=0x77fbff, 2.17=0x77fbff, 2.18=0x77fbff"},
	{Name: "ALLMASK", Value: 0x1ffffff, Doc: "value changed: <=2.12=0xffffffff, 2.15=0x1ffffff, 2.16=0x1ffffff, 2.17=0x1ffffff, 2.18=0x1ffffff"},
	{Name: "MAGIC", Value: 0xca103000},
})

// ChangelogMsgType is the group changelog_msg_type.
var ChangelogMsgType = Enum("changelog_msg_type", "CL_", "", []Value{
	{Name: "RECORD", Value: 0xa},
	{Name: "EOF", Value: 0xb},
})

// LcfgCommand is the group lcfg_command.
var LcfgCommand = Enum("lcfg_command", "LCFG_", "", []Value{
	{Name: "ATTACH", Value: 0xcf001},
	{Name: "DETACH", Value: 0xcf002},
	{Name: "SETUP", Value: 0xcf003},
	{Name: "CLEANUP", Value: 0xcf004},
	{Name: "ADD_UUID", Value: 0xcf005},
	{Name: "DEL_UUID", Value: 0xcf006},
	{Name: "MOUNTOPT", Value: 0xcf007},
	{Name: "DEL_MOUNTOPT", Value: 0xcf008},
	{Name: "SET_TIMEOUT", Value: 0xcf009},
	{Name: "SET_UPCALL", Value: 0xcf00a},
	{Name: "ADD_CONN", Value: 0xcf00b},
	{Name: "DEL_CONN", Value: 0xcf00c},
	{Name: "LOV_ADD_OBD", Value: 0xcf00d},
	{Name: "LOV_DEL_OBD", Value: 0xcf00e},
	{Name: "PARAM", Value: 0xcf00f},
	{Name: "MARKER", Value: 0xcf010, Doc: "delimits records of one target; carries cfg_marker in buffer 1"},
	{Name: "LOG_START", Value: 0xce011},
	{Name: "LOG_END", Value: 0xce012},
	{Name: "LOV_ADD_INA", Value: 0xce013},
	{Name: "ADD_MDC", Value: 0xcf014},
	{Name: "DEL_MDC", Value: 0xcf015},
	{Name: "SPTLRPC_CONF", Value: 0xce016},
	{Name: "POOL_NEW", Value: 0xce020},
	{Name: "POOL_ADD", Value: 0xce021},
	{Name: "POOL_REM", Value: 0xce022},
	{Name: "POOL_DEL", Value: 0xce023},
	{Name: "SET_LDLM_TIMEOUT", Value: 0xce030},
	{Name: "PRE_CLEANUP", Value: 0xcf031},
	{Name: "SET_PARAM", Value: 0xce032},
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
	{Name: "REQUIRED", Value: 0x1000, Doc: "bit: unknown command must fail the mount"},
})

// LcfgMisc is the group lcfg_misc.
var LcfgMisc = Enum("lcfg_misc", "", "", []Value{
	{Name: "PORTALS_CFG_TYPE", Value: 0x1},
	{Name: "LUSTRE_CFG_TYPE", Value: 0x7b},
	{Name: "LUSTRE_CFG_MAX_BUFCOUNT", Value: 0x8},
	{Name: "LUSTRE_CFG_VERSION", Value: 0x1cf60001, Doc: "magic/version; byte order detector of lustre_cfg"},
})

// CfgMarkerFlags is the group cfg_marker_flags.
var CfgMarkerFlags = Bits("cfg_marker_flags", "CM_", "", []Value{
	{Name: "START", Value: 0x1, Doc: "marker opens a section"},
	{Name: "END", Value: 0x2, Doc: "marker closes a section"},
	{Name: "SKIP", Value: 0x4, Doc: "section is to be ignored"},
	{Name: "START_SKIP", Value: 0x5, Alias: true},
	{Name: "UPGRADE146", Value: 0x8, Doc: "log upgraded from 1.4.6"},
	{Name: "EXCLUDE", Value: 0x10, Doc: "excluded on this mount"},
})
