package anonymize

import (
	"context"
	"errors"
	"io"

	"github.com/lshark/lshark/dissect/capture"
)

// Rewrite reads the frames of r, which reads one file, and writes them to w in the format of
// that file, pcap or pcapng, with the interfaces that have frames and those before them.
// Comments, names and all blocks without frames are left out. It returns the Anonymizer for
// its counts.
//
// The error is that of r, after all frames that could be read were written, or the first one
// of w. It is ctx.Err() if ctx ended before r did.
func Rewrite(ctx context.Context, w io.Writer, r *capture.Reader, o Options) (*Anonymizer, error) {
	out := output{reader: r, to: w}
	o.Write = out.write
	a := New(o)
	err := a.read(ctx, r)
	if err == nil || errors.As(err, new(*capture.DamageError)) {
		if failed := errors.Join(a.Close(), out.close()); failed != nil {
			err = failed
		}
	}
	return a, err
}

func (a *Anonymizer) read(ctx context.Context, r *capture.Reader) error {
	var f capture.Frame
	for ctx.Err() == nil {
		switch err := r.Next(&f); {
		case err == io.EOF:
			return nil
		case err != nil && ctx.Err() == nil:
			return err
		case err == nil:
			if err := a.Frame(&f); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

type output struct {
	reader *capture.Reader
	to     io.Writer
	pcap   *capture.PcapWriter
	pcapng *capture.Writer
	ifaces int // that were described, of pcapng
}

// open begins the file. It reports false if the format is unknown because nothing could be
// read.
func (o *output) open() bool {
	if o.pcap != nil || o.pcapng != nil {
		return true
	}
	format, known := o.reader.Format()
	switch {
	case !known:
		return false
	case format.PCAPNG:
		o.pcapng = capture.NewWriter(o.to)
	default:
		o.pcap = capture.NewPcapWriter(o.to, format)
	}
	return true
}

func (o *output) write(f *capture.Frame) error {
	o.open() // a frame was read, so the format is known
	if o.pcap != nil {
		return o.pcap.Write(f)
	}
	if f.Iface >= o.ifaces {
		format, _ := o.reader.Format()
		for ; o.ifaces <= f.Iface; o.ifaces++ {
			if err := o.pcapng.AddInterface(format.Links[o.ifaces], f.Source, o.ifaces, ""); err != nil {
				return err
			}
		}
	}
	return o.pcapng.Write(f, "")
}

func (o *output) close() error {
	switch {
	case !o.open():
		return nil
	case o.pcap != nil:
		return o.pcap.Flush()
	}
	return o.pcapng.Flush()
}
