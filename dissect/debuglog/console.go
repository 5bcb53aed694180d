package debuglog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// stamp is what kind of time a line of the console has.
type stamp uint8

const (
	noStamp   stamp = iota
	wallClock       // complete
	localTime       // without a zone
	noYear          // without a zone and a year
	sinceBoot       // seconds since the kernel was started
)

// console reads lines of the console: as syslog, journalctl and dmesg write them.
type console struct {
	location *time.Location // of times without a zone
	year     int            // of the first time without a year
	boot     int64          // to add to times since boot, nanoseconds
	last     int64          // the last time since boot
	shift    int64          // to add to the times, as lines prove

	minute [len("Nov 24 10:00")]byte // the last minute that was read of times without a year
	start  int64                     // when it began
	month  time.Month                // of it

	date  [len("2026-11-24T10:00")]byte // the last minute that was read of complete dates
	begin int64                         // when it began, in UTC
}

// head is the beginning of a line of the console, in front of its message.
type head struct {
	stamp   stamp
	time    int64
	host    []byte
	message []byte // empty: of another program than the kernel
}

// readHead reads the beginning of a line. It returns false for lines without a time.
func (c *console) readHead(b []byte, h *head) bool {
	*h = head{}
	if len(b) > 0 && b[0] == '{' {
		return c.readJSON(b, h)
	}
	if rest, ok := cutPriority(b); ok {
		b = rest
		if rest, ok := bytes.CutPrefix(b, []byte("1 ")); ok {
			return c.readRFC5424(rest, h)
		}
	}
	if len(b) == 0 {
		return false
	}
	switch first := b[0]; {
	case first == '[':
		return c.readBracket(b, h)
	case first-'0' <= 9:
		const date = len("2026-11-24T10:00:05")
		isDmesg := len(b) > date && b[date] == ',' // which has neither host nor program
		if b = c.readDigits(b, h); isDmesg && h.stamp != noStamp {
			h.message = cutCaller(bytes.TrimLeft(b, " "))
			return true
		}
	case bytes.HasPrefix(b, []byte("kern ")): // dmesg -x
		at := bytes.Index(b, []byte(": ["))
		return at >= 0 && c.readBracket(b[at+2:], h)
	default:
		b = c.readNamed(b, h)
	}
	if h.stamp == noStamp {
		return false
	}
	h.message = h.readTag(b)
	return true
}

// cutPriority cuts the priority of a message off: <4>.
func cutPriority(b []byte) ([]byte, bool) {
	if len(b) < 3 || b[0] != '<' {
		return b, false
	}
	n := 1
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	if n == 1 || n > 4 || n == len(b) || b[n] != '>' {
		return b, false
	}
	return b[n+1:], true
}

// readBracket reads [  123.456789] or [Tue Nov 24 10:00:00 2026], of dmesg and of a serial console.
func (c *console) readBracket(b []byte, h *head) bool {
	text, rest, ok := bytes.Cut(b[1:], []byte("]"))
	if !ok || len(text) > len("Tue Nov 24 10:00:00 2026") {
		return false
	}
	if text = bytes.TrimLeft(text, " "); len(text) == 0 {
		return false
	}
	if text[0]-'0' <= 9 {
		ns, left, ok := seconds(text)
		if !ok || len(left) > 0 {
			return false
		}
		h.stamp, h.time = sinceBoot, c.sinceBoot(ns)
	} else if t, err := time.ParseInLocation("Mon Jan _2 15:04:05 2006", string(text), c.location); err == nil {
		h.stamp, h.time = localTime, t.UnixNano()+c.shift
	} else {
		return false
	}
	h.message = cutCaller(bytes.TrimLeft(rest, " "))
	if host, after, ok := bytes.Cut(h.message, []byte(" kernel: ")); ok && len(host) > 0 && len(host) <= maxHost && !bytes.ContainsAny(host, " :") { // journalctl -o short-monotonic
		h.host, h.message = host, after
	}
	return true
}

// sinceBoot returns the time of a line that has the time since boot. Where that is much less than before, the kernel was started again.
func (c *console) sinceBoot(ns int64) int64 {
	const reorder = int64(time.Minute)
	if ns+reorder < c.last {
		c.boot += c.last
	}
	c.last = ns
	return ns + c.boot
}

// cutCaller cuts the thread or CPU off that printed a message: [  T946].
func cutCaller(b []byte) []byte {
	if len(b) == 0 || b[0] != '[' {
		return b
	}
	in, rest, ok := bytes.Cut(b[1:], []byte("]"))
	if in = bytes.TrimLeft(in, " "); !ok || len(in) < 2 || len(in) > len("T4194304") || in[0] != 'T' && in[0] != 'C' || in[1]-'0' > 9 {
		return b
	}
	return bytes.TrimLeft(rest, " ")
}

