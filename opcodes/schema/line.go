package schema

// Line collects the pieces of a summary line.
type Line struct {
	Marked

	// HandleName appends the name that earlier messages gave to a handle,
	// or nothing if the handle is unknown; nil: no earlier messages.
	HandleName func(dst []byte, handle uint64) []byte

	// HeldLock appends mode and range of the lock with a handle, as earlier
	// messages granted it, or nothing if that is unknown; nil: no earlier
	// messages.
	HeldLock func(dst []byte, handle uint64) []byte

	from  int    // where the line begins in Text
	label [2]int // where the last label, or the space in place of one, begins and ends in Text
}

// PlainLine returns a line that appends to dst. Its text is not escaped: the renderer
// that gets it does that.
func PlainLine(dst []byte) Line {
	return Line{Marked: Marked{Text: dst, Unmarked: true}, from: len(dst)}
}

// Reset empties the line.
func (l *Line) Reset() {
	l.Marked.Reset()
	l.label = [2]int{}
}

// Key appends a label, with a space before it unless there is one. Its value is
// appended to what it returns, the line. A label that has no value yet is dropped.
func (l *Line) Key(label string) *Line {
	if label != "" {
		l.DropLabel()
	}
	begin := len(l.Text)
	if n := len(l.Text); n > l.from && l.Text[n-1] != ' ' {
		l.Text = append(l.Text, ' ')
	}
	l.Text = append(l.Text, label...)
	l.Mark(Dim)
	if n := len(l.Text); n > begin && l.Text[n-1] == ' ' {
		l.label = [2]int{begin, n}
	}
	return l
}

// DropLabel removes the last label if nothing follows it: its value was not captured.
func (l *Line) DropLabel() {
	begin, end := l.label[0], l.label[1]
	if end == begin || end != len(l.Text) {
		return
	}
	l.Cut(begin)
}
