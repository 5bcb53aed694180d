package filter

import (
	"errors"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/records"
)

// TestRPCCounts compares filters over RPCs with what the records say.
func TestRPCCounts(t *testing.T) {
	const sample = "../../pcaps/mount.pcap"
	for text, want := range map[string]func(*track.RPC) bool{
		`rpc.latency > 10ms`:               func(r *track.RPC) bool { ns, ok := r.Latency(); return ok && ns > 10e6 },
		`not rpc.latency > 10ms`:           func(r *track.RPC) bool { ns, ok := r.Latency(); return !ok || ns <= 10e6 },
		`rpc.target == "MGS"`:              func(r *track.RPC) bool { return r.Target() == "MGS" },
		`rpc.target`:                       func(r *track.RPC) bool { return r.Target() != "" },
		`rpc.opcode == OBD_PING`:           func(r *track.RPC) bool { return r.Opcode == opcodes.OBD_PING },
		`rpc.status == ENOENT`:             func(r *track.RPC) bool { return r.HasReply && r.Status == -2 },
		`rpc.error == "ENOENT"`:            func(r *track.RPC) bool { return r.HasReply && r.Status == -2 },
		`rpc.bulk_bytes >= 4k`:             func(r *track.RPC) bool { return r.BulkBytes() >= 4096 },
		`rpc.unanswered`:                   (*track.RPC).Unanswered,
		`rpc.server == 192.0.2.2@tcp`:      func(r *track.RPC) bool { return r.Server.String() == "192.0.2.2@tcp" },
		`rpc.fid == [0x200000007:0x1:0x0]`: func(r *track.RPC) bool { return r.FID == track.FID{Seq: 0x200000007, OID: 1} },
		`fid == [0x200000007:0x1:0x0] and rpc.fid == [0x200000007:0x1:0x0]`: func(r *track.RPC) bool { return r.FID == track.FID{Seq: 0x200000007, OID: 1} },
		`xid == x1882453915467904`:            func(r *track.RPC) bool { return r.XID == 1882453915467904 },
		`rpc.xid == x1882453915467904`:        func(r *track.RPC) bool { return r.XID == 1882453915467904 },
		`rpc.sends > 1`:                       func(r *track.RPC) bool { return r.Sends > 1 },
		`rpc.flags.REPLAY`:                    (*track.RPC).Replay,
		`pb_opc == MDS_CONNECT`:               func(r *track.RPC) bool { return r.Opcode == opcodes.MDS_CONNECT },
		`kind == bulk`:                        func(r *track.RPC) bool { return r.BulkBytes() > 0 },
		`kind == bulk and kind == reply`:      func(r *track.RPC) bool { return r.BulkBytes() > 0 && r.HasReply },
		`not kind == bulk`:                    func(r *track.RPC) bool { return r.BulkBytes() == 0 },
		`kind == bulk and rpc.latency > 20ms`: func(r *track.RPC) bool { ns, _ := r.Latency(); return r.BulkBytes() > 0 && ns > 20e6 },
		`ocd_version and rpc.status == 0`: func(r *track.RPC) bool {
			return track.IsConnect(r.Opcode) && r.HasReply && r.Status == 0
		},
	} {
		t.Run(text, func(t *testing.T) {
			f, err := CompileRPC(text)
			must.NoError(t, err)
			got, expected := 0, 0
			rpcs := track.NewPairing(track.Options{Done: func(r *track.RPC) {
				if f.Match(r) {
					got++
				}
				if want(r) {
					expected++
				}
			}})
			var m records.Message
			each(t, sample, func(msg *dissect.Message) {
				m.Set(msg, 0)
				if r := rpcs.Message(msg); r != nil {
					f.Mark(&m, r)
				}
			})
			rpcs.Close()
			if got != expected {
				t.Errorf("%d RPCs match, want %d", got, expected)
			}
		})
	}
}

func TestRPCMistakes(t *testing.T) {
	_, err := Compile(`rpc.sends == 2`)
	var e *Error
	if !errors.As(err, &e) || e.Col != 0 || !strings.Contains(e.Hint, "lshark rpcs") {
		t.Errorf("over messages: %v", err)
	}
	_, err = CompileRPC(`rpc.latency > 1ms and rpc.flags.RESEND`)
	if !errors.As(err, &e) || e.Col != 32 || !strings.Contains(e.Hint, "RESENT") {
		t.Errorf("a flag that does not exist: %v", err)
	}
	many := strings.Repeat("pb_opc == 3 or ", maxMessageTests) + "pb_opc == 3"
	if _, err = CompileRPC(many); !errors.As(err, &e) {
		t.Errorf("too many comparisons: %v", err)
	}
}

// write is an OST_WRITE request with many remote niobufs.
func write(niobufs int) *dissect.Message {
	data := wiretest.Msg(wiretest.Body(wiretest.TypeRequest, opcodes.OST_WRITE), make([]byte, 208), make([]byte, 24), make([]byte, 16*niobufs))
	m := &dissect.Message{Message: lnet.Message{Kind: lnet.Request, Data: data, Size: len(data), LNetOff: -1}}
	m.RPC = dissect.RPC{HasOpcode: true, Opcode: opcodes.OST_WRITE, Type: dissect.TypeRequest}
	return m
}

// TestPathsOfManyElements: what lies around each element of a long array is
// known. With a look at those before it, it takes a long time.
func TestPathsOfManyElements(t *testing.T) {
	var m records.Message
	m.Set(write(32000), 0)
	for _, text := range []string{"rnb_len == 1", "buffers.rnb_len == 1", "niobuf_remote.rnb_len == 1", "lustre_msg.rnb_len == 0"} {
		if f, err := Compile(text); err != nil || f.Match(&m) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if f, err := Compile("buffers.niobuf_remote.rnb_len == 0"); err != nil || !f.Match(&m) {
		t.Errorf("nothing is found by a path: %v", err)
	}
}

// filters are one that a probe answers and one that needs the tree.
var filters = map[string]string{
	"Probe": "pb_opc == MDS_CLOSE && pb_status == 0",
	"Tree":  "mbo_size > 1M || name contains \"tmp\"",
	"FID":   "fid == [0x1:0x1:0x0]",
}

func metadata(t testing.TB) *dissect.Arena {
	msgs := &dissect.Arena{}
	each(t, "../../pcaps/metadata.pcap.zst", msgs.Add)
	return msgs
}

// TestNoAllocations: once the tree is large enough, a message costs none.
func TestNoAllocations(t *testing.T) {
	msgs := metadata(t)
	for name, text := range filters {
		f, err := Compile(text)
		must.NoError(t, err)
		var m records.Message
		n := testing.AllocsPerRun(3, func() {
			for i := range msgs.Len() {
				m.Set(msgs.At(i), 0)
				f.Match(&m)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations for %d messages", name, n, msgs.Len())
		}
	}
}
