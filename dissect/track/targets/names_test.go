package targets_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// imports is what lctl prints on two nodes, with what a shell adds.
const imports = `+ lctl get_param '*.*.import'
mdc.scratch-MDT0000-mdc-ff11000006cef800.import=
import:
    name: scratch-MDT0000-mdc-ff11000006cef800
    target: scratch-MDT0000_UUID
    state: FULL
    connect_flags: [ write_grant, server_lock ]
    connect_data:
       flags: 0xae7a5e7be344d2b8
       instance: 1
    connection:
       failover_nids: [ "192.0.2.1@tcp" ]
       nids_stats:
          "192.0.2.1@tcp": { connects: 1, replied: 1, uptodate: uptodate, sec_ago: 5 }
       current_connection: "192.0.2.1@tcp"
mgc.MGCfd00:2::1@tcp.import=
import:
    name: MGC192.0.2.1@tcp
    target: MGS
    connection:
       failover_nids: [ "192.0.2.1@tcp" ]
       current_connection: 192.0.2.1@tcp
RC=0
[root@oss ~]# lctl get_param osc.*.import
osc.scratch-OST0000-osc-ff11000006cef800.import=
import:
    target: scratch-OST0000_UUID
    connection:
       failover_nids: [ "192.0.2.2@tcp", "192.0.2.9@tcp" ]
       current_connection: <none>
osc.scratch-OST0001-osc-ff11000006cef800.import=
import:
    target: scratch-OST0001_UUID
    connection:
       failover_nids: [ "192.0.2.9@tcp" ]
`

func readNames(t testing.TB, text string) *targets.Names {
	t.Helper()
	n := targets.NewNames()
	must.NoError(t, n.Read(strings.NewReader(text), "names.txt"))
	return n
}

func TestNodeNames(t *testing.T) {
	n := readNames(t, "# nodes\n192.0.2.1@tcp mds1 # the first\n192.0.2.1@tcp other\n  192.0.2.2\toss1 oss1.example.com\nfd00::1 oss2\n12345-192.0.2.8@tcp x\n192.0.2.7@tcp -\n")
	for nid, want := range map[string]string{
		"192.0.2.1@tcp": "mds1", "192.0.2.1@o2ib": "", "192.0.2.2@tcp": "oss1", "192.0.2.2@o2ib3": "oss1", "fd00::1@tcp": "oss2",
		"192.0.2.8@tcp": "", "192.0.2.7@tcp": "",
	} {
		x, ok := lnet.ParseNID(nid)
		if got := n.Node(x); !ok || got != want {
			t.Errorf("%s is %q, want %q", nid, got, want)
		}
	}
}

func TestNamesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "names.txt: line 0: the file ends without an import, or a NID with a name",
		"root:x:0:0\n":                   "names.txt: line 1: the file ends without an import, or a NID with a name",
		"import:\n    target: scratch\n": `names.txt: line 2: target "scratch": must be a name such as lustre-OST0001_UUID, or MGS`,
		"import:\n  connection:\n     current_connection: \"oss1\"\n": `names.txt: line 3: "oss1": must be a NID such as 192.0.2.1@tcp`,
		"\n" + strings.Repeat("x", 1<<20+1):                           "names.txt: line 2: longer than 1048576 bytes",
	} {
		err := targets.NewNames().Read(strings.NewReader(text), "names.txt")
		if wrong := (*targets.NamesError)(nil); !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// newNamedWire is newWire with a list of imports.
func newNamedWire(t testing.TB, text string) *wire {
	w := newWire(t)
	w.evidence = targets.New(readNames(t, text))
	w.rpcs = track.NewPairing(track.Options{Sent: w.evidence.Sent, Answered: w.evidence.Answered})
	return w
}

// TestListedSystem takes the name of the file system from the list.
func TestListedSystem(t *testing.T) {
	w := newNamedWire(t, imports)
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.want(handleMDT2, mds, mdsPortal, "scratch-MDT0003", "names")
}

// TestOnlyTarget: the only target of its kind on a node is that of a connection to
// the node, until the capture shows that the list has not all of them.
func TestOnlyTarget(t *testing.T) {
	w := newNamedWire(t, imports)
	w.call(stat(handleOST, data, 99))
	w.want(handleOST, oss, ostPortal, "scratch-OST0000", "names")
	w.target(handleMDT, mds, mdsPortal)
	w.want(handleMDT, mds, mdsPortal, "scratch-MDT0000", "names")
	w.target(handleOST2, node(9), ostPortal)
	w.want(handleOST2, node(9), ostPortal, "", "") // there may be two
	w.call(stat(handleOST2+1, data, 98))           // another one on the first node
	w.call(stat(handleOST, data, 99))
	w.want(handleOST, oss, ostPortal, "", "")
	w.connect(opcodes.OST_CONNECT, oss, "scratch-OST0007", handleOST2+1)
	w.want(handleOST, oss, ostPortal, "", "")
}

// TestListOutOfDate: what messages prove counts more than the list.
func TestListOutOfDate(t *testing.T) {
	w := newNamedWire(t, imports)
	w.connect(opcodes.MDS_CONNECT, mds, "home-MDT0001", handleMDT)
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.want(handleMDT2, mds, mdsPortal, "home-MDT0003", "lock")
}

// TestListedTwoSystems: a node with targets of two file systems proves neither.
func TestListedTwoSystems(t *testing.T) {
	w := newNamedWire(t, imports+strings.ReplaceAll(imports, "scratch-MDT0000", "home-MDT0001"))
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.want(handleMDT2, mds, mdsPortal, "", "")
}

// readConfig passes the log of the clients of a file system, which another client reads:
// an MDT on a node of its own and with a failover partner, and two OSTs on one node. whole
// is whether its header is captured, which lists all records.
func (w *wire) readConfig(fsname string, whole bool) {
	device := func(name, target, node string, add uint32) func(index uint32) []byte {
		return func(index uint32) []byte {
			records := []func(uint32) []byte{
				wiretest.Config(wiretest.ConfigAddUUID, "", node, node),
				wiretest.Config(wiretest.ConfigAttach, fsname+"-"+target+"-"+name, name, "uuid"),
				wiretest.Config(wiretest.ConfigSetup, fsname+"-"+target+"-"+name, fsname+"-"+target+"_UUID", node),
				wiretest.Config(add, fsname+"-cli", fsname+"-"+target+"_UUID", "0", "1"),
			}
			if name == "mdc" {
				records = append(records, wiretest.Config(wiretest.ConfigAddUUID, "", "192.0.2.9@tcp", "192.0.2.9@tcp"),
					wiretest.Config(wiretest.ConfigAddConn, fsname+"-"+target+"-"+name, "192.0.2.9@tcp"))
			}
			return wiretest.ConfigSection(index, index, 0, records...)
		}
	}
	const last = 8 + 2*6
	block := wiretest.Join(device("mdc", "MDT0003", "192.0.2.1@tcp", wiretest.ConfigAddMDC)(1),
		device("osc", "OST0000", "192.0.2.2@tcp", wiretest.ConfigAddOSC)(9), device("osc", "OST0001", "192.0.2.2@tcp", wiretest.ConfigAddOSC)(15))
	read := func(opcode uint32, request, reply [][]byte) {
		w.call(call{opcode: opcode, from: node(4), to: node(8), portal: mgsPortal, handle: 0x777, request: request, reply: reply})
	}
	body := wiretest.LogBody(3)
	read(opcodes.LLOG_ORIGIN_HANDLE_CREATE, [][]byte{wiretest.LogBody(0), []byte(fsname + "-client\x00"), nil}, [][]byte{body})
	if whole {
		var indices []uint32
		for i := range uint32(last + 1) {
			indices = append(indices, i)
		}
		read(opcodes.LLOG_ORIGIN_HANDLE_READ_HEADER, [][]byte{body}, [][]byte{wiretest.LogHeader(1, indices...)})
	}
	read(opcodes.LLOG_ORIGIN_HANDLE_NEXT_BLOCK, [][]byte{body}, [][]byte{body, block})
}

// TestConfigLog: the log that a client reads names the file system of a server node, and a
// target that is the only one of its kind there.
func TestConfigLog(t *testing.T) {
	w := newWire(t)
	w.call(stat(handleOST, data, 99))
	w.target(handleMDT, mds, mdsPortal)
	w.readConfig("scratch", true)
	w.want(handleMDT, mds, mdsPortal, "scratch-MDT0003", "config")
	w.want(handleOST, oss, ostPortal, "", "") // there are two
	w.call(lookup(handleMDT2, node(9), meta2, 5, 2, 3))
	w.want(handleMDT2, node(9), mdsPortal, "scratch-MDT0003", "config") // the failover partner
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0005", handleMDT+1)
	w.want(handleMDT+1, mds, mdsPortal, "scratch-MDT0005", "connect")
	w.want(handleMDT, mds, mdsPortal, "", "") // the log is out of date
}

// TestPartialConfigLog: a log that is not captured as a whole may lack targets.
func TestPartialConfigLog(t *testing.T) {
	w := newWire(t)
	w.target(handleMDT, mds, mdsPortal)
	w.readConfig("scratch", false)
	w.want(handleMDT, mds, mdsPortal, "", "")
}

// TestConfigLogOfAnother: connects of another file system on the node, or a list of imports
// with one, count more than the log, or make the name unknown.
func TestConfigLogOfAnother(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "home-MDT0001", handleMDT)
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.readConfig("scratch", true)
	w.want(handleMDT2, mds, mdsPortal, "home-MDT0003", "lock")
	w = newNamedWire(t, strings.ReplaceAll(imports, "scratch", "home"))
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.readConfig("scratch", true)
	w.want(handleMDT2, mds, mdsPortal, "", "")
}

func FuzzNames(f *testing.F) {
	f.Add([]byte(imports))
	f.Add([]byte("192.0.2.1@tcp mds1\nfd00::1 oss2\n"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		n := targets.NewNames()
		if n.Read(strings.NewReader(string(text)), "f") == nil {
			n.Node(mds)
		}
	})
}
