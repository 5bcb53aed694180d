package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// mgsSendParam is struct mgs_send_param.
var mgsSendParam = Define("mgs_send_param", "parameter to be set for a file system",
	Str("mgs_param", 1024, "key=value"),
)

// mgsTargetInfo is struct mgs_target_info.
var mgsTargetInfo = Define("mgs_target_info", "a target that registers with the MGS, and what the MGS made of it",
	U32("mti_lustre_ver", Version, "release of the server"),
	U32("mti_stripe_index", "index of the target"),
	U32("mti_config_ver", "version of its configuration"),
	U32("mti_flags", MtiFlags, "kind and state of the target"),
	U32("mti_nid_count", "NIDs of its server"),
	U32("mti_instance", "counts the starts of the target"),
	Str("mti_fsname", 64, "file system"),
	Str("mti_svname", 64, "name of the target"),
	Str("mti_uuid", 40, "its uuid"),
	Arr("mti_nids", 32, U64("", NID4), CountOf(targetNids), "NIDs of its server, when all have short addresses"),
	Str("mti_params", 4096, "parameters from its disk: key=value, separated by spaces"),
	Arr("mti_nidlist", -1, Str("", nidTextSize), Since("2.16"), "NIDs as text, when some have large addresses"),
)

const nidTextSize = 64

// targetNids: the array has room for 32, of which mti_nid_count are used; none
// when the NIDs are text.
func targetNids(v *View) int {
	const room, flags, count, asText = 32, 12, 16, 0x20000
	n := usedElements(v.Rest, room, 8)
	if len(v.Struct) < count+4 || ReadUint(v.Struct[flags:flags+4], v.Big)&asText != 0 {
		return n
	}
	return max(n, int(min(ReadUint(v.Struct[count:count+4], v.Big), room)))
}

// usedElements is the number of elements up to the last that is not zero, of
// an array of n elements of size bytes.
func usedElements(b []byte, n, size int) int {
	b = b[:min(len(b), n*size)]
	for i := len(b); i > 0; i-- {
		if b[i-1] != 0 {
			return (i + size - 1) / size
		}
	}
	return 0
}

// mgsTargetNidlist is struct mgs_target_nidlist.
var mgsTargetNidlist = Define("mgs_target_nidlist", "NIDs of a target's server, as text", Since("2.17"),
	U32("mtn_flags", MgsNidlistFlags, "where the list is"),
	U32("mtn_nids", "NIDs in the list"),
	Arr("mtn_inline_list", -1, Str("", nidTextSize), "the list, unless it comes as bulk data"),
)

// targetNidsBulk is the list when it comes as bulk data.
var targetNidsBulk = Define("mgs_target_nids", "NIDs of a target's server, as text", Since("2.17"),
	Arr("nids", -1, Str("", nidTextSize)),
)

// mgsNidtblEntry is struct mgs_nidtbl_entry.
var mgsNidtblEntry = Define("mgs_nidtbl_entry", "where a target runs now, for imperative recovery",
	U64("mne_version", "version of the table with this entry"),
	U32("mne_instance", "start of the target; clients connect anew when it changes"),
	U32("mne_index", "index of the target"),
	U32("mne_length", Size, "bytes of the entry; the last of a unit fills it"),
	U8("mne_type", nidtblType, "kind of target"),
	U8("mne_nid_type", "form of the NIDs; 0: 8 bytes each, 1: large ones"),
	U8("mne_nid_size", Size, "bytes of a NID"),
	U8("mne_nid_count", "number of NIDs"),
	Arr("nids", -1, U64("", NID4), CountBy("mne_nid_count"), If(func(v *View) bool { return !hasLargeNids(v) }), "NIDs of its server"),
	Arr("nidlist", -1, Sub("", lnetNid), Over("nids"), CountBy("mne_nid_count"), If(hasLargeNids), Since("2.16"),
		"NIDs of its server"),
)

// nidtblType: the kinds of targets by the flags of mti_flags.
var nidtblType = Enum("mne_type", "", "kind of a target in the table of imperative recovery", []Value{
	{Name: "MDT", Value: 1},
	{Name: "OST", Value: 2},
})

var mneLength = Field{Off: 16, Size: 4}

func hasLargeNids(v *View) bool {
	const at = 21
	return len(v.Struct) > at && v.Struct[at] != 0
}

// nidTable is the bulk data of a MGS_CONFIG_READ for imperative recovery.
var nidTable = Define("mgs_nidtbl", "where targets run now: what has changed since the version that the client knows",
	Records("entries", nextNidtblEntry, []*Field{nidtblEntry}),
)

var nidtblEntry = Sub("", mgsNidtblEntry)

func nextNidtblEntry(v *View) (*Field, int) {
	n := int(mneLength.Uint(v.Rest, v.Big))
	if n < mgsNidtblEntry.Size {
		return nil, 0
	}
	return nidtblEntry, n
}

// mgsConfigBody is struct mgs_config_body.
var mgsConfigBody = Define("mgs_config_body", "which table of the MGS, and from where on",
	Str("mcb_name", 64, "file system and table"),
	U64("mcb_offset", "first version or hash that is wanted"),
	U16("mcb_type", MgsCfgType, "kind of table"),
	U8("mcb_nm_cur_pass", If(func(v *View) bool { return !isRecoverTable(v) }), "of nodemaps: counts the passes over the table"),
	U8("mcb_rec_nid_size", Over("mcb_nm_cur_pass"), Size, If(isRecoverTable), Since("2.16"),
		"of recovery tables: bytes of the largest NID that the client understands; 0: 8"),
	U8("mcb_bits", "size of a unit of bulk data, as the exponent of 2"),
	U32("mcb_units", "units of bulk data that the client has room for"),
)

const mgsRecover = 2

var mcbType = Field{Off: 72, Size: 2}

func isRecoverTable(v *View) bool { return mcbType.Uint(v.Struct, v.Big) == mgsRecover }

// mgsConfigRes is struct mgs_config_res.
var mgsConfigRes = Define("mgs_config_res", "how much of a table came",
	U64("mcr_offset", "last version that was sent, or hash to go on with"),
	U64("mcr_size", If(func(v *View) bool { return !isNodemapRead(v) }), "newest version of the table"),
	U64("mcr_nm_cur_pass", Over("mcr_size"), If(isNodemapRead), "of nodemaps: the pass that this is"),
)

func isNodemapRead(v *View) bool {
	return v.Msg != nil && v.Msg.Variant != nil && v.Msg.Variant.Name == "nodemap"
}

var _ = Define("mgs_nidtbl_nids", "NIDs in an entry of the table of imperative recovery",
	Arr("nid4", -1, U64("", NID4), "when mne_nid_type is 0"),
	Arr("nid16", -1, Sub("", lnetNid), Over("nid4"), Since("2.16"), "else; mne_nid_size bytes each"),
)
