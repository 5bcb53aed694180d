package filter_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

// count runs a filter over a sample.
func count(t *testing.T, path, text string) int {
	t.Helper()
	f := must.Value(filter.Compile(text))(t)
	n := 0
	var m records.Message
	each(t, path, func(msg *dissect.Message) {
		m.Set(msg, 0)
		if f.Match(&m) {
			n++
		}
	})
	return n
}

func each(t testing.TB, path string, handle func(*dissect.Message)) {
	t.Helper()
	wiretest.Play(dissect.New(dissect.Options{Handle: handle}), wiretest.ReadSample(t, path))
}

// TestNamesOfStatuses: a status can be an errno, a number, or the name of one
// that is about locks; a flavour includes the part of the sender.
func TestNamesOfStatuses(t *testing.T) {
	const idle = "../../pcaps/idle.pcap"
	same := [][]string{
		{`kind == reply && pb_status == 301`, `pb_status == LOCK_ABORTED`, `status == ELDLM_LOCK_ABORTED`, `pb_status in {LOCK_ABORTED, ENODATA}`},
		{`kind == reply && pb_status == 0 && pb_opc == LDLM_ENQUEUE`, `pb_status == OK && pb_opc == LDLM_ENQUEUE`},
		{`lm_secflvr`, `lm_secflvr == NULL`, `lm_secflvr < 0x4000000`},
	}
	for _, text := range []string{`lm_secflvr == ANY`, `lm_secflvr == INVALID`} {
		assert.Equal(t, count(t, idle, text), 0, text, "messages")
	}
	if _, err := filter.Compile(`frame < 09`); err == nil {
		t.Error("09 is no number, and no version")
	}
	for _, texts := range same {
		want := count(t, idle, texts[0])
		if want == 0 {
			t.Errorf("%s: nothing", texts[0])
		}
		for _, text := range texts[1:] {
			if got := count(t, idle, text); got != want {
				t.Errorf("%s: %d messages, %s: %d", text, got, texts[0], want)
			}
		}
	}
}

