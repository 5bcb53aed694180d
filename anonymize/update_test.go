package anonymize

import "flag"

// Goldens lie in pcaps/ and are compared by package cli. The flag is here so
// that `go test ./... -update` can be given to all packages.
var _ = flag.Bool("update", false, "write the goldens anew (package cli)")
