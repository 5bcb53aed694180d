package opcodes

// cfgMarker is struct cfg_marker.
var cfgMarker = Define("cfg_marker",
	U32("cm_step"),
	U32("cm_flags", "CM_*"),
	U32("cm_vers"),
	Pad("cm_padding", 4),
	S64("cm_createtime"),
	S64("cm_canceltime"),
	Str("cm_tgtname", 64),
	Str("cm_comment", 64),
)

// lustreCfg is struct lustre_cfg.
var lustreCfg = Define("lustre_cfg",
	U32("lcfg_version", "0x1cf60001"),
	U32("lcfg_command", "LCFG_*"),
	U32("lcfg_num"),
	U32("lcfg_flags"),
	U64("lcfg_nid", "nid for add_uuid/add_conn style commands"),
	U32("lcfg_nal", "obsolete"),
	U32("lcfg_bufcount"),
	Arr("lcfg_buflens", -1, U32("")),
)
