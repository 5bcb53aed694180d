package debuglog

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

const prefix = "00000100:00100000:1.0F:1795315487.735983:0:946:0:(service.c:2521:ptlrpc_server_handle_request()) "

// events reads all events of a text.
func events(t *testing.T, text string) (list []Event, stats Stats) {
	t.Helper()
	r := NewReader(strings.NewReader(text))
	var e Event
	for {
		switch err := r.Next(&e); err {
		case nil:
			list = append(list, e)
		case io.EOF:
			return list, r.Stats()
		default:
			t.Fatal(err)
		}
	}
}

func nid(t *testing.T, s string) lnet.NID {
	n, ok := lnet.ParseNID(s)
	if !ok {
		t.Fatal(s)
	}
	return n
}

// TestForms reads the forms of lines of several releases.
func TestForms(t *testing.T) {
	at := int64(1795315487735983000)
	for _, c := range []struct {
		line string
		want Event
	}{
		{"Sending RPC pname:cluuid:pid:xid:nid:opc ptlrpcd_00_00:93d2759a-055c:175:1882453915800576:192.0.2.1@tcp:41", // 2.12
			Event{Kind: Sent, XID: 1882453915800576, Opcode: 41, Peer: nid(t, "192.0.2.1@tcp"), Process: "ptlrpcd_00_00", UUID: "93d2759a-055c"}},
		{"Sending RPC req@00000000d35e4ed5 pname:cluuid:pid:xid:nid:opc:job kworker/0:1:93d2:695:1882453915800832:fd00::1@tcp:36:a b:c@d.0",
			Event{Kind: Sent, XID: 1882453915800832, Opcode: 36, Peer: nid(t, "fd00::1@tcp"), Process: "kworker/0:1", UUID: "93d2", Job: "a b:c@d.0"}},
		{"Completed RPC req@00000000d35e4ed5 pname:cluuid:pid:xid:nid:opc:job ll_ost:u:6:1882453915800832:0@<0:0>:104:",
			Event{Kind: Completed, XID: 1882453915800832, Opcode: 104, Process: "ll_ost", UUID: "u"}},
		{"Handling RPC pname:cluuid+ref:pid:xid:nid:opc mdt00_000:fa7f+11:183:x1882522806225664:12345-192.0.2.4@o2ib1:400", // 2.12
			Event{Kind: Handling, XID: 1882522806225664, Opcode: 400, Peer: nid(t, "192.0.2.4@o2ib1"), Process: "mdt00_000", UUID: "fa7f", Refs: 11}},
		{"Handled RPC pname:cluuid+ref:pid:xid:nid:opc:job mdt00_000:0+-99:183:x1882522806225664:12345-192.0.2.4@tcp:400:cp.0 " +
			"Request processed in 256us (780us total) trans 12884902043 rc -107/-999",
			Event{Kind: Handled, XID: 1882522806225664, Opcode: 400, Peer: nid(t, "192.0.2.4@tcp"), Process: "mdt00_000", UUID: "0", Refs: -99, Job: "cp.0",
				Service: 256e3, Total: 780e3, Transno: 12884902043, Status: -107, ReplyStatus: NoReply}},
		{"@@@ going to resend  req@00000000fec03eff x1882597980453632/t0(0) o400->MGC192.0.2.1@tcp@192.0.2.1@tcp:26/25 lens 224/224 e 0 to 1 dl 1 ref 1 fl Rpc:RSQU/600/0 rc -107/-107",
			Event{Kind: Note, XID: 1882597980453632, Opcode: 400, Peer: nid(t, "192.0.2.1@tcp"), Target: "MGS", Name: "MGC192.0.2.1@tcp", Text: "going to resend"}},
		{"@@@ Could not add any time (0/-5)  req@00000000fec03eff x1882597980453632/t0(0) o4->fa7f58fd-902f@192.0.2.4@tcp:59/0 lens 224/224",
			Event{Kind: Note, XID: 1882597980453632, Opcode: 4, Peer: nid(t, "192.0.2.4@tcp"), Served: true, Reason: NoTimeAdded, Text: "Could not add any time (0/-5)"}},
	} {
		c.want.Time, c.want.PID, c.want.Line = at, 946, 1
		list, _ := events(t, prefix+c.line+"\r\n")
		if len(list) != 1 || list[0] != c.want {
			t.Errorf("%s\nis %+v\nnot %+v", c.line, list, c.want)
		}
	}
}

