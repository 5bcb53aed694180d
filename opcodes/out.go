package opcodes

import (
	"slices"

	. "github.com/lshark/lshark/opcodes/schema"
)

const OUT_UPDATE = 1000

var OutUpdateType = Enum("out_update_type", "OUT_", "what an update does to an object", []Value{
	{Name: "START", Value: 0x0},
	{Name: "CREATE", Value: outCreate, Doc: "make the object"},
	{Name: "DESTROY", Value: 0x2, Doc: "destroy it"},
	{Name: "REF_ADD", Value: 0x3, Doc: "one more link"},
	{Name: "REF_DEL", Value: 0x4, Doc: "one link less"},
	{Name: "ATTR_SET", Value: outAttrSet, Doc: "set attributes"},
	{Name: "ATTR_GET", Value: outAttrGet, Doc: "ask for attributes"},
	{Name: "XATTR_SET", Value: outXattrSet, Doc: "set an xattr"},
	{Name: "XATTR_GET", Value: outXattrGet, Doc: "ask for an xattr"},
	{Name: "INDEX_LOOKUP", Value: outIndexLookup, Doc: "look a name up"},
	{Name: "INDEX_INSERT", Value: outIndexInsert, Doc: "insert a name"},
	{Name: "INDEX_DELETE", Value: outIndexDelete, Doc: "remove a name"},
	{Name: "WRITE", Value: outWrite, Doc: "write data"},
	{Name: "XATTR_DEL", Value: outXattrDel, Doc: "remove an xattr"},
	{Name: "PUNCH", Value: outPunch, Doc: "cut a range out"},
	{Name: "READ", Value: outRead, Doc: "read data"},
	{Name: "NOOP", Value: 0x10, Doc: "nothing"},
	{Name: "XATTR_LIST", Value: outXattrList, Doc: "ask for the names of xattrs"},
})

var OutUpdateFlags = Bits("out_update_flags", "UPDATE_FL_", "how an update is to be made", []Value{
	{Name: "OST", Value: 0x1, Doc: "the object is on an OST"},
	{Name: "SYNC", Value: 0x2, Doc: "wait until it is on disk"},
	{Name: "COMMITTED", Value: 0x4, Doc: "already on disk"},
	{Name: "NOLOG", Value: 0x8, Doc: "not to be logged"},
	{Name: "IGNORE_QUOTA", Value: 0x10, Since: "2.18", Doc: "whatever the quota"},
})

var OutMagic = Enum("out_magic", "", "magic and sizes of updates", []Value{
	{Name: "OUT_UPDATE_MAX_INLINE_SIZE", Value: 0x1000},
	{Name: "UPDATE_REPLY_MAGIC_V1", Value: 0xbd0001},
	{Name: "UPDATE_REPLY_MAGIC", Value: 0xbd0002},
	{Name: "UPDATE_REPLY_MAGIC_V2", Value: 0xbd0002, Alias: true},
	{Name: "UPDATE_REQUEST_MAGIC_V1", Value: 0xbdde0001},
	{Name: "UPDATE_REQUEST_MAGIC", Value: 0xbdde0002},
	{Name: "UPDATE_REQUEST_MAGIC_V2", Value: 0xbdde0002, Doc: "the one in use", Alias: true},
	{Name: "OUT_UPDATE_HEADER_MAGIC", Value: 0xbddf0001, Doc: "first buffer of an OUT_UPDATE"},
})

// Types of updates.
const (
	outCreate      = 1
	outAttrSet     = 5
	outAttrGet     = 6
	outXattrSet    = 7
	outXattrGet    = 8
	outIndexLookup = 9
	outIndexInsert = 10
	outIndexDelete = 11
	outWrite       = 12
	outXattrDel    = 13
	outPunch       = 14
	outRead        = 15
	outXattrList   = 17
)

