package config

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/track"
)

var le = binary.LittleEndian

var (
	client = lnet.NID4(2<<48 | 192<<24 | 2<<8 | 3)
	other  = lnet.NID4(2<<48 | 192<<24 | 2<<8 | 4)
	mgs    = lnet.NID4(2<<48 | 192<<24 | 2<<8 | 1)
)

// wire makes requests to an MGS and its replies.
type wire struct {
	t     *Tracker
	frame int64
	xid   uint64
}

func newWire() *wire { return &wire{t: New()} }

// rpc passes a request and its reply to the tracker.
func (w *wire) rpc(client lnet.NID, opcode uint32, status int32, request, reply [][]byte) {
	w.xid++
	info := &dissect.RequestInfo{XID: w.xid, Opcode: opcode, Client: client, Server: mgs}
	message := func(kind lnet.Kind, bufs [][]byte) {
		w.frame++
		m := &dissect.Message{Req: info, Msg: &schema.Msg{Bufs: bufs, Opcode: opcode, Reply: kind == lnet.Reply, Status: status}}
		m.Kind, m.Frame, m.Time, m.RPC.Status = kind, w.frame, w.frame*1e6, status
		w.t.Message(m)
	}
	message(lnet.Request, request)
	message(lnet.Reply, reply)
}

// logBody returns a struct llogd_body.
func logBody(object uint64) []byte {
	b := make([]byte, 48)
	le.PutUint64(b, object)
	if object != 0 {
		le.PutUint64(b[8:], 10)
	}
	return b
}

func (w *wire) open(client lnet.NID, name string, object uint64) {
	status := int32(0)
	if object == 0 {
		status = -2
	}
	w.rpc(client, opcodes.LLOG_ORIGIN_HANDLE_CREATE, status, [][]byte{nil, logBody(0), []byte(name + "\x00")}, [][]byte{nil, logBody(object)})
}

func (w *wire) read(client lnet.NID, object uint64, records ...[]byte) {
	w.rpc(client, opcodes.LLOG_ORIGIN_HANDLE_NEXT_BLOCK, 0, [][]byte{nil, logBody(object)}, [][]byte{nil, logBody(object), slices.Concat(records...)})
}

// header passes the header of a log with these records.
func (w *wire) header(client lnet.NID, object uint64, created uint64, indices ...uint32) {
	b := make([]byte, 8192)
	put := func(at int, v uint32) { le.PutUint32(b[at:], v) }
	put(0, 8192)
	put(8, 0x10645539)
	le.PutUint64(b[16:], created)
	put(28, 88)
	var last uint32
	for _, i := range indices {
		b[88+i/8] |= 1 << (i % 8)
		last = max(last, i)
	}
	put(8184, 8192)
	put(8188, last)
	w.rpc(client, opcodes.LLOG_ORIGIN_HANDLE_READ_HEADER, 0, [][]byte{nil, logBody(object)}, [][]byte{nil, b})
}

func words(v ...uint32) (b []byte) {
	for _, v := range v {
		b = le.AppendUint32(b, v)
	}
	return b
}

// logRecord puts header and tail around a body.
func logRecord(index, kind uint32, body []byte) []byte {
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	n := uint32(len(body) + 24)
	return slices.Concat(words(n, index, kind, 0), body, words(n, index))
}

// step returns a record of a configuration log.
func step(index, command uint32, args ...string) []byte {
	b := words(0x1cf60001, command, 0, 0, 0, 0, 0, uint32(len(args)))
	for _, a := range args {
		b = le.AppendUint32(b, uint32(len(a)))
	}
	for _, a := range append([]string{""}, args...) {
		b = append(b, a...)
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
	}
	return logRecord(index, 0x10620000, b)
}

// Commands of records.
const (
	attach  = 0xcf001
	detach  = 0xcf002
	setup   = 0xcf003
	addUUID = 0xcf005
	addConn = 0xcf00b
	addOSC  = 0xcf00d
	delOSC  = 0xcf00e
	param   = 0xcf00f
	newPool = 0xce020
	addPool = 0xce021
	remPool = 0xce022
	delPool = 0xce023
)