// TestCounts compares filters with the same tests in Go.
func TestCounts(t *testing.T) {
	const mount = "../../pcaps/mount.pcap"
	isRPC := func(m *dissect.Message) bool { return m.RPC.Type != 0 }
	for text, want := range map[string]func(*dissect.Message) bool{
		`kind == request`:                 func(m *dissect.Message) bool { return m.Kind == lnet.Request },
		`kind != request`:                 func(m *dissect.Message) bool { return m.Kind != lnet.Request },
		`kind in {hello, connreq}`:        func(m *dissect.Message) bool { return m.Kind == lnet.Hello || m.Kind == lnet.Connreq },
		`not kind == reply`:               func(m *dissect.Message) bool { return m.Kind != lnet.Reply },
		`pb_opc == MDS_CONNECT`:           func(m *dissect.Message) bool { return isRPC(m) && m.RPC.Opcode == 38 },
		`pb_opc == 38`:                    func(m *dissect.Message) bool { return isRPC(m) && m.RPC.Opcode == 38 },
		`pb_opc eq 0x26`:                  func(m *dissect.Message) bool { return isRPC(m) && m.RPC.Opcode == 38 },
		`pb_opc != MDS_CONNECT`:           func(m *dissect.Message) bool { return isRPC(m) && m.RPC.Opcode != 38 },
		`!(pb_opc == MDS_CONNECT)`:        func(m *dissect.Message) bool { return !isRPC(m) || m.RPC.Opcode != 38 },
		`pb_opc in {OST_CONNECT, 38..40}`: func(m *dissect.Message) bool { o := m.RPC.Opcode; return isRPC(m) && (o == 8 || o >= 38 && o <= 40) },
		`pb_opc`:                          isRPC,
		`opcode == MGS_CONFIG_READ`:       func(m *dissect.Message) bool { return m.RPC.HasOpcode && m.RPC.Opcode == 256 },
		`pb_status == ENOENT`:             func(m *dissect.Message) bool { return isRPC(m) && (m.RPC.Status == -2 || m.RPC.Status == 2) },
		`pb_status == -2`:                 func(m *dissect.Message) bool { return isRPC(m) && m.RPC.Status == -2 },
		`pb_status < 0`:                   func(m *dissect.Message) bool { return isRPC(m) && m.RPC.Status < 0 },
		`pb_type == 4711 and lnet`:        func(m *dissect.Message) bool { return m.RPC.Type == 4711 },
		`frame <= 40`:                     func(m *dissect.Message) bool { return m.Frame <= 40 },
		`frame in {1..20, 30..40}`:        func(m *dissect.Message) bool { return m.Frame <= 20 || m.Frame >= 30 && m.Frame <= 40 },
		`frame > 10 && frame < 20`:        func(m *dissect.Message) bool { return m.Frame > 10 && m.Frame < 20 },
		`frame < 10 || frame > 100`:       func(m *dissect.Message) bool { return m.Frame < 10 || m.Frame > 100 },
		`lnet.src_nid == 192.0.2.3@tcp`:   func(m *dissect.Message) bool { return m.LNetOff >= 0 && m.LNet.Src.String() == "192.0.2.3@tcp" },
		`lnet.src_nid != 192.0.2.3@tcp`:   func(m *dissect.Message) bool { return m.LNetOff >= 0 && m.LNet.Src.String() != "192.0.2.3@tcp" },
		`lnet.dest_nid == 192.0.2.0/31@tcp`: func(m *dissect.Message) bool {
			s := m.LNet.Dst.String()
			return m.LNetOff >= 0 && (s == "192.0.2.0@tcp" || s == "192.0.2.1@tcp")
		},
		`lnet.dest_nid == 192.0.2.0/24@o2ib`: func(m *dissect.Message) bool { return false },
		`lnet.dest_nid == 192.0.2.1`:         func(m *dissect.Message) bool { return m.LNetOff >= 0 && m.LNet.Dst.String() == "192.0.2.1@tcp" },
		`src == 192.0.2.3`:                   func(m *dissect.Message) bool { return m.Src.Addr().String() == "192.0.2.3" },
		`dst == 192.0.2.1:988`:               func(m *dissect.Message) bool { return m.Dst.String() == "192.0.2.1:988" },
		`src contains "192.0.2.3:"`:          func(m *dissect.Message) bool { return m.Src.Addr().String() == "192.0.2.3" },
		`lnet.payload_length >= 1k`:          func(m *dissect.Message) bool { return m.LNetOff >= 0 && m.LNet.Length >= 1024 },
		`ptl_index == 12`: func(m *dissect.Message) bool {
			return m.LNet.Portal == 12 && m.LNetOff >= 0 && m.LNet.Type != lnet.TypeAck
		},
		`rpc.latency >= 0s`: func(m *dissect.Message) bool { return m.Kind == lnet.Reply && m.Req != nil },
		`rpc.latency > 1ms`: func(m *dissect.Message) bool {
			return m.Kind == lnet.Reply && m.Req != nil && m.Time-m.Req.Time > 1e6
		},
		`conn == 0`:                        func(m *dissect.Message) bool { return m.Conn == 0 },
		`xid`:                              func(m *dissect.Message) bool { return m.RPC.HasXID },
		`target_uuid contains "MDT"`:       func(m *dissect.Message) bool { return m.Kind == lnet.Request && m.RPC.Opcode == 38 },
		`target_uuid matches "OST000[01]"`: func(m *dissect.Message) bool { return m.Kind == lnet.Request && m.RPC.Opcode == 8 },
		`target_uuid == "MGS"`:             func(m *dissect.Message) bool { return m.Kind == lnet.Request && m.RPC.Opcode == 250 },
		`target_uuid == MGS`:               func(m *dissect.Message) bool { return m.Kind == lnet.Request && m.RPC.Opcode == 250 },
		`ocd_connect_flags.GRANT && kind == request`:                       func(m *dissect.Message) bool { return connectFlags(m)&8 != 0 },
		`ocd_connect_flags contains OBD_CONNECT_GRANT and kind == request`: func(m *dissect.Message) bool { return connectFlags(m)&8 != 0 },
		`ocd_connect_flags & 0x8 and kind == request`:                      func(m *dissect.Message) bool { return connectFlags(m)&8 != 0 },
		`connect_data.ocd_version == 2.17.0.0`: func(m *dissect.Message) bool {
			return (m.RPC.Opcode == 8 || m.RPC.Opcode == 38 || m.RPC.Opcode == 250) && isRPC(m)
		},
		`obd_connect_data.ocd_version >= 2.17`: func(m *dissect.Message) bool {
			return (m.RPC.Opcode == 8 || m.RPC.Opcode == 38 || m.RPC.Opcode == 250) && isRPC(m)
		},
		`pb_opc==MDS_CONNECT||pb_opc==OST_CONNECT`:                                  func(m *dissect.Message) bool { return isRPC(m) && (m.RPC.Opcode == 38 || m.RPC.Opcode == 8) },
		`pb_opc==MDS_CONNECT&&kind==reply`:                                          func(m *dissect.Message) bool { return m.RPC.Opcode == 38 && m.Kind == lnet.Reply },
		`pb_flags==RESENT|REPLAY||pb_opc==0x26`:                                     func(m *dissect.Message) bool { return isRPC(m) && m.RPC.Opcode == 38 },
		`xid == x1882453915467904`:                                                  func(m *dissect.Message) bool { return m.RPC.HasXID && m.RPC.XID == 1882453915467904 },
		`xid in {x1882453915467904, 1}`:                                             func(m *dissect.Message) bool { return m.RPC.HasXID && m.RPC.XID == 1882453915467904 },
		`time >= 2026-11-21T08:06:42.326974Z`:                                       func(m *dissect.Message) bool { return m.Time >= 1795248402326974000 },
		`time < "2026-11-21T08:06:43Z"`:                                             func(m *dissect.Message) bool { return m.Time < 1795248403*1e9 },
		`time == 1795248402.326974`:                                                 func(m *dissect.Message) bool { return m.Time == 1795248402326974000 },
		`time > "` + time.Unix(1795248403, 0).Format("2006-01-02 15:04:05") + `.5"`: func(m *dissect.Message) bool { return m.Time > 1795248403500000000 },
		`error == "ENOENT"`:                                                         func(m *dissect.Message) bool { return m.Kind == lnet.Reply && m.RPC.Status == -2 },
	} {
		t.Run(text, func(t *testing.T) {
			expected := 0
			each(t, mount, func(m *dissect.Message) {
				if want(m) {
					expected++
				}
			})
			assert.Equal(t, count(t, mount, text), expected, "messages match")
		})
	}
}

