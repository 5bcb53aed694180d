//go:build !linux && !darwin

package iostreams

// MayRename reports whether a process without privileges may rename files to path. It is
// not known here.
func MayRename(string) bool { return false }

// MayRenameIn reports whether a process without privileges may make and rename files in a
// folder. It is not known here.
func MayRenameIn(string) bool { return false }
