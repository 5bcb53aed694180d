package wiretest

import "encoding/binary"

// Portals that RPCs use here.
const (
	RequestPortal = 12
	ReplyPortal   = 10
	BulkPortal    = 8
)

// Types of ptlrpc messages, and the size of a ptlrpc_body.
const (
	TypeRequest = 4711
	TypeReply   = 4713
	BodySize    = 184
)

// Msg builds a little-endian lustre_msg_v2 from its buffers, which follow the
// header, each padded to a multiple of 8 bytes.
func Msg(bufs ...[]byte) []byte {
	le := binary.LittleEndian
	b := make([]byte, 32)
	le.PutUint32(b, uint32(len(bufs)))
	le.PutUint32(b[8:], 0x0bd00bd3)
	for _, buf := range bufs {
		b = le.AppendUint32(b, uint32(len(buf)))
	}
	b = pad8(b)
	for _, buf := range bufs {
		b = pad8(append(b, buf...))
	}
	return b
}

func pad8(b []byte) []byte {
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// Body builds a ptlrpc_body with a type and an opcode, and zeros elsewhere.
func Body(typ, opcode uint32) []byte {
	b := make([]byte, BodySize)
	binary.LittleEndian.PutUint32(b[8:], typ)
	binary.LittleEndian.PutUint32(b[16:], opcode)
	return b
}

// ConnectData builds an obd_connect_data with flags and a version.
func ConnectData(flags uint64, version uint32) []byte {
	b := make([]byte, 192)
	binary.LittleEndian.PutUint64(b, flags)
	binary.LittleEndian.PutUint32(b[8:], version)
	return b
}