// TestFID: fid finds a FID in each field of a message, wherever it is.
func TestFID(t *testing.T) {
	const sample = "../../pcaps/metadata.pcap.zst"
	const root = "[0x200000007:0x1:0x0]"
	f := must.Value(filter.Compile(`fid == ` + root))(t)
	bare := must.Value(filter.Compile(`fid==` + strings.Trim(root, "[]") + `||fid == 1:2:3`))(t)
	places := map[string]int{} // messages by field
	var m records.Message
	each(t, sample, func(msg *dissect.Message) {
		m.Set(msg, 0)
		found := false
		tree := m.Tree()
		for i := range tree.Nodes {
			n := &tree.Nodes[i]
			if text := string(tree.Bytes(n)); n.Field.Kind == schema.Virtual && text == root ||
				n.Field.Format == schema.FID && string(schema.AppendFIDBytes(nil, []byte(text), n.Is(dissect.BigEndian))) == root {
				found = true
				places[n.Name()]++
			}
		}
		got := f.Match(&m)
		assert.That(t, got == found && bare.Match(&m) == found, "frame %d: match %v, want %v", msg.Frame, got, found)
	})
	for _, name := range []string{"mbo_fid1", "gf_fid", "text"} {
		assert.That(t, places[name] != 0, "no %s is %s: %v", name, root, places)
	}
}

// connectFlags returns the flags of a connect request, which begin its fifth
// buffer.
func connectFlags(m *dissect.Message) uint64 {
	o := m.RPC.Opcode
	if m.Kind != lnet.Request || o != 8 && o != 38 && o != 250 {
		return 0
	}
	b := m.Payload()
	at := (32 + 4*int(binary.LittleEndian.Uint32(b)) + 7) &^ 7
	for i := range 4 {
		at += int(binary.LittleEndian.Uint32(b[32+4*i:])+7) &^ 7
	}
	return binary.LittleEndian.Uint64(b[at:])
}

