package config

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

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

func newWire() *wire {
	opcodes.ByOpcode(opcodes.LLOG_ORIGIN_HANDLE_CREATE) // offsets of fields are computed for the first operation
	return &wire{t: New()}
}

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

func (w *wire) open(client lnet.NID, name string, object uint64) {
	status := int32(0)
	if object == 0 {
		status = -2
	}
	w.rpc(client, opcodes.LLOG_ORIGIN_HANDLE_CREATE, status, [][]byte{nil, wiretest.LogBody(0), []byte(name + "\x00")}, [][]byte{nil, wiretest.LogBody(object)})
}

func (w *wire) read(client lnet.NID, object uint64, records ...[]byte) {
	w.rpc(client, opcodes.LLOG_ORIGIN_HANDLE_NEXT_BLOCK, 0, [][]byte{nil, wiretest.LogBody(object)}, [][]byte{nil, wiretest.LogBody(object), slices.Concat(records...)})
}

// header passes the header of a log with these records.
func (w *wire) header(client lnet.NID, object uint64, created uint64, indices ...uint32) {
	w.rpc(client, opcodes.LLOG_ORIGIN_HANDLE_READ_HEADER, 0, [][]byte{nil, wiretest.LogBody(object)}, [][]byte{nil, wiretest.LogHeader(created, indices...)})
}

