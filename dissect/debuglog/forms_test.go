package debuglog

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/lnet"
)

var kindNames = map[Kind]string{
	Note: "Note", ImportState: "ImportState", Connecting: "Connecting", ConnectFailed: "ConnectFailed", Instance: "Instance", Lost: "Lost",
	Restored: "Restored", WasEvicted: "WasEvicted", Idle: "Idle", Connected: "Connected", Reconnected: "Reconnected", Refused: "Refused",
	Evicting: "Evicting", Stopped: "Stopped", RecoveryBegin: "RecoveryBegin", RecoveryEnd: "RecoveryEnd", BadChecksum: "BadChecksum",
	ThreadStuck: "ThreadStuck", ThreadOver: "ThreadOver", RequestFailed: "RequestFailed", HandleChanged: "HandleChanged",
	TransnoBack: "TransnoBack", Deactivated: "Deactivated", ReplayFailed: "ReplayFailed", VersionDiffers: "VersionDiffers",
	Unregistering: "Unregistering", PagesDiscarded: "PagesDiscarded", Denied: "Denied", Replaced: "Replaced", CallbackFailed: "CallbackFailed",
	StaleClients: "StaleClients", CookieUnknown: "CookieUnknown", LockTimedOut: "LockTimedOut",
	SecurityFailed: "SecurityFailed", IdentityFailed: "IdentityFailed", RecoveryWaits: "RecoveryWaits",
	RecoveryTimedOut: "RecoveryTimedOut", RecoveryAborted: "RecoveryAborted", Loaded: "Loaded", Mounted: "Mounted", Unmounted: "Unmounted",
	MountFailed: "MountFailed", ConfigFailed: "ConfigFailed", Started: "Started", FailingOver: "FailingOver",
	UnmountStuck: "UnmountStuck", StackOf: "StackOf",
	StackFrame: "StackFrame", ServiceSlow: "ServiceSlow", TaskHung: "TaskHung", CPUStuck: "CPUStuck", BulkFailed: "BulkFailed",
	GrantWrong: "GrantWrong", StorageError: "StorageError",
	StorageSlow: "StorageSlow", QuotaError: "QuotaError", PrecreateFailed: "PrecreateFailed", ObjectIDsDiffer: "ObjectIDsDiffer", ScrubStarted: "ScrubStarted", LFSCKFailed: "LFSCKFailed", NoSpace: "NoSpace", NetStarted: "NetStarted", NetStopped: "NetStopped",
	NetError: "NetError", NetDropped: "NetDropped", NetRecovering: "NetRecovering", NetDeviceFailed: "NetDeviceFailed",
	NetDeviceBack: "NetDeviceBack", Booted: "Booted",
	ShuttingDown: "ShuttingDown", Bug: "Bug", Panic: "Panic", OutOfMemory: "OutOfMemory", MemoryError: "MemoryError",
	LinkDown: "LinkDown", LinkUp: "LinkUp", DiskError: "DiskError", DiskTimeout: "DiskTimeout", RaidFailed: "RaidFailed",
	PathFailed: "PathFailed", PathBack: "PathBack", FilesystemError: "FilesystemError", Injected: "Injected", Marker: "Marker", Skipped: "Skipped",
}

var reasonNames = map[Reason]string{
	ByLockCallback: "ByLockCallback", BySilence: "BySilence", ByAdmin: "ByAdmin", ByRecovery: "ByRecovery", ByReplay: "ByReplay",
	InRecovery: "InRecovery", StillBusy: "StillBusy", OtherClient: "OtherClient", ByNodemap: "ByNodemap", ByVersion: "ByVersion",
	NetTimeout: "NetTimeout", NetRefused: "NetRefused", NetReset: "NetReset", NetUnreachable: "NetUnreachable", NetRouteless: "NetRouteless",
	NetRace: "NetRace", NetStale: "NetStale", NetFailed: "NetFailed", SlowReply: "SlowReply", SentDelay: "SentDelay", NetworkError: "NetworkError",
	TookLong: "TookLong", NoTimeAdded: "NoTimeAdded", PastDeadline: "PastDeadline", DroppedLate: "DroppedLate", BulkTimeout: "BulkTimeout", BulkUnsent: "BulkUnsent",
	BulkError: "BulkError", ReplayMismatch: "ReplayMismatch", ReplayTimeout: "ReplayTimeout", WrongFlavor: "WrongFlavor", ReplyDropped: "ReplyDropped",
}

