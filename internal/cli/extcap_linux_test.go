package cli

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/render/pdu"
)

// listenLive returns a listener for replay and its port, and the messages of the
// conversation. The test is skipped where lo cannot be captured.
func listenLive(t *testing.T) (listener net.Listener, port string, play []turn, want []string) {
	t.Helper()
	l, err := capture.OpenLive([]string{"lo"}, capture.LiveOptions{})
	if err != nil {
		t.Skip("no live capture here: ", err)
	}
	l.Close()
	play, want = conversation(t)
	if listener, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), play, want
}

// startExtcap starts a capture as Wireshark does, and returns the other end of its FIFO
// when the capture runs: when the headers of the file have arrived.
func startExtcap(t *testing.T, args ...string) (fifo *os.File, cmd *exec.Cmd, errs *bytes.Buffer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	cmd, errs = process(t, nil, nil, append([]string{"--capture", "--fifo", path}, args...)...)
	fifo = must.Value(os.Open(path))(t)
	t.Cleanup(func() { fifo.Close() })
	header := make([]byte, 12) // of the section header: type, length, byte order
	if _, err := io.ReadFull(fifo, header); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	return fifo, cmd, errs
}

// readFrames returns the frames in what a capture has written so far behind the first
// bytes of the section header.
func readFrames(t *testing.T, rest []byte) (frames []capture.Frame) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "all.pcapng")
	const length = 28 + 4 + 4 + 8 // the section header's fixed part, and the option with our name
	header := []byte{0x0a, 0x0d, 0x0d, 0x0a, length, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a}
	must.NoError(t, os.WriteFile(path, append(header, rest...), 0o600))
	r, err := capture.Open([]string{path}, capture.Options{})
	must.NoError(t, err)
	defer r.Close()
	for {
		var f capture.Frame
		if err := r.Next(&f); err == io.EOF || errors.As(err, new(*capture.DamageError)) {
			return frames // a part of the file
		} else if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, f)
	}
}

// TestExtcap checks that messages, or frames, come through the FIFO while the capture
// runs, and that a signal ends it without an error.
func TestExtcap(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	play, want := conversation(t)
	for _, tt := range []struct {
		name   string
		args   []string
		frames int // at least
		link   capture.LinkType
	}{
		{"messages", nil, len(want), pdu.LinkType},
		{"filter", []string{"--extcap-capture-filter", "kind == hello"}, 2, pdu.LinkType},
		{"frames", []string{"--content", "frames"}, len(play) + 6, capture.LinkEthernet}, // with the handshakes of TCP
		{"frames of messages", []string{"--content", "frames", "--extcap-capture-filter", "kind == hello"}, 2, capture.LinkEthernet},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			listener, port, play, _ := listenLive(t)
			fifo, cmd, errs := startExtcap(t, append([]string{"--extcap-interface", "lshark", "--interface", "lo", "--port", port}, tt.args...)...)
			replay(t, listener, play)
			// Everything comes before the capture ends.
			var all []byte
			must.NoError(t, fifo.SetReadDeadline(time.Now().Add(time.Minute)))
			for some := make([]byte, 1<<16); len(readFrames(t, all)) < tt.frames; {
				n, err := fifo.Read(some)
				if err != nil {
					t.Fatalf("%d of %d frames: %v: %s", len(readFrames(t, all)), tt.frames, err, errs)
				}
				all = append(all, some[:n]...)
			}
			must.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			rest := must.Value(io.ReadAll(fifo))(t)
			all = append(all, rest...)
			ended(t, cmd, errs, exit.OK)
			assert.That(t, errs.Len() <= 0, "standard error: %s", errs)
			frames := readFrames(t, all)
			if len(frames) < tt.frames || strings.HasPrefix(tt.name, "f") && tt.frames == 2 && len(frames) > 2 {
				t.Errorf("%d frames, want %d", len(frames), tt.frames)
			}
			for _, f := range frames {
				must.Equal(t, f.Link, tt.link, "link type")
			}
		})
	}
}

