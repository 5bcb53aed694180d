package monitor_test

import "flag"

// All packages with goldens have this flag, so that "go test ./... -update" works.
var _ = flag.Bool("update", false, "does nothing here")
