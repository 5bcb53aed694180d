package docs

import "flag"

var update = flag.Bool("update", false, "write the pages that are made from tables")
