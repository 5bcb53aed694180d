// Command replay sends the frames of a capture, from standard input, over an interface at a
// steady rate: for tests of live captures, on the loopback interface. With -pcap it writes the
// same frames to standard output instead.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lshark/lshark/dissect/capture"
)

func main() {
	count := flag.Int64("count", 0, "frames to send, 0: all")
	limit := flag.Duration("for", time.Minute, "time after which it ends")
	rate := flag.Float64("rate", 1000, "frames per second")
	asPcap := flag.Bool("pcap", false, "write the frames to standard output, as pcapng, at once")
	flag.Parse()
	var out sink = file{capture.NewWriter(os.Stdout)}
	if !*asPcap {
		out = &loopback{rate: *rate, until: time.Now().Add(*limit), begun: time.Now()}
	}
	n, err := run(out, *count)
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, n)
}

// sink takes frames. It returns errEnd when it wants no more.
type sink interface {
	open() error
	frame(*capture.Frame) error
	close() error
}

var errEnd = errors.New("the time is up")

// run returns the number of frames that were sent.
func run(out sink, count int64) (n int64, err error) {
	in, err := capture.Open([]string{"-"}, capture.Options{})
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if err := out.open(); err != nil {
		return 0, err
	}
	var f capture.Frame
	for count == 0 || n < count {
		if err = in.Next(&f); err == nil {
			err = out.frame(&f)
		}
		if err == io.EOF || err == errEnd {
			break
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, out.close()
}

// loopback sends frames over the loopback interface.
type loopback struct {
	rate         float64
	begun, until time.Time
	fd           int
	n            int64
}

func (l *loopback) open() (err error) {
	if l.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0); err != nil {
		return err
	}
	return unix.Bind(l.fd, &unix.SockaddrLinklayer{Protocol: 0, Ifindex: 1})
}

func (l *loopback) frame(f *capture.Frame) error {
	due := l.begun.Add(time.Duration(float64(l.n) / l.rate * 1e9))
	l.n++
	if wait := time.Until(due); wait > time.Millisecond {
		time.Sleep(wait)
	}
	if !time.Now().Before(l.until) {
		return errEnd
	}
	for {
		_, err := unix.Write(l.fd, f.Data)
		if err != unix.ENOBUFS && err != unix.EAGAIN && err != unix.EINTR {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

func (l *loopback) close() error { return unix.Close(l.fd) }

// file writes frames to standard output.
type file struct{ *capture.Writer }

func (file) open() error { return nil }

func (w file) frame(f *capture.Frame) error { return w.Write(f, "") }

func (w file) close() error { return w.Flush() }
