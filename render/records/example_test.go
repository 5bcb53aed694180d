package records_test

import (
	"fmt"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render/records"
)

// A key is found by its path; its values are read one by one.
func ExampleTable_Find() {
	rpc := &track.RPC{Seen: []track.Sighting{
		{Source: 0, Request: track.Point{Frame: 111}},
		{Source: 1, Request: track.Point{Frame: 2925}},
	}}
	var v records.Value
	for _, path := range []string{"request.frame", "sightings.source"} {
		p, ok := records.RPCs.Find(path)
		if !ok {
			continue
		}
		for i := range p.Len(rpc) {
			if p.Value(rpc, i, &v) {
				fmt.Println(path, v.U)
			}
		}
	}
	// Output:
	// request.frame 111
	// sightings.source 0
	// sightings.source 1
}

// What explain shows of a key.
func ExampleNamed() {
	for _, e := range records.Named(records.All(), "rpc.portal") {
		fmt.Printf("%s %s: %s, %s\n", e.Kind, e.Name, e.TypeText(), e.Doc)
	}
	// Output:
	// key rpc.portal: number, LNet portal of the request
}
