package link

import "github.com/lshark/lshark/dissect/capture"

// Layer is the kind of a header.
type Layer uint8

// The kinds of headers.
const (
	LayerEthernet     Layer = iota
	LayerVLAN               // a tag behind the Ethernet type
	LayerCooked             // LINUX_SLL
	LayerCooked2            // LINUX_SLL2
	LayerFamily             // NULL and LOOP
	LayerERF                // a record of the Extensible Record Format
	LayerERFExtension       // of LayerERF
	LayerARP
	LayerIPv4
	LayerIPv6
	LayerHopByHop    // extension of IPv6, as the following ones
	LayerDestination // options for the receiver
	LayerRouting
	LayerMobility
	LayerFragment
	LayerAuth
	LayerICMP
	LayerICMPv6
	LayerTCP
	LayerUDP
	LayerVXLAN
	LayerGRE
	LayerERSPAN // behind GRE, before a mirrored frame
	LayerLRH
	LayerRaw // the raw header behind a LRH
	LayerGRH
	LayerBTH // with its extension headers
	NumLayers
)

// Header is where a header is in a frame. Its captured bytes end at End, if that is before
// Off + Size.
type Header struct {
	Layer     Layer
	Off, Size int
	End       int // behind the last captured byte of the header and what it carries
	Wire      int // bytes of the header and what it carries, on the wire
}

// Headers lists the headers in a frame, the outermost first, and decodes the packet behind
// them as Decode does. It does not join fragments: nothing is listed behind the header of one.
// Of an ICMP error it lists also the headers in the packet that the error is about, and
// decodes that. Headers that are invalid are not listed, nor what is behind them. The list is
// valid until the next call.
func (d *Decoder) Headers(f *capture.Frame) ([]Header, Kind) {
	d.listing, d.headers, d.end = true, d.headers[:0], cap(f.Data)
	kind := d.Decode(f)
	d.listing = false
	return d.headers, kind
}

// header lists a header of size bytes at the begin of p, if headers are to be listed.
func (d *Decoder) header(l Layer, p span, size int) {
	if d.listing {
		d.list(l, p, size)
	}
}

func (d *Decoder) list(l Layer, p span, size int) {
	off := d.end - cap(p.data)
	d.headers = append(d.headers, Header{l, off, size, off + len(p.data), p.wire})
}

// extensionLayer returns the kind of an extension header of IPv6.
func extensionLayer(proto byte) Layer {
	switch proto {
	case protoHopByHop:
		return LayerHopByHop
	case protoDestination:
		return LayerDestination
	case protoRouting:
		return LayerRouting
	}
	return LayerMobility
}

// icmp lists the header of an ICMP message and those behind it.
func (d *Decoder) icmp(l Layer, p span, depth int) Kind {
	const icmpSize, lastErrorOf6 = 8, 4
	const unreachable, quench, redirect, timeExceeded, parameterProblem = 3, 4, 5, 11, 12
	if !d.listing || len(p.data) < icmpSize || depth > maxTunnels {
		return None
	}
	d.header(l, p, icmpSize)
	isError := l == LayerICMPv6 && p.data[0] <= lastErrorOf6
	if l == LayerICMP {
		switch p.data[0] {
		case unreachable, quench, redirect, timeExceeded, parameterProblem:
			isError = true
		}
	}
	if !isError {
		return None
	}
	return d.rawIP(p.from(icmpSize), depth)
}
