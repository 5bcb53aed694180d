package rules

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
)

// scene makes messages as a dissector would, for an Engine with all rules.
type scene struct {
	t     *testing.T
	e     *diagnose.Engine
	now   int64
	frame int64
	xid   uint64
}

// The nodes of scenes.
var (
	mgs   = messages.NID(1)
	oss   = messages.NID(2)
	node3 = messages.NID(3)
	node4 = messages.NID(4)
)

func newScene(t *testing.T) *scene {
	return &scene{t: t, e: diagnose.New(diagnose.Options{Rules: All()}), now: 1e18, xid: 1 << 50}
}

// pass lets seconds pass.
func (s *scene) pass(seconds float64) { s.now += int64(seconds * 1e9) }

// message is what changes fill in.
type message = dissect.Message

type change = messages.Change

func (s *scene) send(kind lnet.Kind, from, to lnet.NID, opcode uint32, changes []change) {
	s.frame++
	s.now += 1e6
	m := messages.New(kind, from, to, s.xid, opcode, changes...)
	m.Frame, m.Time = s.frame, s.now
	s.e.Message(m)
}

// rpc sends a request; rep nil leaves it without a reply.
func (s *scene) rpc(client, server lnet.NID, opcode uint32, req, rep []change) {
	s.xid += 128
	s.send(lnet.Request, client, server, opcode, req)
	if rep != nil {
		s.send(lnet.Reply, server, client, opcode, rep)
	}
}

func (s *scene) connect(client, server lnet.NID, target string, req, rep []change) {
	opcode := uint32(opcodes.OST_CONNECT)
	switch {
	case target == "MGS":
		opcode = opcodes.MGS_CONNECT
	case strings.Contains(target, "-MDT"):
		opcode = opcodes.MDS_CONNECT
	}
	s.rpc(client, server, opcode, append([]change{to(target, client.String()+target)}, req...), rep)
}

// mounted connects a client that caches something.
func (s *scene) mounted(client, server lnet.NID, target string, handle uint64) {
	s.connect(client, server, target, []change{connCnt(1), opFlags(opInitial)}, []change{withHandle(handle), granted(7)})
	s.work(client, server, handle)
}

// work sends a request that changes something.
func (s *scene) work(client, server lnet.NID, handle uint64) {
	s.rpc(client, server, opcodes.OST_WRITE, []change{withHandle(handle)}, []change{withHandle(handle), func(m *dissect.Message) { m.RPC.Transno = s.xid }})
}

func (s *scene) ping(client, server lnet.NID, handle uint64, rep ...change) {
	s.rpc(client, server, opcodes.OBD_PING, []change{withHandle(handle)}, append([]change{withHandle(handle)}, rep...))
}

// end closes the capture and returns the findings as "severity code: text".
func (s *scene) end() (list []string) {
	s.t.Helper()
	s.e.Close()
	for _, f := range s.e.Findings() {
		list = append(list, f.Severity.String()+" "+f.Rule.Code+": "+f.Text)
		if len(f.Evidence) == 0 && !f.AboutCapture() {
			s.t.Errorf("%s has no evidence", f.Rule.Code)
		}
	}
	return list
}

// expect ends the scene and compares what the findings begin with.
func (s *scene) expect(want ...string) {
	s.t.Helper()
	got := s.end()
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	if !ok {
		s.t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var opInitial = uint32(opcodes.MsgConnectFlags.Bit("INITIAL"))

func to(target, client string) change {
	return func(m *dissect.Message) {
		const version = 0x02110000
		m.Msg.Bufs = [][]byte{m.Msg.Bufs[0], []byte(target + "_UUID\x00"), []byte(client + "\x00"),
			binary.LittleEndian.AppendUint64(nil, 0xc11e47), wiretest.ConnectData(opcodes.ObdConnectFlags.Bit("VERSION"), version)}
	}
}

// instance sets the instance that a connect request has of a target.
func instance(n uint32) change {
	return func(m *dissect.Message) {
		binary.LittleEndian.PutUint32(m.Msg.Bufs[4][opcodes.ObdConnectData.Field("ocd_instance").Off:], n)
	}
}

// granted sets the connect data of a reply, with the instance of the target.
func granted(n uint32) change {
	return func(m *dissect.Message) {
		data := wiretest.ConnectData(0, 0)
		binary.LittleEndian.PutUint32(data[opcodes.ObdConnectData.Field("ocd_instance").Off:], n)
		m.Msg.Bufs = append(m.Msg.Bufs, data)
	}
}

var withHandle, opFlags, connCnt, status, pbFlags = messages.Handle, messages.OpFlags, messages.ConnCnt, messages.Status, messages.Flags