// seconds reads a number of seconds with a fraction, as nanoseconds.
func seconds(b []byte) (ns int64, rest []byte, ok bool) {
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	whole, ok := unsigned(b[:n])
	if !ok || whole > maxSeconds {
		return 0, nil, false
	}
	ns, rest = fraction(int64(whole)*1e9, b[n:])
	return ns, rest, true
}

// fraction adds a fraction of a second, behind a point or a comma, to nanoseconds.
func fraction(ns int64, b []byte) (int64, []byte) {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' || b[1]-'0' > 9 {
		return ns, b
	}
	digit := int64(1e8)
	for b = b[1:]; len(b) > 0 && b[0]-'0' <= 9; b = b[1:] {
		ns += int64(b[0]-'0') * digit
		digit /= 10
	}
	return ns, b
}

// readDigits reads 2026-11-24T10:00:00.123456+01:00, with a space in place of the T, without fraction or zone, and seconds
// since the epoch.
func (c *console) readDigits(b []byte, h *head) []byte {
	const date = len("2026-11-24T10:00:00")
	if len(b) <= date || b[4] != '-' || b[10] != 'T' && b[10] != ' ' {
		if ns, rest, ok := seconds(b); ok && ns > 1e18 && len(rest) > 0 && rest[0] == ' ' {
			h.stamp, h.time = wallClock, ns
			return rest
		}
		return nil
	}
	if [16]byte(b) != c.date && !c.setDate([16]byte(b)) || b[16] != ':' || b[17]-'0' > 5 || b[18]-'0' > 9 {
		return nil
	}
	ns, rest := fraction(c.begin+int64(b[17]-'0')*10e9+int64(b[18]-'0')*1e9, b[date:])
	if offset, after, ok := zone(rest); ok {
		h.stamp, h.time = wallClock, ns-offset
		return after
	}
	h.stamp = localTime
	h.time = inLocation(time.Unix(0, ns).UTC(), c.location) + c.shift
	if name, after, ok := bytes.Cut(rest, []byte(" ")); ok && len(name) == 0 { // the name of a zone, of journalctl -o short-full
		if word := word(after); isZoneName(word) {
			if string(word) == "UTC" || string(word) == "GMT" {
				h.stamp, h.time = wallClock, ns
			}
			rest = after[len(word):]
		}
	}
	return rest
}

// setDate sets the minute of complete dates.
func (c *console) setDate(b [16]byte) bool {
	text := b
	text[10] = 'T'
	t, err := time.Parse("2006-01-02T15:04", string(text[:]))
	if err == nil {
		c.date, c.begin = b, t.UnixNano()
	}
	return err == nil
}

// inLocation returns the time that a clock in a location shows.
func inLocation(t time.Time, l *time.Location) int64 {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), l).UnixNano()
}

// isZoneName reports whether a word may be the abbreviation of a time zone.
func isZoneName(b []byte) bool {
	if len(b) < 3 || len(b) > 5 {
		return false
	}
	return !bytes.ContainsFunc(b, func(r rune) bool { return (r < 'A' || r > 'Z') && r != '+' && r != '-' && (r < '0' || r > '9') })
}

// zone reads Z, +01:00 or +0100 as nanoseconds.
func zone(b []byte) (offset int64, rest []byte, ok bool) {
	if len(b) > 0 && b[0] == 'Z' {
		return 0, b[1:], true
	}
	if len(b) < len("+0100") || b[0] != '+' && b[0] != '-' {
		return 0, b, false
	}
	sign := int64(1)
	if b[0] == '-' {
		sign = -1
	}
	hours, ok1 := unsigned(b[1:3])
	rest = bytes.TrimPrefix(b[3:], []byte(":"))
	if len(rest) < 2 {
		return 0, b, false
	}
	minutes, ok2 := unsigned(rest[:2])
	return sign * int64(hours*60+minutes) * 60e9, rest[2:], ok1 && ok2
}

