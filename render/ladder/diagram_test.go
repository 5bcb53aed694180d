package ladder

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// testNID returns the NID of node i.
func testNID(i int) lnet.NID {
	return lnet.NID{Addr: [16]byte{192, 0, 2, byte(i)}, Len: 4, Type: 2}
}

// testEvent returns an event between two nodes, with the first as the client.
func testEvent(ms int64, from, to int, op, facts string) *Event {
	e := &Event{Number: ms + 1, Frame: ms + 1, Order: ms + 1, Time: ms * int64(time.Millisecond), From: testNID(from), To: testNID(to),
		Op: []byte(op), XID: uint64(1882453915467904 + ms)}
	e.Facts.Add(schema.Name, facts)
	e.Client = testNID(min(from, to))
	return e
}

// TestAddTargetOf checks that a target stands under its server, also when that sent a
// callback.
func TestAddTargetOf(t *testing.T) {
	client, server := testNID(1), testNID(2)
	request := &track.RPC{}
	request.Client, request.Server, request.Opcode, request.HasOpcode = client, server, opcodes.LDLM_ENQUEUE, true
	request.Connection = &track.Connection{Target: "lustre-OST0000"}
	callback := &track.RPC{}
	callback.Client, callback.Server, callback.Opcode, callback.HasOpcode = server, client, opcodes.LDLM_BL_CALLBACK, true
	callback.Connection = &track.Connection{TargetIndex: "OST0001"}
	d := &Diagram{}
	d.AddTargetOf(request)
	d.AddTargetOf(callback)
	got := fmt.Sprint(d.targets[server], len(d.targets))
	assert.That(t, got == "[lustre-OST0000 OST0001] 1", "targets of the server, and nodes with targets: %s", got)
}

var testWidths = []int{0, 30, 40, 60, 80, 120, 200}

// checkText checks what must hold for any diagram, and returns its text.
func checkText(t *testing.T, name string, d *Diagram, o TextOptions) string {
	t.Helper()
	lines := d.Text(o)
	var text strings.Builder
	last := -1
	for _, l := range lines {
		if o.Width > 0 && render.Width(l.Text) > o.Width {
			t.Errorf("%s: width %d: line of %d columns: %s", name, o.Width, render.Width(l.Text), l.Text)
		}
		for _, r := range string(l.Text) {
			if schema.NeedsEscape(r) || r == utf8.RuneError {
				t.Errorf("%s: character %q in %q", name, r, l.Text)
			}
		}
		assert.That(t, !bytes.HasSuffix(l.Text, []byte(" ")), "%s: space at the end of %q", name, l.Text)
		if l.Event >= 0 {
			if l.Event < last { // facts may go on in the next line
				t.Errorf("%s: event %d after %d", name, l.Event, last)
			}
			last = l.Event
		}
		text.Write(l.Text)
		text.WriteByte('\n')
	}
	events := d.Events()
	for i := 1; i < len(events); i++ {
		assert.That(t, events[i].Time >= events[i-1].Time, "%s: event %d is before the one in front of it", name, i)
	}
	assert.Equal(t, wiretest.Shown(d.AppendText, o), text.String(), name, "AppendText differs from the lines")
	return text.String()
}

// TestSamples draws all samples: in all widths with the tag all, else each in some of them.
func TestSamples(t *testing.T) {
	for i, path := range wiretest.Samples(t) {
		d := readSample(t, path, Selection{Match: matchAll}, 200)
		assert.That(t, len(d.Events()) != 0, "%s: no events", path)
		for k, width := range testWidths {
			if !wiretest.All && (i+k)%3 > 0 {
				continue
			}
			checkText(t, filepath.Base(path), d, TextOptions{Width: width})
			if svg := d.AppendSVG(nil, SVGOptions{Width: width}); bytes.ContainsRune(svg, utf8.RuneError) {
				t.Errorf("%s: width %d: a character of the picture was cut", filepath.Base(path), width)
			}
		}
		checkFIDs(t, d)
	}
}

