package opcodes

import (
	"encoding/binary"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

func connectBuf(flags, flags2 uint64, version uint32) []byte {
	b := make([]byte, obdConnectData.Size)
	binary.LittleEndian.PutUint64(b, flags)
	binary.LittleEndian.PutUint32(b[8:], version)
	binary.LittleEndian.PutUint64(b[ocdFlags2.Off:], flags2)
	return b
}

func TestConnectSummary(t *testing.T) {
	const version, acl, flags2 = 0x20, 0x80, 1 << 63
	req := &Msg{Bufs: [][]byte{make([]byte, 184), []byte("lustre-MDT0000_UUID\x00"), []byte("f0cc377a\x00"),
		make([]byte, 8), connectBuf(version|acl|flags2, 3, 0x02110000)}}
	rep := &Msg{Reply: true, Req: req, Bufs: [][]byte{make([]byte, 184), connectBuf(version|flags2, 1, 0x02100101)}}

	var l Line
	summarizeConnectRequest(req, &l)
	if got, want := string(l.Text), "lustre-MDT0000_UUID from f0cc377a version 2.17.0.0 asks 5 flags"; got != want {
		t.Errorf("request: %q, not %q", got, want)
	}
	l.Reset()
	summarizeConnectReply(rep, &l)
	if got, want := string(l.Text), "version 2.16.1.1 grants 3 of 5 refuses ACL|LOCKAHEAD"; got != want {
		t.Errorf("reply: %q, not %q", got, want)
	}
}

func TestConnectDataValidity(t *testing.T) {
	const version, flags2, transno = 0x20, 1 << 63, 0x100
	raw := connectBuf(version, 1<<35, 0x02110000)
	body := make([]byte, 184)
	v := &View{Struct: raw, Type: obdConnectData, Msg: &Msg{Bufs: [][]byte{body}}}
	valid := func(name string, want bool) {
		t.Helper()
		if got := obdConnectData.Field(name).Valid(v); got != want {
			t.Errorf("%s is valid: %v, not %v", name, got, want)
		}
	}
	valid("ocd_version", true)
	valid("ocd_grant", false)
	valid("ocd_conn_policy", false) // CONN_POLICY is set, FLAGS2 is not
	valid("ocd_transno", false)

	binary.LittleEndian.PutUint64(raw, flags2)
	binary.LittleEndian.PutUint32(body[PbOpFlags.Off:], transno)
	valid("ocd_version", false)
	valid("ocd_conn_policy", true)
	valid("ocd_compr_type", false)
	valid("ocd_transno", true)
}
