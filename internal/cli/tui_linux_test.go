package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
)

// terminal is a pseudo-terminal with a program in it.
type terminal struct {
	t       *testing.T
	cmd     *exec.Cmd
	control *os.File
	out     bytes.Buffer
}

// startTerminal starts a command line on a terminal of 120 by 40.
func startTerminal(t *testing.T, dir, line string) *terminal {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { control.Close() })
	fd := int(control.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: 120, Row: 40})
	}
	must.NoError(t, err)
	tty := must.Value(os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	defer tty.Close()
	x := &terminal{t: t, control: control, cmd: exec.CommandContext(t.Context(), "bash", "-c", line)}
	x.cmd.Dir, x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = dir, tty, tty, tty
	x.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+t.TempDir(), "XDG_STATE_HOME=")
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.NoError(t, x.cmd.Start())
	return x
}

// wait reads until the program has written a text.
func (x *terminal) wait(text string) {
	x.t.Helper()
	const patience = 20 * time.Second
	deadline := time.AfterFunc(patience, func() { x.cmd.Process.Kill() })
	defer deadline.Stop()
	buf := make([]byte, 1<<12)
	for !bytes.Contains(x.out.Bytes(), []byte(text)) {
		n, err := x.control.Read(buf)
		if x.out.Write(buf[:n]); err != nil {
			x.t.Fatalf("%q was not written: %v\n%q", text, err, x.out.Bytes())
		}
	}
}

// end waits for the program, and checks that it left the terminal as it was.
func (x *terminal) end() {
	x.t.Helper()
	const leave = "\x1b[?1049l" // the alternate screen
	x.wait(leave)
	if err := x.cmd.Wait(); err != nil {
		x.t.Errorf("%v: %q", err, x.out.Bytes())
	}
	modes, err := unix.IoctlGetTermios(int(x.control.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	if modes.Lflag&unix.ECHO == 0 || modes.Lflag&unix.ICANON == 0 {
		x.t.Errorf("the terminal is still raw: %#x", modes.Lflag)
	}
}

// runOnTerminal runs an example until it shows its rows, and quits.
func runOnTerminal(t *testing.T, dir, line string) {
	x := startTerminal(t, dir, line)
	x.wait("views") // among the keys in the last line
	if _, err := x.control.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	x.end()
}

// TestTerminal checks that the terminal is restored after each way to end, and that keys
// come from the terminal when the capture comes through a pipe.
func TestTerminal(t *testing.T) {
	for name, tt := range map[string]struct {
		line string
		key  string
		stop os.Signal
	}{
		"q":       {"exec lshark tui mount.pcap", "q", nil},
		"ctrl-c":  {"exec lshark tui mount.pcap", "\x03", nil},
		"pipe":    {"cat mount.pcap | lshark tui -", "q", nil},
		"SIGTERM": {"exec lshark tui mount.pcap", "", syscall.SIGTERM},
		"SIGINT":  {"exec lshark tui mount.pcap", "", syscall.SIGINT},
	} {
		t.Run(name, func(t *testing.T) {
			x := startTerminal(t, "../../pcaps", tt.line)
			x.wait("ptlrpc_body") // only cells that change are written
			if tt.stop != nil {
				must.NoError(t, x.cmd.Process.Signal(tt.stop))
			} else if _, err := x.control.WriteString(tt.key); err != nil {
				t.Fatal(err)
			}
			x.end()
		})
	}
}

// TestTerminalLogs shows the findings of logs without a capture.
func TestTerminalLogs(t *testing.T) {
	for line, steps := range map[string][][2]string{
		"evicted.oss.log evicted.client2.log":                   {{"", "evicted.lock_callback"}, {"q", ""}, {"q", ""}},
		"overload.client2.pcap.zst --log overload.oss.dk.gz -m": {{"", "OST_WRITE"}, {"q", ""}},
	} {
		x := startTerminal(t, "../../pcaps/logs", "exec lshark tui "+line)
		for _, step := range steps {
			_, err := x.control.WriteString(step[0])
			must.NoError(t, err)
			x.wait(step[1])
		}
		x.end()
	}
}

// TestTerminalError checks that what cannot be opened is an error without a screen.
func TestTerminalError(t *testing.T) {
	for line, status := range map[string]int{"exec lshark tui missing.pcap": exit.Failure, "exec lshark tui mount.pcap missing.pcap": exit.Failure, "exec lshark tui README.md": exit.Damage} {
		x := startTerminal(t, "../../pcaps", line)
		x.wait("lshark: ")
		x.wait("\n")
		err := x.cmd.Wait()
		if got := x.cmd.ProcessState.ExitCode(); got != status || bytes.Contains(x.out.Bytes(), []byte("\x1b[?1049h")) {
			t.Errorf("%s: %v, %q", line, err, x.out.Bytes())
		}
	}
}

// TestTerminalState checks that what was copied is written as base64, and that filters are
// remembered.
func TestTerminalState(t *testing.T) {
	state := t.TempDir()
	x := startTerminal(t, "../../pcaps", "XDG_STATE_HOME="+state+" exec lshark tui mount.pcap")
	x.wait("ptlrpc_body")
	for _, step := range [][2]string{{"Fxid == 1882453915468032\r", "1 of 79"}, {"y", "NID"}, {"\r", "\x1b]52;c;MTg4MjQ1MzkxNTQ2ODAzMg==\a"}, {"q", ""}} {
		_, err := x.control.WriteString(step[0])
		must.NoError(t, err)
		x.wait(step[1])
	}
	x.end()
	assert.Contains(t, string(must.ReadFile(t, state+"/lshark/tui.json")), "xid == 1882453915468032")
}
