package opcodes

// Errors in the status of replies, as on the wire: negative, with the numbers of
// schema.Errnos.
const (
	ENOENT      = -2
	EIO         = -5
	EAGAIN      = -11
	EACCES      = -13
	ENODEV      = -19
	EINVAL      = -22
	EROFS       = -30
	ENODATA     = -61
	EOVERFLOW   = -75
	ENOTCONN    = -107
	ESHUTDOWN   = -108
	EINPROGRESS = -115
	ESTALE      = -116
)
