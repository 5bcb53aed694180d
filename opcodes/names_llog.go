package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// LlogRecType is the group llog_rec_type.
var LlogRecType = Enum("llog_rec_type", "", "kinds of records in logs; the upper 12 bits are the same in all", []Value{
	{Name: "LLOG_PAD_MAGIC", Value: 0x10600000, Doc: "fills a block up"},
	{Name: "OST_SZ_REC", Value: 0x10600f00, Doc: "size changed; old"},
	{Name: "MDS_UNLINK_REC", Value: 0x10612404, Doc: "object to destroy; old"},
	{Name: "MDS_UNLINK64_REC", Value: 0x10692404, Doc: "object to destroy"},
	{Name: "MDS_SETATTR64_REC", Value: 0x10692401, Doc: "new owner of an object"},
	{Name: "OBD_CFG_REC", Value: 0x10620000, Doc: "step of a configuration"},
	{Name: "LLOG_GEN_REC", Value: 0x10640000, Doc: "marks a generation"},
	{Name: "CHANGELOG_REC", Value: 0x10660000, Doc: "change of the namespace"},
	{Name: "CHANGELOG_USER_REC", Value: 0x10670000, Doc: "reader of a changelog"},
	{Name: "CHANGELOG_USER_REC2", Value: 0x10670002, Doc: "reader of a changelog with a name"},
	{Name: "HSM_AGENT_REC", Value: 0x10680000, Doc: "HSM request"},
	{Name: "UPDATE_REC", Value: 0x106a0000, Doc: "distributed operation"},
	{Name: "LLOG_HDR_MAGIC", Value: 0x10645539, Doc: "header of a log"},
	{Name: "LLOG_LOGID_MAGIC", Value: 0x1064553b, Doc: "entry of a catalog"},
	{Name: "LLOG_OP_MAGIC", Value: 0x10600000, Alias: true},
	{Name: "LLOG_OP_MASK", Value: 0xfff00000},
})

// LlogFlags is the group llog_flags.
var LlogFlags = Bits("llog_flags", "LLOG_F_", "kind of a log, and what its changelog records carry", []Value{
	{Name: "ZAP_WHEN_EMPTY", Value: 0x1, Doc: "removed when its last record goes"},
	{Name: "IS_CAT", Value: 0x2, Doc: "a catalog: lists plain logs"},
	{Name: "IS_PLAIN", Value: 0x4, Doc: "a plain log"},
	{Name: "EXT_JOBID", Value: 0x8, Doc: "records have job ids"},
	{Name: "IS_FIXSIZE", Value: 0x10, Doc: "all records have one size"},
	{Name: "EXT_EXTRA_FLAGS", Value: 0x20, Doc: "records have extra flags"},
	{Name: "EXT_X_UIDGID", Value: 0x40, Doc: "records have users"},
	{Name: "EXT_X_NID", Value: 0x80, Doc: "records have NIDs"},
	{Name: "EXT_X_OMODE", Value: 0x100, Doc: "records have open modes"},
	{Name: "EXT_X_XATTR", Value: 0x200, Doc: "records have names of xattrs"},
	{Name: "RM_ON_ERR", Value: 0x400, Doc: "removed when it is broken"},
	{Name: "MAX_AGE", Value: 0x800, Since: "2.16", Doc: "old records go"},
	{Name: "EXT_X_NID_BE", Value: 0x1000, Since: "2.16", Doc: "NIDs are large ones"},
	{Name: "UNLCK_SEM", Value: 0x2000, Since: "2.17", Doc: "the lock of the log is let go during callbacks"},
	{Name: "EXT_MASK", Value: 0x33e8, Doc: "all flags about what records carry", Alias: true},
})