// TestMistakes checks where errors point and what they offer.
func TestMistakes(t *testing.T) {
	for _, tt := range []struct {
		text string
		col  int
		hint string
	}{
		{``, 0, ""},
		{`pb_opcc == 3`, 0, "pb_opc"},
		{`pb_opc == MDS_CONECT`, 10, "MDS_CONNECT"},
		{`pb_opc = 3`, 7, ""},
		{`pb_opc == `, 10, ""},
		{`(pb_opc == 3`, 12, ""},
		{`pb_opc == 3)`, 11, ""},
		{`pb_opc == 3 pb_type`, 12, ""},
		{`pb_opc in 3`, 10, ""},
		{`pb_opc in {3 4}`, 13, ""},
		{`pb_opc in {3, }`, 14, ""},
		{`frame in {5..1}`, 13, ""},
		{`pb_status in {2..-2}`, 17, ""},
		{`ocd_connect_flags.GRAND`, 18, "GRANT"},
		{`name matches "("`, 13, ""},
		{`name == "abc`, 8, ""},
		{`mbo_fid1 == [0x1:2`, 12, ""},
		{`and pb_opc`, 0, ""},
		{`pb_opc == 3 and`, 15, ""},
		{`pb_status == ENOEND`, 13, "ENOENT"},
		{`lnet.src_nid == 1.2.3`, 16, ""},
		{`ocd_connect_flags.GRANT == 1`, 24, ""},
		{`$pb`, 0, ""},
		{`ip.addr == 192.0.2.1`, 0, "lnet.src_nid"},
		{`tcp.port == 988`, 0, "src matches"},
		{`frame.number == 3`, 6, "use frame"},
		{`frame.time_relative < 3`, 6, "use rel"},
		{`lustre.pb_opc == 3`, 0, "did you mean pb_opc?"},
		{`lustre.ost_body == 1`, 0, "did you mean ost_body?"},
		{`lustre.ptlrpc_body.pb_opc == 3`, 0, "did you mean ptlrpc_body.pb_opc?"},
		{`lustre.mdt_body.fid1`, 0, "did you mean mbo_fid1?"},
		{`lustre.xattr_list`, 0, ""},
		{`lustre.zzzzzzzz`, 0, "lshark fields"},
		{`sends == 2`, 0, "rpc.sends is a key of RPCs: use lshark rpcs"},
		{`rpc.sends == 2`, 0, "use lshark rpcs"},
		{`rpc.fid`, 0, "use lshark rpcs"},
		{`frame == x12`, 9, ""},
		{`frame == client.pcap:2925`, 9, `use file == "client.pcap" && frame == 2925`},
		{`kind == reply && frame < a/oss.pcap:7`, 25, `use file == "a/oss.pcap" && frame == 7`},
		{`xid == x12a`, 7, ""},
		{`time > 0.5`, 7, "rel is the time since the first frame"},
		{`time > 12:00:00`, 7, "2026-11-21T08:06:41"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			_, err := filter.Compile(tt.text)
			var e *filter.Error
			must.That(t, errors.As(err, &e), "got %v, want a filter error", err)
			assert.Equal(t, e.Col, tt.col, "points at column", e.Msg)
			assert.Contains(t, e.Hint, tt.hint, "hint")
			if e.Error() == "" || strings.Count(e.Error(), "\n") < 2 {
				t.Errorf("error text %q does not show the place", e.Error())
			}
		})
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{`pb_opc == 3`, `a in {1..2}`, `not (x or y)`, `"\x4`, `[`, `name contains "\xff"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var e *filter.Error
		if _, err := filter.Compile(text); err != nil && (!errors.As(err, &e) || e.Error() == "") {
			t.Errorf("%q: %v", text, err)
		}
	})
}

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
			return opcodes.IsConnect(r.Opcode) && r.HasReply && r.Status == 0
		},
	} {
		t.Run(text, func(t *testing.T) {
			f := must.Value(filter.CompileRPC(text))(t)
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
			assert.Equal(t, got, expected, "RPCs match")
		})
	}
}

func TestRPCMistakes(t *testing.T) {
	_, err := filter.Compile(`rpc.sends == 2`)
	var e *filter.Error
	assert.That(t, errors.As(err, &e) && e.Col == 0 && strings.Contains(e.Hint, "lshark rpcs"), "over messages: %v", err)
	_, err = filter.CompileRPC(`rpc.latency > 1ms and rpc.flags.RESEND`)
	assert.That(t, errors.As(err, &e) && e.Col == 32 && strings.Contains(e.Hint, "RESENT"), "a flag that does not exist: %v", err)
	const most = 64 // comparisons with messages
	many := strings.Repeat("pb_opc == 3 or ", most) + "pb_opc == 3"
	if _, err = filter.CompileRPC(many); !errors.As(err, &e) {
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
		if f, err := filter.Compile(text); err != nil || f.Match(&m) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if f, err := filter.Compile("buffers.niobuf_remote.rnb_len == 0"); err != nil || !f.Match(&m) {
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
		f := must.Value(filter.Compile(text))(t)
		var m records.Message
		n := testing.AllocsPerRun(3, func() {
			for i := range msgs.Len() {
				m.Set(msgs.At(i), 0)
				f.Match(&m)
			}
		})
		assert.That(t, n == 0, "%s: %v allocations for %d messages", name, n, msgs.Len())
	}
}
