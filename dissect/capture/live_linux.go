package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
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

// Live is a capture of interfaces with a packet socket, whose frames are in
// memory shared with the kernel.
type Live struct {
	names   []string // as given to OpenLive
	points  []livePoint
	last    int // index in points of the last frame's interface
	link    LinkType
	fd      int
	ring    *ring
	opt     LiveOptions
	filter  *pcapfilter.Filter // applied by Next; nil if the kernel filters
	lo      int32              // index of the loopback interface
	notes   []string
	stamps  string // whose clock the times are from
	drops   adapterDrops
	number  int64
	looked  time.Time // when the interfaces were looked at last, of several
	dropped atomic.Uint64

	stopped atomic.Bool
	mu      sync.Mutex // guards wake and fd against Close
	wake    int        // eventfd that ends a wait
}

// livePoint is a capture point: an interface of the system.
type livePoint struct {
	name  string
	index int32 // 0: the interface is away
}

// maxPoints is the number of capture points of "any". Interfaces beyond it, of a host that makes
// and removes many, share the first one.
const maxPoints = 256

// OpenLive starts a capture of interfaces, or of all if the only name is "any". Each is a capture
// point. Frames are LinkEthernet if all named interfaces are Ethernet, else LinkLinuxSLL2, as
// those of "any" are. Named interfaces are in promiscuous mode until Close or the end of the
// process, unless the options say otherwise. OpenLive needs CAP_NET_RAW, the capture does not
// (see DropPrivileges).
func OpenLive(names []string, opt LiveOptions) (*Live, error) {
	l := &Live{names: names, fd: -1, wake: -1, opt: opt, link: LinkLinuxSLL2}
	if l.opt.Idle <= 0 {
		l.opt.Idle = defaultIdle
	}
	if l.opt.Buffer <= 0 {
		l.opt.Buffer = defaultBuffer
	}
	if err := l.open(); err != nil {
		return nil, errors.Join(explainLive(strings.Join(names, ", "), err), l.Close())
	}
	return l, nil
}

// all reports whether frames of all interfaces are captured.
func (l *Live) all() bool { return len(l.names) == 1 && l.names[0] == anyInterface }

// several reports whether frames of several interfaces come through the socket.
func (l *Live) several() bool { return len(l.names) > 1 || l.all() }

func (l *Live) open() error {
	if err := l.findInterfaces(); err != nil {
		return err
	}
	kind := unix.SOCK_RAW
	if l.link == LinkLinuxSLL2 {
		kind = unix.SOCK_DGRAM
	}
	// With protocol 0 no frame arrives before bind, when the filter is in place.
	var err error
	if l.fd, err = unix.Socket(unix.AF_PACKET, kind|unix.SOCK_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("socket", err)
	}
	if l.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	if err = l.attach(); err != nil {
		return err
	}
	if err = l.stampTimes(); err != nil {
		return err
	}
	if l.ring, err = newRing(l.fd, l.opt.Buffer); err != nil {
		return err
	}
	if l.drops.begun, err = l.captured(readDrops()); err != nil {
		return err
	}
	l.drops.now = l.drops.begun
	if err = l.bind(); err != nil {
		return err
	}
	for _, p := range l.points {
		if err := l.watchAll(p); err != nil {
			l.notes = append(l.notes, fmt.Sprintf("%s: no promiscuous mode (%v): only frames from and to this host are captured", Printable(p.name), err))
		}
	}
	return nil
}

// bind binds the socket to the interface; of several to all, of which the filter selects.
func (l *Live) bind() error {
	index := 0
	if !l.several() {
		index = int(l.points[0].index)
	}
	err := unix.Bind(l.fd, &unix.SockaddrLinklayer{Protocol: hostToNet(unix.ETH_P_ALL), Ifindex: index})
	return os.NewSyscallError("bind", err)
}

// watchAll puts an interface into promiscuous mode for as long as the socket is open. It needs
// no privilege.
func (l *Live) watchAll(p livePoint) error {
	if l.opt.NoPromiscuous {
		return nil
	}
	member := unix.PacketMreq{Ifindex: p.index, Type: unix.PACKET_MR_PROMISC}
	return unix.SetsockoptPacketMreq(l.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &member)
}