// checkFIDs checks that the first FID in the facts of an event is there in 80 columns.
func checkFIDs(t *testing.T, d *Diagram) {
	t.Helper()
	fid := regexp.MustCompile(`\[0x[0-9a-f]+:0x[0-9a-f]+:0x0\]`)
	lines := make(map[int]string)
	for _, l := range d.Text(TextOptions{Width: 80}) {
		lines[l.Event] += string(l.Text) + "\n"
	}
	for i, e := range d.Events() {
		if f := fid.Find(e.Facts.Text); f != nil && !strings.Contains(lines[i], string(f)) {
			t.Errorf("no %s in\n%s", f, lines[i])
		}
	}
}

// TestHostileText checks that control characters do not reach the terminal, and that
// wide and combining characters count as many columns as they take.
func TestHostileText(t *testing.T) {
	names := map[lnet.NID]string{testNID(1): "cli\x1b[31ment", testNID(2): "サーバー"}
	for _, fact := range []string{
		strings.Repeat("名", 100), strings.Repeat("e\u0301", 100), strings.Repeat("😀", 60), strings.Repeat("x", 300),
		"plain",
	} {
		d := &Diagram{Title: "a\x1b[2Jb\nc\u202e", NIDs: render.NIDs{Name: func(n lnet.NID) string { return names[n] }}}
		d.AddTarget(testNID(2), "名前-OST0000")
		d.Files = []string{"a\x1b.pcap", "b.pcap"}
		for i := range int64(5) {
			e := testEvent(i, 1, 2, "OST_WRITE", fact)
			e.File = "b.pcap"
			d.Add(e)
		}
		for _, width := range testWidths {
			checkText(t, fact[:5], d, TextOptions{Width: width})
		}
		if text := checkText(t, "escapes", d, TextOptions{Width: 120}); !strings.Contains(text, `cli\x1b[31ment`) || !strings.Contains(text, `a\x1b[2Jb\x0ac`) ||
			!strings.Contains(text, `1: a\x1b.pcap`) || !strings.Contains(text, "サーバー") || !strings.Contains(text, "2:1") {
			t.Errorf("names are missing:\n%s", text)
		}
	}
}

// TestNodes checks the columns of diagrams with many nodes.
func TestNodes(t *testing.T) {
	for _, n := range []int{2, 3, 5, 12, 40} {
		d := &Diagram{Title: "nodes"}
		for i := range int64(10 * n) {
			server := 100 + int(i)%max(1, n/3)
			d.Add(testEvent(i, 1+int(i)%(n-max(1, n/3)), server, "OST_WRITE", "64 KiB at 0"))
		}
		if n > 12 {
			d.Add(testEvent(int64(10*n), 25, 26, "OST_READ", "between others"))
		}
		for _, width := range testWidths {
			text := checkText(t, fmt.Sprint(n), d, TextOptions{Width: width})
			hidden := strings.Contains(text, "others (")
			fits := n <= 5 || n <= 12 && width >= 120
			assert.That(t, width < 80 || fits != hidden, "%d nodes in %d columns: others %t:\n%s", n, width, hidden, text)
			if n > 12 && (width >= 80 || width == 0) && hidden != strings.Contains(text, " between others") {
				t.Errorf("%d nodes in %d columns: hidden messages:\n%s", n, width, text)
			}
		}
	}
}