// mark returns a marker: flag 1 begins, 2 ends, 4 skips.
func mark(index, number, flags uint32) []byte {
	b := words(number, flags, 0x02110000, 0)
	b = le.AppendUint64(le.AppendUint64(b, 1795248343), 0)
	b = append(b, fmt.Sprintf("%-64s%-64s", "target\x00", "comment\x00")...)
	return step(index, 0xcf010, "", string(b))
}

// section returns records with markers around them.
func section(index, number, skip uint32, records ...func(index uint32) []byte) []byte {
	b := mark(index, number, 1|skip)
	for _, r := range records {
		index++
		b = append(b, r(index)...)
	}
	return append(b, mark(index+1, number, 2|skip)...)
}

func cmd(command uint32, args ...string) func(index uint32) []byte {
	return func(index uint32) []byte { return step(index, command, args...) }
}

// list returns the entries of some kinds, one line each.
func (w *wire) list(kinds ...Kind) string {
	var lines []string
	for _, e := range w.t.Entries(nil) {
		if !slices.Contains(kinds, e.Kind) {
			continue
		}
		text := e.Kind.String()
		switch e.Kind {
		case KindLog:
			text += fmt.Sprintf(" %s %d missing %v replaced %v partial %v", e.Name(), e.Log.Last, e.Log.Missing(), e.Log.Replaced, e.IsPartial())
		case KindStep:
			text = fmt.Sprintf("%d %s %v", e.Step.Index, e.Step.Event, e.Step.State)
			for _, v := range e.Step.Earlier {
				text += " before " + v.Event
			}
		case KindDevice:
			text += fmt.Sprintf(" %v %s %s %v", e.Device.Status, e.Device.Name, e.DeviceUUID(), e.Device.Nodes)
		case KindTarget:
			text += fmt.Sprintf(" %s %s active %v", e.Target.Name(), e.Target.Number, e.Target.Active)
			if e.Target.Device != nil {
				text += " by " + e.Target.Device.Name
			}
		case KindPool:
			text += fmt.Sprintf(" %s.%s %v", e.Pool.FSName, e.Pool.Name, e.Pool.Members)
		case KindParameter:
			text += fmt.Sprintf(" %s %s=%s", e.Parameter.Device, e.Parameter.Name, e.Parameter.Value)
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

func (w *wire) expect(t *testing.T, want string, kinds ...Kind) {
	t.Helper()
	if got := w.list(kinds...); got != strings.TrimSpace(want) {
		t.Errorf("entries\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
}

// TestPicture: failover nodes, pools and parameters; the last value counts, and what is
// skipped does not.
func TestPicture(t *testing.T) {
	w := newWire()
	w.open(client, "lustre-client", 3)
	w.read(client, 3,
		section(1, 1, 0,
			cmd(addUUID, "", "n1\x00", "192.0.2.1@tcp\x00"), cmd(addUUID, "", "n1\x00", "192.0.3.1@tcp1\x00"),
			cmd(attach, "lustre-OST0000-osc\x00", "osc\x00", "lustre-clilov_UUID\x00"),
			cmd(setup, "lustre-OST0000-osc\x00", "lustre-OST0000_UUID\x00", "n1\x00"),
			cmd(addUUID, "", "n2\x00", "192.0.2.2@tcp\x00"), cmd(addConn, "lustre-OST0000-osc\x00", "n2\x00"), cmd(addConn, "lustre-OST0000-osc\x00", "n2\x00"),
			cmd(addOSC, "lustre-clilov\x00", "lustre-OST0000_UUID\x00", "0\x00", "1\x00")),
		section(11, 2, 0, cmd(addOSC, "lustre-clilov\x00", "lustre-OST0001_UUID\x00", "1\x00", "1\x00"), cmd(delOSC, "lustre-clilov\x00", "lustre-OST0001_UUID\x00", "1\x00", "1\x00")),
		section(15, 3, 4, cmd(attach, "skipped\x00", "osc\x00", "u\x00")),
		section(18, 4, 0, cmd(attach, "gone\x00", "osc\x00", "u\x00"), cmd(detach, "gone\x00"), cmd(attach, "only\x00", "osc\x00", "u\x00")),
		section(23, 5, 0, cmd(newPool, "lustre-clilov\x00", "lustre\x00", "a\x00"), cmd(addPool, "lustre-clilov\x00", "lustre\x00", "a\x00", "OST0000_UUID\x00"),
			cmd(addPool, "lustre-clilov\x00", "lustre\x00", "a\x00", "OST0001_UUID\x00"), cmd(remPool, "lustre-clilov\x00", "lustre\x00", "a\x00", "OST0000_UUID\x00"),
			cmd(newPool, "lustre-clilov\x00", "lustre\x00", "b\x00"), cmd(delPool, "lustre-clilov\x00", "lustre\x00", "b\x00"),
			cmd(delPool, "lustre-clilov\x00", "lustre\x00", "c\x00"), cmd(remPool, "lustre-clilov\x00", "lustre\x00", "d\x00", "OST0000_UUID\x00")),
		section(33, 6, 0, cmd(param, "lustre-OST0000-osc\x00", "osc.active=1\x00"), cmd(param, "lustre-OST0000-osc\x00", "osc.active=0\x00"), cmd(param, "lustre-client\x00", "a=1\x00", "b=x=y\x00")),
	)
	w.expect(t, `
log lustre-client 37 missing [] replaced false partial false
device IN lustre-OST0000-osc lustre-clilov_UUID [{n1 [192.0.2.1@tcp 192.0.3.1@tcp1]} {n2 [192.0.2.2@tcp]}]
device AT only u []
target lustre-OST0000 0 active false by lustre-OST0000-osc
pool lustre.a [OST0001_UUID]
parameter lustre-OST0000-osc osc.active=0
parameter lustre-client a=1
parameter lustre-client b=x=y
`, KindLog, KindDevice, KindTarget, KindPool, KindParameter)
}

// TestStates: a record counts when one of the markers of its section is captured and
// none of them skips it.
func TestStates(t *testing.T) {
	a := cmd(attach, "a\x00")
	w := newWire()
	w.open(client, "lustre-client", 3)
	w.header(client, 3, 5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 20)
	w.read(client, 3, a(2), mark(3, 1, 2), section(4, 2, 4, a), mark(7, 3, 1), a(8))
	w.read(client, 3, a(10), mark(11, 3, 2), a(12), mark(13, 4, 1), logRecord(14, 0x10600000, nil), a(15))
	w.read(client, 3, a(20))
	w.expect(t, `
log lustre-client 20 missing [{1 1} {9 9}] replaced false partial true
2 attach in_force
3 marker in_force
4 marker skipped
5 attach skipped
6 marker skipped
7 marker in_force
8 attach in_force
10 attach in_force
11 marker in_force
12 attach cancelled
13 marker in_force
15 attach in_force
20 attach unproven
`, KindLog, KindStep)
}

// TestVersions: a record that the MGS changes, also for another reader; a log that is
// longer when it is read again.
func TestVersions(t *testing.T) {
	w := newWire()
	w.open(client, "params", 2)
	w.read(client, 2, section(1, 1, 0, cmd(newPool, "l\x00", "f\x00", "p\x00")))
	w.open(other, "params", 2)
	w.read(other, 2, section(1, 1, 4, cmd(newPool, "l\x00", "f\x00", "p\x00")), section(4, 2, 0, cmd(delPool, "l\x00", "f\x00", "p\x00")))
	w.expect(t, `
log params 6 missing [] replaced false partial false
1 marker skipped before marker
2 new_pool skipped
3 marker skipped before marker
4 marker in_force
5 del_pool in_force
6 marker in_force
`, KindLog, KindStep, KindPool)
	e := w.t.Entries(nil)[0]
	if len(e.Log.Readers) != 2 || e.Log.Seen[0].Frame != 2 || e.Log.Seen[1].Frame != 8 {
		t.Errorf("readers %v, seen %v", e.Log.Readers, e.Log.Seen)
	}
	for flags := range uint32(100) { // many versions
		w.read(other, 2, mark(1, 1, flags|1))
	}
	if n := len(w.t.Entries(nil)[1].Step.Earlier); n != maxEarlier {
		t.Errorf("%d versions are kept, want %d", n, maxEarlier)
	}
}

// TestLogs: logs that do not exist, that are made anew, and that were opened before the
// capture.
func TestLogs(t *testing.T) {
	w := newWire()
	w.open(client, "none", 0)
	w.open(client, "late", 0)
	w.open(client, "late", 4)
	w.read(client, 4, mark(1, 1, 1))
	w.read(client, 9, mark(1, 1, 1))
	w.open(client, "anew", 5)
	w.header(client, 5, 100, 0, 1)
	w.read(client, 5, mark(1, 1, 1))
	w.header(client, 5, 200, 0, 1)
	w.open(client, "moved", 6)
	w.read(client, 6, mark(1, 1, 1))
	w.open(client, "moved", 7)
	w.open(client, "empty", 8)
	w.header(client, 8, 100, 0)
	w.header(client, 8, 200, 0)
	w.expect(t, `
log none 0 missing [] replaced false partial false
log late 1 missing [] replaced false partial false
log 0xa:9 1 missing [] replaced false partial false
log anew 1 missing [] replaced true partial false
log anew 1 missing [{1 1}] replaced false partial true
log moved 1 missing [] replaced true partial false
log moved 0 missing [] replaced false partial true
log empty 0 missing [] replaced false partial false
`, KindLog)
	w.open(client, "named", 9)
	if got := w.list(KindLog); !strings.Contains(got, "log named 1") || strings.Contains(got, "0xa:9") {
		t.Errorf("a log whose name is captured later:\n%s", got)
	}
}

// TestMount: devices have the uuid of the client when a single one mounted.
func TestMount(t *testing.T) {
	w := newWire()
	w.open(client, "lustre-client", 3)
	w.read(client, 3, section(1, 1, 0, cmd(attach, "lustre-OST0000-osc\x00", "osc\x00", "lustre-clilov_UUID\x00"),
		cmd(setup, "lustre-OST0000-osc\x00", "lustre-OST0000_UUID\x00", "n1\x00"), cmd(addOSC, "lustre-clilov\x00", "lustre-OST0000_UUID\x00", "0\x00", "1\x00")))
	connection := func(node lnet.NID, uuid, target string, at int64) *track.Import {
		c := &track.Connection{ClientUUID: uuid, Client: node, Server: mgs}
		c.SetTarget(target, track.TargetFromConnect)
		return &track.Import{Connection: c, First: track.Point{Frame: at, Time: at}, ConnectParameters: track.ConnectParameters{HasAsked: true}}
	}
	imports := []*track.Import{connection(client, "mgc", "MGS", 1), connection(client, "new", "lustre-OST0000_UUID", 9),
		connection(client, "old", "lustre-OST0000_UUID", 2), connection(other, "x", "lustre-OST0000_UUID", 10), connection(client, "y", "other-OST0000_UUID", 11)}
	uuids := func() (list []string) {
		for _, e := range w.t.Entries(imports) {
			if e.Kind == KindDevice {
				list = append(list, e.Device.Name+" "+e.DeviceUUID())
			}
		}
		return list
	}
	if got, want := fmt.Sprint(uuids()), "[MGC192.0.2.1@tcp mgc lustre-OST0000-osc new]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	w.open(other, "lustre-client", 3)
	if got, want := fmt.Sprint(uuids()), "[lustre-OST0000-osc lustre-clilov_UUID]"; got != want {
		t.Errorf("with two readers %s, want %s", got, want)
	}
}

// TestBounds: an endless capture of logs and records does not grow the state beyond its
// bounds.
func TestBounds(t *testing.T) {
	w := newWire()
	for i := range uint64(maxLogs + 10) {
		w.open(client, fmt.Sprint("log", i), i+1)
	}
	if len(w.t.logs) != maxLogs || w.t.Dropped == 0 {
		t.Errorf("%d logs, %d dropped", len(w.t.logs), w.t.Dropped)
	}
	w = newWire()
	w.open(client, "log", 1)
	for i := uint32(1); i < 20<<20; i += 1 << 20 { // indices far apart
		w.read(client, 1, step(i, attach, "a\x00"))
	}
	if n := len(w.t.Entries(nil)[0].Log.Missing()); n != 19 {
		t.Errorf("%d gaps", n)
	}
	w.t.bytes = maxBytes
	w.read(client, 1, step(2, attach, "a\x00"), step(1, attach, "b\x00"))
	if w.t.Dropped != 2 {
		t.Errorf("%d records dropped, want 2", w.t.Dropped)
	}
}

// TestAgainAllocatesNothing: a log that is read again and has not changed costs no memory
// but for its request.
func TestAgainAllocatesNothing(t *testing.T) {
	w := newWire()
	w.open(client, "log", 1)
	w.read(client, 1, step(1, attach, "a\x00"))
	block := &dissect.Message{Req: &dissect.RequestInfo{XID: w.xid, Opcode: opcodes.LLOG_ORIGIN_HANDLE_NEXT_BLOCK, Client: client, Server: mgs},
		Msg: &schema.Msg{Bufs: [][]byte{nil, logBody(1), step(1, attach, "a\x00")}, Reply: true}}
	block.Kind = lnet.Reply
	if n := testing.AllocsPerRun(100, func() { w.t.Message(block) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

// TestMutatedSamples changes bytes behind the headers of link and IP in the samples that
// have configuration. What a message claims must not lead to a panic, nor to more than
// was sent.
func TestMutatedSamples(t *testing.T) {
	const headers = 34
	for _, name := range []string{"mount", "ip6_mount", "servers", "recovery", "rdma_mount"} {
		for _, path := range wiretest.Samples(t) {
			if !strings.Contains(path, "/"+name+".pcap") {
				continue
			}
			frames := wiretest.ReadSample(t, path)
			for seed := range uint64(20) {
				rnd := rand.New(rand.NewPCG(seed, 2))
				mutated := frames[:0:0]
				for _, f := range frames {
					f.Data = slices.Clone(f.Data)
					for range rnd.IntN(8) {
						if len(f.Data) > headers {
							f.Data[headers+rnd.IntN(len(f.Data)-headers)] = byte(rnd.Uint32())
						}
					}
					mutated = append(mutated, f)
				}
				follow := New()
				wiretest.Play(dissect.New(dissect.Options{Handle: follow.Message}), mutated)
				if n := len(follow.Entries(nil)); n > 1000 {
					t.Errorf("%s: %d entries", path, n)
				}
			}
		}
	}
}

// FuzzRecords: any bytes as a block of a log.
func FuzzRecords(f *testing.F) {
	f.Add(section(1, 1, 0, cmd(attach, "a\x00", "osc\x00", "u\x00"), cmd(setup, "a\x00", "t\x00", "n\x00"), cmd(param, "a\x00", "osc.active=0\x00")))
	f.Add(section(1, 1, 4, cmd(newPool, "l\x00", "f\x00", "p\x00"), cmd(addPool, "l\x00", "f\x00", "p\x00", "o\x00")))
	f.Fuzz(func(t *testing.T, block []byte) {
		w := newWire()
		w.open(client, "log", 1)
		w.read(client, 1, block)
		for _, e := range w.t.Entries(nil) {
			if e.Step != nil {
				e.Step.AppendText(nil, e.Step.Index)
			}
		}
	})
}