// findInterfaces sets the capture points of the named interfaces, which must be up, and the link
// type.
func (l *Live) findInterfaces() error {
	up, err := l.upInterfaces()
	if err != nil || l.all() {
		return err
	}
	l.link = LinkEthernet
	for _, name := range l.names {
		index, exists := up[name]
		switch {
		case !exists:
			return interfaceError{name, errors.New("no such interface")}
		case index == 0:
			return interfaceError{name, ErrDown}
		}
		kind, err := hardware(name)
		if err != nil {
			return interfaceError{name, err}
		}
		if kind != unix.ARPHRD_ETHER && kind != unix.ARPHRD_LOOPBACK {
			l.link = LinkLinuxSLL2
		}
		l.points = append(l.points, livePoint{name, index})
	}
	return nil
}

// upInterfaces returns the index of each interface by its name; 0 for an interface that is down.
func (l *Live) upInterfaces() (map[string]int32, error) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	indexes := make(map[string]int32, len(list))
	for _, i := range list {
		if i.Flags&net.FlagLoopback != 0 {
			l.lo = int32(i.Index)
		}
		indexes[i.Name] = 0
		if i.Flags&net.FlagUp != 0 {
			indexes[i.Name] = int32(i.Index)
		}
	}
	return indexes, nil
}

// interfaceError is an error of one of the interfaces.
type interfaceError struct {
	name string
	error
}

func (e interfaceError) Unwrap() error { return e.error }

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
func (l *Live) attach() error {
	program, err := pcapfilter.CompileKernel(l.opt.Filter, l.link == LinkLinuxSLL2, l.opt.Snaplen)
	var wrong *pcapfilter.Error
	if errors.As(err, &wrong) && wrong.Unsupported {
		if l.filter, err = pcapfilter.New(l.opt.Filter, l.link); err == nil {
			program, err = pcapfilter.CompileKernel("", false, l.opt.Snaplen)
		}
	}
	if err != nil {
		return err
	}
	var code []unix.SockFilter
	if len(l.names) > 1 {
		code = l.selectInterfaces()
	}
	for _, ins := range program {
		code = append(code, unix.SockFilter{Code: ins.Op, Jt: ins.Jt, Jf: ins.Jf, K: ins.K})
	}
	prog := &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	return os.NewSyscallError("attach filter", unix.SetsockoptSockFprog(l.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, prog))
}

// selectInterfaces returns the beginning of a filter, which drops the frames of interfaces that
// are not captured.
func (l *Live) selectInterfaces() []unix.SockFilter {
	code := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: skfIfindex}}
	for _, p := range l.points {
		if p.index != 0 {
			code = append(code,
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(p.index)},
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA})
		}
	}
	code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K})
	for i := range code {
		if code[i].Code == unix.BPF_JMP|unix.BPF_JA {
			code[i].K = uint32(len(code) - i - 1)
		}
	}
	return code
}

// skfIfindex is the offset at which a filter loads the index of the interface:
// SKF_AD_OFF + SKF_AD_IFINDEX in linux/filter.h.
const skfIfindex = 1<<32 - 0x1000 + 8

// LinkType returns the link type of the frames.
func (l *Live) LinkType() LinkType { return l.link }

// Next waits for a frame and reads it into f, whose Data is valid until the next
// call. It returns ErrTimeout after LiveOptions.Idle without a frame, io.EOF
// after Stop, and another error if an interface fails; the capture of others goes on
// with the next call.
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
		f.Link, f.Iface, f.Time = l.link, 0, p.time()
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
		if l.point(f, p.index()) {
			return nil
		}
	}
	return io.EOF
}

// point sets the number of a frame and its capture point. It returns false if the frame is of none: of an
// interface that was replaced.
func (l *Live) point(f *Frame, index int32) bool {
	if !l.several() {
		l.number++
		f.Number, f.Source, f.Interface, f.File, f.FileNumber = l.number, 0, l.names[0], "", 0
		return true
	}
	if l.last >= len(l.points) || l.points[l.last].index != index {
		of := func(p livePoint) bool { return p.index == index }
		if l.last = slices.IndexFunc(l.points, of); l.last < 0 {
			if !l.all() {
				l.last = 0
				return false
			}
			l.last = l.addPoint(index)
		}
	}
	l.number++
	name := l.points[l.last].name
	f.Number, f.Source, f.Interface, f.File, f.FileNumber = l.number, l.last, name, name, l.number
	return true
}

