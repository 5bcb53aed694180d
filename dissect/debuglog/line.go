package debuglog

import (
	"bytes"
	"time"
)

// Line is a line of a log. Its slices are parts of the text that was parsed.
type Line struct {
	Subsystem, Mask uint32
	CPU             uint32
	Time            int64  // nanoseconds since the epoch, by the clock of the node
	PID             uint32 // of the thread that wrote the line
	File, Func      []byte
	Number          uint32 // of the line in File
	Message         []byte
}

// Masks of lines, as lctl set_param debug has them.
const (
	MaskWarning  = 0x00000400
	MaskDLMTrace = 0x00010000
	MaskError    = 0x00020000
	MaskHA       = 0x00080000 // ha: connections, recovery
	MaskRPCTrace = 0x00100000 // rpctrace
	MaskConsole  = 0x02000000
)

// Parse parses a line without its newline. It returns false where the text is none:
//
//	00000100:00100000:0.0F:1795315487.735983:0:946:0:(client.c:1897:ptlrpc_send_new_req()) message
//
// These are subsystem, mask, CPU and kind of context, time, stack, thread, a number of
// old kernels, and the place in the source.
func (l *Line) Parse(b []byte) bool {
	const subsystem = len("00000100")
	if len(b) <= subsystem || b[subsystem] != ':' { // most lines of the console
		return false
	}
	p := parser{b: b}
	l.Subsystem, l.Mask = uint32(p.hex(':')), uint32(p.hex(':'))
	l.CPU = uint32(p.number('.'))
	p.word(':')
	seconds := p.number('.')
	l.Time = int64(seconds)*1e9 + p.micros(':')*1e3
	p.number(':')
	l.PID = uint32(p.number(':'))
	p.number(':')
	return seconds <= maxSeconds && l.parsePlace(&p)
}

// parsePlace takes the place in the source, and the message behind it.
func (l *Line) parsePlace(p *parser) bool {
	if p.failed || len(p.b) == 0 || p.b[0] != '(' {
		return false
	}
	p.b = p.b[1:]
	l.File = p.word(':')
	l.Number = uint32(p.number(':'))
	l.Func = bytes.TrimSuffix(p.word(')'), []byte("("))
	if p.failed || len(p.b) == 0 || p.b[0] != ')' {
		return false
	}
	l.Message = bytes.TrimPrefix(p.b[1:], []byte(" "))
	return true
}

// maxSeconds is the last time that nanoseconds can express, in the year 2262.
const maxSeconds = 9_223_372_035

// Detect reports whether the beginning of a file is that of a log: of one that the kernel writes for itself, or of its console.
func Detect(head []byte) bool {
	var l Line
	for rest, more := head, true; more; {
		var line []byte
		line, rest, more = bytes.Cut(rest, []byte("\n"))
		if l.Parse(bytes.TrimSuffix(line, []byte("\r"))) {
			return true
		}
	}
	return isConsole(head)
}

// isConsole reports whether most lines at the beginning of a file have the time and the form of those of the console.
func isConsole(text []byte) bool {
	c := console{location: time.UTC, year: 2000}
	var h head
	with, without := 0, 0
	for more := true; more; {
		var line []byte
		line, text, more = bytes.Cut(text, []byte("\n"))
		switch line = bytes.TrimRight(line, "\r"); {
		case len(line) == 0 || !more && with > 0: // the last one may be cut
		case c.readHead(line, &h):
			with++
		default:
			without++
		}
	}
	return with > without
}

// parser takes fields from the beginning of a text. After the first that is invalid it
// returns zero values.
type parser struct {
	b      []byte
	failed bool
}

// fail ends parsing.
func (p *parser) fail() uint64 {
	p.failed, p.b = true, nil
	return 0
}

// word takes what is in front of the next end, and end itself.
func (p *parser) word(end byte) []byte {
	n := bytes.IndexByte(p.b, end)
	if n < 0 {
		p.fail()
		return nil
	}
	w := p.b[:n]
	p.b = p.b[n+1:]
	return w
}

// number takes a decimal number and end.
func (p *parser) number(end byte) uint64 {
	n, i := uint64(0), 0
	for ; i < len(p.b) && p.b[i]-'0' <= 9; i++ {
		if i == maxDigits {
			return p.fail()
		}
		n = 10*n + uint64(p.b[i]-'0')
	}
	if i == 0 || i == len(p.b) || p.b[i] != end {
		return p.fail()
	}
	p.b = p.b[i+1:]
	return n
}

// maxDigits decimal digits fit into 64 bits, whatever they are.
const maxDigits = 19

// micros takes the digits behind the point of a number of seconds, as microseconds.
func (p *parser) micros(end byte) int64 {
	before := len(p.b)
	n := p.number(end)
	if before-len(p.b) != len("123456")+1 {
		p.fail()
	}
	return int64(n)
}

// hex takes a number of eight hexadecimal digits and end.
func (p *parser) hex(end byte) uint64 {
	const digits = 8
	if len(p.b) <= digits || p.b[digits] != end {
		return p.fail()
	}
	n := uint64(0)
	for _, c := range p.b[:digits] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c-'a' <= 5:
			c -= 'a' - 10
		default:
			return p.fail()
		}
		n = n<<4 | uint64(c)
	}
	p.b = p.b[digits+1:]
	return n
}

// signed parses all of a text as a decimal number, which may be negative.
func signed(b []byte) (n int64, ok bool) {
	digits := bytes.TrimPrefix(b, []byte("-"))
	u, ok := unsigned(digits)
	if n = int64(u); len(digits) < len(b) {
		n = -n
	}
	return n, ok
}

// unsigned parses all of a text as a decimal number.
func unsigned(b []byte) (n uint64, ok bool) {
	if len(b) == 0 || len(b) > maxDigits {
		return 0, false
	}
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, true
}
