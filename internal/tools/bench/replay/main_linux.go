// Command replay sends the frames of a capture, from standard input, over an interface at a
// steady rate: for tests of live captures, on the loopback interface. With -pcap it writes the
// same frames to standard output instead.
package main

import (
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
	n, err := run(*count, *limit, *rate, *asPcap)
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, n)
}

// run returns the number of frames that were sent.
func run(count int64, limit time.Duration, rate float64, asPcap bool) (n int64, err error) {
	in, err := capture.Open([]string{"-"}, capture.Options{})
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, fd := capture.NewWriter(os.Stdout), -1
	if !asPcap {
		if fd, err = loopback(); err != nil {
			return 0, err
		}
		defer unix.Close(fd)
	}
	begun := time.Now()
	var f capture.Frame
	for ; count == 0 || n < count; n++ {
		if err := in.Next(&f); err == io.EOF {
			break
		} else if err != nil {
			return n, err
		}
		if asPcap {
			err = out.Write(&f, "")
		} else {
			if wait := time.Until(begun.Add(time.Duration(float64(n) / rate * 1e9))); wait > time.Millisecond {
				time.Sleep(wait)
			}
			if time.Since(begun) >= limit {
				break
			}
			err = send(fd, f.Data)
		}
		if err != nil {
			return n, err
		}
	}
	if asPcap {
		err = out.Flush()
	}
	return n, err
}

// loopback opens a socket that sends over the loopback interface.
func loopback() (fd int, err error) {
	if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0); err != nil {
		return -1, err
	}
	return fd, unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: 0, Ifindex: 1})
}

func send(fd int, frame []byte) error {
	for {
		_, err := unix.Write(fd, frame)
		if err != unix.ENOBUFS && err != unix.EAGAIN && err != unix.EINTR {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}