// addPoint returns the index in points of an interface that had no frame before. It is the
// same for one that was removed and made again.
func (l *Live) addPoint(index int32) int {
	name := fmt.Sprint("if", index) // it may be gone already
	if i, err := net.InterfaceByIndex(int(index)); err == nil {
		name = i.Name
	}
	n := slices.IndexFunc(l.points, func(p livePoint) bool { return p.name == name })
	switch {
	case n >= 0:
	case len(l.points) < maxPoints:
		n = len(l.points)
		l.points = append(l.points, livePoint{name: name})
	default:
		n = 0
	}
	l.points[n].index = index
	return n
}

// wait waits for a frame. It may return nil without one.
func (l *Live) wait() error {
	if err := l.look(); err != nil {
		return err
	}
	fds := []unix.PollFd{
		{Fd: int32(l.fd), Events: unix.POLLIN | unix.POLLERR},
		{Fd: int32(l.wake), Events: unix.POLLIN},
	}
	n, err := unix.Poll(fds, int(l.opt.Idle.Milliseconds()))
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
	return explainLive(l.names[0], err)
}

// lookInterval is how often several interfaces are looked at. The kernel reports only when one
// to which the socket is bound goes down.
const lookInterval = time.Second

// look returns an error if one of several interfaces has gone down or was replaced since the
// last look.
func (l *Live) look() error {
	if len(l.names) == 1 || time.Since(l.looked) < lookInterval {
		return nil
	}
	l.looked = time.Now()
	up, err := l.upInterfaces()
	if err != nil {
		return err
	}
	for i := range l.points {
		p := &l.points[i]
		if p.index != 0 && up[p.name] != p.index {
			p.index = 0
			return explainLive(p.name, unix.ENETDOWN)
		}
	}
	return nil
}

// Up reports whether one of the interfaces is there, after Next has returned ErrDown.
func (l *Live) Up() bool {
	return len(l.names) > 1 && slices.ContainsFunc(l.points, func(p livePoint) bool { return p.index != 0 })
}

// Notes returns a line for each thing that differs from what was asked for.
func (l *Live) Notes() []string { return l.notes }

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
	var one interfaceError
	if errors.As(err, &one) {
		iface = one.name
	}
	switch {
	case errors.As(err, &wrong):
		return err
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		self, pathErr := os.Executable()
		if pathErr != nil {
			self = "lshark"
		}
		return fmt.Errorf("capturing on %s needs the capability CAP_NET_RAW: run as root, or once: setcap cap_net_raw+ep %s",
			Printable(iface), Printable(self))
	case errors.Is(err, unix.ENETDOWN):
		return fmt.Errorf("%s: %w", Printable(iface), wentDown{})
	}
	return fmt.Errorf("%s: %w", Printable(iface), err)
}

// wentDown is ErrDown of an interface that was up before.
type wentDown struct{}

func (wentDown) Error() string { return "the interface went down" }
func (wentDown) Unwrap() error { return ErrDown }

// Rebind goes on with the capture after Next has returned ErrDown, if the interfaces are up
// again, also when one was removed and there is a new one with its name. It needs no
// privilege. It must not be called while Next runs. Its error is that of an interface that is
// still away.
func (l *Live) Rebind() error {
	up, err := l.upInterfaces()
	if err != nil {
		return err
	}
	var away error
	for i := range l.points {
		p := &l.points[i]
		index := up[p.name]
		if len(l.names) > 1 && p.index == index && index != 0 {
			continue // another one is away
		}
		err := ErrDown
		if index != 0 {
			err = l.replace(p, index)
		}
		if err != nil {
			away = cmp.Or(away, explainLive(p.name, err))
		}
	}
	return away
}

// replace captures an interface that is back.
func (l *Live) replace(p *livePoint, index int32) error {
	kind, err := hardware(p.name)
	if err != nil {
		return err
	}
	if l.link == LinkEthernet && kind != unix.ARPHRD_ETHER && kind != unix.ARPHRD_LOOPBACK {
		return errors.New("the interface is of another kind than before")
	}
	p.index = index
	if err := l.attach(); err != nil {
		return err
	}
	if !l.several() {
		if err := l.bind(); err != nil {
			return err
		}
	}
	return l.watchAll(*p)
}

func hostToNet(n uint16) uint16 { return n<<8 | n>>8 }