// TestLocks reads lines about locks, of both sides and several kinds.
func TestLocks(t *testing.T) {
	const of = " ns: filter-lustre-OST0000_UUID lock: 0000000038c1d112/0xfec13fbea991f678 lrc: 5/0,0 mode: --/PW res: [0x280000401:0x2:0x0].0xc "
	of2 := strings.Replace(of, "filter-lustre-OST0000_UUID", "lustre-OST0000-osc-ff11", 1)
	const end = "flags: 0x5000 nid: 192.0.2.4@tcp remote: 0x91875bed3218708c expref: 15 pid: 531 timeout: 0 lvb_type: 0"
	desc := opcodes.LockDesc{Name: [4]uint64{0x280000401, 2, 0, 12}, Requested: opcodes.LdlmMode.Number("PW")}
	handle := Lock{Handle: 0xfec13fbea991f678, Remote: 0x91875bed3218708c}
	for _, c := range []struct {
		line   string
		kind   Kind
		status int32
		client bool
		kindOf string
		more   opcodes.LockDesc
	}{
		{"server-side enqueue handler, sending reply (err=-11, rc=0)" + of + "rrc: 4 type: EXT [4096->8191] (req 0->1) gid 7 " + end,
			LockReplied, -11, false, "EXTENT", opcodes.LockDesc{Start: 4096, End: 8191, Group: 7}},
		{"server-side enqueue handler, sending reply(err=0, rc=0)" + of + "rrc: 4 type: EXT [0->18446744073709551615] (req 0->1) " + end, // 2.12
			LockReplied, 0, false, "EXTENT", opcodes.LockDesc{End: math.MaxUint64}},
		{"client-side enqueue START, flags 0x1000" + of2 + "bits 0x13/0x2 rrc: 3 type: IBT " + end, LockAsked, 0, true, "IBITS", opcodes.LockDesc{Bits: 0x13}},
		{"blocking ast " + of2 + "rrc: 3 type: FLK pid: 379 [0->9] " + end, LockBlockingAST, 0, true, "FLOCK", opcodes.LockDesc{End: 9, PID: 379}},
		{"lock incompatible; sending blocking AST." + of + "rrc: 3 type: PLN " + end, LockConflict, 0, false, "PLAIN", opcodes.LockDesc{}},
	} {
		want := Event{Kind: c.kind, Status: c.status, Line: 1, Time: 1795315487735983000, PID: 946, Peer: nid(t, "192.0.2.4@tcp"),
			Target: "lustre-OST0000", Name: "filter-lustre-OST0000_UUID", Lock: handle}
		if want.Lock.OnClient = c.client; c.client {
			want.Name = "lustre-OST0000-osc-ff11"
		}
		want.Lock.Intent = c.kind == LockAsked
		want.Lock.Desc = c.more
		if c.kindOf == "IBITS" {
			want.Lock.Dropped = 2
		}
		want.Lock.Desc.Kind, want.Lock.Desc.Name, want.Lock.Desc.Requested = opcodes.LdlmType.Number(c.kindOf), desc.Name, desc.Requested
		text := strings.Replace(prefix, ":00100000:", ":00010000:", 1) + "### " + c.line + "\n"
		r := NewReader(strings.NewReader(text))
		r.Locks = true
		var e Event
		if err := r.Next(&e); err != nil || e != want {
			t.Errorf("%s\nis %+v\nnot %+v", c.line, e, want)
		}
		if list, _ := events(t, text); len(list) > 0 {
			t.Errorf("%s: read without being asked for", c.line)
		}
		for n := range text { // the end is missing
			r := NewReader(strings.NewReader(text[:n]))
			r.Locks = true
			_ = r.Next(&e)
		}
	}
}