// headerUpTo passes the header of a log with all records up to one.
func (w *wire) headerUpTo(client lnet.NID, object uint64, last uint32) {
	var indices []uint32
	for i := range last + 1 {
		indices = append(indices, i)
	}
	w.header(client, object, 1795248343, indices...)
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
			text += fmt.Sprintf(" %s %d missing %v replaced %v partial %v", e.Name(), e.Log.Last, e.Log.Missing, e.Log.Replaced, e.IsPartial())
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
	w.headerUpTo(client, 3, 37)
	w.read(client, 3,
		wiretest.ConfigSection(1, 1, 0,
			wiretest.Config(wiretest.ConfigAddUUID, "", "n1", "192.0.2.1@tcp"), wiretest.Config(wiretest.ConfigAddUUID, "", "n1", "192.0.3.1@tcp1"),
			wiretest.Config(wiretest.ConfigAttach, "lustre-OST0000-osc", "osc", "lustre-clilov_UUID"),
			wiretest.Config(wiretest.ConfigSetup, "lustre-OST0000-osc", "lustre-OST0000_UUID", "n1"),
			wiretest.Config(wiretest.ConfigAddUUID, "", "n2", "192.0.2.2@tcp"), wiretest.Config(wiretest.ConfigAddConn, "lustre-OST0000-osc", "n2"), wiretest.Config(wiretest.ConfigAddConn, "lustre-OST0000-osc", "n2"),
			wiretest.Config(wiretest.ConfigAddOSC, "lustre-clilov", "lustre-OST0000_UUID", "0", "1")),
		wiretest.ConfigSection(11, 2, 0, wiretest.Config(wiretest.ConfigAddOSC, "lustre-clilov", "lustre-OST0001_UUID", "1", "1"), wiretest.Config(wiretest.ConfigDelOSC, "lustre-clilov", "lustre-OST0001_UUID", "1", "1")),
		wiretest.ConfigSection(15, 3, 4, wiretest.Config(wiretest.ConfigAttach, "skipped", "osc", "u")),
		wiretest.ConfigSection(18, 4, 0, wiretest.Config(wiretest.ConfigAttach, "gone", "osc", "u"), wiretest.Config(wiretest.ConfigDetach, "gone"), wiretest.Config(wiretest.ConfigAttach, "only", "osc", "u")),
		wiretest.ConfigSection(23, 5, 0, wiretest.Config(wiretest.ConfigNewPool, "lustre-clilov", "lustre", "a"), wiretest.Config(wiretest.ConfigAddPool, "lustre-clilov", "lustre", "a", "OST0000_UUID"),
			wiretest.Config(wiretest.ConfigAddPool, "lustre-clilov", "lustre", "a", "OST0001_UUID"), wiretest.Config(wiretest.ConfigRemPool, "lustre-clilov", "lustre", "a", "OST0000_UUID"),
			wiretest.Config(wiretest.ConfigNewPool, "lustre-clilov", "lustre", "b"), wiretest.Config(wiretest.ConfigDelPool, "lustre-clilov", "lustre", "b"),
			wiretest.Config(wiretest.ConfigDelPool, "lustre-clilov", "lustre", "c"), wiretest.Config(wiretest.ConfigRemPool, "lustre-clilov", "lustre", "d", "OST0000_UUID")),
		wiretest.ConfigSection(33, 6, 0, wiretest.Config(wiretest.ConfigParam, "lustre-OST0000-osc", "osc.active=1"), wiretest.Config(wiretest.ConfigParam, "lustre-OST0000-osc", "osc.active=0"), wiretest.Config(wiretest.ConfigParam, "lustre-client", "a=1", "b=x=y")),
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
	a := wiretest.Config(wiretest.ConfigAttach, "a")
	w := newWire()
	w.open(client, "lustre-client", 3)
	w.header(client, 3, 5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 20)
	w.read(client, 3, a(2), wiretest.ConfigMarker(3, 1, 2), wiretest.ConfigSection(4, 2, 4, a), wiretest.ConfigMarker(7, 3, 1), a(8))
	w.read(client, 3, a(10), wiretest.ConfigMarker(11, 3, 2), a(12), wiretest.ConfigMarker(13, 4, 1), wiretest.LogRecord(14, 0x10600000, nil), a(15))
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
	w.read(client, 2, wiretest.ConfigSection(1, 1, 0, wiretest.Config(wiretest.ConfigNewPool, "l", "f", "p")))
	w.open(other, "params", 2)
	w.read(other, 2, wiretest.ConfigSection(1, 1, 4, wiretest.Config(wiretest.ConfigNewPool, "l", "f", "p")), wiretest.ConfigSection(4, 2, 0, wiretest.Config(wiretest.ConfigDelPool, "l", "f", "p")))
	w.expect(t, `
log params 6 missing [] replaced false partial true
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
		w.read(other, 2, wiretest.ConfigMarker(1, 1, flags|1))
	}
	assert.Equal(t, len(w.t.Entries(nil)[1].Step.Earlier), maxEarlier, "versions are kept")
}

// TestLogs: logs that do not exist, that are made anew, and that were opened before the
// capture.
func TestLogs(t *testing.T) {
	w := newWire()
	w.open(client, "none", 0)
	w.open(client, "late", 0)
	w.open(client, "late", 4)
	w.read(client, 4, wiretest.ConfigMarker(1, 1, 1))
	w.read(client, 9, wiretest.ConfigMarker(1, 1, 1))
	w.open(client, "anew", 5)
	w.header(client, 5, 100, 0, 1)
	w.read(client, 5, wiretest.ConfigMarker(1, 1, 1))
	w.header(client, 5, 200, 0, 1)
	w.open(client, "moved", 6)
	w.read(client, 6, wiretest.ConfigMarker(1, 1, 1))
	w.open(client, "moved", 7)
	w.open(client, "empty", 8)
	w.header(client, 8, 100, 0)
	w.header(client, 8, 200, 0)
	w.expect(t, `
log none 0 missing [] replaced false partial false
log late 1 missing [] replaced false partial true
log 0xa:9 1 missing [] replaced false partial true
log anew 1 missing [] replaced true partial false
log anew 1 missing [{1 1}] replaced false partial true
log moved 1 missing [] replaced true partial true
log moved 0 missing [] replaced false partial true
log empty 0 missing [] replaced false partial false
`, KindLog)
	w.open(client, "named", 9)
	got := w.list(KindLog)
	assert.That(t, strings.Contains(got, "log named 1") && !strings.Contains(got, "0xa:9"), "a log whose name is captured later:\n%s", got)
}

// TestMount: devices have the uuid of the client when a single one mounted.
func TestMount(t *testing.T) {
	w := newWire()
	w.open(client, "lustre-client", 3)
	w.read(client, 3, wiretest.ConfigSection(1, 1, 0, wiretest.Config(wiretest.ConfigAttach, "lustre-OST0000-osc", "osc", "lustre-clilov_UUID"),
		wiretest.Config(wiretest.ConfigSetup, "lustre-OST0000-osc", "lustre-OST0000_UUID", "n1"), wiretest.Config(wiretest.ConfigAddOSC, "lustre-clilov", "lustre-OST0000_UUID", "0", "1")))
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
	assert.Equal(t, fmt.Sprint(uuids()), "[MGC192.0.2.1@tcp mgc lustre-OST0000-osc new]")
	w.open(other, "lustre-client", 3)
	assert.Equal(t, fmt.Sprint(uuids()), "[lustre-OST0000-osc lustre-clilov_UUID]", "with two readers")
}

// TestBounds: an endless capture of logs and records does not grow the state beyond its
// bounds.
func TestBounds(t *testing.T) {
	w := newWire()
	for i := range uint64(maxLogs + 10) {
		w.open(client, fmt.Sprint("log", i), i+1)
	}
	assert.That(t, len(w.t.logs) == maxLogs && w.t.Dropped != 0, "%d logs, %d dropped", len(w.t.logs), w.t.Dropped)
	w = newWire()
	w.open(client, "log", 1)
	for i := uint32(1); i < 20<<20; i += 1 << 20 { // indices far apart
		w.read(client, 1, wiretest.ConfigRecord(i, wiretest.ConfigAttach, "a"))
	}
	assert.Equal(t, len(w.t.Entries(nil)[0].Log.Missing), 19, "gaps")
	w.t.bytes = maxBytes
	w.read(client, 1, wiretest.ConfigRecord(2, wiretest.ConfigAttach, "a"), wiretest.ConfigRecord(1, wiretest.ConfigAttach, "b"))
	assert.Equal(t, w.t.Dropped, 2, "records dropped, want 2")
}

// TestManyRecords: the time for a log grows with its records, with markers or without.
func TestManyRecords(t *testing.T) {
	w := newWire()
	w.open(client, "log", 1)
	const records = 100_000
	for i := uint32(1); i < records; i += 100 {
		var block []byte
		for k := range uint32(99) {
			block = append(block, wiretest.ConfigRecord(i+k, wiretest.ConfigAttach, fmt.Sprint("d", i+k), "osc", "u")...)
		}
		w.read(client, 1, block)
	}
	began := time.Now()
	if n := len(w.t.Entries(nil)); n != 1+records/100*99 || time.Since(began) > 20*time.Second {
		t.Errorf("%d entries in %v", n, time.Since(began))
	}
}

// TestAgainAllocatesNothing: a log that is read again and has not changed costs no memory
// but for its request.
func TestAgainAllocatesNothing(t *testing.T) {
	w := newWire()
	w.open(client, "log", 1)
	w.read(client, 1, wiretest.ConfigRecord(1, wiretest.ConfigAttach, "a"))
	block := &dissect.Message{Req: &dissect.RequestInfo{XID: w.xid, Opcode: opcodes.LLOG_ORIGIN_HANDLE_NEXT_BLOCK, Client: client, Server: mgs},
		Msg: &schema.Msg{Bufs: [][]byte{nil, wiretest.LogBody(1), wiretest.ConfigRecord(1, wiretest.ConfigAttach, "a")}, Reply: true}}
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
				n := len(follow.Entries(nil))
				assert.That(t, n <= 1000, "%s: %d entries", path, n)
			}
		}
	}
}

// FuzzRecords: any bytes as a block of a log.
func FuzzRecords(f *testing.F) {
	f.Add(wiretest.ConfigSection(1, 1, 0, wiretest.Config(wiretest.ConfigAttach, "a", "osc", "u"), wiretest.Config(wiretest.ConfigSetup, "a", "t", "n"), wiretest.Config(wiretest.ConfigParam, "a", "osc.active=0")))
	f.Add(wiretest.ConfigSection(1, 1, 4, wiretest.Config(wiretest.ConfigNewPool, "l", "f", "p"), wiretest.Config(wiretest.ConfigAddPool, "l", "f", "p", "o")))
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
