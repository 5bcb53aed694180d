package capture

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lshark/lshark/dissect/capture/pcapfilter"
)

const (
	anyInterface  = "any"
	defaultIdle   = 200 * time.Millisecond
	defaultBuffer = 32 << 20 // bytes
)

// Live is a capture of an interface with a packet socket, whose frames are in
// memory shared with the kernel.
type Live struct {
	iface   string
	link    LinkType
	fd      int
	ring    *ring
	filter  *pcapfilter.Filter // applied by Next; nil if the kernel filters
	lo      int32              // index of the loopback interface
	idle    time.Duration
	number  int64
	dropped atomic.Uint64

	stopped atomic.Bool
	mu      sync.Mutex // guards wake and fd against Close
	wake    int        // eventfd that ends a wait
}

// OpenLive starts a capture of an interface, or of all if the name is "any".
// Frames of an Ethernet interface are LinkEthernet, of others and of "any"
// LinkLinuxSLL2. OpenLive needs CAP_NET_RAW, the capture does not (see
// DropPrivileges).
func OpenLive(iface string, opt LiveOptions) (*Live, error) {
	l := &Live{iface: iface, fd: -1, wake: -1, idle: opt.Idle, link: LinkLinuxSLL2}
	if l.idle <= 0 {
		l.idle = defaultIdle
	}
	if err := l.open(opt); err != nil {
		return nil, errors.Join(explainLive(iface, err), l.Close())
	}
	return l, nil
}

func (l *Live) open(opt LiveOptions) error {
	index, err := l.findInterface()
	if err != nil {
		return err
	}
	kind := unix.SOCK_RAW
	if l.link == LinkLinuxSLL2 {
		kind = unix.SOCK_DGRAM
	}
	// With protocol 0 no frame arrives before bind, when the filter is in place.
	if l.fd, err = unix.Socket(unix.AF_PACKET, kind|unix.SOCK_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("socket", err)
	}
	if l.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	if err = l.attach(opt); err != nil {
		return err
	}
	if opt.Buffer <= 0 {
		opt.Buffer = defaultBuffer
	}
	if l.ring, err = newRing(l.fd, opt.Buffer); err != nil {
		return err
	}
	err = unix.Bind(l.fd, &unix.SockaddrLinklayer{Protocol: hostToNet(unix.ETH_P_ALL), Ifindex: index})
	return os.NewSyscallError("bind", err)
}

// findInterface returns the index of the interface, 0 for all, and sets the link
// type.
func (l *Live) findInterface() (int, error) {
	list, err := net.Interfaces()
	if err != nil {
		return 0, err
	}
	index := 0
	for _, i := range list {
		if i.Flags&net.FlagLoopback != 0 {
			l.lo = int32(i.Index)
		}
		if i.Name != l.iface {
			continue
		}
		if i.Flags&net.FlagUp == 0 {
			return 0, ErrDown
		}
		index = i.Index
	}
	if l.iface == anyInterface {
		return 0, nil
	}
	if index == 0 {
		return 0, errors.New("no such interface")
	}
	kind, err := hardware(l.iface)
	if kind == unix.ARPHRD_ETHER || kind == unix.ARPHRD_LOOPBACK {
		l.link = LinkEthernet
	}
	return index, err
}

// hardware returns the ARPHRD_ number of an interface.
func hardware(name string) (uint16, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq(name)
	if err == nil {
		err = unix.IoctlIfreq(fd, unix.SIOCGIFHWADDR, req)
	}
	if err != nil {
		return 0, os.NewSyscallError("SIOCGIFHWADDR", err)
	}
	return req.Uint16(), nil
}

// attach installs the filter in the kernel. A filter that only tcpdump can
// compile is applied by Next instead: tcpdump compiles for whole frames, but the
// kernel removes VLAN tags and link headers before it filters.
func (l *Live) attach(opt LiveOptions) error {
	program, err := pcapfilter.CompileKernel(opt.Filter, l.link == LinkLinuxSLL2, opt.Snaplen)
	var wrong *pcapfilter.Error
	if errors.As(err, &wrong) && wrong.Unsupported {
		if l.filter, err = pcapfilter.New(opt.Filter, l.link); err == nil {
			program, err = pcapfilter.CompileKernel("", false, opt.Snaplen)
		}
	}
	if err != nil {
		return err
	}
	code := make([]unix.SockFilter, len(program))
	for i, ins := range program {
		code[i] = unix.SockFilter{Code: ins.Op, Jt: ins.Jt, Jf: ins.Jf, K: ins.K}
	}
	prog := &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	return os.NewSyscallError("attach filter", unix.SetsockoptSockFprog(l.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, prog))
}

// LinkType returns the link type of the frames.
func (l *Live) LinkType() LinkType { return l.link }

