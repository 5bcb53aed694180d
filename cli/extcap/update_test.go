package extcap

import "flag"

var update = flag.Bool("update", false, "write the profile for Wireshark anew")
