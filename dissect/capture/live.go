package capture

import (
	"errors"
	"net"
	"net/netip"
	"time"
)

// ErrTimeout is returned by Live.Next, and by Reader.Next for a pipe, when no
// frame has arrived for a while. The caller can flush output and call Next again.
var ErrTimeout error = timeoutError{}

// ErrDown is in the error of OpenLive and of Live.Next when the interface is down or gone.
// After Live.Next has returned it, Live.Rebind can go on with the capture when the interface
// is back.
var ErrDown = errors.New("the interface is down")

// timeoutError is a net.Error, after which gopacket.PacketSource reads again.
type timeoutError struct{}

func (timeoutError) Error() string   { return "no frame has arrived" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// LiveOptions are the options of OpenLive. The zero value is ready to use.
type LiveOptions struct {
	Filter        string        // in the syntax of pcap-filter(7); "" matches all frames
	NoPromiscuous bool          // of other hosts' frames, take only what the interface passes on anyway
	Snaplen       int           // bytes kept of a frame; 0 is 1 MiB
	Buffer        int           // bytes of frames that the kernel buffers; 0 is 32 MiB
	Idle          time.Duration // until Next returns ErrTimeout; 0 is 200 ms
}

// Interface is a network interface that can be captured. On Linux "any" stands
// for all of them.
type Interface struct {
	Name      string
	Addresses []netip.Prefix
	Up        bool
	Loopback  bool
}

// Interfaces returns the network interfaces in the order of the system.
func Interfaces() ([]Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	list := make([]Interface, 0, len(all))
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		one := Interface{Name: i.Name, Up: i.Flags&net.FlagUp != 0, Loopback: i.Flags&net.FlagLoopback != 0}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				one.Addresses = append(one.Addresses, p)
			}
		}
		list = append(list, one)
	}
	return list, nil
}
