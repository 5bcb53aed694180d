package extcap

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
)

const (
	contentMessages = "messages"
	contentFrames   = "frames"
)

// startCapture captures. The FIFO is opened first, even if an argument is wrong: Wireshark
// shows an error only after the FIFO was opened. It is left open until the process ends,
// because Wireshark ignores what is written to standard error after the FIFO was closed.
func (c *command) startCapture() error {
	out, err := c.openOutput()
	if err != nil {
		return err
	}
	selected, wrong := flags.Messages(c.display)
	input, err := c.input()
	if err = errors.Join(wrong, err); err != nil {
		return err
	}
	if c.query.iface == remoteInterface {
		return c.captureRemote(out, input)
	}
	in, err := input.Check(nil, false)
	if err != nil {
		return err
	}
	p := scan.New(c.sys, in, scan.Options{
		Select:   selected,
		Distinct: true,
		Names:    track.NewNames(),
		Stream:   out,
		SavePDUs: c.content.Value == contentMessages,
		SaveAll:  c.display == "",
		Stop:     out.gone,
	})
	if err := p.Run(); err != nil {
		return err
	}
	if n := p.Captured().Dropped; n > 0 { // Wireshark counts only what its own program drops
		c.sys.Say("%d frames were dropped: they came faster than they could be read", n)
	}
	return nil
}

func (c *command) input() (*scan.Flags, error) {
	f := &scan.Flags{Interfaces: []string{c.iface}, Quiet: true} // Wireshark takes every text on standard error for an error
	for _, text := range strings.FieldsFunc(c.ports, func(r rune) bool { return r == ',' }) {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, exit.Usagef("--port %s: must be TCP ports, separated by commas", c.ports)
		}
		f.Ports = append(f.Ports, uint(port))
	}
	length, err := strconv.ParseUint(c.snaplen, 10, 31)
	if err != nil {
		return nil, exit.Usagef("--snaplen %s: must be a number of bytes", c.snaplen)
	}
	f.Snaplen = int(length)
	return f, nil
}

// output is what --fifo names. It stays open until the end of the process.
type output struct {
	io.Writer
	gone chan struct{} // closed when it has no reader any more
}

// openOutput opens what --fifo names. It waits for the reader of a FIFO.
func (c *command) openOutput() (*output, error) {
	o := &output{Writer: c.sys.Out, gone: make(chan struct{})}
	switch c.fifo {
	case "":
		return nil, exit.Usagef("--capture needs --fifo")
	case "-":
	default:
		file, err := os.OpenFile(c.fifo, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return nil, err
		}
		o.Writer = file
	}
	if file, ok := o.Writer.(*os.File); ok {
		watchReader(file, o.gone)
	}
	return o, nil
}
