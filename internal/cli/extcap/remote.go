package extcap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
)

// captureRemote runs lshark on another host by ssh, and copies the packets that it
// writes to standard output.
func (c *command) captureRemote(out *output, input *scan.Flags) error {
	if err := c.checkRemote(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-out.gone
		stop()
	}()
	ssh := exec.CommandContext(ctx, "ssh", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-T", "--", c.remoteHost, c.remoteLine(input))
	ssh.Cancel = func() error { return ssh.Process.Signal(syscall.SIGTERM) }
	ssh.WaitDelay = 2 * time.Second
	ignoreTerminal(ssh)
	var complaint bytes.Buffer
	packets := &copied{to: out}
	ssh.Stdout, ssh.Stderr = packets, &complaint
	err := ssh.Run()
	switch {
	case packets.err != nil:
		return packets.err
	case err == nil || ctx.Err() != nil: // ended, or stopped
		return nil
	}
	return explain(c.remoteHost, err, complaint.String())
}

// copied passes on what is written to it, and keeps the error.
type copied struct {
	to  io.Writer
	err error
}

func (c *copied) Write(p []byte) (n int, err error) {
	n, c.err = c.to.Write(p)
	return n, c.err
}

// explain returns an error for ssh, or what it ran, ending early: what they wrote to
// standard error, or else err.
func explain(host string, err error, complaint string) error {
	var all []error
	for line := range strings.Lines(complaint) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			all = append(all, fmt.Errorf("%s: %s", iostreams.Printable(host), strings.TrimPrefix(line, "lshark: ")))
		}
	}
	if len(all) == 0 {
		all = append(all, fmt.Errorf("ssh %s: %w", iostreams.Printable(host), err))
	}
	return errors.Join(all...)
}

// hostCharacters are those of a host, or of user@host.
const hostCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@.:-_[]%"

// checkRemote checks that the host cannot be taken for an option of ssh.
func (c *command) checkRemote() error {
	switch {
	case c.remoteHost == "":
		return exit.Usagef("the remote host is missing (--remote-host)")
	case c.remoteHost[0] == '-':
		return exit.Usagef("--remote-host %s: must not begin with a dash", c.remoteHost)
	case strings.Trim(c.remoteHost, hostCharacters) != "":
		return exit.Usagef("--remote-host %s: must be HOST or USER@HOST", iostreams.Printable(c.remoteHost))
	case len(strings.Fields(c.remoteCommand)) == 0:
		return exit.Usagef("--remote-command: must not be empty")
	}
	return nil
}

// remoteLine returns the command line for the shell of the other host.
func (c *command) remoteLine(input *scan.Flags) string {
	args := append(strings.Fields(c.remoteCommand), "extcap", "--capture", "--extcap-interface", localInterface, "--fifo", "-",
		"--interface", c.iface, "--content", c.content.Value)
	if len(input.Ports) > 0 {
		args = append(args, "--port", c.ports)
	}
	if input.Snaplen != 0 {
		args = append(args, "--snaplen", c.snaplen)
	}
	if c.display != "" {
		args = append(args, "--extcap-capture-filter", c.display)
	}
	for i, a := range args {
		args[i] = flags.ShellWord(a)
	}
	return strings.Join(args, " ")
}
