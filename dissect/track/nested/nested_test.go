package nested_test

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/logs"
	"github.com/lshark/lshark/dissect/track/nested"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes"
)

// operation is an RPC with its nested ones.
type operation struct {
	rpc    *track.RPC
	calls  []nested.Call
	around uint64 // by a log, that of an RPC which has ended before
}

// read returns the RPCs of captures by their numbers.
func read(t *testing.T, paths ...string) map[uint64]operation {
	return readWith(t, follow.Options{}, func(m *dissect.Message) []*dissect.Message { return []*dissect.Message{m} }, paths...)
}

func readWith(t *testing.T, o follow.Options, messages func(*dissect.Message) []*dissect.Message, paths ...string) map[uint64]operation {
	t.Helper()
	all := make(map[uint64]operation)
	f := follow.New(o)
	n := f.Nested()
	f.Add(follow.Hooks{Done: func(r *track.RPC) {
		o := operation{rpc: r.Clone()}
		o.around, _ = n.Around(r)
		for _, c := range n.Calls(r) {
			o.calls = append(o.calls, *c)
		}
		all[n.Number(r)] = o
	}})
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		for _, m := range messages(m) {
			f.Message(m)
		}
	}})
	r, err := capture.Open(paths, capture.Options{})
	must.NoError(t, err)
	var frame capture.Frame
	for err = r.Next(&frame); err == nil; err = r.Next(&frame) {
		d.Frame(&frame)
	}
	must.Equal(t, err, io.EOF)
	d.Close()
	f.Close()
	return all
}

// threads returns the xid of the RPC that a service thread handled when it sent another
// one, by the xid of that.
func threads(t *testing.T) map[string]string {
	t.Helper()
	f := must.Value(os.Open("testdata/dne.threads.tsv"))(t)
	defer f.Close()
	parents := make(map[string]string)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if child, parent, ok := strings.Cut(lines.Text(), "\t"); ok {
			parents[child] = parent
		}
	}
	return parents
}

// TestThreads compares the links with the service threads in the debug logs of the servers.
func TestThreads(t *testing.T) {
	for _, names := range [][]string{{"mds"}, {"oss"}, {"client"}, {"mds", "oss"}, {"client", "mds", "oss"}} {
		t.Run(strings.Join(names, "+"), func(t *testing.T) {
			var paths []string
			for _, name := range names {
				paths = append(paths, "testdata/dne."+name+".pcap.zst")
			}
			all, parents := read(t, paths...), threads(t)
			captured, linked := make(map[string]bool), make(map[string]string)
			for _, o := range all {
				captured[decimal(o.rpc.XID)] = true
			}
			for child := range captured {
				for parents[child] != "" && !captured[parents[child]] {
					parents[child] = parents[parents[child]] // a request between servers, which the capture does not have
				}
			}
			for _, o := range all {
				xid := decimal(o.rpc.XID)
				for _, c := range o.calls {
					child := all[c.Number].rpc
					known := parents[decimal(child.XID)]
					byOthers := child.Opcode == opcodes.OUT_UPDATE && c.Link == nested.ByFID // threads that send transactions
					if c.Link > nested.ByTime && known != xid && (known != "" || !byOthers) {
						t.Errorf("%s is linked to %s by %v, the threads show %q", decimal(child.XID), xid, c.Link, known)
					}
					linked[decimal(child.XID)] = xid
				}
			}
			found, missed := 0, 0
			for child, parent := range parents {
				switch {
				case !captured[child] || !captured[parent]:
				case linked[child] == parent:
					found++
				default:
					missed++
				}
			}
			if t.Logf("%d found, %d missed", found, missed); found == 0 || missed*10 > found+missed {
				t.Errorf("%d of %d nested RPCs are found", found, found+missed)
			}
		})
	}
}

