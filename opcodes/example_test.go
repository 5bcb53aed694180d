package opcodes_test

import (
	"fmt"

	"github.com/lshark/lshark/opcodes"
)

// Look up an operation and the fields of a struct in the tables.
func Example() {
	rpc := opcodes.Protocol.ByOpcode(opcodes.OST_CONNECT)
	fmt.Println(rpc.Name)
	for _, f := range rpc.Variants[0].Reply {
		fmt.Println("reply buffer:", f.Name)
	}

	version := opcodes.Protocol.StructNamed("obd_connect_data").Field("ocd_version")
	fmt.Println(version.Name, version.TypeText(), "at", version.Off)
	// Output:
	// OST_CONNECT
	// reply buffer: ptlrpc_body
	// reply buffer: connect_data
	// ocd_version u32 version at 8
}
