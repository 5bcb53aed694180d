package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// Targets keep what they need for recovery in files of their own. Operations over
// several MDTs write to them, so that their records appear in update logs.

var ReplyDataMagic = Enum("reply_data_magic", "LRH_MAGIC_", "form of the records of reply_data", []Value{
	{Name: "V1", Value: 0xbdabda01, Doc: "records of 32 bytes"},
	{Name: "V2", Value: 0xbdabda02, Since: "2.16", Doc: "records of 64 bytes"},
})

var lsdReplyDataV1 = &Struct{Name: "lsd_reply_data_v1", Order: Little,
	Doc: "reply that a client may not have got, in the file reply_data; lsd_reply_data through 2.15", Fields: []*Field{
		U64("lrd_transno", ID, "transaction number of the reply"),
		U64("lrd_xid", ID, "xid of the request"),
		U64("lrd_data", Hex, "what the operation found, as an intent disposition"),
		S32("lrd_result", Errno, "status of the reply"),
		U32("lrd_client_gen", "which client: lcd_generation of its lsd_client_data"),
	}}

var lsdReplyDataV2 = &Struct{Name: "lsd_reply_data_v2", Since: "2.16", Order: Little,
	Doc: "reply that a client may not have got, in the file reply_data; lsd_reply_data from 2.16 on", Fields: []*Field{
		U64("lrd_transno", ID, "transaction number of the reply"),
		U64("lrd_xid", ID, "xid of the request"),
		U64("lrd_data", Hex, "what the operation found, as an intent disposition"),
		S32("lrd_result", Errno, "status of the reply"),
		U32("lrd_client_gen", "which client: lcd_generation of its lsd_client_data"),
		U32("lrd_batch_idx", "which request of a batch"),
		Pads("lrd_padding", 7, 4),
	}}

var lsdReplyHeader = &Struct{Name: "lsd_reply_header", Order: Little, Doc: "begins the file reply_data", Fields: []*Field{
	U32("lrh_magic", Hex, &ReplyDataMagic, "form of the records"),
	U32("lrh_header_size", Size, "bytes of this header"),
	U32("lrh_reply_size", Size, "bytes of a record"),
	Pads("lrh_pad", 20, 1),
}}

var lsdClientData = &Struct{Name: "lsd_client_data", Order: Little, Doc: "client of a target, in the file last_rcvd", Fields: []*Field{
	Str("lcd_uuid", 40, "UUID of the client"),
	U64("lcd_last_transno", ID, "transaction number of its last request"),
	U64("lcd_last_xid", ID, "xid of its last request"),
	S32("lcd_last_result", Errno, "status of the reply"),
	U32("lcd_last_data", Hex, "what the operation found, as an intent disposition"),
	U64("lcd_last_close_transno", ID, "transaction number of its last close"),
	U64("lcd_last_close_xid", ID, "xid of its last close"),
	S32("lcd_last_close_result", Errno, "status of the reply to it"),
	U32("lcd_last_close_data", Hex, "what the close found"),
	Arr("lcd_pre_versions", 4, U64("", Cookie), "versions of the objects before the last request"),
	U32("lcd_last_epoch", "recovery epoch of the last request"),
	U32("lcd_generation", "number that reply_data has for the client"),
}}

var (
	formReplyV1     = Sub("", &lsdReplyDataV1)
	formReplyV2     = Sub("", &lsdReplyDataV2)
	formReplyHeader = Sub("", &lsdReplyHeader)
	formClientData  = Sub("", &lsdClientData)
	targetFileForms = []*Field{formReplyV1, formReplyV2, formReplyHeader, formClientData}

	lrhMagic      = lsdReplyHeader.Field("lrh_magic")
	lrhHeaderSize = lsdReplyHeader.Field("lrh_header_size")

	seqLocalFile = FidSeq.Number("LOCAL_FILE")
	oidReplyData = LocalOid.Number("REPLY_DATA_OID")
	oidLastRcvd  = LocalOid.Number("LAST_RECV_OID")
)

// targetFileForm returns the form of data that is written to or read from
// reply_data or last_rcvd; nil for other objects and for lengths that are not
// those of one record.
func targetFileForm(fid, data []byte, big bool) *Field {
	if len(fid) < LuFid.Size || ReadUint(fid[:8], big) != seqLocalFile {
		return nil
	}
	switch oid := fidOid.Uint(fid, big); {
	case oid == oidReplyData && len(data) == lsdReplyDataV2.Size:
		return formReplyV2
	case oid == oidReplyData && len(data) == lsdReplyDataV1.Size && isReplyHeader(data):
		return formReplyHeader
	case oid == oidReplyData && len(data) == lsdReplyDataV1.Size:
		return formReplyV1
	case oid == oidLastRcvd && len(data) == lsdClientData.Size:
		return formClientData
	}
	return nil
}

// isReplyHeader reports whether 32 bytes of reply_data are its header. The same
// bytes of a record would be a transaction number of recovery epoch 32.
func isReplyHeader(b []byte) bool {
	return ReplyDataMagic.Name(lrhMagic.Uint(b, false)) != "" && lrhHeaderSize.Uint(b, false) == uint64(lsdReplyHeader.Size)
}
