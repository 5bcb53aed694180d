package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// The forms of layouts that files and directories store in extended attributes.
var (
	storedFileLayouts = []*Field{formLovV1, formLovV3, formComp, formForeign, formHsm}
	storedDirLayouts  = []*Field{formLmv, formUserLmv, formLmvForeign}
)

// The extended attributes with a meaning of their own to Lustre.
// xattrForm chooses the form of a value.
var _ = TextConstants(
	&TextConstant{Name: "XATTR_NAME_ACL_ACCESS", Value: "system.posix_acl_access", Doc: "POSIX ACL of a file", Forms: []*Field{formACL}},
	&TextConstant{Name: "XATTR_NAME_ACL_DEFAULT", Value: "system.posix_acl_default", Doc: "POSIX ACL that new files in a directory get", Forms: []*Field{formACL}},
	&TextConstant{Name: "XATTR_NAME_LOV", Value: "trusted.lov", Doc: "layout of a file: which OST objects have its data", Forms: storedFileLayouts},
	&TextConstant{Name: "XATTR_LUSTRE_LOV", Value: "lustre.lov", Doc: "trusted.lov for users without privileges; lustre.lov.add, .set and the like change parts of it", Forms: storedFileLayouts},
	&TextConstant{Name: "XATTR_NAME_LMA", Value: "trusted.lma", Doc: "what an object is, and its FID", Forms: []*Field{formLma, formLoa}},
	&TextConstant{Name: "XATTR_NAME_LMV", Value: "trusted.lmv", Doc: "layout of a directory: which MDTs have its stripes", Forms: storedDirLayouts},
	&TextConstant{Name: "XATTR_NAME_DEFAULT_LMV", Value: "trusted.dmv", Doc: "layout that new directories in a directory get", Forms: storedDirLayouts},
	&TextConstant{Name: "XATTR_NAME_LINK", Value: "trusted.link", Doc: "names of an object and the directories that they are in", Forms: []*Field{formLinkea}},
	&TextConstant{Name: "XATTR_NAME_FID", Value: "trusted.fid", Doc: "file that an OST object belongs to, and its place in the layout", Forms: filterForms},
	&TextConstant{Name: "XATTR_NAME_VERSION", Value: "trusted.version", Doc: "version of an object: transaction of its last change, for version based recovery", Forms: []*Field{formVersion}},
	&TextConstant{Name: "XATTR_NAME_SOM", Value: "trusted.som", Doc: "size and blocks of a file as known to the MDT", Forms: []*Field{formSom}},
	&TextConstant{Name: "XATTR_NAME_HSM", Value: "trusted.hsm", Doc: "HSM state of a file", Forms: []*Field{formHsmEA}},
	&TextConstant{Name: "XATTR_NAME_LFSCK_BITMAP", Value: "trusted.lfsck_bitmap", Doc: "MDTs whose part of the namespace LFSCK has failed to check"},
	&TextConstant{Name: "XATTR_NAME_LFSCK_NAMESPACE", Value: "trusted.lfsck_ns", Doc: "state of the namespace LFSCK"},
	&TextConstant{Name: "XATTR_NAME_DUMMY", Value: "trusted.dummy", Doc: "never stored: deleting it forces a transaction"},
	&TextConstant{Name: "XATTR_NAME_PROJID", Value: "trusted.projid", Since: "2.15", Doc: "project id of a file"},
	&TextConstant{Name: "XATTR_NAME_DATAVER", Value: "trusted.dataver", Since: "2.16", Doc: "data version of a file whose data are on the MDT", Forms: []*Field{formVersion}},
	&TextConstant{Name: "XATTR_NAME_JOB_DEFAULT", Value: "user.job", Since: "2.16", Doc: "job that created the file; the name can be set by mdt.*.job_xattr", Forms: []*Field{formText}},
	&TextConstant{Name: "XATTR_NAME_PIN", Value: "trusted.pin", Since: "2.17", Doc: "archives of the client cache (PCC) in which the file is pinned"},
	&TextConstant{Name: "XATTR_LUSTRE_PIN", Value: "lustre.pin", Since: "2.17", Doc: "trusted.pin for users without privileges"},
	&TextConstant{Name: "XATTR_NAME_INODEFL", Value: "trusted.inodefl", Since: "2.18", Doc: "inode flags"},
	&TextConstant{Name: "LL_XATTR_NAME_ENCRYPTION_CONTEXT_OLD", Value: "security.c", Since: "2.15", Doc: "how a file is encrypted, under its first name", Forms: []*Field{formFscryptV1, formFscryptV2}},
	&TextConstant{Name: "LL_XATTR_NAME_ENCRYPTION_CONTEXT", Value: "encryption.c", Since: "2.15", Doc: "how a file is encrypted", Forms: []*Field{formFscryptV1, formFscryptV2}},
)
