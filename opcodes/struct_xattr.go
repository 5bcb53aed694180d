package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// lustreMdtAttrs is struct lustre_mdt_attrs.
var lustreMdtAttrs = Define("lustre_mdt_attrs",
	Little,
	"what an object is and which FID it has: trusted.lma",
	U32("lma_compat", LmaCompat, "what it is, for software that may ignore it"),
	U32("lma_incompat", LmaIncompat, "what it is, for software that must know"),
	Sub("lma_self_fid", luFid, "its FID"),
)

// lustreOstAttrs is struct lustre_ost_attrs.
var lustreOstAttrs = Define("lustre_ost_attrs",
	Little,
	"trusted.lma of an object on an OST: its file and stripe too",
	Sub("loa_lma", lustreMdtAttrs, "what it is"),
	Sub("loa_parent_fid", luFid, "the file; the stripe number lies in the version"),
	U32("loa_stripe_size", Size, "stripe size"),
	U32("loa_comp_id", "its component"),
	U64("loa_comp_start", Size, "first byte of the component"),
	U64("loa_comp_end", Size, "the byte behind the component"),
)

// lustreSomAttrs is struct lustre_som_attrs.
var lustreSomAttrs = Define("lustre_som_attrs",
	Little,
	"size of a file as the MDT knows it: trusted.som",
	U16("lsa_valid", SomFlags, "how far it can be trusted"),
	Pads("lsa_reserved", 3, 2),
	U64("lsa_size", Size, "size in bytes"),
	U64("lsa_blocks", "blocks of 512 bytes"),
)

// hsmAttrs is struct hsm_attrs.
var hsmAttrs = Define("hsm_attrs",
	Little,
	"HSM state of a file: trusted.hsm",
	U32("hsm_compat", Hex, "unused"),
	U32("hsm_flags", HsmStates, "the state"),
	U64("hsm_arch_id", "the archive"),
	U64("hsm_arch_ver", Cookie, "data version of the copy"),
)

// linkEaHeader is struct link_ea_header.
var linkEaHeader = Define("link_ea_header",
	"the names of an object and the directories they are in: trusted.link",
	Detect(func(b []byte, _ bool) bool { return len(b) > 0 && b[0] == linkMagicHigh }),
	U32("leh_magic", Hex, Linkea, "begins the list"),
	U32("leh_reccount", "number of names"),
	U64("leh_len", Size, "bytes of the whole"),
	U32("leh_overflow_time", Seconds, "when a name did not fit; 0: never"),
	Pad("leh_padding", 4),
	Records("entries", stepLink, "the names"),
)

// linkEaEntry is struct link_ea_entry.
var linkEaEntry = Define("link_ea_entry",
	Big,
	"a name of an object",
	U16("lee_reclen", Size, "bytes of the entry"),
	Sub("lee_parent_fid", luFid, "the directory"),
	Str("lee_name", 0, CountOf(linkNameLen), "the name"),
)

const (
	linkMagicHigh = 0x11
	linkEntrySize = 18
)

var formLinkEntry = Sub("", linkEaEntry)

// stepLink finds the next name; the length of an entry is big-endian.
func stepLink(v *View) (*Field, int) {
	if len(v.Rest) < linkEntrySize || v.Index >= int(ReadUint(v.Struct[4:8], v.Big)) {
		return nil, 0
	}
	n := int(ReadUint(v.Rest[:2], true))
	if n < linkEntrySize {
		return nil, 0
	}
	return formLinkEntry, n
}

func linkNameLen(v *View) int {
	if len(v.Struct) < 2 {
		return 0
	}
	return max(0, int(ReadUint(v.Struct[:2], true))-linkEntrySize)
}

// posixAclXattrHeader is struct posix_acl_xattr_header.
var posixAclXattrHeader = Define("posix_acl_xattr_header",
	Little,
	"a POSIX ACL",
	U32("a_version", "version of the form, 2"),
	Arr("a_entries", -1, Sub("", posixAclXattrEntry), CountOf(aclEntries), "the entries"),
)

// posixAclXattrEntry is struct posix_acl_xattr_entry.
var posixAclXattrEntry = Define("posix_acl_xattr_entry",
	Little,
	"what a POSIX ACL permits to whom",
	Brief(briefACL),
	U16("e_tag", ACLTag, "who"),
	U16("e_perm", ACLPerm, "what is permitted"),
	U32("e_id", Remark(remarkNoID), "the user or group; 0xffffffff where the tag says all"),
)

// aclEntries is how many entries there are: a buffer may be longer than the
// ACL in it and end in zeros.
func aclEntries(v *View) int {
	n := 0
	for b := v.Rest; len(b) >= aclEntrySize && b[0] != 0; b = b[aclEntrySize:] {
		n++
	}
	return n
}

const aclEntrySize = 8

// chooseACL leaves an ACL buffer alone that the server did not fill.
func chooseACL(v *View) *Field {
	if allZero(v.Rest) {
		return nil
	}
	return formACL
}

func remarkNoID(v *View, dst []byte) []byte { return remarkNoGroup(v, dst) }

// briefACL writes an entry as getfacl does: user:1000:rw-.
func briefACL(v *View, dst []byte) []byte {
	if len(v.Struct) < 8 {
		return dst
	}
	tag, perm, id := ReadUint(v.Struct[:2], false), ReadUint(v.Struct[2:4], false), ReadUint(v.Struct[4:8], false)
	switch tag {
	case 1, 2:
		dst = append(dst, "user:"...)
	case 4, 8:
		dst = append(dst, "group:"...)
	case 0x10:
		dst = append(dst, "mask:"...)
	case 0x20:
		dst = append(dst, "other:"...)
	default:
		return dst
	}
	if tag == 2 || tag == 8 {
		dst = appendDecimal(dst, id)
	}
	dst = append(dst, ':')
	for i, c := range []byte("rwx") {
		if perm&(4>>i) == 0 {
			c = '-'
		}
		dst = append(dst, c)
	}
	return dst
}

// fscryptV1 is struct fscrypt_context_v1.
var fscryptV1 = Define("fscrypt_context_v1",
	"how a file is encrypted, first form",
	U8("version", "form of the context, 1"),
	U8("contents_encryption_mode", FscryptMode, "cipher of the data"),
	U8("filenames_encryption_mode", FscryptMode, "cipher of the names"),
	U8("flags", Hex, "padding of names and use of the key"),
	Opaque("master_key_descriptor", 8, "names the key"),
	Opaque("nonce", 16, "makes the file's own key"),
)

// fscryptV2 is struct fscrypt_context_v2.
var fscryptV2 = Define("fscrypt_context_v2",
	"how a file is encrypted",
	U8("version", "form of the context, 2"),
	U8("contents_encryption_mode", FscryptMode, "cipher of the data"),
	U8("filenames_encryption_mode", FscryptMode, "cipher of the names"),
	U8("flags", Hex, "padding of names and use of the key"),
	U8("log2_data_unit_size", "size of an encrypted unit as a power of two; 0: a block"),
	Pad("reserved", 3),
	Opaque("master_key_identifier", 16, "names the key"),
	Opaque("nonce", 16, "makes the file's own key"),
)

var (
	formFscryptV1 = Sub("fscrypt_context_v1", fscryptV1)
	formFscryptV2 = Sub("fscrypt_context_v2", fscryptV2)
)

// chooseFscrypt is the form of an encryption context, by its version.
func chooseFscrypt(v *View) *Field {
	switch {
	case len(v.Rest) == 0:
		return nil
	case v.Rest[0] == 1:
		return formFscryptV1
	case v.Rest[0] == 2:
		return formFscryptV2
	}
	return nil
}
