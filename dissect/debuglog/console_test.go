package debuglog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// TestHeads reads the beginnings of lines in the forms of several programs.
func TestHeads(t *testing.T) {
	const message = "Lustre: lustre-OST0000: Client 1b2a (at 192.0.2.4@tcp) reconnecting"
	at := time.Date(2026, 11, 24, 10, 0, 5, 250e6, time.UTC)
	whole := at.Truncate(time.Second)
	for _, tt := range []struct {
		line string
		host string
		at   time.Time
	}{
		{"Nov 24 10:00:05 oss1 kernel: " + message, "oss1", whole},
		{"Nov 24 10:00:05 oss1 kernel: [12345.678901] " + message, "oss1", whole},
		{"<4>Nov 24 10:00:05 oss1 kernel: " + message, "oss1", whole},
		{"2026-11-24T10:00:05.250000+00:00 oss1 <kern.warning> kernel: " + message, "oss1", at},
		{"Nov 24 10:00:05.250000 oss1 kernel: " + message, "oss1", at},
		{"2026-11-24T10:00:05.250000+00:00 oss1 kernel: " + message, "oss1", at},
		{"2026-11-24T11:00:05.250+0100 oss1 kernel: " + message, "oss1", at},
		{"2026-11-24T10:00:05Z oss1 kernel: " + message, "oss1", whole},
		{"Tue 2026-11-24 10:00:05 UTC oss1 kernel: " + message, "oss1", whole},
		{"<4>1 2026-11-24T10:00:05.25Z oss1 kernel - - - " + message, "oss1", at},
		{`1 2026-11-24T10:00:05.25Z oss1 kernel - - [meta x="1"] ` + message, "", time.Time{}}, // RFC 5424 has a priority
		{"1795514405.250000 oss1 kernel: " + message, "oss1", at},
		{"[Tue Nov 24 10:00:05 2026] " + message, "", whole},
		{"2026-11-24T10:00:05,250000+00:00 " + message, "", at},
		{"[12345.250000] " + message, "", time.Unix(12345, 250e6)},
		{"[12345.250000][  T946] " + message, "", time.Unix(12345, 250e6)},
		{"<4>[12345.250000] " + message, "", time.Unix(12345, 250e6)},
		{"[12345.250000] oss1 kernel: " + message, "oss1", time.Unix(12345, 250e6)},
		{"kern  :warn  : [12345.250000] " + message, "", time.Unix(12345, 250e6)},
		{`{"__REALTIME_TIMESTAMP":"1795514405250000","_HOSTNAME":"oss1","_TRANSPORT":"kernel","MESSAGE":"` + message + `"}`, "oss1", at},
		{`{"__REALTIME_TIMESTAMP":"1795514405250000","_HOSTNAME":"oss1","_TRANSPORT":"kernel","MESSAGE":` + strings.Join(strings.Fields(fmt.Sprint([]byte(message))), ",") + `}`, "oss1", at},
	} {
		c := console{location: time.UTC, year: 2026}
		var h head
		ok := c.readHead([]byte(tt.line), &h)
		if tt.at.IsZero() {
			if ok {
				t.Errorf("%s: was read", tt.line)
			}
			continue
		}
		if !ok || string(h.host) != tt.host || h.time != tt.at.UnixNano() || string(h.message) != message {
			t.Errorf("%s: %v, host %q, time %v, message %q", tt.line, ok, h.host, time.Unix(0, h.time).UTC(), h.message)
		}
	}
	for _, line := range []string{
		"Nov 24 10:00:05 oss1 sshd[77]: Accepted publickey", "2026-11-24T10:00:05+00:00 oss1 systemd[1]: Started Lustre: a unit",
		`{"__REALTIME_TIMESTAMP":"1795514405250000","_TRANSPORT":"syslog","MESSAGE":"Lustre: not from the kernel"}`,
	} {
		c := console{location: time.UTC, year: 2026}
		var h head
		if !c.readHead([]byte(line), &h) || len(h.message) > 0 {
			t.Errorf("%s: message %q of another program", line, h.message)
		}
	}
}

// TestMessages takes prefixes, numbers and places off messages.
func TestMessages(t *testing.T) {
	for _, tt := range []struct {
		text, message, function string
		mask                    uint32
	}{
		{"LustreError: 167-0: a: This client was evicted by b; c", "a: This client was evicted by b; c", "", MaskConsole | MaskError},
		{"LustreError: 13a-8: x", "x", "", MaskConsole | MaskError},
		{"Lustre: 946:0:(client.c:2310:ptlrpc_expire_one_request()) @@@ text", "@@@ text", "ptlrpc_expire_one_request", MaskConsole | MaskWarning},
		{"LNetError: 120-3: 946:0:(a.c:1:f()) text", "text", "f", MaskConsole | MaskError},
		{"LNet: lustre-OST0000: text", "lustre-OST0000: text", "", MaskConsole | MaskWarning},
		{"sd 0:0:0:0: [sda] text", "sd 0:0:0:0: [sda] text", "", MaskConsole},
	} {
		var l Line
		l.ParseConsole([]byte(tt.text))
		if string(l.Message) != tt.message || string(l.Func) != tt.function || l.Mask != tt.mask {
			t.Errorf("%s: %q, function %q, mask %x", tt.text, l.Message, l.Func, l.Mask)
		}
	}
}

