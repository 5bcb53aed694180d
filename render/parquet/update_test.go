package parquet

import "flag"

var update = flag.Bool("update", false, "write testdata/footer.txt anew")
