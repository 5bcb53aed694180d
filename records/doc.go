// Package records describes the records that lshark prints, one table of keys
// for each kind of record: messages and RPCs.
//
// A [Key] has a name, a type, a unit, a meaning, and a getter that reads its
// value from the record into a [Value]. JSON, -T fields -e, the display filter,
// explain, completion and `lshark fields` read these tables, and nothing else,
// so a key that is added here works everywhere. The order of a table is the
// order of the JSON.
//
// A key with Parts is an object, one with Len is a list. Keys inside others
// have paths: request.frame.
//
//	p, ok := records.RPCs.Find("request.frame")
//	var v records.Value
//	if ok && p.Value(rpc, 0, &v) {
//		fmt.Println(v.U)
//	}
//
// To add a kind of record, declare a Table of its Go type and add it to All.
package records
