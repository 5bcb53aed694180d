package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// Errors that code names, as replies have them in their status: negative.
const (
	EPERM       = -1
	ENOENT      = -2
	EIO         = -5
	EAGAIN      = -11
	EACCES      = -13
	EBUSY       = -16
	ENODEV      = -19
	EINVAL      = -22
	ENOSPC      = -28
	EROFS       = -30
	EDEADLK     = -35
	ENODATA     = -61
	EPROTO      = -71
	EBADMSG     = -74
	EOVERFLOW   = -75
	ENOTCONN    = -107
	ESHUTDOWN   = -108
	ETIMEDOUT   = -110
	EALREADY    = -114
	EINPROGRESS = -115
	ESTALE      = -116
	EUCLEAN     = -117
	EREMOTEIO   = -121
	EDQUOT      = -122
)

// errnos are the values of the group errno.
var errnos = []Value{
	{Name: "EPERM", Value: -EPERM, Doc: "not permitted"},
	{Name: "ENOENT", Value: -ENOENT, Doc: "no such file, directory or log"},
	{Name: "ESRCH", Value: 0x3, Doc: "no such process, or no such changelog or quota user"},
	{Name: "EINTR", Value: 0x4, Doc: "interrupted"},
	{Name: "EIO", Value: -EIO, Doc: "I/O error"},
	{Name: "ENXIO", Value: 0x6, Doc: "no such device or address"},
	{Name: "E2BIG", Value: 0x7, Doc: "argument list too long"},
	{Name: "ENOEXEC", Value: 0x8},
	{Name: "EBADF", Value: 0x9, Doc: "bad file handle"},
	{Name: "ECHILD", Value: 0xa},
	{Name: "EAGAIN", Value: -EAGAIN, Doc: "try again"},
	{Name: "ENOMEM", Value: 0xc, Doc: "out of memory"},
	{Name: "EACCES", Value: -EACCES, Doc: "permission denied"},
	{Name: "EFAULT", Value: 0xe, Doc: "bad address"},
	{Name: "ENOTBLK", Value: 0xf},
	{Name: "EBUSY", Value: -EBUSY, Doc: "busy"},
	{Name: "EEXIST", Value: 0x11, Doc: "exists already"},
	{Name: "EXDEV", Value: 0x12, Doc: "on another device"},
	{Name: "ENODEV", Value: -ENODEV, Doc: "no such device; the target is not on this node"},
	{Name: "ENOTDIR", Value: 0x14, Doc: "not a directory"},
	{Name: "EISDIR", Value: 0x15, Doc: "is a directory"},
	{Name: "EINVAL", Value: -EINVAL, Doc: "invalid argument"},
	{Name: "ENFILE", Value: 0x17, Doc: "too many open files"},
	{Name: "EMFILE", Value: 0x18},
	{Name: "ENOTTY", Value: 0x19},
	{Name: "ETXTBSY", Value: 0x1a},
	{Name: "EFBIG", Value: 0x1b, Doc: "file too large"},
	{Name: "ENOSPC", Value: -ENOSPC, Doc: "no space left"},
	{Name: "ESPIPE", Value: 0x1d},
	{Name: "EROFS", Value: -EROFS, Doc: "read-only"},
	{Name: "EMLINK", Value: 0x1f, Doc: "too many links"},
	{Name: "EPIPE", Value: 0x20, Doc: "broken pipe"},
	{Name: "EDOM", Value: 0x21},
	{Name: "ERANGE", Value: 0x22, Doc: "out of range, or the buffer is too small"},
	{Name: "EDEADLK", Value: -EDEADLK, Doc: "would deadlock"},
	{Name: "ENAMETOOLONG", Value: 0x24, Doc: "name too long"},
	{Name: "ENOLCK", Value: 0x25, Doc: "no locks left"},
	{Name: "ENOSYS", Value: 0x26, Doc: "not implemented"},
	{Name: "ENOTEMPTY", Value: 0x27, Doc: "directory not empty"},
	{Name: "ELOOP", Value: 0x28, Doc: "too many symbolic links"},
	{Name: "ENOMSG", Value: 0x2a},
	{Name: "EIDRM", Value: 0x2b},
	{Name: "ECHRNG", Value: 0x2c},
	{Name: "EL2NSYNC", Value: 0x2d},
	{Name: "EL3HLT", Value: 0x2e},
	{Name: "EL3RST", Value: 0x2f},
	{Name: "ELNRNG", Value: 0x30},
	{Name: "EUNATCH", Value: 0x31},
	{Name: "ENOCSI", Value: 0x32},
	{Name: "EL2HLT", Value: 0x33},
	{Name: "EBADE", Value: 0x34},
	{Name: "EBADR", Value: 0x35},
	{Name: "EXFULL", Value: 0x36},
	{Name: "ENOANO", Value: 0x37},
	{Name: "EBADRQC", Value: 0x38},
	{Name: "EBADSLT", Value: 0x39},
	{Name: "EBFONT", Value: 0x3b},
	{Name: "ENOSTR", Value: 0x3c},
	{Name: "ENODATA", Value: -ENODATA, Doc: "no such attribute or no data"},
	{Name: "ETIME", Value: 0x3e, Doc: "time is up"},
	{Name: "ENOSR", Value: 0x3f},
	{Name: "ENONET", Value: 0x40},
	{Name: "ENOPKG", Value: 0x41},
	{Name: "EREMOTE", Value: 0x42, Doc: "object lives on another target"},
	{Name: "ENOLINK", Value: 0x43},
	{Name: "EADV", Value: 0x44},
	{Name: "ESRMNT", Value: 0x45},
	{Name: "ECOMM", Value: 0x46},
	{Name: "EPROTO", Value: -EPROTO, Doc: "protocol error"},
	{Name: "EMULTIHOP", Value: 0x48},
	{Name: "EDOTDOT", Value: 0x49},
	{Name: "EBADMSG", Value: -EBADMSG, Doc: "bad message"},
	{Name: "EOVERFLOW", Value: -EOVERFLOW, Doc: "value too large"},
	{Name: "ENOTUNIQ", Value: 0x4c},
	{Name: "EBADFD", Value: 0x4d},
	{Name: "EREMCHG", Value: 0x4e, Doc: "remote address changed"},
	{Name: "ELIBACC", Value: 0x4f},
	{Name: "ELIBBAD", Value: 0x50},
	{Name: "ELIBSCN", Value: 0x51},
	{Name: "ELIBMAX", Value: 0x52},
	{Name: "ELIBEXEC", Value: 0x53},
	{Name: "EILSEQ", Value: 0x54},
	{Name: "ERESTART", Value: 0x55},
	{Name: "ESTRPIPE", Value: 0x56},
	{Name: "EUSERS", Value: 0x57},
	{Name: "ENOTSOCK", Value: 0x58},
	{Name: "EDESTADDRREQ", Value: 0x59},
	{Name: "EMSGSIZE", Value: 0x5a},
	{Name: "EPROTOTYPE", Value: 0x5b},
	{Name: "ENOPROTOOPT", Value: 0x5c},
	{Name: "EPROTONOSUPPORT", Value: 0x5d},
	{Name: "ESOCKTNOSUPPORT", Value: 0x5e},
	{Name: "EOPNOTSUPP", Value: 0x5f, Doc: "not supported"},
	{Name: "EPFNOSUPPORT", Value: 0x60},
	{Name: "EAFNOSUPPORT", Value: 0x61},
	{Name: "EADDRINUSE", Value: 0x62},
	{Name: "EADDRNOTAVAIL", Value: 0x63},
	{Name: "ENETDOWN", Value: 0x64},
	{Name: "ENETUNREACH", Value: 0x65},
	{Name: "ENETRESET", Value: 0x66},
	{Name: "ECONNABORTED", Value: 0x67},
	{Name: "ECONNRESET", Value: 0x68},
	{Name: "ENOBUFS", Value: 0x69},
	{Name: "EISCONN", Value: 0x6a},
	{Name: "ENOTCONN", Value: -ENOTCONN, Doc: "not connected: the server does not know the client"},
	{Name: "ESHUTDOWN", Value: -ESHUTDOWN, Doc: "is shutting down"},
	{Name: "ETOOMANYREFS", Value: 0x6d},
	{Name: "ETIMEDOUT", Value: -ETIMEDOUT, Doc: "timed out"},
	{Name: "ECONNREFUSED", Value: 0x6f, Doc: "refused"},
	{Name: "EHOSTDOWN", Value: 0x70},
	{Name: "EHOSTUNREACH", Value: 0x71, Doc: "no way to the node"},
	{Name: "EALREADY", Value: -EALREADY, Doc: "already under way"},
	{Name: "EINPROGRESS", Value: -EINPROGRESS, Doc: "under way; try again later"},
	{Name: "ESTALE", Value: -ESTALE, Doc: "stale handle or FID"},
	{Name: "EUCLEAN", Value: -EUCLEAN},
	{Name: "ENOTNAM", Value: 0x76},
	{Name: "ENAVAIL", Value: 0x77},
	{Name: "EISNAM", Value: 0x78},
	{Name: "EREMOTEIO", Value: -EREMOTEIO, Doc: "error on the other side"},
	{Name: "EDQUOT", Value: -EDQUOT, Doc: "over quota"},
	{Name: "ENOMEDIUM", Value: 0x7b},
	{Name: "EMEDIUMTYPE", Value: 0x7c},
	{Name: "ECANCELED", Value: 0x7d, Doc: "cancelled"},
	{Name: "ENOKEY", Value: 0x7e, Doc: "no key"},
	{Name: "EKEYEXPIRED", Value: 0x7f, Doc: "key has expired"},
	{Name: "EKEYREVOKED", Value: 0x80, Doc: "key was revoked"},
	{Name: "EKEYREJECTED", Value: 0x81, Doc: "key was refused"},
	{Name: "EOWNERDEAD", Value: 0x82},
	{Name: "ENOTRECOVERABLE", Value: 0x83},
	{Name: "ERESTARTSYS", Value: 0x200, Doc: "interrupted, will be tried again"},
	{Name: "ERESTARTNOINTR", Value: 0x201},
	{Name: "ERESTARTNOHAND", Value: 0x202},
	{Name: "ENOIOCTLCMD", Value: 0x203},
	{Name: "EBADHANDLE", Value: 0x209, Doc: "bad handle"},
	{Name: "ENOTSYNC", Value: 0x20a},
	{Name: "EBADCOOKIE", Value: 0x20b, Doc: "stale directory cookie"},
	{Name: "ENOTSUPP", Value: 0x20c, Doc: "not supported"},
	{Name: "ETOOSMALL", Value: 0x20d, Doc: "buffer too small"},
	{Name: "ESERVERFAULT", Value: 0x20e, Doc: "server error"},
	{Name: "EBADTYPE", Value: 0x20f, Doc: "bad type"},
	{Name: "EJUKEBOX", Value: 0x210, Doc: "not at hand yet"},
	{Name: "EIOCBQUEUED", Value: 0x211},
}
