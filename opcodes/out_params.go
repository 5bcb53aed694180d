package opcodes

import (
	"bytes"

	. "github.com/lshark/lshark/opcodes/schema"
)

// The forms of parameters and results. Some are little-endian whatever the
// order of the message.
var (
	paramAttr   = Sub("", &obdo)
	paramFid    = Sub("", &LuFid, Little)
	paramName   = Str("", 0, FileName, CountOf(paramLength))
	paramXattr  = Str("", 0, XattrName, CountOf(paramLength))
	paramFlags  = U32("", &xattrSetFlags)
	paramType   = U32("", Octal, Little)
	paramOffset = U64("", Size, Little)
	paramStart  = U64("", Size)
	paramText   = Str("", 0, Removed, CountOf(paramLength))
	paramBytes  = Opaque("", 0, CountOf(paramLength))
	paramNames  = Strs("", XattrName, CountOf(paramLength))
	resultFid   = Sub("", &LuFid)
	resultRead  = Sub("", &outReadReply)

	paramForms = append([]*Field{paramAttr, paramFid, paramName, paramXattr, paramFlags, paramType, paramOffset, paramStart, paramText, paramBytes},
		xattrForms...)
	outResultForms = append([]*Field{paramAttr, resultFid, resultRead, paramNames, paramText, paramBytes}, xattrForms...)
)

// paramLength is the length that is given in front: as the first word of a
// parameter, and as the third of a result.
func paramLength(v *View) int {
	if v.Type != nil && v.Type.Name == "object_update_result" {
		return int(ourDatalen.Uint(v.Struct, v.Big))
	}
	if len(v.Struct) < 2 {
		return 0
	}
	return int(ReadUint(v.Struct[:2], v.Big))
}

// updateParamForm is the form of parameter i of an update; nil: bytes.
func updateParamForm(kind uint64, i int) *Field {
	switch {
	case kind == outCreate && i == 0, kind == outAttrSet:
		return paramAttr
	case kind == outCreate, kind == outIndexInsert && i == 1:
		return paramFid
	case (kind == outXattrSet || kind == outXattrGet) && i == 0, kind == outXattrDel:
		return paramXattr
	case kind >= outIndexLookup && kind <= outIndexDelete && i == 0:
		return paramName
	case kind == outXattrSet && i == 2:
		return paramFlags
	case kind == outIndexInsert:
		return paramType
	case kind == outPunch:
		return paramStart
	case kind == outWrite && i == 1, kind == outRead:
		return paramOffset
	}
	return nil
}

// chooseUpdateParam is asked in a parameter of an update.
func chooseUpdateParam(v *View) *Field {
	if v.Up == nil {
		return paramBytes
	}
	kind, name := ouType.Uint(v.Up.Struct, v.Up.Big), []byte(nil)
	if len(v.Up.Struct) > updateHeader {
		name = paramValue(v.Up.Struct[updateHeader:], v.Up.Big)
	}
	if kind == outWrite && v.Index == 0 {
		if f := logHeaderPart(v); f != nil {
			return f
		}
		return logForm(ouFid.Bytes(v.Up.Struct), paramBytesOf(v), v.Up.Big)
	}
	return paramForm(v, kind, v.Index, name)
}

// paramForm is the form of parameter i of an update whose first parameter is
// name.
func paramForm(v *View, kind uint64, i int, name []byte) *Field {
	if f := updateParamForm(kind, i); f != nil {
		return f
	}
	if kind == outXattrSet && i == 1 {
		return xattrParam(name, paramBytesOf(v))
	}
	return paramBytes
}

func paramBytesOf(v *View) []byte { return v.Rest[:min(len(v.Rest), paramLength(v))] }

// maxUpdatesBefore limits how far logHeaderPart searches.
const maxUpdatesBefore = 256

// logHeaderPart returns the form of the first parameter of a write to a log whose
// header an earlier update of the same request writes: a word of the bitmap or
// the tail. It returns nil for other writes. MDTs write a header in three parts.
func logHeaderPart(v *View) *Field {
	data, list := paramBytesOf(v), v.Up.Up
	if len(data) != 4 && len(data) != llogTail || list == nil || len(list.Struct) < updateRequestHeader || list.Index > maxUpdatesBefore {
		return nil
	}
	header := logHeaderBefore(list, ouFid.Bytes(v.Up.Struct))
	if header == nil {
		return nil
	}
	rest := v.Up.Struct[min(len(v.Up.Struct), updateHeader):]
	offset := paramValue(rest[min(len(rest), paramSize(rest, v.Up.Big)):], v.Up.Big)
	if len(offset) != 8 {
		return nil
	}
	h := View{Struct: header, Big: llogBig(header, v.Up.Big)}
	at, tail := ReadUint(offset, false), lrhLen.Uint(header, h.Big)-llogTail
	switch {
	case at == tail && len(data) == llogTail:
		return formLogTail
	case at >= uint64(logHeader+beforeBitmap(&h)) && at+uint64(len(data)) <= tail:
		return formBitmap
	}
	return nil
}

