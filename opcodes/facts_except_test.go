package opcodes

// except are the facts that the tables state in another way, each with its
// reason: "struct.field", "group NAME" or "OPCODE variant direction index".
var except = map[string]string{
	"llog_agent_req_rec.*":                "arr_hai is as long as hai_len says, the tail lies behind that",
	"llog_agent_req_rec.arr_tail":         "arr_hai is as long as hai_len says, the tail lies behind that",
	"gss_ctx_init_payload.*":              "all behind target_uuid floats; the facts give the size as 0",
	"gss_ctx_init_payload.rvs_handle_len": "floats behind target_uuid",
	"gss_ctx_init_payload.rvs_handle":     "floats behind target_uuid",
	"gss_ctx_init_payload.token_len":      "floats behind target_uuid",
	"gss_ctx_init_payload.token":          "floats behind target_uuid",
}

// reason says whether a fact is among the exceptions.
func reason(fact string) bool { return except[fact] != "" }

// variantNames maps the variants of messages.tsv to ours, where they differ:
// ours are what a user sees. A name with its opcode in front counts for that
// opcode alone.
var variantNames = map[string]string{
	"-": "",
}

func ourVariant(opcode, variant string) string {
	if name, ok := variantNames[opcode+" "+variant]; ok {
		return name
	}
	if name, ok := variantNames[variant]; ok {
		return name
	}
	return variant
}
