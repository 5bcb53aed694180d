package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

var LlogRecType = Enum("llog_rec_type", "", "kinds of records in logs; the upper 12 bits are the same in all", []Value{
	{Name: "LLOG_PAD_MAGIC", Value: llogOpMagic, Doc: "fills a block up"},
	{Name: "OST_SZ_REC", Value: 0x10600f00, Doc: "size changed; old"},
	{Name: "MDS_UNLINK_REC", Value: 0x10612404, Doc: "object to destroy; old"},
	{Name: "MDS_UNLINK64_REC", Value: 0x10692404, Doc: "object to destroy"},
	{Name: "MDS_SETATTR64_REC", Value: 0x10692401, Doc: "new owner of an object"},
	{Name: "OBD_CFG_REC", Value: 0x10620000, Doc: "step of a configuration"},
	{Name: "LLOG_GEN_REC", Value: 0x10640000, Doc: "marks a generation"},
	{Name: "CHANGELOG_REC", Value: 0x10660000, Doc: "change of the namespace"},
	{Name: "CHANGELOG_USER_REC", Value: 0x10670000, Doc: "reader of a changelog"},
	{Name: "CHANGELOG_USER_REC2", Value: 0x10670002, Doc: "reader of a changelog with a name"},
	{Name: "HSM_AGENT_REC", Value: 0x10680000, Doc: "HSM request"},
	{Name: "UPDATE_REC", Value: 0x106a0000, Doc: "distributed operation"},
	{Name: "LLOG_HDR_MAGIC", Value: llogHeaderMagic, Doc: "header of a log"},
	{Name: "LLOG_LOGID_MAGIC", Value: 0x1064553b, Doc: "entry of a catalog"},
	{Name: "LLOG_OP_MAGIC", Value: llogOpMagic, Alias: true},
	{Name: "LLOG_OP_MASK", Value: llogOpMask},
})

var llogRecHdr = &Struct{Name: "llog_rec_hdr", Detect: llogBig, Doc: "header of each record of a log", Fields: []*Field{
	U32("lrh_len", Size, "bytes of the record with header and tail"),
	U32("lrh_index", Harmless, "number of the record in its log"),
	U32("lrh_type", &LlogRecType, Counted("record"), Shown{Role: Flag}, "type of the record; its byte order is that of the log"),
	U32("lrh_id", Harmless, "depends on the type of the record"),
}}

var llogRecTail = &Struct{Name: "llog_rec_tail", Doc: "tail of each record of a log: two words of the header again", Fields: []*Field{
	U32("lrt_len", Size, "bytes of the record"),
	U32("lrt_index", Harmless, "number of the record in its log"),
}}

var (
	lrhLen  = llogRecHdr.Field("lrh_len")
	lrhType = llogRecHdr.Field("lrh_type")
)

var llogLogidRec = &Struct{Name: "llog_logid_rec", Detect: llogBig, Doc: "record of a catalog: names a plain log", Fields: []*Field{
	Sub("lid_hdr", &llogRecHdr),
	Sub("lid_id", &llogLogid, "the plain log"),
	Padding("lid_padding", 1, 4, 8, 8),
	Sub("lid_tail", &llogRecTail),
}}

var llogUnlinkRec = &Struct{Name: "llog_unlink_rec", Detect: llogBig,
	Doc: "OST object to destroy, as old releases logged it", Fields: []*Field{
		Sub("lur_hdr", &llogRecHdr),
		U64("lur_oid", Harmless, "object id"),
		U32("lur_oseq", Harmless, "sequence of the object"),
		U32("lur_count", Harmless, "objects that follow it"),
		Sub("lur_tail", &llogRecTail),
	}}

var llogUnlink64Rec = &Struct{Name: "llog_unlink64_rec", Detect: llogBig, Doc: "OST object to destroy", Fields: []*Field{
	Sub("lur_hdr", &llogRecHdr),
	Sub("lur_fid", &LuFid, "the object"),
	U32("lur_count", Harmless, "objects that follow it"),
	Padding("lur_padding", 1, 4, 8, 8),
	Sub("lur_tail", &llogRecTail),
}}

