package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// awaited collects standard error and closes came when text was written.
type awaited struct {
	sync.Mutex
	bytes.Buffer
	text string
	came chan struct{}
}

func (s *awaited) Write(b []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	before := strings.Contains(s.String(), s.text)
	n, err := s.Buffer.Write(b)
	if !before && strings.Contains(s.String(), s.text) {
		close(s.came)
	}
	return n, err
}

// captureReplay captures on lo with a command line, while the turns go over loopback TCP,
// and returns the output. The default filter takes the packets of TestLiveRoCE, too, if
// somebody runs it at the same time.
func captureReplay(t *testing.T, play []turn, args ...string) *bytes.Buffer {
	t.Helper()
	l, err := capture.OpenLive([]string{"lo"}, capture.LiveOptions{})
	if err != nil {
		t.Skip("no live capture here: ", err)
	}
	l.Close()
	listener := must.Value(net.Listen("tcp4", "127.0.0.1:0"))(t)
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port

	var out bytes.Buffer
	errs := &awaited{text: "capturing on lo", came: make(chan struct{})}
	sys := testSystem(&out, errs)
	sys.Harden = func(scan.Files) error { return fmt.Errorf("%w: because", errors.ErrUnsupported) }
	status := make(chan int, 1)
	go func() {
		status <- Run(sys, append([]string{"-i", "lo", "-f", fmt.Sprint("tcp port ", port), "--port", strconv.Itoa(port), "-a", "duration:60"}, args...))
	}()
	select {
	case <-errs.came:
	case code := <-status:
		t.Fatalf("exit status %d: %s", code, errs)
	}
	replay(t, listener, play)
	must.Equal(t, <-status, exit.OK, "exit status", errs)
	assert.Contains(t, errs.String(), "privileges are kept during the capture: unsupported operation: because", errs)
	return &out
}

// TestLive captures on lo while the byte streams of a sample's connection go
// over loopback TCP.
func TestLive(t *testing.T) {
	play, want := conversation(t)
	out := captureReplay(t, play, "-T", "json", "-c", strconv.Itoa(len(want)))
	var got []string
	for dec := json.NewDecoder(out); ; {
		var m struct{ Kind, Xid, Opcode string }
		if err := dec.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.Kind+" "+m.Xid+" "+m.Opcode)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("captured\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// turn is the bytes that one side sends before the other side sends.
type turn struct {
	server bool
	data   []byte
}

// conversation returns the turns of the first connection of a sample that begins
// in the capture and has a reply.
func conversation(t *testing.T) (play []turn, want []string) {
	t.Helper()
	const conn = 0
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		if m.Conn != conn || len(m.Data) != m.Size || len(want) == 40 {
			return
		}
		server := m.Src.Port() == 988
		if n := len(play); n > 0 && play[n-1].server == server {
			play[n-1].data = append(play[n-1].data, m.Data...)
		} else {
			play = append(play, turn{server, bytes.Clone(m.Data)})
		}
		xid, opcode := "", ""
		if m.RPC.HasXID {
			xid = strconv.FormatUint(m.RPC.XID, 10)
		}
		if m.RPC.HasOpcode {
			opcode = opcodes.ByOpcode(m.RPC.Opcode).Name
		}
		want = append(want, m.Kind.String()+" "+xid+" "+opcode)
	}})
	wiretest.Play(d, wiretest.ReadSample(t, sampleFile))
	must.That(t, len(want) >= 4, "the sample's connection has only %d messages", len(want))
	return play, want
}

// replay sends the turns over a connection; each side waits for the turns before
// its own.
func replay(t *testing.T, listener net.Listener, play []turn) {
	t.Helper()
	var both sync.WaitGroup
	speak := func(c net.Conn, server bool) {
		defer both.Done()
		defer c.Close()
		in := bufio.NewReader(c)
		for _, p := range play {
			var err error
			if p.server == server {
				_, err = c.Write(p.data)
			} else {
				_, err = io.CopyN(io.Discard, in, int64(len(p.data)))
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	}
	both.Add(2)
	go func() {
		c, err := listener.Accept()
		if err != nil {
			both.Done()
			t.Error(err)
			return
		}
		speak(c, true)
	}()
	c := must.Value(net.Dial("tcp4", listener.Addr().String()))(t)
	speak(c, false)
	both.Wait()
}

// TestLiveTimeline checks that the timeline of connections prints a line when
// a message arrives, not at the end of the capture.
func TestLiveTimeline(t *testing.T) {
	l, err := capture.OpenLive([]string{"lo"}, capture.LiveOptions{})
	if err != nil {
		t.Skip("no live capture here: ", err)
	}
	l.Close()
	play, want := conversation(t)
	listener := must.Value(net.Listen("tcp4", "127.0.0.1:0"))(t)
	defer listener.Close()

	port := listener.Addr().(*net.TCPAddr).Port
	out := &awaited{text: "connected", came: make(chan struct{})}
	errs := &awaited{text: "capturing on lo", came: make(chan struct{})}
	status := make(chan int, 1)
	go func() {
		status <- Run(testSystem(out, errs), []string{"imports", "--timeline", "-i", "lo",
			"-f", fmt.Sprint("tcp port ", port), "--port", strconv.Itoa(port), "-c", strconv.Itoa(2 * len(want)), "-a", "duration:60"})
	}()
	await := func(s *awaited) {
		select {
		case <-s.came:
		case code := <-status:
			t.Fatalf("exit status %d before %q: %s", code, s.text, errs)
		}
	}
	await(errs)
	replay(t, listener, play)
	await(out)
	replay(t, listener, play)
	must.Equal(t, <-status, exit.OK, "exit status", errs)
}
