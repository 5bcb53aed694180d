package cli

import (
	"encoding/json"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

var logsIn = flag.String("logs", "", "also compare the captures SCENE.NODE.pcap in `FOLDER` with the debug logs SCENE.NODE.dk.gz beside them")

// loggedNodes are the nodes of the test clusters by the last number of their NIDs.
var loggedNodes = map[string]string{"1": "mds", "2": "oss", "3": "client", "4": "client2"}

// loggedRPC is what a search in a log finds about an RPC.
type loggedRPC struct{ node, xid, opc string }

// searchedLogs is what a search in the logs of a scene finds.
type searchedLogs struct {
	sent    map[loggedRPC]bool
	handled map[loggedRPC][]handledLine // of all clients
}

type handledLine struct {
	client         string
	service, total float64 // microseconds
}

var (
	handledForm = regexp.MustCompile(`Handled RPC .*:x(\d+):12345-(\S*?@[a-z0-9]+):(\d+):.*processed in (\d+)us \((\d+)us total\)`)
	sentForm    = regexp.MustCompile(`(?:Sending|Completed) RPC .*?:(\d{10,}):(\S*?@[a-z0-9<>:]+?):(\d+):`)
)

// searchLogs searches the logs of a scene in its own way.
func searchLogs(t *testing.T, scene string) (s searchedLogs, logs []string) {
	s = searchedLogs{map[loggedRPC]bool{}, map[loggedRPC][]handledLine{}}
	logs, _ = filepath.Glob(scene + ".*.dk.gz")
	for _, path := range logs {
		node := strings.Split(filepath.Base(path), ".")[1]
		for line := range strings.Lines(logText(t, path)) {
			if m := handledForm.FindStringSubmatch(line); m != nil {
				k := loggedRPC{node, m[1], m[3]}
				service, _ := strconv.ParseFloat(m[4], 64)
				total, _ := strconv.ParseFloat(m[5], 64)
				s.handled[k] = append(s.handled[k], handledLine{m[2], service, total})
			} else if m := sentForm.FindStringSubmatch(line); m != nil {
				s.sent[loggedRPC{node, m[1], m[3]}] = true
			}
		}
	}
	return s, logs
}

// joinedRPC is an RPC as rpcs prints it.
type joinedRPC struct {
	XID            string
	Opc            json.Number
	Client, Server string
	Log            struct {
		Service, Queue, Total *float64
		Sent, Completed       *string
		NotOnWire             string `json:"not_on_wire"`
	}
}

func nodeOf(nid string) string {
	address, _, _ := strings.Cut(nid, "@")
	return loggedNodes[address[strings.LastIndexAny(address, ".:")+1:]]
}

// TestLogsAreJoined compares what rpcs has of logs with a search in their text: each RPC
// of a capture that a log of its nodes has, too, has the numbers of that line, and no other
// RPC has any.
func TestLogsAreJoined(t *testing.T) {
	t.Parallel()
	captures, _ := filepath.Glob(wiretest.Repo("pcaps/logs/*.pcap*"))
	if *logsIn != "" {
		more, _ := filepath.Glob(*logsIn + "/*.pcap*")
		captures = append(captures, more...)
	}
	joined := 0
	for _, path := range captures {
		scene, _, _ := strings.Cut(filepath.Base(path), ".")
		s, logs := searchLogs(t, filepath.Join(filepath.Dir(path), scene))
		args := []string{"rpcs", "-q", "-T", "json", path}
		for _, log := range logs {
			args = append(args, "--log", log)
		}
		for line := range strings.Lines(succeeds(t, args...)) {
			var r joinedRPC
			must.NoError(t, json.Unmarshal([]byte(line), &r))
			if r.Opc == "" || r.Log.NotOnWire == "request" {
				continue
			}
			joined++
			compareLogged(t, filepath.Base(path), &r, &s)
		}
	}
	assert.That(t, joined >= 300, "only %d RPCs compared", joined)
}

func compareLogged(t *testing.T, path string, r *joinedRPC, s *searchedLogs) {
	t.Helper()
	lines := slices.DeleteFunc(slices.Clone(s.handled[loggedRPC{nodeOf(r.Server), r.XID, r.Opc.String()}]),
		func(l handledLine) bool { return l.client != r.Client })
	switch l := &r.Log; {
	case (len(lines) > 0) != (l.Service != nil):
		t.Errorf("%s: %s: %d lines of the server, service %v", path, r.XID, len(lines), l.Service)
	case len(lines) > 0 && !slices.ContainsFunc(lines, func(h handledLine) bool {
		near := func(seconds, us float64) bool { return math.Abs(seconds*1e6-us) < 0.5 }
		return near(*l.Service, h.service) && near(*l.Total, h.total) && near(*l.Queue, max(0, h.total-h.service))
	}):
		t.Errorf("%s: %s: service %v, total %v, queue %v are in none of %v", path, r.XID, *l.Service, *l.Total, *l.Queue, lines)
	}
	if sent := s.sent[loggedRPC{nodeOf(r.Client), r.XID, r.Opc.String()}]; sent != (r.Log.Sent != nil || r.Log.Completed != nil) {
		t.Errorf("%s: %s: a line of the client: %v, in the record: %v", path, r.XID, sent, !sent)
	}
}

// TestNotOnWire checks that what a client has sent by its log, and its capture has not, is
// what a search finds.
func TestNotOnWire(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	path, log := wiretest.Repo("pcaps/logs/tcp_reset.client.pcap.zst"), wiretest.Repo("pcaps/logs/tcp_reset.client.dk.gz")
	captured := succeeds(t, "rpcs", "-T", "fields", "-e", "xid", path)
	unseen := strings.Fields(succeeds(t, "rpcs", "-T", "fields", "-e", "xid", "-Y", "rpc.log.not_on_wire == request", path, "--log", log))
	s, _ := searchLogs(t, wiretest.Repo("pcaps/logs/tcp_reset"))
	begun := strings.Fields(captured)[0]
	for k := range s.sent {
		if lo := k.xid < begun; !lo && strings.Contains(captured, k.xid) == slices.Contains(unseen, k.xid) {
			t.Errorf("x%s is in the log; in the capture and not on the wire: %v", k.xid, slices.Contains(unseen, k.xid))
		}
	}
	assert.That(t, len(unseen) != 0, "no request is missing")
}

// TestLogsAlone compares RPCs of logs without a capture with those of the capture.
func TestLogsAlone(t *testing.T) {
	logs := []string{wiretest.Repo("pcaps/logs/overload.oss.dk.gz"), wiretest.Repo("pcaps/logs/overload.client2.dk.gz")}
	columns := []string{"-T", "fields", "-e", "xid", "-e", "opcode", "-e", "client", "-e", "server", "-e", "status", "-e", "transno", "-e", "job"}
	filter := []string{"-Y", "rpc.server == 192.0.2.2@tcp && rpc.client == 192.0.2.4@tcp"}
	alone := strings.Split(succeeds(t, slices.Concat([]string{"rpcs"}, columns, filter, logs)...), "\n")
	captured := succeeds(t, slices.Concat([]string{"rpcs", wiretest.Repo("pcaps/logs/overload.client2.pcap.zst")}, columns, filter)...)
	for line := range strings.Lines(captured) {
		assert.That(t, slices.Contains(alone, strings.TrimSuffix(line, "\n")), "not in the logs: %s", line)
	}
	assert.Contains(t, succeeds(t, slices.Concat([]string{"stats", "--by", "client"}, logs)...), "192.0.2.4")
}

// lockLineForm is a line about a lock, with its handle on the node of the log.
var lockLineForm = regexp.MustCompile(`### .* lock: \w+/(0x\w+) `)

// TestLocksBesideLogs compares what locks has of logs beside a capture with a search in their
// text: each line is about the lock, and the locks are those of the capture.
func TestLocksBesideLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	capture := wiretest.Repo("pcaps/logs/overload.client2.pcap.zst")
	lines := map[string][]string{}
	args := []string{"locks", "-q", "-T", "json", capture}
	for _, node := range []string{"client2", "oss"} {
		path := wiretest.Repo("pcaps/logs/overload." + node + ".dk.gz")
		args, lines[filepath.Base(path)] = append(args, "--log", path), strings.Split(logText(t, path), "\n")
	}
	all := strings.Split(strings.TrimSpace(succeeds(t, args...)), "\n")
	events := map[string]int{}
	for _, row := range all {
		var l struct {
			Handle       string
			ClientHandle string `json:"client_handle"`
			Log          []struct {
				Event, File string
				Line        int
			}
		}
		must.NoError(t, json.Unmarshal([]byte(row), &l))
		for _, of := range l.Log {
			events[of.Event]++
			m := lockLineForm.FindStringSubmatch(lines[of.File][of.Line-1])
			if m == nil || m[1] != l.Handle && m[1] != l.ClientHandle {
				t.Errorf("lock %s %s: %s:%d is not about it", l.Handle, l.ClientHandle, of.File, of.Line)
			}
		}
	}
	assert.Equal(t, len(all), strings.Count(succeeds(t, "locks", "-q", "-T", "json", capture), "\n"), "locks")
	assert.That(t, events["asked"] > 20 && events["granted"] > 20, "%v", events)
	_, said, _ := run(t, "locks", "-T", "json", capture, "--log", wiretest.Repo("pcaps/logs/tcp_reset.client.dk.gz"))
	assert.Contains(t, said, "nothing about locks")
}

