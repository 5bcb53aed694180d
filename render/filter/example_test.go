package filter_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

func ExampleCompile() {
	f, err := filter.Compile("kind in {request, reply} and xid == 1883108012032128")
	if err != nil {
		log.Fatal(err)
	}
	var record records.Message
	for _, kind := range []lnet.Kind{lnet.Request, lnet.Bulk, lnet.Reply} {
		m := &dissect.Message{Message: lnet.Message{Kind: kind}}
		m.RPC.XID, m.RPC.HasXID = 1883108012032128, true
		record.Set(m, 0)
		fmt.Println(kind, f.Match(&record))
	}
	// Output:
	// request true
	// bulk false
	// reply true
}

func ExampleError() {
	_, err := filter.Compile("pb_opc == MDS_CONECT")
	var syntax *filter.Error
	if errors.As(err, &syntax) {
		fmt.Println(syntax)
	}
	// Output:
	// filter: invalid value MDS_CONECT for pb_opc
	//   pb_opc == MDS_CONECT
	//             ^^^^^^^^^^
	//   did you mean MDS_CONNECT or MGS_CONNECT?
}