// LlogCtxt is the group llog_ctxt.
var LlogCtxt = Enum("llog_ctxt", "LLOG_", "what a log is for", []Value{
	{Name: "CONFIG_ORIG_CTXT", Value: 0x0, Doc: "configuration, on the MGS"},
	{Name: "CONFIG_REPL_CTXT", Value: 0x1, Doc: "configuration, on its reader"},
	{Name: "MDS_OST_ORIG_CTXT", Value: 0x2, Doc: "objects to destroy, on the MDT"},
	{Name: "MDS_OST_REPL_CTXT", Value: 0x3, Doc: "objects to destroy, on the OST"},
	{Name: "SIZE_ORIG_CTXT", Value: 0x4},
	{Name: "SIZE_REPL_CTXT", Value: 0x5},
	{Name: "TEST_ORIG_CTXT", Value: 0x8},
	{Name: "TEST_REPL_CTXT", Value: 0x9},
	{Name: "CHANGELOG_ORIG_CTXT", Value: 0xc, Doc: "changelog, on the MDT"},
	{Name: "CHANGELOG_REPL_CTXT", Value: 0xd, Doc: "changelog, on its reader"},
	{Name: "CHANGELOG_USER_ORIG_CTXT", Value: 0xe, Doc: "readers of the changelog"},
	{Name: "AGENT_ORIG_CTXT", Value: 0xf, Doc: "HSM requests"},
	{Name: "UPDATELOG_ORIG_CTXT", Value: 0x10, Doc: "distributed operations, on the MDT"},
	{Name: "UPDATELOG_REPL_CTXT", Value: 0x11, Doc: "distributed operations, on another MDT"},
})

// LlogSizes is the group llog_sizes.
var LlogSizes = Enum("llog_sizes", "LLOG_MIN_", "least size of a record and of a block", []Value{
	{Name: "REC_SIZE", Value: 0x18},
	{Name: "CHUNK_SIZE", Value: 0x2000},
})

// ChangelogType is the group changelog_type.
var ChangelogType = Enum("changelog_type", "CL_", "kinds of changes in a changelog", []Value{
	{Name: "NONE", Value: 0xffffffffffffffff},
	{Name: "MARK", Value: 0x0, Doc: "the changelog itself was switched"},
	{Name: "CREATE", Value: 0x1},
	{Name: "MKDIR", Value: 0x2},
	{Name: "HARDLINK", Value: 0x3, Doc: "another name"},
	{Name: "SOFTLINK", Value: 0x4, Doc: "symbolic link"},
	{Name: "MKNOD", Value: 0x5},
	{Name: "UNLINK", Value: 0x6},
	{Name: "RMDIR", Value: 0x7},
	{Name: "RENAME", Value: 0x8},
	{Name: "EXT", Value: 0x9, Doc: "target of a rename; old"},
	{Name: "OPEN", Value: 0xa},
	{Name: "CLOSE", Value: 0xb},
	{Name: "LAYOUT", Value: 0xc, Doc: "layout changed"},
	{Name: "TRUNC", Value: 0xd, Doc: "truncated"},
	{Name: "SETATTR", Value: 0xe},
	{Name: "SETXATTR", Value: 0xf},
	{Name: "XATTR", Value: 0xf, Alias: true},
	{Name: "HSM", Value: 0x10, Doc: "HSM event"},
	{Name: "MTIME", Value: 0x11},
	{Name: "CTIME", Value: 0x12},
	{Name: "ATIME", Value: 0x13},
	{Name: "MIGRATE", Value: 0x14, Doc: "moved to another MDT"},
	{Name: "FLRW", Value: 0x15, Doc: "first write to a mirror"},
	{Name: "RESYNC", Value: 0x16, Doc: "mirrors brought up to date"},
	{Name: "GETXATTR", Value: 0x17},
	{Name: "DN_OPEN", Value: 0x18, Doc: "open that was denied"},
	{Name: "LAST", Value: 0x19},
})

