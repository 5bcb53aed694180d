package schema

import (
	"bytes"
	"encoding/hex"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"
)

const hexDigits = "0123456789abcdef"

// The network types whose addresses are IPv4 addresses.
const (
	lndTCP  = 2
	lndO2IB = 5
	lndGIP  = 14
)

// lndNames are the names of networks in NIDs, by type.
var lndNames = [256]string{lndTCP: "tcp", lndO2IB: "o2ib", 9: "lo", 13: "gni", lndGIP: "gip", 15: "ptlf",
	16: "kfi", 18: "efa", 19: "bxi3f"}

// ParseNetwork reads the name of a network: tcp, o2ib3.
func ParseNetwork(s string) (lnd uint8, num uint16, ok bool) {
	for i, name := range lndNames {
		rest, found := strings.CutPrefix(s, name)
		if name == "" || !found {
			continue
		}
		if rest == "" {
			return uint8(i), 0, true
		}
		if n, err := strconv.ParseUint(rest, 10, 16); err == nil {
			return uint8(i), uint16(n), true
		}
	}
	return 0, 0, false
}

// AppendHex appends v as "0x…".
func AppendHex(dst []byte, v uint64) []byte {
	dst = append(dst, '0', 'x')
	for shift := (bits.Len64(v|1) - 1) &^ 3; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[v>>shift&15])
	}
	return dst
}

// AppendHexDigits appends the last n hex digits of v.
func AppendHexDigits(dst []byte, v uint64, n int) []byte {
	for shift := 4 * (n - 1); shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[v>>shift&15])
	}
	return dst
}

// AppendFID appends a FID as Lustre prints it: [0x200000401:0x1:0x0].
func AppendFID(dst []byte, seq uint64, oid, ver uint32) []byte {
	dst = AppendHex(append(dst, '['), seq)
	dst = AppendHex(append(dst, ':'), uint64(oid))
	dst = AppendHex(append(dst, ':'), uint64(ver))
	return append(dst, ']')
}

// AppendFIDBytes appends the FID in the first 16 bytes of b.
func AppendFIDBytes(dst, b []byte, big bool) []byte {
	if len(b) < 16 {
		return dst
	}
	return AppendFID(dst, ReadUint(b[:8], big), uint32(ReadUint(b[8:12], big)), uint32(ReadUint(b[12:16], big)))
}

// IsFID reports whether the 16 bytes of a struct ost_id are a FID, not an object id
// and a sequence.
func IsFID(b []byte, big bool) bool {
	second := ReadUint(b[8:16], big)
	return second != 0 && second != ^uint64(0)
}

// AppendOSTID appends the object id in the first 16 bytes of b: "seq:id", or
// the FID if it is one. With plain it is always an id and a sequence.
func AppendOSTID(dst, b []byte, big, plain bool) []byte {
	if len(b) < 16 {
		return dst
	}
	if !plain && IsFID(b, big) {
		return AppendFIDBytes(dst, b, big)
	}
	first, second := ReadUint(b[:8], big), ReadUint(b[8:16], big)
	dst = append(AppendHex(dst, second), ':')
	return strconv.AppendUint(dst, first, 10)
}

// AppendNID4 appends an 8-byte NID: 192.0.2.1@tcp.
func AppendNID4(dst []byte, nid uint64) []byte {
	switch nid {
	case 0: // no NID
		return append(dst, '0')
	case ^uint64(0): // any
		return append(dst, "<?>"...)
	}
	var a [4]byte
	for i := range a {
		a[i] = byte(nid >> (24 - 8*i))
	}
	return AppendNID(dst, a[:], uint8(nid>>48), uint16(nid>>32))
}

// AppendNIDBytes appends the struct lnet_nid in the first bytes of b.
func AppendNIDBytes(dst, b []byte) []byte {
	if len(b) < 4 {
		return dst
	}
	n := min(int(b[0])+4, 16, len(b)-4)
	if b[1] == 0xff {
		return append(dst, "<?>"...)
	}
	return AppendNID(dst, b[4:4+n], b[1], uint16(b[2])<<8|uint16(b[3]))
}

