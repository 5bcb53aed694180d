package codec

import (
	"net/netip"

	"github.com/lshark/lshark/dissect/lnet"
)

// NID visits a NID.
func NID(c *Codec, n *lnet.NID) {
	Number(c, &n.Len)
	if int(n.Len) > len(n.Addr) {
		c.failed, c.buf, n.Len = true, nil, 0
	}
	Number(c, &n.Type)
	Number(c, &n.Num)
	c.Array(n.Addr[:n.Len])
	if c.reading {
		clear(n.Addr[n.Len:])
	}
}

// Addr visits an IP address without a zone, which no packet has.
func Addr(c *Codec, a *netip.Addr) {
	n := a.BitLen() / 8
	Number(c, &n)
	switch n {
	case 4:
		var b [4]byte
		if !c.reading {
			b = a.As4()
		}
		if c.Array(b[:]); c.reading {
			*a = netip.AddrFrom4(b)
		}
	case 16:
		var b [16]byte
		if !c.reading {
			b = a.As16()
		}
		if c.Array(b[:]); c.reading {
			*a = netip.AddrFrom16(b)
		}
	default:
		*a = netip.Addr{}
	}
}

// AddrPort visits an IP address and a port.
func AddrPort(c *Codec, p *netip.AddrPort) {
	a, port := p.Addr(), p.Port()
	Addr(c, &a)
	Number(c, &port)
	if c.reading {
		*p = netip.AddrPortFrom(a, port)
	}
}

// Transfer visits what the transport did to carry a message.
func Transfer(c *Codec, t *lnet.Transfer) {
	if !c.Present(*t != (lnet.Transfer{})) {
		*t = lnet.Transfer{}
		return
	}
	Number(c, &t.Resent)
	Number(c, &t.Timed)
	Number(c, &t.RTT)
	Number(c, &t.Lost)
	Number(c, &t.LostFrom)
	Number(c, &t.LostTo)
	c.Bools(&t.NotCaptured, &t.AckedLate)
}