// TestJunk checks that lines which are none are skipped and counted, and cost no others.
func TestJunk(t *testing.T) {
	good := prefix + "Sending RPC pname:cluuid:pid:xid:nid:opc p:u:1:1882453915800576:192.0.2.1@tcp:41\n"
	junk := []string{
		"Debug log: 3 lines, 3 kept, 0 dropped, 0 bad.\n", "\x00\xff\x80binary\n", "предупреждение: Lustre остановлен\n",
		strings.Repeat("x", 3*maxLine) + "\n", good[:40] + "\n", "00000100:00100000:1.0:99999999999.000000:0:1:0:(a.c:1:f()) late\n",
		"0000010g" + good[8:], prefix[:len(prefix)-4] + "\n",
	}
	for _, j := range junk {
		list, stats := events(t, good+j+good)
		if len(list) != 2 || stats.Skipped != 1 {
			t.Errorf("%.60q: %d events, %d lines skipped", j, len(list), stats.Skipped)
		}
	}
	for _, line := range []string{"Sending RPC ", "Handled RPC pname:cluuid x Request processed in 1us", "@@@ x req@1 y", "Handling RPC pname:cluuid+ref a:b:c:d"} {
		if list, _ := events(t, prefix+line+"\n"+good[:len(good)-1]); len(list) != 1 {
			t.Errorf("%s: %d events", line, len(list))
		}
	}
	if Detect([]byte("lctl output\n"+good)) != true || Detect([]byte(strings.Join(junk, ""))) {
		t.Error("Detect")
	}
}

// TestOrder checks that lines of several CPUs are put in order, and that a clock that is
// set back ends nothing.
func TestOrder(t *testing.T) {
	var text bytes.Buffer
	line := func(at time.Duration) {
		fmt.Fprintf(&text, "00000100:00100000:0.0:%d.%06d:0:1:0:(a.c:1:f()) Sending RPC pname:cluuid:pid:xid:nid:opc p:u:1:1882453915800576:192.0.2.1@tcp:41\n",
			1000+at/time.Second, at%time.Second/time.Microsecond)
	}
	const pages = 5000                       // more events and time than wait to be put in order
	for page := range time.Duration(pages) { // pages of two CPUs, a few lines each
		line(page*time.Millisecond + 3*time.Millisecond)
		line(page * time.Millisecond)
	}
	list, stats := events(t, text.String())
	for i := range list[1:] {
		if list[i].Time > list[i+1].Time {
			t.Fatalf("event %d is out of order", i+1)
		}
	}
	if len(list) != 2*pages || stats.Late != 0 {
		t.Errorf("%d events, %d late", len(list), stats.Late)
	}
	again := text.String()
	if list, stats := events(t, again+again); len(list) != 4*pages || stats.Late == 0 {
		t.Errorf("%d events, %d late", len(list), stats.Late)
	}
}

// TestAllocations checks that reading costs no memory by line.
func TestAllocations(t *testing.T) {
	line := []byte(prefix + "Handled RPC req@1 pname:cluuid+ref:pid:xid:nid:opc:job mdt00_000:fa7f+11:183:x1882522806225664:12345-192.0.2.4@tcp:400: " +
		"Request processed in 256us (780us total) trans 0 rc 0/0")
	var l Line
	var e Event
	var n names
	if got := testing.AllocsPerRun(100, func() {
		if !l.Parse(line) || !e.read(&l, &n, true) {
			t.Fatal("not read")
		}
	}); got > 0 {
		t.Errorf("%v allocations", got)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(prefix + "Handled RPC pname:cluuid+ref:pid:xid:nid:opc mdt:f+1:183:x188:12345-1.2.3.4@tcp:400: Request processed in 2us (7us total) trans 0 rc 0/0\n"))
	f.Add([]byte(prefix + "@@@ going to resend  req@1 x18/t0(0) o400->MGC1.2.3.4@tcp@1.2.3.4@tcp:26/25 lens 2/2\n"))
	f.Add([]byte(prefix + "Sending RPC pname:cluuid:pid:xid:nid:opc p:u:1:18:0@<0:0>:41"))
	f.Add([]byte("00010000:00010000:1.0F:1795315487.735983:0:946:0:(a.c:1:f()) ### packing ns: a lock: 0/0x1 lrc: 1 mode: --/PW res: [0x2:0x2:0x0].0xc " +
		"rrc: 4 type: EXT [4->8] (req 0->1) gid 7 nid: 1.2.3.4@tcp remote: 0x9 "))
	for _, c := range consoleLines(f) {
		f.Add([]byte(strings.Replace(prefix, ":00100000:", ":02020000:", 1) + c.line))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b))
		r.Locks = true
		var e Event
		for r.Next(&e) == nil {
		}
		if s := r.Stats(); s.Skipped > s.Lines+1 {
			t.Errorf("%+v", s)
		}
	})
}