// AppendNID appends a NID from its address, network type and number.
func AppendNID(dst, addr []byte, lnd uint8, num uint16) []byte {
	name := lndNames[lnd]
	switch {
	case lnd == 0xff:
		return append(dst, "<?>"...)
	case len(addr) == 16:
		a, _ := netip.AddrFromSlice(addr)
		dst = a.AppendTo(dst)
	case len(addr) != 4:
		dst = hex.AppendEncode(dst, addr)
	case name == "":
		dst = AppendHex(dst, ReadUint(addr, true))
	case lnd == lndTCP || lnd == lndO2IB || lnd == lndGIP:
		a, _ := netip.AddrFromSlice(addr)
		dst = a.AppendTo(dst)
	default:
		dst = strconv.AppendUint(dst, ReadUint(addr, true), 10)
	}
	dst = append(dst, '@')
	if name == "" {
		dst = strconv.AppendUint(append(dst, '<'), uint64(lnd), 10)
		dst = strconv.AppendUint(append(dst, ':'), uint64(num), 10)
		return append(dst, '>')
	}
	dst = append(dst, name...)
	if num != 0 {
		dst = strconv.AppendUint(dst, uint64(num), 10)
	}
	return dst
}

// AppendVersion appends a packed Lustre version: 2.17.0.0.
func AppendVersion(dst []byte, v uint32) []byte {
	for i := 24; i >= 0; i -= 8 {
		dst = strconv.AppendUint(dst, uint64(v>>i&0xff), 10)
		if i > 0 {
			dst = append(dst, '.')
		}
	}
	return dst
}

// TrimNUL returns b up to its first NUL.
func TrimNUL(b []byte) []byte {
	b, _, _ = bytes.Cut(b, []byte{0})
	return b
}

var formatWords = [...]string{Hex: "hex", ID: "id", Cookie: "cookie", Octal: "mode", Size: "size",
	Time: "time", TimeSpan: "seconds", Version: "version", NID4: "nid", IPv4: "address", Errno: "errno", UUID: ""}

// TypeText is the type of the field in a word or two: u64 flags, char[40],
// lov_ost_data[].
func (f *Field) TypeText() string {
	switch f.Kind {
	case Uint:
		return "u" + strconv.Itoa(8*f.Size) + f.formatText()
	case Int:
		return "s" + strconv.Itoa(8*f.Size) + f.formatText()
	case Bytes:
		return sized("bytes", f.Size)
	case Text:
		return sized("char", f.Size)
	case Strings:
		return "strings"
	case Record:
		return f.Type.Name
	case Array:
		if f.Count > 0 {
			return f.Elem.TypeText() + "[" + strconv.Itoa(f.Count) + "]"
		}
		return f.Elem.TypeText() + "[]"
	case List:
		return "records"
	case Union:
		return "union"
	case Message:
		return "lustre_msg"
	}
	return "text"
}

func (f *Field) formatText() string {
	switch {
	case f.Names != nil && f.Names.Flags:
		return " flags"
	case f.Names != nil:
		return " enum"
	case int(f.Format) < len(formatWords) && formatWords[f.Format] != "" && !f.Pad:
		return " " + formatWords[f.Format]
	}
	return ""
}

func sized(name string, n int) string {
	if n == 0 {
		return name + "[]"
	}
	return name + "[" + strconv.Itoa(n) + "]"
}

// ParseFID reads a FID such as [0x200000401:0x1:0x0], with or without brackets.
func ParseFID(text string) (seq uint64, oid, ver uint32, ok bool) {
	first, rest, _ := strings.Cut(strings.Trim(text, "[]"), ":")
	second, third, _ := strings.Cut(rest, ":")
	seq, err := strconv.ParseUint(first, 0, 64)
	o, errOID := strconv.ParseUint(second, 0, 32)
	v, errVer := strconv.ParseUint(third, 0, 32)
	if err != nil || errOID != nil || errVer != nil {
		return 0, 0, 0, false
	}
	return seq, uint32(o), uint32(v), true
}

// ParseVersion reads a Lustre version: 2.17.0.0 or its beginning.
func ParseVersion(text string) (uint32, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return 0, false
	}
	var v uint32
	for i := range 4 {
		v <<= 8
		if i >= len(parts) {
			continue
		}
		n, err := strconv.ParseUint(parts[i], 10, 8)
		if err != nil {
			return 0, false
		}
		v |= uint32(n)
	}
	return v, true
}

// WordList joins words as in "a, b or c", where last is " or ".
func WordList(words []string, last string) string {
	if n := len(words) - 1; n > 0 {
		return strings.Join(words[:n], ", ") + last + words[n]
	}
	return strings.Join(words, "")
}

// Plural returns "1 lock" or "5 locks".
func Plural[N int | int64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun
}
