package opcodes

import (
	"encoding/binary"
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestLNetHeaders holds that the members of the commands lie in both headers
// where the command structs have them.
func TestLNetHeaders(t *testing.T) {
	for _, h := range []struct {
		hdr     *Struct
		command int
	}{{LNetHdr4, 32}, {LNetHdr16, 56}} {
		for command, s := range map[string]*Struct{"ACK": lnetAck, "PUT": lnetPut, "GET": lnetGet, "REPLY": lnetReply} {
			v, _ := LnetMsgType.Find(command)
			raw := make([]byte, h.hdr.Size)
			raw[h.hdr.Field("type").Off] = byte(v.Value)
			view := &View{Struct: raw, Rest: raw, Type: h.hdr}
			shown := make(map[string]int)
			for _, f := range h.hdr.Fields {
				if f.If != nil && f.If(view) {
					shown[f.Name] = f.Off - h.command
				}
			}
			for _, f := range s.Fields {
				off, ok := shown[f.Name]
				assert.That(t, ok && off == f.Off, "%s of %s: %s lies at %d (%v), not %d", h.hdr.Name, command, f.Name, off, ok, f.Off)
				delete(shown, f.Name)
			}
			for name := range shown {
				t.Errorf("%s of %s shows %s", h.hdr.Name, command, name)
			}
		}
	}
}

func TestLargeNids(t *testing.T) {
	info := make([]byte, 0, 96)
	le32 := func(words ...uint32) {
		for _, w := range words {
			info = append(info, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
		}
	}
	const up, v6 = 0x15aac0de, 12
	le32(0x70696e67, 0x7e, 12345, 1)
	le32(0, 0x00090000, 7, 56) // loopback: sequence number, bytes of all
	le32(up, v6|2<<8, 0xfd, 0, 0, 1)
	le32(0xaaaaaaaa, 0xbbbbbbbb, 0xcccccccc)

	v := &View{Struct: info, Rest: info[32:], Type: PingInfo}
	f, n := stepLargeNi(v)
	must.That(t, f != nil && n == 24, "the first long NID takes %d bytes", n)
	v.Rest = info[56:]
	if f, _ := stepLargeNi(v); f != nil {
		t.Error("there is a NID behind the end")
	}
}

// TestSelftestBodies holds that each type of message shows its own body and no
// other.
func TestSelftestBodies(t *testing.T) {
	bodies := make(map[string]string)
	for _, typ := range append(SrpcMsgType.Values, Value{Name: "unknown", Value: 0x101}) {
		raw := make([]byte, SelftestMsg.Size)
		binary.LittleEndian.PutUint32(raw[srpcMsgType.Off:], uint32(typ.Value))
		v := &View{Struct: raw, Type: SelftestMsg}
		var shown []string
		for _, f := range SelftestMsg.Fields {
			if f.If != nil && f.If(v) {
				shown = append(shown, f.Type.Name)
			}
		}
		if len(shown) != 1 {
			t.Errorf("%s shows %v", typ.Name, shown)
			continue
		}
		if other, taken := bodies[shown[0]]; taken {
			t.Errorf("%s and %s both show %s", typ.Name, other, shown[0])
		}
		bodies[shown[0]] = typ.Name
		if reply := strings.HasSuffix(typ.Name, "REPLY") || typ.Name == "unknown"; reply != strings.HasSuffix(shown[0], "reply") {
			t.Errorf("%s shows %s", typ.Name, shown[0])
		}
	}
}

func TestSelftestParameters(t *testing.T) {
	const brw, ping = 11, 12
	for _, c := range []struct {
		service, feats byte
		want           string
	}{{ping, 0, "test_ping_req"}, {ping, 1, "test_ping_req"}, {brw, 0, "test_bulk_req"}, {brw, 1, "test_bulk_req_v1"}, {3, 1, ""}} {
		msg, test := make([]byte, SelftestMsg.Size), make([]byte, srpcTestReqst.Size)
		msg[srpcFeats.Off], test[tsrService.Off] = c.feats, c.service
		v := &View{Struct: test, Type: srpcTestReqst, Up: &View{Struct: msg, Type: SelftestMsg}}
		var shown string
		for _, f := range srpcTestReqst.Fields {
			if f.If != nil && f.If(v) {
				shown += f.Type.Name
			}
		}
		assert.Equal(t, shown, c.want, "service", c.service, "with features", c.feats)
	}
}

// TestConnectionManager: a packet with a message of InfiniBand's connection manager has its part, and that of no other.
func TestConnectionManager(t *testing.T) {
	for name, part := range map[string]string{"REQ": "cm_req", "REP": "cm_rep", "REJ": "cm_rej", "DREQ": "cm_dreq", "DREP": "cm_drep", "RTU": ""} {
		for _, class := range []byte{7, 3} {
			b := make([]byte, 100)
			b[0], b[21] = ibUD|0x04, class // a datagram, and the class of management
			binary.BigEndian.PutUint16(b[36:], uint16(cmType.Number(name)))
			for _, f := range IBPacket.Fields {
				if strings.HasPrefix(f.Name, "cm_") {
					assert.Equal(t, f.If(&View{Struct: b}), f.Name == part && class == 7, name, class, "has", f.Name)
				}
			}
		}
	}
}
