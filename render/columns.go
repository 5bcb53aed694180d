package render

import "github.com/lshark/lshark/opcodes/schema"

// AppendTruncated appends text, which ends with … when it is wider than a number of columns.
func AppendTruncated(dst, text []byte, columns int) []byte {
	if fits(text, columns) {
		return append(dst, text...)
	}
	return append(append(dst, truncate(text, columns-1)...), "…"...)
}

// AddTruncated does the same for text of a role.
func AddTruncated(dst *schema.Marked, r schema.Role, text []byte, columns int) {
	begin := len(dst.Text)
	dst.Text = AppendTruncated(dst.Text, text, columns)
	dst.MarkFrom(begin, r)
}

// Truncate cuts a line to a number of columns, with … at its end.
func Truncate(line *schema.Marked, columns int) {
	if !fits(line.Text, columns) {
		line.Cut(len(truncate(line.Text, columns-1)))
		line.Add(schema.Dim, "…")
	}
}

// AddRight appends text as a column that is aligned at its right end, and widens the
// column where the text needs it.
func AddRight(dst *schema.Marked, r schema.Role, text []byte, column *int) {
	n := Width(text)
	*column = max(*column, n)
	dst.Spaces(*column-n).AddBytes(r, text)
}

// AddLeft appends text as a column that is aligned at its left end, and widens the column
// where the text needs it.
func AddLeft(dst *schema.Marked, r schema.Role, text []byte, column *int) {
	const maxColumn = 40
	addLeftUpTo(dst, r, text, column, maxColumn)
}

// addLeftUpTo does the same for a column that grows to a maximum; a wider value shifts the
// rest of its own line only.
func addLeftUpTo(dst *schema.Marked, r schema.Role, text []byte, column *int, maxColumn int) {
	n := Width(text)
	if n <= maxColumn {
		*column = max(*column, n)
	}
	dst.AddBytes(r, text).Spaces(*column - n)
}

func addCellRight(dst *schema.Marked, r schema.Role, text []byte, width int) {
	AddTruncated(dst.Spaces(width-Width(text)), r, text, width)
}

func addCellLeft(dst *schema.Marked, r schema.Role, text []byte, width int) {
	AddTruncated(dst, r, text, width)
	dst.Spaces(width - Width(text))
}

// addCellEnd does the same for a name that differs from others at its end, such as a NID
// or a target: it is truncated at its begin.
func addCellEnd(dst *schema.Marked, r schema.Role, text []byte, width int) {
	if fits(text, width) {
		addCellLeft(dst, r, text, width)
		return
	}
	begin := len(dst.Text)
	dst.Text = append(append(dst.Text, "…"...), text[len(truncate(text, Width(text)-width+1)):]...)
	dst.MarkFrom(begin, r)
}