// TestExtcapReaderGone checks that a capture without traffic ends when Wireshark closes
// the FIFO, also on another host.
func TestExtcapReaderGone(t *testing.T) {
	listenLive(t)
	fakeSSH(t)
	for _, args := range [][]string{
		{"--extcap-interface", "lshark", "--interface", "lo", "--port", "1"},
		{"--extcap-interface", "lshark-ssh", "--remote-host", "oss1", "--interface", "lo", "--port", "1"},
	} {
		fifo, cmd, errs := startExtcap(t, args...)
		fifo.Close()
		ended(t, cmd, errs, exit.OK)
		assert.That(t, errs.Len() <= 0, "%q: %s", args, errs)
	}
}

// fakeSSH puts a program ssh into PATH that runs its command on this host.
func fakeSSH(t *testing.T) {
	t.Helper()
	const script = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nexec sh -c \"exec $3\"\n"
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestTsharkExtcap runs tshark, where it is installed, with the interfaces of --install: it
// lists them, captures from them live with and without a filter, shows their errors, and
// stops at an interrupt.
func TestTsharkExtcap(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip(err)
	}
	listener, port, play, _ := listenLive(t)
	fakeSSH(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	cmd, errs := process(t, nil, nil, "extcap", "--install")
	ended(t, cmd, errs, exit.OK)

	list, err := exec.Command("tshark", "-D").Output()
	if err != nil || !bytes.Contains(list, []byte(". lshark (Lustre (lshark))\n")) || !bytes.Contains(list, []byte(". lshark-ssh (Lustre remote (lshark over ssh))\n")) {
		t.Fatalf("%v: %s", err, list)
	}
	interfaces := []struct{ name, settings string }{{"lshark", "lshark"}, {"lshark-ssh", "lshark_ssh"}}
	if !wiretest.All {
		interfaces = interfaces[:1]
	}
	for _, tt := range interfaces {
		options := []string{"-i", tt.name, "-o", "extcap." + tt.settings + ".interface:lo", "-o", "extcap." + tt.settings + ".port:" + port,
			"-o", "extcap.lshark_ssh.remotehost:oss1"}

		// Two hellos are shown while the capture runs, and it ends by Ctrl-C.
		out := &awaited{text: " for CONTROL\nhello ", came: make(chan struct{})}
		cmd := exec.Command("tshark", append(options, "-l", "-f", "kind == hello", "-T", "fields", "-e", "frame.comment")...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = struct{ io.Writer }{out}, &errs // not the ReadFrom of its buffer
		must.NoError(t, cmd.Start())
		deadline := time.After(time.Minute)
		shown := false
		for !shown {
			replay(t, listener, play) // until the capture has started
			select {
			case <-out.came:
				shown = true
			case <-time.After(time.Second):
			case <-deadline:
				shown = true
				t.Errorf("%s: nothing was captured: %q, %s", tt.name, out.String(), &errs)
			}
		}
		must.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
		if err := cmd.Wait(); err != nil || strings.Contains(errs.String(), "rror") {
			t.Errorf("%s: %v: %s", tt.name, err, &errs)
		}

		// An error in the filter is shown, and nothing waits.
		failed, err := exec.Command("tshark", append(options, "-f", "knd == hello")...).CombinedOutput()
		if err == nil || !bytes.Contains(failed, []byte("Error by extcap pipe: lshark: filter: unknown field knd\nlshark:   knd == hello\nlshark:   ^^^\n")) {
			t.Errorf("%s: %v: %s", tt.name, err, failed)
		}
	}
	failed, err := exec.Command("tshark", "-i", "lshark", "-o", "extcap.lshark.interface:nosuch0").CombinedOutput()
	want := "Error by extcap pipe: lshark: nosuch0: no such interface\n"
	assert.That(t, err != nil && bytes.Contains(failed, []byte(want)), "%v: %s", err, failed)
}