var objectUpdateParam = &Struct{Name: "object_update_param", Doc: "parameter of an update",
	Fields: paramFields(chooseUpdateParam, slices.Concat([]*Field{formLog, formCatids, formBitmap, formLogTail}, targetFileForms, paramForms))}

// paramFields: the form of a parameter follows from the update, which is at
// another place in messages than in the records of distributed operations.
func paramFields(choose func(*View) *Field, forms []*Field) []*Field {
	return []*Field{
		U16("oup_len", Size, "bytes of the parameter"),
		Pad("oup_padding", 2),
		Pad("oup_padding2", 4),
		OneOf("oup_buf", choose, forms, Tagged(true), "the parameter; its form follows from the type of the update"),
		roundingField("oup_fill"),
	}
}

// roundingField is the field for the bytes that round a parameter or a result up
// to a multiple of 8. Senders do not initialize them.
func roundingField(name string) *Field {
	return Opaque(name, 0, CountOf(rounding), AfterPrevious(true), "rounds the size up to a multiple of 8; not initialized by the sender")
}

// rounding returns the number of bytes that round a parameter up, if those are
// what is left of it.
func rounding(v *View) int {
	n := paramLength(v)
	if n = pad8(n) - n; n != len(v.Rest) || allZero(v.Rest) {
		return 0
	}
	return n
}

const (
	paramHeader  = 8
	updateHeader = 40 // bytes of struct object_update
)

// paramSize is the number of bytes that the parameter at b takes.
func paramSize(b []byte, big bool) int {
	if len(b) < 2 {
		return 0
	}
	return paramHeader + pad8(int(ReadUint(b[:2], big)))
}

// paramValue is the parameter at b, without its header.
func paramValue(b []byte, big bool) []byte {
	if len(b) < paramHeader {
		return nil
	}
	return b[paramHeader:min(len(b), paramHeader+int(ReadUint(b[:2], big)))]
}

var objectUpdate = &Struct{Name: "object_update", Summarize: updateBrief,
	Doc: "one change of an object, or one question about it", Fields: []*Field{
		ouType,
		ouParams,
		U32("ou_result_size", Size, "room for the answer"),
		U32("ou_flags", &OutUpdateFlags),
		Pad("ou_padding1", 4),
		U64("ou_batchid", Harmless, "transaction that it is part of"),
		ouFid,
		Records("ou_params", nextUpdateParam, []*Field{updateParam}),
	}}

var (
	updateParam = Sub("", &objectUpdateParam)
	updateForm  = Sub("", &objectUpdate)

	ouType   = U16("ou_type", &OutUpdateType, Shown{Role: Flag}, Counted("update"), "what to do")
	ouParams = U16("ou_params_count", Harmless, "number of parameters")
	ouFid    = Sub("ou_fid", &LuFid, Shown{Role: Object}, "the object")
)

func nextUpdateParam(v *View) (*Field, int) {
	if v.Index >= int(ouParams.Uint(v.Struct, v.Big)) || len(v.Rest) < paramHeader {
		return nil, 0
	}
	return updateParam, paramSize(v.Rest, v.Big)
}

// updateSize is the number of bytes that the update at b takes.
func updateSize(b []byte, big bool) int {
	at := updateHeader
	for range ouParams.Uint(b, big) {
		if at+paramHeader > len(b) {
			return len(b)
		}
		at += paramSize(b[at:], big)
	}
	return at
}

var objectUpdateRequest = &Struct{Name: "object_update_request",
	Doc: "updates, in the order in which they are to be made", Fields: []*Field{
		U32("ourq_magic", &OutMagic),
		ourqCount,
		Pad("ourq_padding", 2),
		Subs("ourq_updates", -1, &objectUpdate, If(never), "the updates; shown as `updates`"),
		Records("updates", func(v *View) (*Field, int) {
			if v.Index >= int(ourqCount.Uint(v.Struct, v.Big)) || len(v.Rest) < updateHeader {
				return nil, 0
			}
			n := updateSize(v.Rest, v.Big)
			if n >= len(v.Rest) {
				return updateForm, 0 // the last, or cut: it ends where its parameters do
			}
			return updateForm, n
		}, []*Field{updateForm}),
	}}

