package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

// Parts of lrh_type.
const (
	llogOpMask  = 0xfff00000
	llogOpMagic = 0x10600000
	llogLeast   = 24 // bytes of a header and a tail
	llogTail    = 8
)

// llogBlock is the part of a log that a reader gets at a time. Its records
// lie one behind the other; the rest of the block is zero.
var llogBlock = Define("llog_block", "part of a log: records one behind the other",
	Records("records", nextLogRecord, llogRecordForms),
)

// llogRecordForms are the records that a log may have, each in the list of
// llogRecordTypes too.
var llogRecordForms = func() []*Field {
	forms := make([]*Field, 0, len(llogRecordTypes)+1)
	for _, t := range llogRecordTypes {
		forms = append(forms, t.form)
	}
	return append(forms, llogOther)
}()

var llogOther = Sub("", llogOtherRec, Tagged(true))

type llogRecordType struct {
	kind uint64
	form *Field
}

var llogRecordTypes = []llogRecordType{
	{0x10620000, Sub("", llogConfigRec, Tagged(true))},
	{0x10660000, Sub("", llogChangelogRec, Tagged(true))},
	{0x10670000, Sub("", llogChangelogUserRec, Tagged(true))},
	{0x10670002, Sub("", llogChangelogUserRec2, Tagged(true))},
	{0x1064553b, Sub("", llogLogidRec, Tagged(true))},
	{0x10645539, Sub("", llogLogHdr, Tagged(true))},
	{0x10600000, Sub("", llogPadRec, Tagged(true))},
	{0x10680000, Sub("", llogAgentReqRec, Tagged(true))},
	{0x106a0000, Sub("", llogUpdateRecord, Tagged(true))},
	{0x10692404, Sub("", llogUnlink64Rec, Tagged(true))},
	{0x10612404, Sub("", llogUnlinkRec, Tagged(true))},
	{0x10692401, Sub("", llogSetattr64Rec, Tagged(true))},
	{0x10692401, Sub("", llogSetattr64RecV2, Tagged(true))}, // longer, of the same type
	{0x10600f00, Sub("", llogSizeChangeRec, Tagged(true))},
	{0x10640000, Sub("", llogGenRec, Tagged(true))},
}

// nextLogRecord finds the form and length of the record at v.Rest.
func nextLogRecord(v *View) (*Field, int) {
	if len(v.Rest) < llogRecHdr.Size {
		return nil, 0
	}
	big := llogBig(v.Rest, v.Big)
	kind := lrhType.Uint(v.Rest, big)
	n := lrhLen.Uint(v.Rest, big)
	if kind&llogOpMask != llogOpMagic || n < llogLeast || n > 1<<20 {
		return nil, 0
	}
	form := llogOther
	for i := range llogRecordTypes {
		if t := &llogRecordTypes[i]; t.kind == kind && int(n) >= t.form.Size {
			form = t.form
		}
	}
	return form, int(n)
}

// llogBig finds the byte order of a log by the type of a record.
func llogBig(b []byte, big bool) bool {
	if len(b) < 12 {
		return big
	}
	switch {
	case ReadUint(b[8:12], false)&llogOpMask == llogOpMagic:
		return false
	case ReadUint(b[8:12], true)&llogOpMask == llogOpMagic:
		return true
	}
	return big
}

// isLog says whether bytes read like the records of a log.
func isLog(b []byte) bool {
	form, n := nextLogRecord(&View{Rest: b})
	return form != nil && n%llogTail == 0
}

// beforeTail is the number of bytes up to the tail of a record.
func beforeTail(v *View) int { return max(0, len(v.Rest)-llogTail) }

// usedIndices lists the indices of a log that are in use: "0-26,28".
func usedIndices(v *View, dst []byte) []byte {
	bits := v.Type.Field("llh_bitmap").Bytes(v.Struct)
	used := func(i int) bool {
		word := bits[i/32*4 : i/32*4+4]
		return ReadUint(word, v.Big)>>(i%32)&1 != 0
	}
	first := true
	for i := 0; i < len(bits)*8; i++ {
		if i%32 == 0 && ReadUint(bits[i/8:i/8+4], v.Big) == 0 {
			i += 31
			continue
		}
		if !used(i) {
			continue
		}
		last := i
		for last+1 < len(bits)*8 && used(last+1) {
			last++
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = strconv.AppendInt(dst, int64(i), 10)
		if last > i {
			dst = strconv.AppendInt(append(dst, '-'), int64(last), 10)
		}
		i = last
	}
	return dst
}