// logHeaderBefore returns the log header that an earlier update of the request
// writes to the object with that FID, nil if none does.
func logHeaderBefore(list *View, fid []byte) (header []byte) {
	b := list.Struct[updateRequestHeader:]
	for range list.Index {
		if len(b) < updateHeader {
			break
		}
		if ouType.Uint(b, list.Big) == outWrite && bytes.Equal(ouFid.Bytes(b), fid) {
			data := paramValue(b[updateHeader:], list.Big)
			if len(data) >= logHeader && lrhType.Uint(data, llogBig(data, list.Big)) == llogHeaderMagic {
				header = data
			}
		}
		b = b[min(len(b), updateSize(b, list.Big)):]
	}
	return header
}

// updateLogSeq is the sequence of the objects that list the logs of
// distributed operations.
const updateLogSeq = 0x200000009

// logForm is the form of what MDTs read from each other and write: logs, the
// lists of their catalogs, and the files that targets keep for recovery.
func logForm(fid, data []byte, big bool) *Field {
	if f := targetFileForm(fid, data, big); f != nil {
		return f
	}
	switch {
	case len(fid) >= 8 && ReadUint(fid[:8], big) == updateLogSeq && len(data)%llogCatid.Size == 0:
		return formCatids
	case isLog(data):
		return formLog
	}
	return paramBytes
}

// updateAt finds update i of the request that a reply answers, when its
// updates were in the request itself.
func updateAt(req *Msg, i int) []byte {
	b := req.Buf(1)
	if len(b) < outHeaderSize+updateRequestHeader || ouhInline.Uint(b, req.Big) == 0 {
		return nil
	}
	b = b[outHeaderSize:]
	if i >= int(ourqCount.Uint(b, req.Big)) {
		return nil
	}
	b = b[updateRequestHeader:]
	for range i {
		if len(b) < updateHeader {
			return nil
		}
		b = b[min(len(b), updateSize(b, req.Big)):]
	}
	if len(b) < updateHeader {
		return nil
	}
	return b
}

// UpdatedObjects calls yield with the FID of each object that an OUT_UPDATE is about, as far
// as it has its updates in the request itself. It returns the number of updates, 0 if they
// come as bulk data.
func UpdatedObjects(req *Msg, yield func(fid []byte)) (updates int) {
	first := updateAt(req, 0)
	if first == nil {
		return 0
	}
	updates = int(ourqCount.Uint(req.Buf(1)[outHeaderSize:], req.Big))
	for b, n := first, 0; n < updates && len(b) >= updateHeader; n++ {
		yield(ouFid.Bytes(b))
		b = b[min(len(b), updateSize(b, req.Big)):]
	}
	return updates
}

// chooseUpdateResult: what was asked for is known from the request.
func chooseUpdateResult(v *View) *Field {
	u := updateAt(v.Msg.Req, v.Index)
	if u == nil {
		if paramLength(v) == obdo.Size {
			return paramAttr
		}
		return paramBytes
	}
	switch ouType.Uint(u, v.Msg.Req.Big) {
	case outAttrGet:
		return paramAttr
	case outIndexLookup:
		return resultFid
	case outRead:
		return resultRead
	case outXattrList:
		return paramNames
	case outXattrGet:
		return xattrParam(paramValue(u[updateHeader:], v.Msg.Req.Big), paramBytesOf(v))
	}
	return paramBytes
}

// updateBrief: "XATTR_SET [0x240000401:0x1:0x0] trusted.lov".
func updateBrief(v *View, dst []byte) []byte {
	if len(v.Struct) < updateHeader {
		return dst
	}
	return appendUpdate(dst, v.Struct, v.Big)
}

// updateName is the name of an entry or extended attribute that is the first parameter of the
// update u, or nil.
func updateName(u []byte, big bool) []byte {
	form := updateParamForm(ouType.Uint(u, big), 0)
	if (form != paramName && form != paramXattr) || len(u) <= updateHeader {
		return nil
	}
	return TrimNUL(paramValue(u[updateHeader:], big))
}

func appendUpdate(dst, u []byte, big bool) []byte {
	kind := ouType.Uint(u, big)
	dst = append(append(dst, OutUpdateType.Name(kind)...), ' ')
	dst = AppendFIDBytes(dst, ouFid.Bytes(u), big)
	if name := updateName(u, big); len(name) > 0 {
		dst = append(append(dst, ' '), name...)
	}
	if start, end, ok := updateRange(u, big); ok {
		l := PlainLine(append(dst, ' '))
		l.Range(start, end)
		dst = l.Text
	}
	return dst
}

// updateRange returns the first and the last byte that an update reads or
// writes; false for other updates.
func updateRange(u []byte, big bool) (start, end uint64, ok bool) {
	if len(u) < updateHeader {
		return 0, 0, false
	}
	first := u[updateHeader:]
	size, offset := paramValue(first, big), paramValue(first[min(len(first), paramSize(first, big)):], big)
	if len(offset) != 8 {
		return 0, 0, false
	}
	n := uint64(len(size))
	switch ouType.Uint(u, big) {
	case outRead:
		if len(size) != 8 {
			return 0, 0, false
		}
		n = ReadUint(size, false)
	case outWrite:
	default:
		return 0, 0, false
	}
	start = ReadUint(offset, false)
	return start, start + n - 1, n > 0
}