func TestArrows(t *testing.T) {
	d := &Diagram{Title: "RPC x1"}
	request := testEvent(0, 1, 3, "OST_READ", "1 MiB at 0")
	d.Add(request)
	bulk := testEvent(2, 3, 1, "OST_READ", "data 1048576 bytes")
	bulk.Kind, bulk.Client = Bulk, lnet.NID{}
	bulk.TransferUpdate(&lnet.Transfer{Resent: 2, LostFrom: 1e6, LostTo: 232e6})
	d.Add(bulk)
	reply := testEvent(2402, 3, 1, "OST_READ", "ok 2.4s")
	reply.Marks = Failed
	d.Add(reply)
	lost := testEvent(2403, 1, 2, "LDLM_CANCEL", "0x1")
	lost.Marks, lost.reason = NoReply, "no reply: unanswered"
	d.Add(lost)
	loss := &Event{Kind: Loss, Marks: Incomplete, Time: 2404e6, From: testNID(2), To: testNID(1)}
	loss.Facts.Add(schema.Bad, "1448 bytes not captured")
	d.addLosses([]*Event{{Kind: Loss, Time: 9e9, From: testNID(1), To: testNID(2)}, {Kind: Loss, Time: 1, From: testNID(9), To: testNID(2)}})
	d.Add(loss)
	d.AddTarget(testNID(3), "lustre-OST0001")
	d.AddTarget(testNID(3), "lustre-OST0001")
	for _, tt := range []struct {
		name string
		o    TextOptions
		want string
	}{
		{"marks", TextOptions{Width: 100}, `
RPC x1
5 messages in 2.4s, times since 1970-01-01 00:00:00.000000 UTC
           192.0.2.1         192.0.2.3         192.0.2.2
                           lustre-OST0001
   1 0.000000  ├─ OST_READ ─────>│                 │  1 MiB at 0
   3 0.002000  │<R════ OST_READ ═╡                 │  retransmitted 2 packets, 231ms lost; data
               │                 │                 │  1048576 bytes
               ┊                 ┊                 ┊
     · 2.4s ·  ┊                 ┊                 ┊
               ┊                 ┊                 ┊
2403 2.402000  │<───── OST_READ ─┤                 │  ok 2.4s
2404 2.403000  ├─ LDLM_CANCEL ───┼───────────────?>│  no reply: unanswered; 0x1
     2.404000  │×╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┼╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┤  1448 bytes not captured
R  parts of the message were sent again by TCP or InfiniBand
?  no reply was captured
╌  bytes of it were not captured
`}} {
		if got := checkText(t, tt.name, d, tt.o); got != tt.want[1:] {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want[1:])
		}
	}
}

func TestGaps(t *testing.T) {
	for _, tt := range []struct {
		times []int64 // ms
		want  []int
	}{
		{nil, []int{}},
		{[]int64{5}, []int{0}},
		{[]int64{0, 3}, []int{0, 0}},
		{[]int64{0, 2400}, []int{0, 3}},
		{[]int64{0, 1, 2, 3, 33, 34}, []int{0, 0, 0, 0, 3, 0}},
		{[]int64{0, 10, 20, 30, 40, 50}, []int{0, 0, 0, 0, 0, 0}},
		{[]int64{0, 1, 2, 10000, 10001, 11500, 99000}, []int{0, 0, 0, 2, 0, 1, 3}},
	} {
		var events []*Event
		for _, ms := range tt.times {
			events = append(events, testEvent(ms, 1, 2, "x", ""))
		}
		assert.Equal(t, fmt.Sprint(gaps(events)), fmt.Sprint(tt.want), tt.times, tt.want)
	}
}

func TestLimit(t *testing.T) {
	const n, limit = 5000, 10
	d := &Diagram{Limit: limit}
	for i := range int64(n) {
		d.Add(testEvent(n-i, 1, 2, "OBD_PING", ""))
	}
	if got := d.Events(); len(got) != limit || got[0].Time != int64(time.Millisecond) || d.Omitted != n-limit {
		t.Errorf("%d events from %d, %d omitted", len(got), got[0].Time, d.Omitted)
	}
	if text := checkText(t, "limit", d, TextOptions{Width: 80}); !strings.Contains(text, "not drawn: 4990 more messages") {
		t.Errorf("the number of messages that are not drawn is missing:\n%s", text)
	}
}

// TestHostileSVG checks that text of the wire does not become markup.
func TestHostileSVG(t *testing.T) {
	d := &Diagram{Title: "</title><script>alert(1)</script>\x00\ufffe", NIDs: render.NIDs{Name: func(lnet.NID) string { return "" }}}
	for i, facts := range []string{`<script>alert("x")</script>`, "a & b", "]]>", strings.Repeat("<&>", 200), strings.Repeat("名<", 200)} {
		e := testEvent(int64(i), 1, 2, "<b>", facts)
		e.File = "<file>"
		d.Add(e)
	}
	d.AddTarget(testNID(2), "<target>&")
	for _, width := range testWidths[2:] {
		svg := d.AppendSVG(nil, SVGOptions{Width: width})
		texts := 0
		x := xml.NewDecoder(bytes.NewReader(svg))
		for {
			token, err := x.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, svg)
			}
			if start, ok := token.(xml.StartElement); ok {
				switch start.Name.Local {
				case "text":
					texts++
				case "svg", "title", "style", "rect", "path", "g", "tspan", "circle":
				default:
					t.Errorf("element %s", start.Name.Local)
				}
			}
		}
		assert.That(t, texts >= len(d.Events()), "width %d: %d texts", width, texts)
	}
}

