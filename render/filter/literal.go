package filter

import (
	"bytes"
	"cmp"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// literal is the right side of a comparison, read in every way that it can be read.
type literal struct {
	// by compares values with the literal, by their type. It is nil for types that the literal does not fit;
	// numbers have orderNumber.
	by [records.Section + 1]func(v *records.Value) int

	isNum  bool
	neg    bool // the number is negative: u is its two's complement
	u      uint64
	byName map[*schema.Names]uint64
	errno  int64 // the positive number when the text is the name of an errno, else 0
}

// readLiteral reads the text of a literal in every way that it can be read.
// names are those of the fields that it is compared with.
func readLiteral(t token, names []*schema.Names) *literal {
	l := &literal{}
	text := []byte(t.text)
	l.by[records.Text] = func(v *records.Value) int { return bytes.Compare(v.Text, text) }
	if seq, oid, ver, ok := schema.ParseFID(t.text); ok { // also without brackets
		l.by[records.FID] = func(v *records.Value) int {
			return cmp.Or(cmp.Compare(v.U, seq), cmp.Compare(v.OID, oid), cmp.Compare(v.Ver, ver))
		}
	}
	if t.kind == fid || strings.HasPrefix(t.text, "[") {
		return l
	}
	l.readNumber(t.text)
	if truth, ok := truths[t.text]; ok {
		l.by[records.Bool] = func(*records.Value) int { return equality(truth) }
	}
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

// mask returns the literal as a mask: a number, or the name of a flag.
func (l *literal) mask() uint64 {
	if l.isNum {
		return l.u
	}
	var most uint64 // of fields with the same name: their flags have the same values
	for _, u := range l.byName {
		most = max(most, u)
	}
	return most
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

// truths are the texts of Bools, which have the value true or none.
var truths = map[string]bool{"true": true, "1": true, "false": false, "0": false}

// readSeconds reads a number with a fraction, or a duration.
func (l *literal) readSeconds(text string) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		d, err := time.ParseDuration(text)
		if err != nil {
			return
		}
		seconds = d.Seconds()
	}
	l.by[records.Float] = func(v *records.Value) int { return cmp.Compare(v.F, seconds) }
	l.by[records.Seconds] = func(v *records.Value) int { return cmp.Compare(float64(v.U), seconds) }
	l.by[records.Duration] = func(v *records.Value) int { return cmp.Compare(float64(int64(v.U))/1e9, seconds) }
}

// timeLayouts are the forms of dates with times: in JSON, and in lines with -t.
// Those without a zone are local times.
var timeLayouts = [...]string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// minEpoch is the least number of seconds that is read as a time since 1970, other
// than 0. Those below are meant to be since the begin of the capture.
const minEpoch = 1e8

// readTime reads a date with a time of day, or seconds since the epoch, and reports whether it is one.
func (l *literal) readTime(text string) bool {
	ns, ok := parseTime(text)
	l.by[records.Time] = func(v *records.Value) int { return cmp.Compare(int64(v.U), ns) }
	return ok
}

func parseTime(text string) (ns int64, ok bool) {
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t.UnixNano(), true
		}
	}
	whole, fraction, _ := strings.Cut(text, ".")
	const digits = 9 // of nanoseconds
	if len(fraction) > digits {
		return 0, false
	}
	ns, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", digits-len(fraction)), 10, 64)
	return ns, err == nil && (ns == 0 || ns >= minEpoch*int64(time.Second))
}

// readNID reads a NID, or a prefix of NIDs: 192.0.2.0/24@tcp.
func (l *literal) readNID(s string) {
	host, network, _ := strings.Cut(s, "@")
	host, length, isPrefix := strings.Cut(host, "/")
	nid, ok := lnet.ParseNID(host + "@" + network)
	addr := addrOf(nid)
	bits := addr.BitLen()
	if isPrefix {
		var err error
		bits, err = strconv.Atoi(length)
		ok = ok && err == nil
	}
	if prefix := netip.PrefixFrom(addr, bits); ok && prefix.IsValid() {
		l.by[records.NID] = func(v *records.Value) int {
			return equality(v.NID.Type == nid.Type && v.NID.Num == nid.Num && prefix.Contains(addrOf(v.NID)))
		}
	}
}

func addrOf(n lnet.NID) netip.Addr {
	addr, _ := netip.AddrFromSlice(n.Addr[:n.Len])
	return addr
}

// readAddr reads an IP address, with a port or a prefix length. Without a port it is also
// compared with NIDs, of any network.
func (l *literal) readAddr(s string) {
	prefix, err := netip.ParsePrefix(s)
	var port uint16
	if addr, errAddr := netip.ParseAddr(s); errAddr == nil {
		prefix, err = addr.Prefix(addr.BitLen())
	} else if ap, errPort := netip.ParseAddrPort(s); errPort == nil {
		port = ap.Port()
		prefix, err = ap.Addr().Prefix(ap.Addr().BitLen())
	}
	if err != nil {
		return
	}
	l.by[records.Address] = func(v *records.Value) int {
		return equality(prefix.Contains(v.Addr.Addr().Unmap()) && (port == 0 || port == v.Addr.Port()))
	}
	if port == 0 {
		l.by[records.NID] = func(v *records.Value) int { return equality(prefix.Contains(addrOf(v.NID))) }
	}
}

// equality returns 0 for equal values of a type without an order, and 1 for
// others.
func equality(equal bool) int {
	if equal {
		return 0
	}
	return 1
}

// order compares a value with a literal. It returns -1, 0 or 1, and whether they
// can be compared.
func order(v *records.Value, l *literal) (int, bool) {
	if by := l.by[v.Type]; by != nil {
		return by(v), true
	}
	if isNumber(v.Type) {
		return orderNumber(v, l)
	}
	return 0, false
}

// isSigned reports whether a number is in two's complement.
func isSigned(v *records.Value) bool { return v.Type == records.Int || v.Type == records.Status }

func isNumber(t records.Type) bool {
	switch t {
	case records.Uint, records.Int, records.Decimal, records.Hex, records.Enum, records.Flags, records.Status:
		return true
	}
	return false
}

func orderNumber(v *records.Value, l *literal) (int, bool) {
	u, ok := l.u, l.isNum
	if named, found := l.byName[v.Names]; found && v.Names != nil {
		if part := v.Names.Mask; part != 0 && (named == 0 || named&part != 0) {
			return cmp.Compare(v.U&part, named&part), true
		}
		u, ok = named, true
	}
	if l.errno != 0 && !ok {
		if isSigned(v) && int64(v.U) < 0 {
			return cmp.Compare(uint64(-int64(v.U)), uint64(l.errno)), true
		}
		return cmp.Compare(v.U, uint64(l.errno)), true
	}
	if !ok {
		return 0, false
	}
	switch {
	case isSigned(v):
		return cmp.Compare(int64(v.U), int64(u)), true
	case l.neg: // a negative number is below all unsigned ones
		return 1, true
	}
	return cmp.Compare(v.U, u), true
}