// TestConsoleText reads wrapped lines, lines of other programs and rubbish, and a log over the end of a year.
func TestConsoleText(t *testing.T) {
	text := "Dec 31 23:59:58 oss1 kernel: Lustre: Failing over lustre-OST0001\n" +
		"Dec 31 23:59:59 oss1 sshd[7]: text\n\x00\xff\x80rubbish\n" + strings.Repeat("x", 3*maxLine) + "\n" +
		"Jan  1 00:00:01 oss2 kernel: Lustre: lustre-OST0002: Client 1b2a (at 192.0.2.4@tcp)\n   reconnecting\n" +
		"Jan  1 00:00:02 oss1 kernel: Lustre: server umount lustre-OST0001 complete\n"
	r := NewReader(strings.NewReader(text))
	r.console.location, r.console.year = time.UTC, 2026
	var e Event
	var got []string
	var last int64
	for {
		err := r.Next(&e)
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if e.Time < last {
			t.Errorf("line %d is before the one in front", e.Line)
		}
		last = e.Time
		got = append(got, e.Host+" "+e.Target)
	}
	if want := "oss1 lustre-OST0001, oss2 lustre-OST0002, oss1 lustre-OST0001"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
	if s := r.Stats(); s.Others != 1 || s.Skipped != 2 {
		t.Errorf("%+v", s)
	}
}

// TestOnly reads only some kinds, of messages of Lustre.
func TestOnly(t *testing.T) {
	r := NewReader(strings.NewReader("2026-11-24T10:00:00+00:00 a kernel: Lustre: Failing over lustre-OST0001\n" +
		"2026-11-24T10:00:00+00:00 b kernel: Lustre: server umount lustre-OST0001 complete\n" +
		"2026-11-24T10:00:01+00:00 c kernel: Lustre: 1:0:(client.c:1:f()) @@@ Request sent has timed out for slow reply: [sent 1795514388/real 1795514388]  " +
		"req@1 x1883031475000832/t0(0) o400->MGC192.0.2.1@tcp@192.0.2.1@tcp:26/25 lens 224/224 e 0 to 1 dl 1795514405\n" +
		"2026-11-24T10:00:02+00:00 d kernel: server umount lustre-OST0001 complete\n"))
	r.Only(Stopped, Lost)
	var e Event
	var got []string
	for r.Next(&e) == nil {
		got = append(got, e.Host+" "+e.Target)
	}
	if strings.Join(got, ", ") != "b lustre-OST0001" {
		t.Errorf("%q", got)
	}
}

// TestClock finds out the zone, and the time of the boot, by a message with seconds since the epoch.
func TestClock(t *testing.T) {
	const message = "Lustre: 1:0:(client.c:1:f()) @@@ Request sent has timed out for slow reply: [sent 1795514388/real 1795514388]  req@1 x1883031475000832/t0(0) " +
		"o400->MGC192.0.2.1@tcp@192.0.2.1@tcp:26/25 lens 224/224 e 0 to 1 dl 1795514405 ref 1 fl Rpc:XNQr/200/ffffffff rc 0/-1"
	at := time.Unix(1795514405, 0)
	for _, begin := range []string{"Nov 24 05:30:05 oss1 kernel: ", "[  300.000000] ", "[Tue Nov 24 19:00:06 2026] "} {
		var c console
		c.setClock(bufio.NewReader(strings.NewReader("text\n"+begin+message+"\n")), at.Add(time.Hour))
		c.location = time.UTC
		var h head
		if !c.readHead([]byte(begin+message), &h) || h.time/1e9-at.Unix() > 2 || at.Unix()-h.time/1e9 > 2 {
			t.Errorf("%s: %v", begin, time.Unix(0, h.time).UTC())
		}
	}
}

// FuzzConsole reads anything as lines of the console.
func FuzzConsole(f *testing.F) {
	f.Add([]byte("Nov 24 10:00:05 oss1 kernel: [1.5] LustreError: 11-0: a: operation ost_write to node 192.0.2.2@tcp failed: rc = -107\n wrapped\n"))
	f.Add([]byte("<4>1 2026-11-24T10:00:05.25Z oss1 kernel - - [x] Lustre: text\n{\"MESSAGE\":[76,78]}\n[12.5][ T1] LNet: Added LNI 192.0.2.4@tcp [8/256/0/180]\n"))
	f.Add([]byte("kern  :warn  : [ 9.0] sd 0:0:0:0: [sda] text\nTue 2026-11-24 10:00:05 CET a kernel: LBUG\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := NewReader(bytes.NewReader(text))
		var e Event
		for r.Next(&e) == nil {
			if !e.Console && e.Host != "" {
				t.Errorf("a debug log has the host %q", e.Host)
			}
		}
		Detect(text)
		Explain(text)
	})
}
