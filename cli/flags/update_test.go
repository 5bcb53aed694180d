package flags

import "flag"

// The flag is here so that `go test ./... -update` can be given to all packages.
var _ = flag.Bool("update", false, "has no effect here")