var ourqCount = U16("ourq_count", Harmless, "number of updates")

const updateRequestHeader = 8

var outUpdateHeader = &Struct{Name: "out_update_header", Doc: "where the updates are", Fields: []*Field{
	U32("ouh_magic", &OutMagic),
	U32("ouh_count", Harmless, "number of buffers with updates"),
	ouhInline,
	U32("ouh_reply_size", Size, "room for the answer"),
	OneOf("ouh_inline_data", func(v *View) *Field { return formUpdates }, []*Field{formUpdates},
		If(func(v *View) bool { return ouhInline.Uint(v.Struct, v.Big) != 0 }), "the updates"),
}}

var (
	formUpdates = Sub("", &objectUpdateRequest)
	ouhInline   = U32("ouh_inline_length", Size, "bytes of the updates that follow; 0: they come as bulk data")
)

const outHeaderSize = 16

var outUpdateBuffer = &Struct{Name: "out_update_buffer", Doc: "size of a buffer with updates that is to be fetched", Fields: []*Field{
	U32("oub_size", Size, "its bytes"),
	Pad("oub_padding", 4),
}}

// updatesBulk is the bulk data of an OUT_UPDATE that has no room for its
// updates in the request.
var updatesBulk = &Struct{Name: "out_update_bulk", Doc: "updates that came as bulk data", Fields: []*Field{
	Records("requests", nextUpdates, []*Field{formUpdates}),
}}

// nextUpdates takes the sizes of the buffers from the request.
func nextUpdates(v *View) (*Field, int) {
	if len(v.Rest) < updateRequestHeader {
		return nil, 0
	}
	if v.Msg == nil || v.Msg.Req == nil {
		return formUpdates, len(v.Rest)
	}
	sizes := v.Msg.Req.Buf(2)
	at := v.Index * outUpdateBuffer.Size
	if at+4 > len(sizes) {
		return nil, 0
	}
	n := int(ReadUint(sizes[at:at+4], v.Msg.Req.Big))
	if n == 0 {
		return nil, 0
	}
	return formUpdates, n
}

var objectUpdateResult = &Struct{Name: "object_update_result", Doc: "what became of an update", Fields: []*Field{
	ourRc,
	ourDatalen,
	Pad("our_padding", 2),
	OneOf("our_data", chooseUpdateResult, outResultForms, Tagged(true),
		If(func(v *View) bool { return ourDatalen.Uint(v.Struct, v.Big) != 0 }), "what was asked for"),
	roundingField("our_fill"),
}}

var (
	ourRc      = S32("our_rc", Errno, "0, a negative errno, or the size of what was asked for")
	ourDatalen = U16("our_datalen", Size, "bytes of data")
	resultForm = Sub("", &objectUpdateResult)
)

var objectUpdateReply = &Struct{Name: "object_update_reply", Doc: "results, in the order of the updates", Fields: []*Field{
	U32("ourp_magic", &OutMagic),
	ourpCount,
	Pad("ourp_padding", 2),
	Arr("ourp_lens", -1, U16("", Size), CountBy("ourp_count"), "bytes of each result"),
	Pad("ourp_fill", 0, CountOf(func(v *View) int { n := 2 * int(ourpCount.Uint(v.Struct, v.Big)); return pad8(n) - n })),
	Records("results", nextUpdateResult, []*Field{resultForm}),
}}

var ourpCount = U16("ourp_count", Harmless, "number of results")

const resultsAt = 8

// nextUpdateResult takes the length of the next result from ourp_lens.
func nextUpdateResult(v *View) (*Field, int) {
	at := resultsAt + 2*v.Index
	if v.Index >= int(ourpCount.Uint(v.Struct, v.Big)) || at+2 > len(v.Struct) || len(v.Rest) == 0 {
		return nil, 0
	}
	n := int(ReadUint(v.Struct[at:at+2], v.Big))
	if n == 0 {
		return nil, 0
	}
	return resultForm, pad8(n)
}

