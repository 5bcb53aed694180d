package monitor

import (
	"net"
	"strconv"
	"sync/atomic"
	"time"
)

// service notifies systemd of the state of the process, by the protocol of sd_notify(3).
// Without systemd it does nothing.
type service struct {
	conn     net.Conn      // nil: NOTIFY_SOCKET is not set
	watchdog time.Duration // 0: none
	stop     chan struct{} // ends the messages to the watchdog

	ending atomic.Bool // stopping was called
}

// newService returns the service that the environment describes.
func newService(env func(string) string) *service {
	s := &service{stop: make(chan struct{})}
	path := env("NOTIFY_SOCKET")
	if path == "" {
		return s
	}
	// A name that begins with @ is one of the abstract name space; package net knows that.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return s // as with sd_notify, whose errors are to be ignored
	}
	s.conn = conn
	if us, err := strconv.ParseInt(env("WATCHDOG_USEC"), 10, 64); err == nil && us > 0 {
		s.watchdog = time.Duration(us) * time.Microsecond
	}
	return s
}

// notifyTimeout is how long a message may wait for room in the socket; then it is dropped.
const notifyTimeout = 100 * time.Millisecond

func (s *service) notify(state string) {
	if s.conn == nil {
		return
	}
	s.conn.SetWriteDeadline(time.Now().Add(notifyTimeout))
	s.conn.Write([]byte(state)) // nothing can be done about an error
}

// ready notifies that the capture is open, and from now on that the process is alive.
func (s *service) ready(alive func() bool) {
	s.notify("READY=1\n")
	if s.conn == nil || s.watchdog == 0 {
		return
	}
	go func() {
		t := time.NewTicker(s.watchdog / 2)
		defer t.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-t.C:
				if alive() {
					s.notify("WATCHDOG=1\n")
				}
			}
		}
	}()
}

// reloading notifies that settings are read again. reloaded ends it.
func (s *service) reloading() {
	s.notifyRunning("RELOADING=1\nMONOTONIC_USEC=" + strconv.FormatInt(monotonic().Microseconds(), 10) + "\n")
}

func (s *service) reloaded() { s.notifyRunning("READY=1\n") }

// notifyRunning sends a state, but not after stopping.
func (s *service) notifyRunning(state string) {
	if !s.ending.Load() {
		s.notify(state)
	}
}

// stopping notifies that the capture has ended. Messages to the watchdog go on until close,
// while files are completed and spans are sent.
func (s *service) stopping() {
	s.ending.Store(true)
	s.notify("STOPPING=1\n")
}

// close ends the messages to the watchdog.
func (s *service) close() { close(s.stop) }
