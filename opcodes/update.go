package opcodes

import (
	"slices"

	. "github.com/lshark/lshark/opcodes/schema"
)

var UpdateRecordsFlag = Bits("update_records_flag", "UPDATE_RECORD_", "form of the record of a distributed operation", []Value{
	{Name: "CONTINUE", Value: 0x1, Doc: "the updates go on in another record"},
})

var updateOp = &Struct{Name: "update_op", Doc: "update in the record of a distributed operation", Fields: []*Field{
	uopFid,
	uopType,
	uopParams,
	Arr("uop_params_off", -1, U16(""), Harmless, CountBy("uop_param_count"), "which of the parameters behind the updates these are"),
}}

const (
	recordHeader   = 32 // bytes of struct update_records
	recordedHeader = 20 // bytes of struct update_op
	mostRecorded   = 256
)

var (
	uopFid        = Sub("uop_fid", &LuFid, "the object")
	uopType       = U16("uop_type", &OutUpdateType, "what to do")
	uopParams     = U16("uop_param_count", Harmless, "number of parameters")
	urUpdateCount = U32("ur_update_count", Harmless, "number of updates")
	urParamCount  = U32("ur_param_count", Harmless, "number of parameters")
	recordedOp    = Sub("", &updateOp)
)

var updateOps = &Struct{Name: "update_ops", Doc: "updates of a distributed operation", Fields: []*Field{
	Records("uops_op", func(v *View) (*Field, int) {
		if v.Up == nil || v.Index >= int(urUpdateCount.Uint(v.Up.Struct, v.Up.Big)) || len(v.Rest) < recordedHeader {
			return nil, 0
		}
		return recordedOp, recordedSize(v.Rest, v.Big)
	}, []*Field{recordedOp}),
}}

func recordedSize(b []byte, big bool) int { return recordedHeader + 2*int(uopParams.Uint(b, big)) }

var updateParams = &Struct{Name: "update_params", Doc: "parameters of the updates of a distributed operation", Fields: []*Field{
	Records("up_params", nextRecordedParam, []*Field{recordedParam}),
}}

var (
	recordedParam       = Sub("", &recordedParamStruct)
	recordedParamStruct = &Struct{Name: "object_update_param", Form: true, Doc: "parameter of an update",
		Fields: paramFields(chooseRecordedParam, slices.Concat(targetFileForms, paramForms))}
)

// chooseRecordedParam is asked in a parameter: v.Up is the list of parameters.
func chooseRecordedParam(v *View) *Field {
	if v.Up == nil || v.Up.Up == nil {
		return paramBytes
	}
	fid, kind, i, name := recordedUse(v)
	if kind == outWrite && i == 0 {
		if f := targetFileForm(fid, paramBytesOf(v), v.Big); f != nil {
			return f
		}
	}
	return paramForm(v, kind, i, name)
}

func nextRecordedParam(v *View) (*Field, int) {
	if v.Up == nil || v.Index >= int(urParamCount.Uint(v.Up.Struct, v.Up.Big)) || len(v.Rest) < paramHeader {
		return nil, 0
	}
	return recordedParam, paramSize(v.Rest, v.Big)
}

var updateRecords = &Struct{Name: "update_records", Doc: "distributed operation: all updates, on whichever MDT", Fields: []*Field{
	U64("ur_master_transno", ID, "transaction on the MDT that leads the operation"),
	U64("ur_batchid", Harmless, "number of the operation"),
	U32("ur_flags", &UpdateRecordsFlag),
	U32("ur_index", Harmless, "which part of the record, when it is too long for one"),
	urUpdateCount,
	urParamCount,
	Sub("ur_ops", &updateOps),
	Sub("ur_params", &updateParams, AfterPrevious(true)),
}}

// recordedUse finds out whose parameter the one in v is: the object and type of the
// first update that refers to it, which parameter of that update it is, and the
// attribute that the update is about. Updates share parameters.
func recordedUse(v *View) (fid []byte, kind uint64, i int, name []byte) {
	rec := v.Up.Up
	if rec == nil || len(rec.Struct) < recordHeader {
		return nil, 0, 0, nil
	}
	ops, big := rec.Struct[recordHeader:], rec.Big
	for range min(urUpdateCount.Uint(rec.Struct, big), mostRecorded) {
		size := recordedSize(ops, big)
		if len(ops) < max(size, recordedHeader) {
			break
		}
		for k := 0; k < int(min(uopParams.Uint(ops, big), mostRecorded)); k++ {
			at := recordedHeader + 2*k
			if int(ReadUint(ops[at:at+2], big)) == v.Index {
				first := int(ReadUint(ops[recordedHeader:recordedHeader+2], big))
				return uopFid.Bytes(ops), uopType.Uint(ops, big), k, recordedName(v.Up, first)
			}
		}
		ops = ops[size:]
	}
	return nil, 0, 0, nil
}

// recordedName is parameter number n of the list at v.
func recordedName(v *View, n int) []byte {
	b := v.Struct
	for range min(n, mostRecorded) {
		if len(b) < paramHeader {
			return nil
		}
		b = b[min(len(b), paramSize(b, v.Big)):]
	}
	return paramValue(b, v.Big)
}