var outReadReply = &Struct{Name: "out_read_reply", Order: Little, Doc: "how much an OUT_READ read", Fields: []*Field{
	U32("orr_size", Size, "bytes"),
	Pad("orr_padding", 4),
	U64("orr_offset", Size, "where they end"),
	Opaque("orr_data", 0, If(never), "the data; it travels as bulk data"),
}}

// outReadBulk is what an OUT_READ reads: as a rule a log.
var outReadBulk = &Struct{Name: "out_read_data", Doc: "what was read from an object of another MDT", Fields: []*Field{
	OneOf("data", chooseReadData, append([]*Field{formLog, formCatids, formRead}, targetFileForms...), Tagged(true)),
}}

// chooseReadData: which object was read is known from the request.
func chooseReadData(v *View) *Field {
	var fid []byte
	if v.Msg != nil {
		if u := updateAt(v.Msg.Req, 0); u != nil {
			fid = ouFid.Bytes(u)
		}
	}
	if f := logForm(fid, v.Rest, v.Big); f != paramBytes {
		return f
	}
	return formRead
}

var (
	formLog    = Sub("", &llogBlock)
	formBitmap = Arr("", -1, U32("", Hex), Removed, CountOf(func(v *View) int { return paramLength(v) / 4 }),
		"words of the bitmap of a log header")
	formLogTail          = Sub("", &llogRecTail)
	formCatids           = Subs("", -1, &llogCatid)
	formRead             = Opaque("", 0)
	bufOutUpdateHeader   = Sub("out_update_header", &outUpdateHeader)
	bufOutUpdateBuffer   = Subs("out_update_buffer", -1, &outUpdateBuffer)
	bufObjectUpdateReply = Sub("object_update_reply", &objectUpdateReply)
)

var _ = DefineRPC(&RPC{Opcode: OUT_UPDATE, Name: "OUT_UPDATE",
	Doc: "What one MDT asks another to do to its objects, in small steps: create, set attributes, insert a name, write to a log, " +
		"or read such things. Operations over several MDTs are made of it.",
	Variants: []*Variant{
		{Name: "inline",
			Request:          Bufs(bufPtlrpcBody, bufOutUpdateHeader, bufOutUpdateBuffer),
			Reply:            Bufs(bufPtlrpcBody, bufObjectUpdateReply),
			SummarizeRequest: summarizeUpdatesRequest, SummarizeReply: summarizeUpdatesReply, InnerError: updateError, Subject: updateSubject,
		},
		{Name: "bulk",
			Request:          Bufs(bufPtlrpcBody, bufOutUpdateHeader, bufOutUpdateBuffer),
			Reply:            Bufs(bufPtlrpcBody, bufObjectUpdateReply),
			Bulk:             &BulkData{Portal: portalMDSBulk, Get: true, Type: updatesBulk},
			Subject:          NoSubject, // each update has one, in the bulk data
			SummarizeRequest: summarizeUpdatesRequest, SummarizeReply: summarizeUpdatesReply, InnerError: updateError,
		},
		{Name: "read",
			Request:          Bufs(bufPtlrpcBody, bufOutUpdateHeader, bufOutUpdateBuffer),
			Reply:            Bufs(bufPtlrpcBody, bufObjectUpdateReply),
			Bulk:             &BulkData{Portal: portalMDSBulk, Type: outReadBulk},
			SummarizeRequest: summarizeUpdatesRequest, SummarizeReply: summarizeUpdatesReply, InnerError: updateError, Subject: updateSubject,
		},
	},
	PickBytes: []int{outHeaderSize + updateRequestHeader + updateHeader},
	Pick: func(m *Msg) *Variant {
		first := updateAt(m, 0)
		switch {
		case ouhInline.Uint(m.Buf(1), m.Big) == 0:
			return m.RPC.Variants[1]
		case first != nil && ouType.Uint(first, m.Big) == outRead:
			return m.RPC.Variants[2]
		}
		return m.RPC.Variants[0]
	},
	PickReply: func(m *Msg) *Variant { return m.RPC.Variants[0] },
	Context:   true,
})