// TestEmptyLog: a node that has nothing to say does not keep the logs of others from being read.
func TestEmptyLog(t *testing.T) {
	log, empty := wiretest.Repo("pcaps/logs/overload.oss.dk.gz"), filepath.Join(t.TempDir(), "mds.dk")
	must.NoError(t, os.WriteFile(empty, nil, 0o600))
	assert.Equal(t, succeeds(t, "stats", "-q", log, empty), succeeds(t, "stats", "-q", log), "statistics")
}

var (
	stateForm = regexp.MustCompile(`(?m)\)\) ([0-9a-f]+) ([!-~]+): changing import state from \w+ to (\w+)$`)
	evictForm = regexp.MustCompile(`(?m)evicting client at \S+  ns: |I am evicting it|: evicting \S+ (at adm|\(at \S+\) by adm)|: disconnect stale client .`)
)

// TestImportsOfLogs compares the connections of logs without a capture with a search in
// their text: the states at the end, and the evictions.
func TestImportsOfLogs(t *testing.T) {
	t.Parallel()
	logs, _ := filepath.Glob(wiretest.Repo("pcaps/logs/*.dk.gz"))
	if *logsIn != "" {
		more, _ := filepath.Glob(*logsIn + "/*.dk.gz")
		logs = append(logs, more...)
	}
	for _, path := range logs {
		text := logText(t, path)
		if text == "" {
			continue
		}
		last := map[[2]string]string{} // by address and target
		evictions := len(evictForm.FindAllString(text, -1))
		for _, m := range stateForm.FindAllStringSubmatch(text, -1) {
			if last[[2]string{m[1], m[2]}] = m[3]; m[3] == "EVICTED" {
				evictions++
			}
		}
		var want, got []string
		for key, state := range last {
			want = append(want, strings.TrimSuffix(key[1], "_UUID")+" "+state)
		}
		for line := range strings.Lines(succeeds(t, "imports", "-q", "-T", "json", path)) {
			var r struct {
				Target, State string
				Requests      *int
				Evictions     int
			}
			must.NoError(t, json.Unmarshal([]byte(line), &r))
			if evictions -= r.Evictions; r.State != "UNKNOWN" {
				got = append(got, r.Target+" "+r.State)
			}
			if r.Requests != nil {
				t.Errorf("%s: %d requests, which logs do not have", path, *r.Requests)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if evictions != 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %d evictions more in the text; states %v, in the text %v", filepath.Base(path), evictions, got, want)
		}
	}
}

// TestEvictionsByLogs checks that evictions have the reasons that the logs of servers have,
// alone and beside a capture.
func TestEvictionsByLogs(t *testing.T) {
	log := func(name string) string { return wiretest.Repo("pcaps/logs/" + name + ".dk.gz") }
	for _, c := range []struct{ args, want string }{
		{log("evict_admin.client2") + " " + log("evict_admin.oss"), "evicted.admin\tlustre-OST0000\t192.0.2.4@tcp\n"},
		{log("evict_admin.oss"), "evicted.admin\tlustre-OST0000\t192.0.2.4@tcp\n"},
		{log("evict_admin.client2"), "evicted.unknown\tlustre-OST0000\t\n"},
		{log("missed_recovery.client2") + " " + log("missed_recovery.oss"),
			"evicted.recovery\tlustre-OST0000\t192.0.2.4@tcp\nevicted.recovery\tlustre-OST0000\t192.0.2.3@tcp\nevicted.unknown\tMGS\t192.0.2.4@tcp\n"},
		{log("tcp_reset.client"), ""},
		{wiretest.Repo("dissect/diagnose/rules/testdata/evicted_by_hand.pcap.zst") + " --log " + log("evict_admin.oss"), "evicted.admin\tlustre-OST0000\t192.0.2.4@tcp\n"},
	} {
		args := append([]string{"diagnose", "-q", "--only", "evicted", "-T", "fields", "-e", "code", "-e", "target", "-e", "client"}, strings.Fields(c.args)...)
		assert.Equal(t, succeeds(t, args...), c.want, c.args)
	}
}

// TestRecoveriesByLogs compares recoveries of logs without a capture with what the servers
// have printed.
func TestRecoveriesByLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	logs, _ := filepath.Glob(wiretest.Repo("pcaps/logs/*.oss.dk.gz"))
	if *logsIn != "" {
		more, _ := filepath.Glob(*logsIn + "/*.dk.gz")
		logs = append(logs, more...)
	}
	over := regexp.MustCompile(`\)\) (\S+): Recovery over after \S+ of (\d+) clients`)
	for _, path := range logs {
		text := logText(t, path)
		want := over.FindAllStringSubmatch(text, -1)
		got := 0
		if text == "" {
			continue
		}
		for line := range strings.Lines(succeeds(t, "recovery", "-q", "-T", "json", path)) {
			var r struct {
				Target, Kind string
				Known        *int
				Completed    *struct{ Frame *int }
				Requests     struct{ Replayed *int }
			}
			must.NoError(t, json.Unmarshal([]byte(line), &r))
			if r.Known == nil {
				continue
			}
			got++
			if !slices.ContainsFunc(want, func(m []string) bool { return m[1] == r.Target && m[2] == strconv.Itoa(*r.Known) }) || r.Completed == nil || r.Completed.Frame != nil || r.Requests.Replayed != nil {
				t.Errorf("%s: %s", path, line)
			}
		}
		assert.Equal(t, got, len(want), path, "recoveries, in the text")
	}
}

