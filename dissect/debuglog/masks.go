package debuglog

// Subsystems are the names of the bits of Line.Subsystem, as lctl set_param
// subsystem_debug has them.
var Subsystems = [32]string{"undefined", "mdc", "mds", "osc", "ost", "class", "log", "llite", "rpc", "mgmt", "lnet", "lnd", "pinger",
	"filter",
	"libcfs", "echo", "ldlm", "lov", "lquota", "osd", "lfsck", "snapshot", "bit22", "lmv", "bit24", "sec", "gss", "bit27", "mgc", "mgs",
	"fid", "fld"}

// Masks are the names of the bits of Line.Mask, as lctl set_param debug has them.
var Masks = [32]string{"trace", "inode", "super", "iotrace", "malloc", "cache", "info", "ioctl", "neterror", "net", "warning", "buffs",
	"other", "dentry",
	"nettrace", "page", "dlmtrace", "error", "emerg", "ha", "rpctrace", "vfstrace", "reada", "mmap", "config", "console", "quota", "sec",
	"lfsck",
	"hsm", "snapshot", "layout"}
