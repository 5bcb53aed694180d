package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// Opcodes are the operations by number: those that are declared in RPCs, and
// those whose numbers were given up before 2.12.
var Opcodes = &Names{Group: "opcode", Doc: "operation of an RPC, pb_opc"}

// The declarations of the RPCs lead to the field that has these names, so the
// names can only be filled in when all declarations are there.
func init() {
	Protocol.Prepare()
	var list []Value
	for _, r := range RPCs {
		list = append(list, Value{Name: r.Name, Value: uint64(r.Opcode), Doc: r.Doc})
	}
	Opcodes.Fill(append(list,
		Value{Name: "OBD_LOG_CANCEL", Value: OBD_LOG_CANCEL, Doc: "cancelled llog records by their cookies; gone since 1.5"},
		Value{Name: "OBD_QC_CALLBACK", Value: OBD_QC_CALLBACK, Doc: "told a client that a quota check is done; gone since 2.4"},
		Value{Name: "LLOG_ORIGIN_HANDLE_WRITE_REC", Value: LLOG_ORIGIN_HANDLE_WRITE_REC, Doc: "wrote a llog record from afar; gone since 2.1"},
		Value{Name: "LLOG_ORIGIN_HANDLE_CLOSE", Value: LLOG_ORIGIN_HANDLE_CLOSE, Doc: "closed a llog; gone since 1.8"},
		Value{Name: "LLOG_ORIGIN_CONNECT", Value: LLOG_ORIGIN_CONNECT, Doc: "set up llog traffic between servers; gone since 2.4"},
		Value{Name: "LLOG_CATINFO", Value: LLOG_CATINFO, Doc: "listed a catalog for debugging; gone since 2.3"},
	))
}