// loggedLock is what a capture and logs both have about a lock.
type loggedLock struct {
	Resource                         *struct{ Text string }
	Type, Mode, Client, ClientHandle string
	Handle                           string
	Bits                             []string
	Extent                           any
	Asked, Granted                   *struct{ Time time.Time }
	Ended                            struct{ How *string }
	Callbacks                        []struct{ Kind string }
}

// TestLocksByLogs compares locks of logs alone with those of captures.
func TestLocksByLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	captures := []string{wiretest.Repo("pcaps/logs/overload.client2.pcap.zst"), wiretest.Repo("pcaps/logs/tcp_reset.client.pcap.zst")}
	if *logsIn != "" {
		captures, _ = filepath.Glob(*logsIn + "/*.pcap*")
	}
	locks := func(args ...string) map[string]loggedLock {
		found := map[string]loggedLock{}
		for line := range strings.Lines(succeeds(t, append([]string{"locks", "-q", "-T", "json"}, args...)...)) {
			var l loggedLock
			must.NoError(t, json.Unmarshal([]byte(strings.Replace(line, "client_handle", "clienthandle", 1)), &l))
			if l.Asked != nil && l.Resource != nil {
				found[l.ClientHandle] = l
			}
		}
		return found
	}
	compared := 0
	for _, path := range captures {
		scene, _, _ := strings.Cut(filepath.Base(path), ".")
		logs, _ := filepath.Glob(filepath.Join(filepath.Dir(path), scene+".*.dk.gz"))
		logs = slices.DeleteFunc(logs, func(log string) bool { return !strings.Contains(logText(t, log), "### ") })
		if len(logs) == 0 {
			continue
		}
		byLogs := locks(logs...)
		var asked, granted []time.Duration // how far the clock of the logs is ahead
		for handle, want := range locks(path) {
			got, ok := byLogs[handle]
			if got.Granted != nil && want.Granted != nil {
				granted = append(granted, got.Granted.Time.Sub(want.Granted.Time))
				asked = append(asked, got.Asked.Time.Sub(want.Asked.Time))
			}
			if got.Client == "" { // a log alone does not name its node
				got.Client = want.Client
			}
			if got.Ended.How == nil || *want.Ended.How == "open" { // logs may end later
				got.Ended, want.Ended = struct{ How *string }{}, struct{ How *string }{}
			}
			if len(got.Callbacks) > len(want.Callbacks) {
				t.Errorf("%s: %s: callbacks %v, in the capture %v", path, handle, got.Callbacks, want.Callbacks)
			}
			got.Asked, got.Granted, got.Callbacks, want.Asked, want.Granted, want.Callbacks = nil, nil, nil, nil, nil, nil
			if !ok || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is %+v, in the capture %+v", path, handle, got, want)
			}
			compared++
		}
		sorted := slices.Sorted(slices.Values(granted))
		for i := range granted { // what a client asks for may come onto the wire much later, or only when it is sent again
			ahead := sorted[len(sorted)/2]
			if off := granted[i] - ahead; off.Abs() > 200*time.Millisecond || asked[i]-ahead > 200*time.Millisecond {
				t.Errorf("%s: asked %v, granted %v ahead, of a clock that is %v ahead", path, asked[i], granted[i], ahead)
			}
		}
	}
	if compared < 8 {
		t.Errorf("only %d locks compared", compared)
	}
	t.Logf("%d locks compared", compared)
}

