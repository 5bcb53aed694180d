package filter

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// literal is the right side of a comparison, read in every way that it can be
// read. Which one is used depends on the type of the value.
type literal struct {
	text       []byte
	isNum      bool
	neg        bool // the number is negative: u is its two's complement
	u          uint64
	isSeconds  bool
	seconds    float64
	isTime     bool
	ns         int64 // of a time, since the epoch
	isFID      bool
	fid        track.FID
	isNID      bool
	nid        lnet.NID
	nidBits    int // leading bits of the address that are compared
	anyNetwork bool
	isAddr     bool
	prefix     netip.Prefix
	port       uint16
	truth      int8 // 1: true, -1: false, 0: neither
	byName     map[*schema.Names]uint64
	errno      int64 // the positive number when the text is the name of an errno, else 0
}

// readLiteral reads the text of a literal in every way that it can be read.
// names are those of the fields that it is compared with.
func readLiteral(t token, names []*schema.Names) *literal {
	l := &literal{text: []byte(t.text)}
	l.fid.Seq, l.fid.OID, l.fid.Ver, l.isFID = schema.ParseFID(t.text) // also without brackets
	if t.kind == fid || strings.HasPrefix(t.text, "[") {
		return l
	}
	l.readNumber(t.text)
	l.truth = truths[t.text]
	l.readSeconds(t.text)
	l.readNID(t.text)
	l.readAddr(t.text)
	for _, n := range names {
		if u, ok := records.NamedValue(n, t.text); ok {
			if l.byName == nil {
				l.byName = make(map[*schema.Names]uint64)
			}
			l.byName[n] = u
		}
	}
	if v, ok := schema.Errnos.Find(t.text); ok {
		l.errno = int64(v.Value)
	}
	return l
}

// mask returns the literal as a mask: a number, or the names of flags of any of the fields.
func (l *literal) mask() (u uint64) {
	if l.isNum {
		return l.u
	}
	for _, u = range l.byName {
	}
	return u
}

// sizeSuffixes are the suffixes of sizes, as powers of 2.
var sizeSuffixes = map[byte]uint{'k': 10, 'K': 10, 'm': 20, 'M': 20, 'g': 30, 'G': 30, 't': 40, 'T': 40}

func (l *literal) readNumber(text string) {
	if text == "EOF" {
		l.u, l.isNum = ^uint64(0), true
		return
	}
	digits, shift := text, uint(0)
	if n := len(text); n > 1 && !strings.HasPrefix(text, "0x") {
		if s, ok := sizeSuffixes[text[n-1]]; ok {
			digits, shift = text[:n-1], s
		}
	}
	if u, err := strconv.ParseUint(digits, 0, 64); err == nil {
		l.u, l.isNum = u<<shift, true
		return
	}
	if i, err := strconv.ParseInt(digits, 0, 64); err == nil {
		l.u, l.isNum, l.neg = uint64(i<<shift), true, i < 0
		return
	}
	if v, ok := schema.ParseVersion(text); ok && strings.Contains(text, ".") {
		l.u, l.isNum = uint64(v), true
	}
}

var truths = map[string]int8{"true": 1, "1": 1, "false": -1, "0": -1}

func (l *literal) readSeconds(text string) {
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		l.seconds, l.isSeconds = f, true
	} else if d, err := time.ParseDuration(text); err == nil {
		l.seconds, l.isSeconds = d.Seconds(), true
	}
}

// timeLayouts are the forms of dates with times: in JSON, and in lines with -t.
// Those without a zone are local times.
var timeLayouts = [...]string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// minEpoch is the least number of seconds that is read as a time since 1970, other
// than 0. Those below are meant to be since the begin of the capture.
const minEpoch = 1e8

// readTime reads a date with a time of day, or seconds since the epoch.
func (l *literal) readTime(text string) {
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			l.ns, l.isTime = t.UnixNano(), true
			return
		}
	}
	whole, fraction, _ := strings.Cut(text, ".")
	const digits = 9 // of nanoseconds
	if len(fraction) > digits {
		return
	}
	ns, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", digits-len(fraction)), 10, 64)
	if err == nil && (ns == 0 || ns >= minEpoch*int64(time.Second)) {
		l.ns, l.isTime = ns, true
	}
}

// readNID reads a NID, or a prefix of NIDs: 192.0.2.0/24@tcp.
func (l *literal) readNID(s string) {
	addr, net, found := strings.Cut(s, "@")
	if !found {
		return
	}
	addr, bits, prefixed := strings.Cut(addr, "/")
	n, ok := lnet.ParseNID(addr + "@" + net)
	if !ok {
		return
	}
	l.isNID, l.nid, l.nidBits = true, n, int(n.Len)*8
	if prefixed {
		b, err := strconv.Atoi(bits)
		if err != nil || b < 0 || b > l.nidBits {
			l.isNID = false
			return
		}
		l.nidBits = b
	}
}

// readAddr reads an IP address, with a port or a prefix length. It is also
// compared with NIDs, of any network.
func (l *literal) readAddr(s string) {
	if p, err := netip.ParsePrefix(s); err == nil {
		l.isAddr, l.prefix = true, p.Masked()
	} else if a, err := netip.ParseAddr(s); err == nil {
		l.isAddr, l.prefix = true, netip.PrefixFrom(a, a.BitLen())
	} else if ap, err := netip.ParseAddrPort(s); err == nil {
		l.isAddr, l.port = true, ap.Port()
		l.prefix = netip.PrefixFrom(ap.Addr(), ap.Addr().BitLen())
		return
	}
	if l.isAddr && !l.isNID {
		l.isNID, l.anyNetwork, l.nidBits = true, true, l.prefix.Bits()
		l.nid.Len = uint8(copy(l.nid.Addr[:], l.prefix.Addr().AsSlice()))
	}
}
