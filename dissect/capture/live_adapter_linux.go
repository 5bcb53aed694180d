package capture

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adapterDrops are the counters of frames that adapters dropped, by the index of the interface.
type adapterDrops struct {
	begun, now map[int32]uint64
	gone       uint64 // of interfaces that were removed
}

// Fields of struct rtnl_link_stats64 that tcpdump counts, too.
const (
	rxFIFOErrors   = 14 * 8
	rxMissedErrors = 15 * 8
	linkStatsBytes = rxMissedErrors + 8
)

// readDrops returns the counters of all interfaces.
func readDrops() (map[int32]uint64, error) {
	table, err := syscall.NetlinkRIB(unix.RTM_GETLINK, unix.AF_UNSPEC)
	if err != nil {
		return nil, os.NewSyscallError("interface statistics", err)
	}
	messages, err := syscall.ParseNetlinkMessage(table)
	if err != nil {
		return nil, os.NewSyscallError("interface statistics", err)
	}
	drops := make(map[int32]uint64, len(messages))
	for i := range messages {
		m := &messages[i]
		if m.Header.Type != unix.RTM_NEWLINK || len(m.Data) < unix.SizeofIfInfomsg {
			continue
		}
		attributes, err := syscall.ParseNetlinkRouteAttr(m)
		if err != nil {
			return nil, os.NewSyscallError("interface statistics", err)
		}
		for _, a := range attributes {
			if a.Attr.Type == unix.IFLA_STATS64 && len(a.Value) >= linkStatsBytes {
				index := int32(binary.NativeEndian.Uint32(m.Data[4:]))
				drops[index] = binary.NativeEndian.Uint64(a.Value[rxFIFOErrors:]) + binary.NativeEndian.Uint64(a.Value[rxMissedErrors:])
			}
		}
	}
	return drops, nil
}

// sum returns how many frames were dropped since the beginning. An interface that appears later
// has counted from zero.
func (d *adapterDrops) sum(now map[int32]uint64) uint64 {
	for index, n := range d.now {
		if _, exists := now[index]; !exists {
			d.gone += n - d.begun[index]
			delete(d.begun, index)
		}
	}
	d.now = now
	sum := d.gone
	for index, n := range now {
		sum += n - d.begun[index]
	}
	return sum
}

// DroppedByInterfaces returns how many frames the interfaces dropped before the kernel saw
// them, by their own counters. It must not be called while Next runs.
func (l *Live) DroppedByInterfaces() (uint64, error) {
	now, err := l.captured(readDrops())
	if err != nil {
		return 0, err
	}
	return l.drops.sum(now), nil
}

// captured leaves out the counters of interfaces that are not captured.
func (l *Live) captured(drops map[int32]uint64, err error) (map[int32]uint64, error) {
	if err != nil || l.all() {
		return drops, err
	}
	own := make(map[int32]uint64, len(l.points))
	for _, p := range l.points {
		if n, exists := drops[p.index]; exists {
			own[p.index] = n
		}
	}
	return own, nil
}

// maxClockOffset is how far the clock of an adapter may differ from that of the system for its
// time stamps to be used. Frames that this host sends have those of the kernel.
const maxClockOffset = 100 * time.Microsecond

// stampTimes lets the adapter of a single interface stamp frames, if it is set up to stamp all
// that it receives and its clock is that of the system. Else the kernel stamps them, as it does
// those of several interfaces, whose order it knows.
func (l *Live) stampTimes() error {
	l.stamps = "the kernel"
	if l.several() {
		return nil
	}
	offset, stamping := adapterClock(l.names[0])
	switch {
	case !stamping:
		return nil
	case offset.Abs() > maxClockOffset:
		l.stamps = fmt.Sprintf("the kernel, as the clock of the adapter differs by %v", offset)
		return nil
	}
	l.stamps = fmt.Sprintf("the adapter, whose clock differs by %v", offset)
	err := unix.SetsockoptInt(l.fd, unix.SOL_PACKET, unix.PACKET_TIMESTAMP, unix.SOF_TIMESTAMPING_RAW_HARDWARE)
	return os.NewSyscallError("packet timestamp", err)
}

// adapterClock returns how far the clock of an adapter is ahead of that of the system. It returns
// false if the adapter does not stamp all frames, or its clock cannot be read.
func adapterClock(iface string) (ahead time.Duration, stamping bool) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	setup, err := unix.IoctlGetHwTstamp(fd, iface)
	if err != nil || setup.Rx_filter != unix.HWTSTAMP_FILTER_ALL {
		return 0, false
	}
	info, err := unix.IoctlGetEthtoolTsInfo(fd, iface)
	if err != nil || info.Phc_index < 0 {
		return 0, false
	}
	clock, err := os.Open(fmt.Sprint("/dev/ptp", info.Phc_index))
	if err != nil {
		return 0, false
	}
	defer clock.Close()
	const samples = 5
	times, err := unix.IoctlPtpSysOffsetExtended(int(clock.Fd()), samples)
	if err != nil {
		return 0, false
	}
	nanoseconds := func(t unix.PtpClockTime) int64 { return t.Sec*1e9 + int64(t.Nsec) }
	least := int64(-1) // the sample that took the least time is the most exact one
	for _, t := range times.Ts[:samples] {
		before, adapter, after := nanoseconds(t[0]), nanoseconds(t[1]), nanoseconds(t[2])
		if took := after - before; least < 0 || took < least {
			least, ahead = took, time.Duration(adapter-before-took/2)
		}
	}
	return ahead, true
}

// Timestamps describes whose clock the times of the frames are from.
func (l *Live) Timestamps() string { return l.stamps }