// readNamed reads Nov 24 10:00:00.123456 and Tue 2026-11-24 10:00:00 CET.
func (c *console) readNamed(b []byte, h *head) []byte {
	const length = len("Nov 24 10:00:00")
	if len(b) < length || b[3] != ' ' {
		return nil
	}
	if b[4]-'0' <= 9 && b[5]-'0' <= 9 && b[6]-'0' <= 9 { // a day of the week in front
		return c.readDigits(b[4:], h)
	}
	if b[6] != ' ' || b[9] != ':' || b[12] != ':' || b[13]-'0' > 5 || b[14]-'0' > 9 {
		return nil
	}
	if [12]byte(b[:12]) != c.minute && !c.setMinute(b[:12]) {
		return nil
	}
	ns, rest := fraction(int64(b[13]-'0')*10e9+int64(b[14]-'0')*1e9, b[length:])
	h.stamp, h.time = noYear, c.start+ns+c.shift
	return rest
}

// setMinute sets the minute of times without a year. A month that is far before the last one is of the next year.
func (c *console) setMinute(b []byte) bool {
	t, err := time.Parse("Jan _2 15:04", string(b))
	if err != nil {
		return false
	}
	const half = 6
	if c.start != 0 && c.month-t.Month() > half {
		c.year++
	} else if c.start != 0 && t.Month()-c.month > half {
		c.year--
	}
	c.minute, c.month = [12]byte(b), t.Month()
	c.start = time.Date(c.year, t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, c.location).UnixNano()
	return true
}

// maxHost is the longest name of a host.
const maxHost = 255

// readTag reads host and program behind a time, and returns the message of the kernel, nothing of other programs.
func (h *head) readTag(b []byte) []byte {
	b = bytes.TrimLeft(b, " ")
	word, rest, ok := bytes.Cut(b, []byte(" "))
	if !ok {
		return nil
	}
	if !bytes.HasSuffix(word, []byte(":")) {
		if len(word) > maxHost {
			return nil
		}
		h.host = word
		word, rest, ok = bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
		if len(word) > 0 && word[0] == '<' { // <kern.warning>, as some servers write it
			word, rest, ok = bytes.Cut(rest, []byte(" "))
		}
		if !ok {
			return nil
		}
	}
	if string(word) != "kernel:" {
		return nil
	}
	return cutBoot(rest)
}

// cutBoot cuts the time since boot off, which syslog has in front of a message of the kernel.
func cutBoot(b []byte) []byte {
	b, _ = cutPriority(bytes.TrimLeft(b, " "))
	if len(b) > 0 && b[0] == '[' {
		if text, rest, ok := bytes.Cut(b[1:], []byte("]")); ok {
			if _, left, ok := seconds(bytes.TrimLeft(text, " ")); ok && len(left) == 0 {
				return cutCaller(bytes.TrimLeft(rest, " "))
			}
		}
	}
	return b
}