// describe returns the kind of an event, and the fields that a line of the console may set.
func describe(e *Event) string {
	s := kindNames[e.Kind]
	add := func(name string, value any, is bool) {
		if is {
			s += fmt.Sprintf(" %s=%v", name, value)
		}
	}
	add("reason", reasonNames[e.Reason], e.Reason != NoReason)
	add("peer", e.Peer, e.Peer != (lnet.NID{}))
	add("target", e.Target, e.Target != "")
	add("name", e.Name, e.Name != "" && e.Name != e.Target)
	add("uuid", e.UUID, e.UUID != "")
	add("process", e.Process, e.Process != "")
	add("device", e.Device, e.Device != "")
	add("state", e.State, e.State != "")
	add("uid", e.User.UID, e.User.Known)
	add("opcode", e.Opcode, e.Opcode != 0)
	add("number", e.Number, e.Number != 0)
	add("recovered", e.Recovered, e.Recovered != 0)
	add("status", e.Status, e.Status != 0)
	add("time", time.Duration(e.Service), e.Service != 0)
	return s
}

// TestConsole reads lines of the console: of the captures, of public reports with other
// names and addresses, and some made from the formats of Lustre 2.5 to 2.17 and of the
// kernel. Those of no kind have a dash.
func TestConsole(t *testing.T) {
	var n names
	kinds := map[Kind]bool{}
	for _, c := range consoleLines(t) {
		var e Event
		got := "-"
		if e.read(&Line{Mask: MaskConsole, Message: []byte(c.line)}, &n, false) {
			kinds[e.Kind] = true
			got = describe(&e)
		}
		if got != c.want {
			t.Errorf("%s\nis %s\nnot %s", c.line, got, c.want)
		}
	}
	for kind, name := range kindNames {
		if !kinds[kind] {
			t.Errorf("there is no line of kind %s", name)
		}
	}
}

type consoleLine struct{ want, line string }

func consoleLines(t testing.TB) (list []consoleLine) {
	f, err := os.Open("testdata/console.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		want, line, ok := strings.Cut(in.Text(), "\t")
		if !ok {
			t.Fatal(in.Text())
		}
		list = append(list, consoleLine{want, line})
	}
	return list
}

// TestEveryForm checks that a line of each form is read as such.
func TestEveryForm(t *testing.T) {
	values := map[string]string{"import": "00000000fec03eff", "served": "lustre-OST0001", "failure": "DID_ERROR", "status": "-5", "number": "7", "recovered": "3", "seconds": "12.5", "host": "192.0.2.1",
		"nid": "192.0.2.1@tcp", "peer": "192.0.2.1@o2ib", "opcode": "ost_read", "task": "kworker/0:1:17", "mount": "lustre-client", "device": "sdc",
		"name": "lustre-OST0001-osc-ff11", "target": "lustre-OST0001", "namespace": "mdt-lustre-MDT0001_UUID", "state": "blocking"}
	var n names
	for _, f := range forms {
		if strings.HasPrefix(f.form, "@@@") {
			continue // its lines go on with a request
		}
		for _, line := range spell(f.form) {
			for name, value := range values {
				line = strings.ReplaceAll(line, "{"+name+"}", value)
			}
			line = regexp.MustCompile(`\{\w*\}`).ReplaceAllString(line, "some-text")
			var e Event
			if !e.read(&Line{Mask: MaskError, Message: []byte(line)}, &n, false) || e.Kind != f.kind || e.Reason != f.reason {
				t.Errorf("%s\nis %s, not %s", line, describe(&e), kindNames[f.kind])
			}
		}
	}
}

// TestCutLines checks that a line that was cut off is of the kind of the whole, or of none.
func TestCutLines(t *testing.T) {
	var n names
	for _, c := range consoleLines(t) {
		for end := range len(c.line) {
			var e Event
			if e.read(&Line{Mask: MaskConsole, Message: []byte(c.line[:end])}, &n, false) && !strings.HasPrefix(c.want, kindNames[e.Kind]) {
				t.Errorf("%s\nis %s\nnot %s", c.line[:end], describe(&e), c.want)
			}
		}
	}
}

// TestFormAllocations checks that reading the lines once more costs no memory.
func TestFormAllocations(t *testing.T) {
	var n names
	var e Event
	var l Line
	lines := consoleLines(t)
	for _, c := range lines {
		l = Line{Mask: MaskConsole, Message: []byte(c.line)}
		e.read(&l, &n, false)
		if got := testing.AllocsPerRun(2, func() { e.read(&l, &n, false) }); got > 0 {
			t.Errorf("%v allocations: %s", got, c.line)
		}
	}
}

func BenchmarkForms(b *testing.B) {
	var n names
	var e Event
	var text [][]byte
	size := 0
	for _, c := range consoleLines(b) {
		text = append(text, []byte(c.line))
		size += len(c.line) + 1
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, line := range text {
			e.read(&Line{Mask: MaskConsole, Message: line}, &n, false)
		}
	}
}
