package schema

import "strconv"

// Num appends a decimal number.
func (l *Line) Num(v uint64) {
	l.Text = strconv.AppendUint(l.Text, v, 10)
	l.Mark(Number)
}

// Count appends how many there are of something.
func (l *Line) Count(n uint64, what string) {
	l.Num(n)
	l.Add(Dim, " ")
	l.Add(Dim, what)
	if n != 1 {
		l.Add(Dim, "s")
	}
}

// Hex appends a number as "0x…".
func (l *Line) Hex(r Role, v uint64) {
	l.Text = AppendHex(l.Text, v)
	l.Mark(r)
}

// maxOffset is the largest offset that a file can have: applications use
// it as the end of a range.
const maxOffset = 1<<63 - 1

// Offset appends a file offset or size; the largest one is "EOF".
func (l *Line) Offset(v uint64) {
	if v == ^uint64(0) || v == maxOffset {
		l.Add(Number, "EOF")
		return
	}
	l.Num(v)
}

// Range appends the bytes from start to end, end included.
func (l *Line) Range(start, end uint64) {
	l.rangeStart(start)
	l.Offset(end)
	l.Add(Dim, "]")
}

// RangeFrom appends the bytes from start to an end that is unknown.
func (l *Line) RangeFrom(start uint64) {
	l.rangeStart(start)
	l.Add(Dim, "?]")
}

func (l *Line) rangeStart(start uint64) {
	l.Add(Dim, "[")
	l.Offset(start)
	l.Add(Dim, "-")
}

// FID appends the FID in the first 16 bytes of b.
func (l *Line) FID(b []byte, big bool) {
	l.Text = AppendFIDBytes(l.Text, b, big)
	l.Mark(Object)
}

// ObjectID appends the object id in the first 16 bytes of b.
func (l *Line) ObjectID(b []byte, big bool) {
	l.Text = AppendOSTID(l.Text, b, big, false)
	l.Mark(Object)
}

// Handle appends the cookie of a handle.
func (l *Line) Handle(b []byte) {
	if len(b) < 8 {
		return
	}
	l.Hex(Object, ReadUint(b[:8], false))
}

// Flags appends the names of the bits that are set: LOOKUP|UPDATE.
func (l *Line) Flags(n *Names, word uint64) {
	if word == 0 {
		l.Text = AppendHex(l.Text, word)
	} else {
		l.Text = AppendFlags(l.Text, n, word, "|")
	}
	l.Mark(Flag)
}

// FlagsIfSet appends a label and the names of the bits that are set, where there are
// some.
func (l *Line) FlagsIfSet(label string, n *Names, word uint64) {
	if word != 0 {
		l.Key(label).Flags(n, word)
	}
}

// NumIfSet appends a label and a number other than zero.
func (l *Line) NumIfSet(label string, v uint64) {
	if v != 0 {
		l.Key(label).Num(v)
	}
}

// Value appends the name of a value, or its number when it has none.
func (l *Line) Value(r Role, n *Names, v uint64) {
	if name := n.Name(v); name != "" {
		l.Add(r, name)
		return
	}
	l.Text = strconv.AppendUint(l.Text, v, 10)
	l.Mark(r)
}

// Label appends a file name or other text of the wire up to its first NUL;
// control characters are escaped.
func (l *Line) Label(r Role, b []byte) {
	if l.Unmarked {
		l.Text = append(l.Text, TrimNUL(b)...) // a renderer will escape it
	} else {
		l.Text = AppendText(l.Text, TrimNUL(b))
	}
	l.Mark(r)
}

// Errno appends the name of an errno of either sign, or the number.
func (l *Line) Errno(n int32) {
	l.Text = AppendErrno(l.Text, n)
	l.Mark(Bad)
}

// Errnos is the group errno. The protocol fills it.
var Errnos = Enum("errno", "LUSTRE_", "errors, with the numbers of asm-generic whatever the machine; on the wire they are negative", nil)

// ErrnoValue is the signed number in an errno field of any size. Of 8 bytes
// some senders fill the lower half only, without the sign.
func ErrnoValue(v uint64) int64 {
	if v>>32 == 0 {
		return int64(int32(v))
	}
	return int64(v)
}

// AppendErrno appends the name of an errno of either sign, or the number.
func AppendErrno(dst []byte, n int32) []byte {
	size := int64(n)
	if size < 0 {
		size = -size
	}
	if name := Errnos.Name(uint64(size)); name != "" {
		return append(dst, name...)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