// readRFC5424 reads what follows the version: time, host, program, process, kind, structured data, message.
func (c *console) readRFC5424(b []byte, h *head) bool {
	b = c.readDigits(b, h)
	var words [4][]byte
	for i := range words {
		var ok bool
		if words[i], b, ok = bytes.Cut(bytes.TrimLeft(b, " "), []byte(" ")); !ok {
			return false
		}
	}
	if rest, ok := bytes.CutPrefix(b, []byte("- ")); ok {
		b = rest
	} else if len(b) > 0 && b[0] == '[' {
		at := bytes.Index(b, []byte("] "))
		if at < 0 {
			return false
		}
		b = b[at+2:]
	}
	if h.host = words[0]; string(h.host) == "-" {
		h.host = nil
	}
	if string(words[1]) == "kernel" {
		h.message = cutBoot(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
	}
	return h.stamp != noStamp
}

// journal is an entry of journalctl -o json.
type journal struct {
	Time       string          `json:"__REALTIME_TIMESTAMP"`
	Host       string          `json:"_HOSTNAME"`
	Transport  string          `json:"_TRANSPORT"`
	Identifier string          `json:"SYSLOG_IDENTIFIER"`
	Message    json.RawMessage `json:"MESSAGE"`
}

func (c *console) readJSON(b []byte, h *head) bool {
	var j journal
	if json.Unmarshal(b, &j) != nil {
		return false
	}
	us, err := strconv.ParseInt(j.Time, 10, 64)
	if err != nil || us < 0 || us > maxSeconds*1e6 {
		return false
	}
	h.stamp, h.time, h.host = wallClock, us*1e3, []byte(j.Host)
	if j.Transport != "kernel" && j.Identifier != "kernel" {
		return true
	}
	var text string
	if json.Unmarshal(j.Message, &text) == nil {
		h.message = []byte(text)
		return true
	}
	return json.Unmarshal(j.Message, &h.message) == nil // text that is not UTF-8 is a list of bytes
}

// origins are the first words of messages of Lustre on the console.
var origins = []struct {
	words string
	mask  uint32
}{
	{"LustreError: ", MaskConsole | MaskError},
	{"LNetError: ", MaskConsole | MaskError},
	{"Lustre: ", MaskConsole | MaskWarning},
	{"LNet: ", MaskConsole | MaskWarning},
}

// Explain reads a line of a debug log, or of the console with or without time and host. ok reports whether its message has a known form.
func Explain(text []byte) (l Line, e Event, ok bool) {
	if l.Parse(text) {
		ok = e.read(&l, new(names), true)
		return l, e, ok
	}
	c := newConsole(time.Now())
	var h head
	if !c.readHead(text, &h) || len(h.message) == 0 {
		h = head{message: text}
	}
	l.ParseConsole(h.message)
	l.Time = h.time
	ok = e.read(&l, new(names), true)
	e.Console, e.Host = true, string(h.host)
	return l, e, ok
}

// ParseConsole takes the message of a line of the console apart, behind its time and host:
//
//	LustreError: 167-0: lustre-OST0000-osc-ff11: This client was evicted by …
//	Lustre: 946:0:(client.c:2310:ptlrpc_expire_one_request()) @@@ Request sent has timed out …
//
// Of a message of another part of the kernel, all is the Message.
func (l *Line) ParseConsole(b []byte) {
	*l = Line{Message: b, Mask: MaskConsole}
	for _, o := range origins {
		if rest, ok := bytes.CutPrefix(b, []byte(o.words)); ok {
			l.Mask, l.Message = o.mask, cutNumber(rest)
			p, with := parser{b: l.Message}, *l // with thread and place in the source, where the message has them
			with.PID = uint32(p.number(':'))
			p.number(':')
			if with.parsePlace(&p) {
				*l = with
			}
			return
		}
	}
}

// cutNumber cuts the number of a message off: 167-0, 137-5, 13a-8.
func cutNumber(b []byte) []byte {
	number, rest, _ := bytes.Cut(b, []byte(": "))
	kind, sub, _ := bytes.Cut(number, []byte("-"))
	if len(kind) == 0 || len(kind) > 3 || len(sub) != 1 || !isHex(sub[0]) || slices.ContainsFunc(kind, func(c byte) bool { return !isHex(c) }) {
		return b
	}
	return rest
}

// epochs are the parts of messages that have the time at which they were written, in seconds since the epoch.
var epochs = regexp.MustCompile(`Request sent has timed out.* dl (\d{10}) |, cur (\d{10}) expire| arrived at (\d{10}) `)

// newConsole returns a console whose times without a year are those of a log that was written last at a time.
func newConsole(modified time.Time) console {
	return console{location: time.Local, year: modified.Year()}
}

// setClock finds out year and zone, or the time of the boot, by the beginning of a log: messages that have a time since the epoch
// prove it. modified is when the log was written last.
func (c *console) setClock(beginning *bufio.Reader, modified time.Time) {
	*c = newConsole(modified)
	probe := *c
	var h head
	for err := error(nil); err == nil || errors.Is(err, bufio.ErrBufferFull); {
		var line []byte
		line, err = beginning.ReadSlice('\n')
		if line = bytes.TrimRight(line, "\r\n"); !probe.readHead(line, &h) {
			continue
		}
		if h.stamp == wallClock {
			return
		}
		if h.stamp == noYear && h.time > modified.Add(24*time.Hour).UnixNano() {
			c.year--
			probe = *c
			probe.readHead(line, &h)
		}
		if m := findEpoch(h.message); m != nil {
			at, _ := unsigned(bytes.Join(m[1:], nil))
			c.setShift(h.stamp, int64(at)*1e9-h.time)
			return
		}
	}
}

// findEpoch looks for a time since the epoch.
func findEpoch(message []byte) [][]byte {
	for _, words := range []string{"Request sent has timed out", ", cur ", " arrived at "} {
		if bytes.Contains(message, []byte(words)) {
			return epochs.FindSubmatch(message)
		}
	}
	return nil
}

// setShift takes the difference between the clock and that of a log. The zone is a multiple of 15 minutes.
func (c *console) setShift(s stamp, behind int64) {
	const quarter, slack = int64(15 * time.Minute), int64(time.Minute)
	zone := (behind + quarter/2) / quarter * quarter
	if behind < 0 {
		zone = (behind - quarter/2) / quarter * quarter
	}
	switch {
	case s == sinceBoot:
		c.boot = behind
	case behind-zone < slack && zone-behind < slack:
		c.shift = zone
	}
}