// Next waits for a frame and reads it into f, whose Data is valid until the next
// call. It returns ErrTimeout after LiveOptions.Idle without a frame, io.EOF
// after Stop, and another error if the interface fails.
func (l *Live) Next(f *Frame) error {
	for !l.stopped.Load() {
		p, ok := l.ring.next()
		if !ok {
			if err := l.wait(); err != nil {
				return err
			}
			continue
		}
		// The loopback interface delivers each frame twice: as sent and as received.
		if p.kind() == unix.PACKET_OUTGOING && p.index() == l.lo {
			continue
		}
		f.Link, f.Source, f.Iface = l.link, 0, 0
		f.Time = p.time()
		if l.link == LinkEthernet {
			f.Data, f.Len = p.ethernet()
		} else {
			f.Data, f.Len = p.cooked()
		}
		if l.filter != nil {
			wanted, err := l.filter.Match(f.Link, f.Data, f.Len)
			if err != nil {
				return err
			}
			if !wanted {
				continue
			}
		}
		l.number++
		f.Number = l.number
		return nil
	}
	return io.EOF
}

// wait waits for a frame. It may return nil without one.
func (l *Live) wait() error {
	fds := []unix.PollFd{
		{Fd: int32(l.fd), Events: unix.POLLIN | unix.POLLERR},
		{Fd: int32(l.wake), Events: unix.POLLIN},
	}
	n, err := unix.Poll(fds, int(l.idle.Milliseconds()))
	switch {
	case err == unix.EINTR:
		return nil
	case err != nil:
		return os.NewSyscallError("poll", err)
	case n == 0:
		return ErrTimeout
	case fds[0].Revents&unix.POLLERR == 0:
		return nil
	}
	code, err := unix.GetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	if err == nil {
		return nil
	}
	return explainLive(l.iface, err)
}

// Stop ends the capture: Next returns io.EOF. It may be called from another
// goroutine, more than once, and after Close.
func (l *Live) Stop() {
	l.stopped.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wake >= 0 {
		// An eventfd write of 1 cannot fail before 2^64 of them.
		unix.Write(l.wake, []byte{1, 0, 0, 0, 1, 0, 0, 0})
	}
}

// Dropped returns how many frames the kernel dropped because its buffer was full.
// It may be called from another goroutine, and after Close.
func (l *Live) Dropped() (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.countDropped()
}

// countDropped adds the kernel's counter of dropped frames, which is reset when
// it is read.
func (l *Live) countDropped() (uint64, error) {
	if l.fd >= 0 {
		stats, err := unix.GetsockoptTpacketStatsV3(l.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
		if err != nil {
			return l.dropped.Load(), os.NewSyscallError("packet statistics", err)
		}
		l.dropped.Add(uint64(stats.Drops))
	}
	return l.dropped.Load(), nil
}

// Close closes the socket and unmaps the memory of the frames. It must not be
// called while Next runs; Stop makes Next return.
func (l *Live) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped.Store(true)
	var all []error
	if l.ring != nil {
		_, err := l.countDropped()
		all = append(all, err, l.ring.close())
		l.ring = nil
	}
	for _, fd := range []*int{&l.fd, &l.wake} {
		if *fd >= 0 {
			all = append(all, unix.Close(*fd))
			*fd = -1
		}
	}
	return errors.Join(all...)
}

// explainLive returns an error with the name of the interface, or of the missing
// privilege.
func explainLive(iface string, err error) error {
	var wrong *pcapfilter.Error
	switch {
	case errors.As(err, &wrong):
		return err
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		self, pathErr := os.Executable()
		if pathErr != nil {
			self = "lshark"
		}
		return fmt.Errorf("capturing on %s needs the capability CAP_NET_RAW: run as root, or once: setcap cap_net_raw+ep %s",
			printable(iface), printable(self))
	case errors.Is(err, unix.ENETDOWN):
		return fmt.Errorf("%s: %w", printable(iface), wentDown{})
	}
	return fmt.Errorf("%s: %w", printable(iface), err)
}

// wentDown is ErrDown of an interface that was up before.
type wentDown struct{}

func (wentDown) Error() string { return "the interface went down" }
func (wentDown) Unwrap() error { return ErrDown }

// Rebind goes on with the capture after Next has returned ErrDown, if the interface is up
// again, also when it was removed and there is a new one with its name. It needs no
// privilege. It must not be called while Next runs.
func (l *Live) Rebind() error {
	link := l.link
	index, err := l.findInterface()
	if err != nil {
		l.link = link
		return explainLive(l.iface, err)
	}
	if l.link != link {
		l.link = link
		return fmt.Errorf("%s: the interface is of another kind than before", printable(l.iface))
	}
	err = unix.Bind(l.fd, &unix.SockaddrLinklayer{Protocol: hostToNet(unix.ETH_P_ALL), Ifindex: index})
	if err != nil {
		return explainLive(l.iface, os.NewSyscallError("bind", err))
	}
	return nil
}

func hostToNet(n uint16) uint16 { return n<<8 | n>>8 }