func matchAll(*dissect.Message) bool { return true }

// readSample returns the diagram of what is selected in a capture.
func readSample(t *testing.T, path string, what Selection, limit int) *Diagram {
	t.Helper()
	d := &Diagram{Title: path, Limit: limit}
	f := follow.New(follow.Options{})
	s := NewSelector(d, what, f)
	wiretest.Play(dissect.New(dissect.Options{Handle: f.Message, TransferUpdate: f.TransferUpdate, Lost: f.Lost}), wiretest.ReadSample(t, path))
	f.Close()
	s.Close()
	assert.Equal(t, s.held+s.waiting, 0, path, "events are counted as held at the end")
	return d
}

// sample returns the path of a sample.
func sample(name string) string { return wiretest.Repo("pcaps/" + name) }

// ops returns the operations of a diagram, with > and < for the direction: > is from
// the client.
func ops(d *Diagram) string {
	var list []string
	for _, e := range d.Events() {
		direction := "<"
		if e.From == d.Events()[0].From {
			direction = ">"
		}
		list = append(list, direction+string(e.Op))
	}
	return strings.Join(list, " ")
}

func TestSelection(t *testing.T) {
	isError := func(m *dissect.Message) bool { return m.Kind == lnet.Reply && m.RPC.Status == -2 }
	for _, tt := range []struct {
		name, sample string
		what         Selection
		want         string
	}{
		{"xid with bulk data", "mount.pcap", Selection{XID: 1882453915469056},
			">MGS_CONFIG_READ recover <MGS_CONFIG_READ recover >MGS_CONFIG_READ recover <MGS_CONFIG_READ recover"},
		{"unknown xid", "mount.pcap", Selection{XID: 1}, ""},
		{"a reply brings its request", "mount.pcap", Selection{Match: isError}, strings.TrimSpace(strings.Repeat(">LLOG_ORIGIN_HANDLE_CREATE <LLOG_ORIGIN_HANDLE_CREATE ", 2))},
		{"alone", "mount.pcap", Selection{Match: isError, Alone: true}, ">LLOG_ORIGIN_HANDLE_CREATE >LLOG_ORIGIN_HANDLE_CREATE"},
	} {
		got := ops(readSample(t, sample(tt.sample), tt.what, 0))
		assert.That(t, got == tt.want, "%s: %s\nwant %s", tt.name, got, tt.want)
	}
}

// TestHeldBound checks that what is held until RPCs have ended is bounded, and counted
// beyond that.
func TestHeldBound(t *testing.T) {
	d := &Diagram{}
	f := follow.New(follow.Options{})
	s := NewSelector(d, Selection{XID: 1}, f)
	const n = maxHeld + 100
	var m dissect.Message
	m.Kind, m.LNetOff = lnet.Request, 0
	m.LNet = lnet.Header{Type: lnet.TypePut, Src: testNID(1), Dst: testNID(2), Portal: 12}
	m.RPC.HasXID = true
	for i := range n {
		m.Number, m.Frame, m.Order, m.Time = int64(i+1), int64(i+1), int64(i+1), int64(i)
		m.RPC.XID = uint64(i + 2)
		f.Message(&m)
	}
	assert.That(t, s.held == maxHeld && s.Dropped == n-maxHeld, "%d events are held, %d dropped", s.held, s.Dropped)
	m.Number, m.RPC.XID = n+1, 1
	f.Message(&m)
	assert.Equal(t, s.Len(), 1, "a selected request without a reply: selected messages")
	f.Close()
	s.Close()
	if d.Len() != 1 || s.held != 0 || d.Events()[0].Marks&NoReply == 0 {
		t.Errorf("%d events are drawn, %d are held at the end", d.Len(), s.held)
	}
}