func updateSubject(m *Msg) (fid, name []byte) {
	u := updateAt(m, 0)
	if u == nil {
		return nil, nil
	}
	return ouFid.Bytes(u), updateName(u, m.Big)
}

// summarizeUpdatesRequest: the first update, and how many more there are.
func summarizeUpdatesRequest(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < outHeaderSize {
		return
	}
	u := updateAt(m, 0)
	if u == nil {
		l.Count(outUpdateHeader.Field("ouh_count").Uint(b, m.Big), "bulk buffer")
		return
	}
	l.Value(Flag, OutUpdateType, ouType.Uint(u, m.Big))
	fid, name := updateSubject(m)
	l.Key("").FID(fid, m.Big)
	if len(name) > 0 {
		l.Key("").Label(Name, name)
	}
	if start, end, ok := updateRange(u, m.Big); ok {
		l.Key("").Range(start, end)
	}
	if n := ourqCount.Uint(b[outHeaderSize:], m.Big); n > 1 {
		l.Key("+").Num(n - 1)
	}
}

// summarizeUpdatesReply writes the first result that is an error, else the
// first that says that something is not there.
func summarizeUpdatesReply(m *Msg, l *Line) {
	i, rc := failedUpdate(m, false)
	if rc == 0 {
		i, rc = failedUpdate(m, true)
	}
	if rc == 0 {
		return
	}
	if u := updateAt(m.Req, i); u != nil {
		l.Key("").Value(Flag, OutUpdateType, ouType.Uint(u, m.Big))
	} else {
		l.Key("update ").Num(uint64(i))
	}
	if rc == m.Status {
		return // it is in front already
	}
	l.Key("")
	if isNotThere(m, i, rc) {
		l.Add(Dim, Errnos.Name(uint64(-rc)))
	} else {
		l.Errno(rc)
	}
}

func updateError(m *Msg) int32 {
	_, rc := failedUpdate(m, false)
	return rc
}

// IsNotThere reports whether no part of an OUT_UPDATE failed, and one found
// out that what it asked for is not there. m.Req is needed.
func IsNotThere(m *Msg) bool {
	_, failed := failedUpdate(m, false)
	_, any := failedUpdate(m, true)
	return failed == 0 && any != 0
}

// failedUpdate finds the first result that is an error. Those of updates that
// ask for something which is not there count when notThere is set.
func failedUpdate(m *Msg, notThere bool) (index int, rc int32) {
	b := m.Buf(1)
	if len(b) < resultsAt {
		return 0, 0
	}
	count := int(ourpCount.Uint(b, m.Big))
	at := resultsAt + pad8(2*count)
	for i := 0; i < count && at+4 <= len(b); i++ {
		n := int(ReadUint(b[resultsAt+2*i:resultsAt+2*i+2], m.Big))
		if n == 0 {
			break
		}
		if rc = int32(ourRc.Uint(b[at:], m.Big)); rc < 0 && (notThere || !isNotThere(m, i, rc)) {
			return i, rc
		}
		at += pad8(n)
	}
	return 0, 0
}

// isNotThere reports whether the result of update i is the regular answer that
// the object, the name or the xattr that it asks for is not there. Without the
// request that is unknown.
func isNotThere(m *Msg, i int, rc int32) bool {
	u := updateAt(m.Req, i)
	if u == nil {
		return false
	}
	switch ouType.Uint(u, m.Req.Big) {
	case outAttrGet, outIndexLookup:
		return rc == ENOENT
	case outXattrGet:
		return rc == ENOENT || rc == ENODATA
	}
	return false
}
