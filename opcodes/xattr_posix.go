package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

var ACLTag = Enum("acl_tag", "ACL_", "who an entry of a POSIX ACL is about", []Value{
	{Name: "USER_OBJ", Value: 0x1, Doc: "the owner"},
	{Name: "USER", Value: 0x2, Doc: "the user e_id"},
	{Name: "GROUP_OBJ", Value: 0x4, Doc: "the group of the file"},
	{Name: "GROUP", Value: 0x8, Doc: "the group e_id"},
	{Name: "MASK", Value: 0x10, Doc: "most that named users and groups get"},
	{Name: "OTHER", Value: 0x20, Doc: "all others"},
})

var ACLPerm = Bits("acl_perm", "ACL_", "what an entry of a POSIX ACL permits", []Value{
	{Name: "EXECUTE", Value: 0x1, Doc: "execute, or pass through a directory"},
	{Name: "WRITE", Value: 0x2, Doc: "write"},
	{Name: "READ", Value: 0x4, Doc: "read"},
})

var FscryptMode = Enum("fscrypt_mode", "FSCRYPT_MODE_", "how file data or names are encrypted", []Value{
	{Name: "AES_256_XTS", Value: 1},
	{Name: "AES_256_CTS", Value: 4},
	{Name: "AES_128_CBC", Value: 5},
	{Name: "AES_128_CTS", Value: 6},
	{Name: "ADIANTUM", Value: 9},
	{Name: "AES_256_HCTR2", Value: 10},
})

var posixAclXattrHeader = &Struct{Name: "posix_acl_xattr_header", Order: Little, Doc: "a POSIX ACL", Fields: []*Field{
	U32("a_version", Harmless, "version of the form, 2"),
	Subs("a_entries", -1, &posixAclXattrEntry, CountOf(aclEntries), "the entries"),
}}

var posixAclXattrEntry = &Struct{Name: "posix_acl_xattr_entry", Order: Little, Summarize: briefACL,
	Doc: "what a POSIX ACL permits to whom", Fields: []*Field{
		U16("e_tag", &ACLTag, "who"),
		U16("e_perm", &ACLPerm, "what is permitted"),
		U32("e_id", UserID, remarkNobody, "the user or group; 0xffffffff for entries without an id"),
	}}

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
		dst = strconv.AppendUint(dst, id, 10)
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

var (
	formACL = Sub("posix_acl_xattr_header", &posixAclXattrHeader)
	bufAcl  = OneOf("acl", chooseACL, []*Field{formACL}, "POSIX ACL of the object")
)

var fscryptV1 = &Struct{Name: "fscrypt_context_v1", Doc: "how a file is encrypted, first form", Fields: []*Field{
	U8("version", Harmless, "form of the context, 1"),
	U8("contents_encryption_mode", &FscryptMode, "cipher of the data"),
	U8("filenames_encryption_mode", &FscryptMode, "cipher of the names"),
	U8("flags", Harmless, Hex, "padding of names and use of the key"),
	Opaque("master_key_descriptor", 8, "names the key"),
	Opaque("nonce", 16, "makes the file's own key"),
}}

var fscryptV2 = &Struct{Name: "fscrypt_context_v2", Doc: "how a file is encrypted", Fields: []*Field{
	U8("version", Harmless, "form of the context, 2"),
	U8("contents_encryption_mode", &FscryptMode, "cipher of the data"),
	U8("filenames_encryption_mode", &FscryptMode, "cipher of the names"),
	U8("flags", Harmless, Hex, "padding of names and use of the key"),
	U8("log2_data_unit_size", Harmless, "size of an encrypted unit as a power of two; 0: a block"),
	Pad("reserved", 3),
	Opaque("master_key_identifier", 16, "names the key"),
	Opaque("nonce", 16, "makes the file's own key"),
}}

var (
	formFscryptV1 = Sub("fscrypt_context_v1", &fscryptV1)
	formFscryptV2 = Sub("fscrypt_context_v2", &fscryptV2)
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

var bufFileEncctx = OneOf("file_encctx", chooseFscrypt, []*Field{formFscryptV1, formFscryptV2}, Tagged(true), "how the file is encrypted")