// ChangelogFlags is the group changelog_flags.
var ChangelogFlags = Bits("changelog_flags", "CLF_", "parts that follow in a changelog record; the lower 12 bits mean something else for each type", []Value{
	{Name: "VERSION", Value: 0x1000, Doc: "record of this form"},
	{Name: "RENAME", Value: 0x2000, Doc: "old parent and name follow"},
	{Name: "JOBID", Value: 0x4000, Doc: "job id follows"},
	{Name: "EXTRA_FLAGS", Value: 0x8000, Doc: "extra flags follow"},
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
var ChangelogExtraFlags = Bits("changelog_extra_flags", "CLFE_", "further parts that follow in a changelog record", []Value{
	{Name: "INVALID", Value: 0x0},
	{Name: "UIDGID", Value: 0x1, Doc: "user and group follow"},
	{Name: "NID", Value: 0x2, Doc: "NID follows"},
	{Name: "OPEN", Value: 0x4, Doc: "open mode follows"},
	{Name: "XATTR", Value: 0x8, Doc: "name of an xattr follows"},
	{Name: "NID_BE", Value: 0x10, Since: "2.16", Doc: "the NID is a large one"},
	{Name: "SUPPORTED", Value: 0x1f, Doc: "all that are known", Alias: true},
})

// ChangelogSendFlags is the group changelog_send_flags.
var ChangelogSendFlags = Bits("changelog_send_flags", "CHANGELOG_FLAG_", "what a reader of a changelog asks for", []Value{
	{Name: "FOLLOW", Value: 0x1},
	{Name: "BLOCK", Value: 0x2},
	{Name: "JOBID", Value: 0x4},
	{Name: "EXTRA_FLAGS", Value: 0x8},
	{Name: "NID_BE", Value: 0x10, Since: "2.16"},
})

// ChangelogMisc is the group changelog_misc.
var ChangelogMisc = Enum("changelog_misc", "CHANGELOG_", "masks and limits of changelogs", []Value{
	{Name: "MINMASK", Value: 0x1},
	{Name: "USER_NAMELEN", Value: 0x10, Since: "2.15"},
	{Name: "USER_NAMELEN_FULL", Value: 0x1e, Since: "2.15"},
	{Name: "DEFMASK", Value: 0x77fbff, Doc: "changes that are recorded by default"},
	{Name: "ALLMASK", Value: 0x1ffffff, Doc: "changes that there are"},
	{Name: "MAGIC", Value: 0xca103000},
})

// ChangelogMsgType is the group changelog_msg_type.
var ChangelogMsgType = Enum("changelog_msg_type", "CL_", "messages from the kernel to a reader of a changelog", []Value{
	{Name: "RECORD", Value: 0xa},
	{Name: "EOF", Value: 0xb},
})

// LcfgCommand is the group lcfg_command.
var LcfgCommand = Enum("lcfg_command", "LCFG_", "commands of configuration records; a client that does not know one with bit 0x1000 must not mount", []Value{
	{Name: "ATTACH", Value: 0xcf001, Doc: "make a device"},
	{Name: "DETACH", Value: 0xcf002},
	{Name: "SETUP", Value: 0xcf003, Doc: "start a device"},
	{Name: "CLEANUP", Value: 0xcf004},
	{Name: "ADD_UUID", Value: 0xcf005, Doc: "give a NID a name"},
	{Name: "DEL_UUID", Value: 0xcf006, Doc: "forget a name"},
	{Name: "MOUNTOPT", Value: 0xcf007, Doc: "which LOV and LMV a mount uses"},
	{Name: "DEL_MOUNTOPT", Value: 0xcf008},
	{Name: "SET_TIMEOUT", Value: 0xcf009, Doc: "set obd_timeout"},
	{Name: "SET_UPCALL", Value: 0xcf00a},
	{Name: "ADD_CONN", Value: 0xcf00b, Doc: "another node that serves a target"},
	{Name: "DEL_CONN", Value: 0xcf00c},
	{Name: "LOV_ADD_OBD", Value: 0xcf00d, Doc: "add an OST"},
	{Name: "LOV_DEL_OBD", Value: 0xcf00e},
	{Name: "PARAM", Value: 0xcf00f, Doc: "set a parameter of a device"},
	{Name: "MARKER", Value: 0xcf010, Doc: "delimits records of one target; carries cfg_marker in buffer 1"},
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
	{Name: "SET_LDLM_TIMEOUT", Value: 0xce030, Doc: "set ldlm_timeout"},
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
	{Name: "REQUIRED", Value: 0x1000, Doc: "bit: who does not know the command must not mount"},
})

// LcfgMisc is the group lcfg_misc.
var LcfgMisc = Enum("lcfg_misc", "", "limits and magic of configuration records", []Value{
	{Name: "PORTALS_CFG_TYPE", Value: 0x1},
	{Name: "LUSTRE_CFG_TYPE", Value: 0x7b},
	{Name: "LUSTRE_CFG_MAX_BUFCOUNT", Value: 0x8},
	{Name: "LUSTRE_CFG_VERSION", Value: 0x1cf60001, Doc: "magic/version; byte order detector of lustre_cfg"},
})

// CfgMarkerFlags is the group cfg_marker_flags.
var CfgMarkerFlags = Bits("cfg_marker_flags", "CM_", "what a marker in a configuration log means", []Value{
	{Name: "START", Value: 0x1, Doc: "marker opens a section"},
	{Name: "END", Value: 0x2, Doc: "marker closes a section"},
	{Name: "SKIP", Value: 0x4, Doc: "section is to be ignored"},
	{Name: "START_SKIP", Value: 0x5, Alias: true},
	{Name: "UPGRADE146", Value: 0x8, Doc: "log upgraded from 1.4.6"},
	{Name: "EXCLUDE", Value: 0x10, Doc: "excluded on this mount"},
})
