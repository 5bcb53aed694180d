package schema

// Role is the meaning of a piece of a summary line; renderers colour by it.
type Role uint8

// The roles.
const (
	Dim    Role = iota // labels and punctuation
	Name               // names of files, xattrs, keys
	Object             // FIDs, object ids
	Number             // sizes, offsets, counts
	Node               // NIDs, uuids, targets
	Good               // a result as it should be
	Bad                // an error
	Flag               // flags, modes, states
)

// Line collects the pieces of a summary line.
type Line struct {
	Text  []byte
	Parts []Part

	// HandleName appends the name that earlier messages gave to a handle,
	// or nothing if the handle is unknown; nil: no earlier messages.
	HandleName func(dst []byte, handle uint64) []byte

	// HeldLock appends mode and range of the lock with a handle, as earlier
	// messages granted it, or nothing if that is unknown; nil: no earlier
	// messages.
	HeldLock func(dst []byte, handle uint64) []byte

	spare []byte
	from  int    // where the line begins in Text
	label [2]int // where the last label, or the space in place of one, begins and ends in Text
	plain bool   // parts are not recorded
}

// PlainLine returns a line that appends to dst and records no parts. Its text
// is not escaped: the renderer that gets it does that.
func PlainLine(dst []byte) Line { return Line{Text: dst, from: len(dst), plain: true} }

// Part is a piece: it extends from the end of the one before to End.
type Part struct {
	End  int
	Role Role
}

// Reset empties the line.
func (l *Line) Reset() { l.Text, l.Parts, l.label = l.Text[:0], l.Parts[:0], [2]int{} }

// Mark makes all that was appended to Text since the last mark a piece of that
// role.
func (l *Line) Mark(r Role) {
	if l.plain {
		return
	}
	if n := len(l.Parts); n > 0 && l.Parts[n-1].End == len(l.Text) || len(l.Text) == 0 {
		return
	}
	l.Parts = append(l.Parts, Part{len(l.Text), r})
}

// Add appends a piece.
func (l *Line) Add(r Role, text string) {
	l.Text = append(l.Text, text...)
	l.Mark(r)
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
	l.Add(Dim, label)
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
	l.Text = l.Text[:begin]
	for n := len(l.Parts); n > 0 && l.Parts[n-1].End > begin; n-- {
		l.Parts = l.Parts[:n-1]
	}
}
