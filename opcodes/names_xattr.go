package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// LmaCompat is the group lma_compat.
var LmaCompat = Bits("lma_compat", "LMAC_", "what an object is, for software that may ignore it", []Value{
	{Name: "HSM", Value: 0x1, Doc: "has HSM state"},
	{Name: "NOT_IN_OI", Value: 0x4, Doc: "not in the object index"},
	{Name: "FID_ON_OST", Value: 0x8, Doc: "an object on an OST"},
	{Name: "STRIPE_INFO", Value: 0x10, Doc: "knows its stripe"},
	{Name: "COMP_INFO", Value: 0x20, Doc: "knows its component"},
	{Name: "IDX_BACKUP", Value: 0x40, Doc: "index has a backup"},
})

// LmaIncompat is the group lma_incompat.
var LmaIncompat = Bits("lma_incompat", "LMAI_", "what an object is, for software that must know", []Value{
	{Name: "RELEASED", Value: 0x1, Doc: "data is in the archive only"},
	{Name: "AGENT", Value: 0x2, Doc: "stands for an object of another MDT"},
	{Name: "REMOTE_PARENT", Value: 0x4, Doc: "parent of objects of other MDTs"},
	{Name: "STRIPED", Value: 0x8, Doc: "stripe of a directory"},
	{Name: "ORPHAN", Value: 0x10, Doc: "without a name"},
	{Name: "ENCRYPT", Value: 0x20, Since: "2.15", Doc: "encrypted"},
	{Name: "LMA_INCOMPAT_SUPP", Value: 0x3e, Alias: true},
})

// SomFlags is the group som_flags.
var SomFlags = Bits("som_flags", "SOM_FL_", "how far the size on the MDT can be trusted", []Value{
	{Name: "UNKNOWN", Value: 0x0, Doc: "not known"},
	{Name: "STRICT", Value: 0x1, Doc: "exact"},
	{Name: "STALE", Value: 0x2, Doc: "was exact once"},
	{Name: "LAZY", Value: 0x4, Doc: "approximate"},
})

// Linkea is the group linkea.
var Linkea = Enum("linkea", "", "magic of trusted.link", []Value{
	{Name: "LINK_EA_MAGIC", Value: 0x11eaf1df, Doc: "begins the list of names and parents in trusted.link"},
})

// ACLTag is the group acl_tag.
var ACLTag = Enum("acl_tag", "ACL_", "who an entry of a POSIX ACL is about", []Value{
	{Name: "USER_OBJ", Value: 0x1, Doc: "the owner"},
	{Name: "USER", Value: 0x2, Doc: "the user e_id"},
	{Name: "GROUP_OBJ", Value: 0x4, Doc: "the group of the file"},
	{Name: "GROUP", Value: 0x8, Doc: "the group e_id"},
	{Name: "MASK", Value: 0x10, Doc: "most that named users and groups get"},
	{Name: "OTHER", Value: 0x20, Doc: "all others"},
})

// ACLPerm is the group acl_perm.
var ACLPerm = Bits("acl_perm", "ACL_", "what an entry of a POSIX ACL permits", []Value{
	{Name: "EXECUTE", Value: 0x1, Doc: "execute, or pass through a directory"},
	{Name: "WRITE", Value: 0x2, Doc: "write"},
	{Name: "READ", Value: 0x4, Doc: "read"},
})

// FscryptMode is the group fscrypt_mode.
var FscryptMode = Enum("fscrypt_mode", "FSCRYPT_MODE_", "how file data or names are encrypted", []Value{
	{Name: "AES_256_XTS", Value: 1},
	{Name: "AES_256_CTS", Value: 4},
	{Name: "AES_128_CBC", Value: 5},
	{Name: "AES_128_CTS", Value: 6},
	{Name: "ADIANTUM", Value: 9},
	{Name: "AES_256_HCTR2", Value: 10},
})