var llogSetattr64Rec = &Struct{Name: "llog_setattr64_rec", Detect: llogBig, Doc: "new owner of an OST object", Fields: []*Field{
	Sub("lsr_hdr", &llogRecHdr),
	Sub("lsr_oi", &ostId, "the object"),
	U32("lsr_uid", UserID, "owner"),
	U32("lsr_uid_h", Removed, "unused upper half"),
	U32("lsr_gid", UserID, "group"),
	U32("lsr_gid_h", Removed, "unused upper half"),
	U64("lsr_valid", &ObdMdValid, "which attributes change"),
	Sub("lsr_tail", &llogRecTail),
}}

var llogSetattr64RecV2 = &Struct{Name: "llog_setattr64_rec_v2", Detect: llogBig,
	Doc: "new owner, project or layout version of an OST object", Fields: []*Field{
		Sub("lsr_hdr", &llogRecHdr),
		Sub("lsr_oi", &ostId, "the object"),
		U32("lsr_uid", UserID, "owner"),
		U32("lsr_uid_h", Removed, "unused upper half"),
		U32("lsr_gid", UserID, "group"),
		U32("lsr_gid_h", Removed, "unused upper half"),
		U64("lsr_valid", &ObdMdValid, "which attributes change"),
		U32("lsr_projid", UserID, "project"),
		U32("lsr_layout_version", Harmless, "layout version that later writes must have"),
		Padding("lsr_padding", 2, 8, 8),
		Sub("lsr_tail", &llogRecTail),
	}}

var llogSizeChangeRec = &Struct{Name: "llog_size_change_rec", Detect: llogBig,
	Doc: "file whose size changed without the MDT; old releases", Fields: []*Field{
		Sub("lsc_hdr", &llogRecHdr),
		Sub("lsc_fid", &llFid, "the file"),
		U32("lsc_ioepoch", Harmless, "epoch of the writes"),
		Padding("lsc_padding", 1, 4, 8, 8),
		Sub("lsc_tail", &llogRecTail),
	}}

var llogAgentReqRec = &Struct{Name: "llog_agent_req_rec", Detect: llogBig, Doc: "HSM request in the coordinator's log", Fields: []*Field{
	Sub("arr_hdr", &llogRecHdr),
	U32("arr_status", &HsmAgentReqStatus, "how far it is"),
	U32("arr_archive_id", Harmless, "archive it is for; 0: any"),
	U64("arr_flags", &HsmRequestFlags, "as asked for"),
	U64("arr_compound_id", Cookie, "number that requests of one command share"),
	U64("arr_req_create", Time, "when it came"),
	U64("arr_req_change", Time, "when its status last changed"),
	Sub("arr_hai", &hsmActionItem, "what to do"),
	Pad("arr_padding", 0, CountOf(beforeTail), AfterPrevious(true)),
	Sub("arr_tail", &llogRecTail),
}}

var llogGen = &Struct{Name: "llog_gen", Doc: "generation of the connection between log writer and reader", Fields: []*Field{
	U64("mnt_cnt", Harmless, "mounts"),
	U64("conn_cnt", Harmless, "connects"),
}}

var llogGenRec = &Struct{Name: "llog_gen_rec", Detect: llogBig, Doc: "marks a generation in a log", Fields: []*Field{
	Sub("lgr_hdr", &llogRecHdr),
	Sub("lgr_gen", &llogGen),
	Padding("padding", 1, 8, 8, 8),
	Sub("lgr_tail", &llogRecTail),
}}

// llogPadRec fills the rest of a block: no record crosses the end of a block.
var llogPadRec = &Struct{Name: "llog_pad_rec", Detect: llogBig, Doc: "fills the rest of a block", Fields: []*Field{
	Sub("pad_hdr", &llogRecHdr),
	Pad("pad_fill", 0, CountOf(beforeTail)),
	Sub("pad_tail", &llogRecTail),
}}

var llogOtherRec = &Struct{Name: "llog_other_rec", Detect: llogBig, Doc: "record of a type that is not known", Fields: []*Field{
	Sub("hdr", &llogRecHdr),
	Opaque("body", 0, CountOf(beforeTail), "the record"),
	Sub("tail", &llogRecTail),
}}