// logText returns the text of a log.
func logText(t *testing.T, path string) string {
	f := must.Value(os.Open(path))(t)
	defer f.Close()
	plain := must.Value(capture.Decompress(path, f))(t)
	b := must.Value(io.ReadAll(plain))(t)
	return string(b)
}

// TestLogUsage checks what is refused.
func TestLogUsage(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	log, packets := wiretest.Repo("pcaps/logs/tcp_reset.client.dk.gz"), wiretest.Repo("pcaps/logs/tcp_reset.client.pcap.zst")
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"files " + log, exit.Usage, "this command needs a capture"},
		{"files " + packets + " " + log, exit.Usage, "does not read"},
		{"rpcs --log " + packets + " " + packets, exit.Damage, "no log of the kernel"},
		{"rpcs --log nowhere.dk " + packets, exit.Failure, "no such file"},
		{"rpcs --log host=" + log + " " + packets, exit.Usage, "neither a NID nor"},
		{"rpcs -i lo --log " + log, exit.Usage, "cannot be combined"},
		{"rpcs -c 1 " + packets + " --log 192.0.2.3@tcp=" + log, exit.OK, ""},
		{"rpcs -c 1 " + packets + " " + log, exit.OK, ""},
		{"imports -q --log 192.0.2.3@tcp=" + log, exit.OK, ""},
		{"recovery -q --log " + log, exit.OK, ""},
	} {
		if _, errs, status := run(t, strings.Fields(c.args)...); status != c.status || !strings.Contains(errs, c.says) {
			t.Errorf("%s: status %d: %s", c.args, status, errs)
		}
	}
}

