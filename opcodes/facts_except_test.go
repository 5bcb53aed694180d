package opcodes

import "strings"

// except are the facts that the tables state in another way, each with its
// reason: "struct.field", "group NAME" or "OPCODE variant direction index".
var except = map[string]string{
	"lnet_hdr_nid4.msg":                   "the members of the command stand in the header itself, told apart by its type",
	"lnet_hdr_nid16.msg":                  "the members of the command stand in the header itself, told apart by its type",
	"llog_agent_req_rec.*":                "arr_hai is as long as hai_len says, the tail lies behind that",
	"llog_changelog_rec.*":                "extensions and name lie before the tail",
	"llog_changelog_rec.cr_do_not_use":    "extensions and name lie before it",
	"llog_agent_req_rec.arr_tail":         "arr_hai is as long as hai_len says, the tail lies behind that",
	"llog_log_hdr.*":                      "the facts give the least size; the bitmap ends where lrh_len says",
	"llog_log_hdr.llh_bitmap":             "as long as lrh_len says, from llh_bitmap_offset on",
	"llog_log_hdr.llh_tail":               "the last bytes of lrh_len",
	"gss_ctx_init_payload.*":              "all behind target_uuid floats; the facts give the size as 0",
	"gss_ctx_init_payload.rvs_handle_len": "floats behind target_uuid",
	"gss_ctx_init_payload.rvs_handle":     "floats behind target_uuid",
	"gss_ctx_init_payload.token_len":      "floats behind target_uuid",
	"gss_ctx_init_payload.token":          "floats behind target_uuid",
}

// reason reports whether a fact, or the struct member it is part of, is among the
// exceptions.
func reason(fact string) bool {
	for {
		if except[fact] != "" {
			return true
		}
		dot := strings.LastIndexByte(fact, '.')
		if dot < 0 {
			return false
		}
		fact = fact[:dot]
	}
}

// variantNames maps the variants of messages.tsv to ours, where they differ:
// ours are what a user sees. A name with its opcode in front counts for that
// opcode alone.
var variantNames = map[string]string{
	"-":                             "",
	"intent:hsm_release":            "HSM_RELEASE",
	"intent:layout_swap":            "LAYOUT_SWAP",
	"intent:layout_merge":           "LAYOUT_MERGE",
	"intent:layout_split":           "LAYOUT_SPLIT",
	"intent:resync_done":            "RESYNC_DONE",
	"CREATE:symlink":                "CREATE",
	"OST_READ bulk":                 "",
	"OST_WRITE bulk":                "",
	"glimpse(OST)":                  "glimpse",
	"ibits-plain":                   "ibits",
	"plain(MGS config)":             "plain",
	"intent:IT_OPEN|IT_CREAT":       "OPEN|CREAT",
	"intent:IT_CREAT(REINT_CREATE)": "CREATE",
	"desc:quota":                    "quota",
	"desc:barrier":                  "barrier",
	"sub:BUT_GETATTR":               "BUT_GETATTR",
	"read(OUT_READ)":                "read",
}

func ourVariant(opcode, variant string) string {
	if name, ok := variantNames[opcode+" "+variant]; ok {
		return name
	}
	if name, ok := variantNames[variant]; ok {
		return name
	}
	if name, ok := strings.CutPrefix(variant, "intent:IT_"); ok {
		return name
	}
	return variant
}