var llogUpdateRecord = &Struct{Name: "llog_update_record", Detect: llogBig,
	Doc: "distributed operation, kept until all MDTs have done their part", Fields: []*Field{
		Sub("lur_hdr", &llogRecHdr),
		Sub("lur_update_rec", &updateRecords),
		Pad("lur_padding", 0, CountOf(beforeTail), AfterPrevious(true)),
		Sub("lur_tail", &llogRecTail),
	}}

// Parts of lrh_type.
const (
	llogOpMask  = 0xfff00000
	llogOpMagic = 0x10600000
	llogLeast   = 24 // bytes of a header and a tail
	llogTail    = 8

	llogHeaderMagic = 0x10645539

	maxLogRecord = 1 << 20 // bytes
)

// llogBlock is the part of a log that a reader gets at a time. Its records
// are contiguous; the rest of the block is zero.
var llogBlock = &Struct{Name: "llog_block", Doc: "part of a log: consecutive records", Fields: []*Field{
	Records("records", nextLogRecord, llogRecordForms),
}}

// llogRecordForms are the records that a log may have, each in the list of
// llogRecordTypes too.
var llogRecordForms = func() []*Field {
	forms := make([]*Field, 0, len(llogRecordTypes)+1)
	for _, t := range llogRecordTypes {
		forms = append(forms, t.form)
	}
	return append(forms, llogOther)
}()

var llogOther = Sub("", &llogOtherRec, Tagged(true))

var llogRecordTypes = []struct {
	kind string // of LlogRecType
	form *Field
}{
	{"OBD_CFG_REC", Sub("", &llogConfigRec, Tagged(true))},
	{"CHANGELOG_REC", Sub("", &llogChangelogRec, Tagged(true))},
	{"CHANGELOG_USER_REC", Sub("", &llogChangelogUserRec, Tagged(true))},
	{"CHANGELOG_USER_REC2", Sub("", &llogChangelogUserRec2, Tagged(true))},
	{"LLOG_LOGID_MAGIC", Sub("", &llogLogidRec, Tagged(true))},
	{"LLOG_HDR_MAGIC", Sub("", &llogLogHdr, Tagged(true))},
	{"LLOG_PAD_MAGIC", Sub("", &llogPadRec, Tagged(true))},
	{"HSM_AGENT_REC", Sub("", &llogAgentReqRec, Tagged(true))},
	{"UPDATE_REC", Sub("", &llogUpdateRecord, Tagged(true))},
	{"MDS_UNLINK64_REC", Sub("", &llogUnlink64Rec, Tagged(true))},
	{"MDS_UNLINK_REC", Sub("", &llogUnlinkRec, Tagged(true))},
	{"MDS_SETATTR64_REC", Sub("", &llogSetattr64Rec, Tagged(true))},
	{"MDS_SETATTR64_REC", Sub("", &llogSetattr64RecV2, Tagged(true))}, // longer, of the same type
	{"OST_SZ_REC", Sub("", &llogSizeChangeRec, Tagged(true))},
	{"LLOG_GEN_REC", Sub("", &llogGenRec, Tagged(true))},
}

// nextLogRecord finds the form and length of the record at v.Rest.
func nextLogRecord(v *View) (*Field, int) {
	if len(v.Rest) < llogRecHdr.Size {
		return nil, 0
	}
	big := llogBig(v.Rest, v.Big)
	kind := lrhType.Uint(v.Rest, big)
	n := lrhLen.Uint(v.Rest, big)
	if kind&llogOpMask != llogOpMagic || n < llogLeast || n > maxLogRecord {
		return nil, 0
	}
	form, name := llogOther, LlogRecType.Name(kind)
	for i := range llogRecordTypes {
		if t := &llogRecordTypes[i]; t.kind == name && int(n) >= t.form.Size {
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

func isLog(b []byte) bool {
	form, n := nextLogRecord(&View{Rest: b})
	return form != nil && n%llogTail == 0
}

// beforeTail is the number of bytes up to the tail of a record.
func beforeTail(v *View) int { return max(0, len(v.Rest)-llogTail) }

// usedIndices lists the indices of a log that are in use: "0-26,28".
func usedIndices(v *View, dst []byte) []byte {
	at := min(len(v.Struct), logHeader+beforeBitmap(v))
	bits := v.Struct[at:]
	bits = bits[:min(len(bits)/4, bitmapWords(v))*4]
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