// TestLogOfMessages checks which messages have lines of logs: requests and replies, and none
// of what is written long after them.
func TestLogOfMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	dir := wiretest.Repo("pcaps/logs/")
	out := succeeds(t, "-q", "-T", "json", "-Y", "xid == 1882598756893312", dir+"/overload.client2.pcap.zst",
		"--log", dir+"/overload.client2.dk.gz", "--log", dir+"/overload.oss.dk.gz")
	var got []string
	for line := range strings.Lines(out) {
		var m struct {
			Kind string
			Log  []struct {
				File, Node, Text string
				Line             int
			}
		}
		must.NoError(t, json.Unmarshal([]byte(line), &m))
		got = append(got, m.Kind)
		for _, l := range m.Log {
			node := strings.Split(l.File, ".")[1]
			if loggedNodes[l.Node[len("192.0.2."):len("192.0.2.")+1]] != node {
				t.Errorf("%s:%d is of %s", l.File, l.Line, l.Node)
			}
			got = append(got, strconv.Itoa(l.Line))
		}
	}
	want := "request 1574 1161 1162 get getreply reply 1574 1161 1162 1907 1933 1954 1881"
	if g := strings.Join(got, " "); g != want {
		t.Errorf("%s\nwant %s", g, want)
	}
	ladder := succeeds(t, "ladder", "-T", "json", "--xid", "1882598756893312", dir+"/overload.client2.pcap.zst", "--log", dir+"/overload.oss.dk.gz")
	if lines := strings.Count(ladder, `"line":`); lines != 5 || strings.Count(ladder, `"file":"overload.oss.dk.gz"`) != lines {
		t.Errorf("%d lines in the ladder: %s", lines, ladder)
	}
	if status := Run(testSystem(io.Discard, io.Discard), []string{dir + "/overload.client2.pcap.zst", "--log", dir + "/overload.oss.dk.gz"}); status != exit.Usage {
		t.Errorf("status %d of lines with logs", status)
	}
}

