package schema

import "slices"

// Role is the meaning of a piece of text; renderers colour by it.
type Role uint8

// The roles.
const (
	NoRole  Role = iota
	Dim          // labels, punctuation, unimportant values
	Name         // names of files, xattrs, keys
	Object       // FIDs, object ids, handles
	Number       // sizes, offsets, counts
	Node         // NIDs, uuids, targets
	Good         // a result as it should be
	Bad          // an error
	Warning      // something missing or unexpected
	Flag         // flags, modes, states
	Label        // names of fields and columns
	Action       // operations
	Heading

	RoleCount // how many there are
)

// Marked is text of which pieces have a role: a line, or several. What follows the last
// piece has none.
type Marked struct {
	Text     []byte
	Parts    []Part
	Unmarked bool // parts are not recorded
}

// Part is a piece: it extends from the end of the one before to End.
type Part struct {
	End  int
	Role Role
}

// Reset empties the text.
func (t *Marked) Reset() { t.Text, t.Parts = t.Text[:0], t.Parts[:0] }

// Mark makes all that was appended to Text since the last mark a piece of that role.
func (t *Marked) Mark(r Role) { t.MarkFrom(t.marked(), r) }

// MarkFrom makes all behind an offset in Text, which is not in a piece, a piece of that role.
func (t *Marked) MarkFrom(begin int, r Role) {
	if !t.Unmarked && r != NoRole && begin < len(t.Text) {
		t.mark(begin, r)
	}
}

func (t *Marked) mark(begin int, r Role) {
	if begin > t.marked() {
		t.Parts = append(t.Parts, Part{begin, NoRole})
	}
	t.Parts = append(t.Parts, Part{len(t.Text), r})
}

// marked returns where the last piece ends.
func (t *Marked) marked() int {
	if n := len(t.Parts); n > 0 {
		return t.Parts[n-1].End
	}
	return 0
}

// Add appends a piece. As other methods that append, it returns the text.
func (t *Marked) Add(r Role, text string) *Marked {
	begin := len(t.Text)
	t.Text = append(t.Text, text...)
	t.MarkFrom(begin, r)
	return t
}

// AddBytes appends a piece.
func (t *Marked) AddBytes(r Role, text []byte) *Marked {
	begin := len(t.Text)
	t.Text = append(t.Text, text...)
	t.MarkFrom(begin, r)
	return t
}

// Plain appends text without a role.
func (t *Marked) Plain(text string) *Marked {
	t.Text = append(t.Text, text...)
	return t
}

// Spaces appends n spaces, none when n is negative.
func (t *Marked) Spaces(n int) *Marked {
	const blank = "                                "
	for ; n > 0; n -= len(blank) {
		t.Text = append(t.Text, blank[:min(n, len(blank))]...)
	}
	return t
}

// Cut removes what follows an offset.
func (t *Marked) Cut(end int) {
	t.Text = t.Text[:end]
	n := len(t.Parts)
	for n > 0 && t.Parts[n-1].End > end {
		n--
	}
	if n < len(t.Parts) {
		role := t.Parts[n].Role
		t.Parts = t.Parts[:n]
		t.Mark(role)
	}
}

// Break puts a line break and spaces up to a column before an offset, in place of a space there.
// They have no role.
func (t *Marked) Break(at, column int) {
	next, end := at, len(t.Text)
	if t.Text[at] == ' ' {
		next++
	}
	t.Plain("\n").Spaces(column)
	t.Text = append(t.Text, t.Text[next:end]...)
	t.Text = append(t.Text[:at], t.Text[end:]...)
	i := 0
	for i < len(t.Parts) && t.Parts[i].End <= at {
		i++
	}
	if i < len(t.Parts) && t.Parts[i].Role != NoRole { // it goes on in the next line
		t.Parts = slices.Insert(t.Parts, i, Part{at, t.Parts[i].Role}, Part{next, NoRole})
		i++
	}
	for ; i < len(t.Parts); i++ {
		t.Parts[i].End += len(t.Text) - end
	}
}

// TrimSpaces removes spaces at the end.
func (t *Marked) TrimSpaces() {
	end := len(t.Text)
	for end > 0 && t.Text[end-1] == ' ' {
		end--
	}
	t.Cut(end)
}

// Slice returns the text between two offsets. It shares the bytes.
func (t *Marked) Slice(begin, end int) (part Marked) {
	part.Text = t.Text[begin:end:end]
	for _, p := range t.Parts {
		if p.End > begin {
			part.Parts = append(part.Parts, Part{min(p.End, end) - begin, p.Role})
		}
		if p.End >= end {
			break
		}
	}
	return part
}

// Append appends other text.
func (t *Marked) Append(o *Marked) {
	begin := len(t.Text)
	if n := t.marked(); len(o.Parts) > 0 && begin > n {
		t.Parts = append(t.Parts, Part{begin, NoRole})
	}
	t.Text = append(t.Text, o.Text...)
	for _, p := range o.Parts {
		t.Parts = append(t.Parts, Part{begin + p.End, p.Role})
	}
}

// Lines returns the lines without their ends. They share the bytes.
func (t *Marked) Lines() (list []Marked) {
	for begin := 0; begin < len(t.Text); {
		end := begin
		for end < len(t.Text) && t.Text[end] != '\n' {
			end++
		}
		list = append(list, t.Slice(begin, end))
		begin = end + 1
	}
	return list
}