// TestLogs takes everything from messages that links RPCs, the process ids too: then the logs
// of servers link what they log, also through requests that the capture does not have.
func TestLogs(t *testing.T) {
	blind := func(m *dissect.Message) []*dissect.Message {
		if m.Kind == lnet.Request {
			m.Msg, m.RPC.Status = nil, 0
		}
		return []*dissect.Message{m}
	}
	for _, names := range [][]string{{"mds", "oss"}, {"mds"}, {"client"}} {
		var paths []string
		for _, name := range names {
			paths = append(paths, "testdata/dne."+name+".pcap.zst")
		}
		beside := logs.New([]logs.File{{Path: "testdata/dne.mds.dk.gz"}, {Path: "testdata/dne.oss.dk.gz"}})
		_, err := beside.Open(&logs.Head{})
		must.NoError(t, err)
		all := readWith(t, follow.Options{Logs: beside}, blind, paths...)
		parents, linked := threads(t), make(map[string]string)
		captured := make(map[string]bool)
		for _, o := range all {
			captured[decimal(o.rpc.XID)] = true
			if o.around != 0 {
				linked[decimal(o.rpc.XID)] = decimal(all[o.around].rpc.XID)
			}
			for _, c := range o.calls {
				if c.Link == nested.ByThread {
					linked[decimal(all[c.Number].rpc.XID)] = decimal(o.rpc.XID)
				}
			}
		}
		between := 0
		for child := range captured {
			around := parents[child]
			for around != "" && !captured[around] {
				around = parents[around]
				between++
			}
			assert.Equal(t, linked[child], around, "%v: %s is linked to", names, child)
		}
		if t.Logf("%v: %d nested RPCs, %d requests between", names, len(linked), between); len(names) == 1 && between == 0 {
			t.Errorf("%v: no request is missing in the capture", names)
		}
	}
}

// TestTwoChanges: a callback of another MDT is linked to a change only if no other change may have
// caused it.
func TestTwoChanges(t *testing.T) {
	for twice, want := range map[bool]int{false: 2, true: 0} {
		all := readWith(t, follow.Options{}, func(m *dissect.Message) []*dissect.Message {
			if m.Kind != lnet.Request || m.RPC.Opcode != opcodes.MDS_REINT || !twice {
				return []*dissect.Message{m}
			}
			other := m.Clone()
			other.RPC.XID++
			return []*dissect.Message{m, other}
		}, "testdata/dne.client.pcap.zst")
		linked := 0
		for _, o := range all {
			for _, c := range o.calls {
				if all[c.Number].rpc.Client != o.rpc.Server {
					linked++
				}
			}
		}
		assert.Equal(t, linked, want, "twice", twice)
	}
}

// TestTimes checks the sums of an operation whose parts are known.
func TestTimes(t *testing.T) {
	for _, o := range read(t, "testdata/dne.mds.pcap.zst") {
		latency, ok := o.rpc.Latency()
		o.calls = slices.DeleteFunc(o.calls, func(c nested.Call) bool { return c.Link == nested.ByTime })
		if !ok || len(o.calls) == 0 {
			continue
		}
		n, known := o.rpc.NestedCount()
		ns, _ := o.rpc.NestedTime()
		own, complete := o.rpc.OwnTime()
		if !known || !complete || n != len(o.calls) || ns <= 0 || ns+own != latency {
			t.Errorf("%d: %d of %d nested RPCs took %d ns of %d, %d are its own", o.rpc.XID, n, len(o.calls), ns, latency, own)
		}
	}
}

// TestUnknown: the capture of a client does not show what servers send to others.
func TestUnknown(t *testing.T) {
	for _, o := range read(t, "testdata/dne.client.pcap.zst") {
		_, ok := o.rpc.NestedCount()
		assert.That(t, ok == (len(o.calls) > 0), "%d: that there are no nested RPCs is known from %d", o.rpc.XID, len(o.calls))
		if _, ok := o.rpc.OwnTime(); ok {
			t.Errorf("%d: its own time is known", o.rpc.XID)
		}
	}
}

func decimal(xid uint64) string { return strconv.FormatUint(xid, 10) }
