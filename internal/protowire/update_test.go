package protowire

import "flag"

// The goldens are in pcaps/ and compared by package cli. The flag is here so
// that `go test ./... -update` can be given to all packages.
var _ = flag.Bool("update", false, "write the goldens anew (package cli)")
