package opcodes

import (
	"encoding/binary"
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

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
		if shown != c.want {
			t.Errorf("service %d with features %d shows %q, not %q", c.service, c.feats, shown, c.want)
		}
	}
}