// TestDiagnoseLogs: the rules that hold for logs, on logs alone.
func TestDiagnoseLogs(t *testing.T) {
	for logs, want := range map[string]string{
		"tcp_reset.client":        "slow.wait , recovery.reconnect lustre-OST0000, recovery.reconnect lustre-OST0001, lnet.failed ",
		"missed_recovery.oss":     "restart.target lustre-OST0000, target.stopped lustre-OST0000, evicted.recovery lustre-OST0000, evicted.recovery lustre-OST0000, connect.not_up ",
		"missed_recovery.client2": "evicted.unknown lustre-OST0000, node.silent , recovery.reconnect lustre-MDT0000, evicted.unknown MGS, lnet.failed ",
		"missed_recovery.oss,missed_recovery.client2": "restart.target lustre-OST0000, target.stopped lustre-OST0000, connect.not_up , " +
			"evicted.recovery lustre-OST0000, evicted.recovery lustre-OST0000, slow.wait , recovery.reconnect lustre-MDT0000, evicted.unknown MGS, lnet.failed ",
		"overload.oss": "slow.changed , slow.queue , slow.service , slow.service ", "overload.client2": "slow.wait ", "evict_admin.oss": "evicted.admin lustre-OST0000",
	} {
		args := []string{"diagnose", "-q", "-T", "json"}
		for _, name := range strings.Split(logs, ",") {
			args = append(args, wiretest.Repo("pcaps/logs/"+name+".dk.gz"))
		}
		var found []string
		for line := range strings.Lines(succeeds(t, args...)) {
			var f struct {
				Code, Target, Text string
				Evidence           []struct {
					File        string
					Frame, Line *int64
				}
			}
			must.NoError(t, json.Unmarshal([]byte(line), &f))
			assert.That(t, !strings.Contains(f.Text, " :"), "%s has a node without a name: %s", f.Code, f.Text)
			found = append(found, f.Code+" "+f.Target)
			for _, e := range f.Evidence {
				if e.Line == nil || e.Frame != nil || !strings.HasSuffix(e.File, ".dk.gz") {
					t.Errorf("%s: %s: evidence %+v is no line of a log", logs, f.Code, e)
				}
			}
		}
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("%s: %s, want %s", logs, got, want)
		}
	}
}
