package render

import (
	"bytes"
	"unicode/utf8"

	"github.com/lshark/lshark/opcodes/schema"
)

// Wrap breaks what follows an offset in a text into lines that end before the width, at spaces and
// behind FIDs, unless there is hardly room for them; width 0: one line of any length. All lines but
// the first begin at a column. Only a word that is longer than a line is broken.
func Wrap(dst *schema.Marked, begin, column, width int) {
	const minRoom = 24 // columns that make another line worthwhile
	if width-column < minRoom {
		return
	}
	// Bytes are as good as columns in front of the text: few lines begin with other characters than ASCII.
	left := width - (begin - 1 - bytes.LastIndexByte(dst.Text[:begin], '\n'))
	if fits(dst.Text[begin:], left) {
		return
	}
	for rest := width - column; ; left = rest {
		end := begin + LineEnd(dst.Text[begin:], left, left >= rest)
		if end == len(dst.Text) {
			return
		}
		dst.Break(end, column)
		begin = end + 1 + column
	}
}

// LineEnd returns the length of the part of text that fits into a line of some columns. A line may
// end before a space, or between the "]" of a FID and the "/" of the path behind it. Where no such
// place fits, LineEnd returns 0, so that the word begins the next line; with must, it breaks the word.
func LineEnd(text []byte, columns int, must bool) (end int) {
	used := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == ' ' || r == '/' && i > 0 && text[i-1] == ']' {
			end = i
		}
		if used += RuneWidth(r); used > columns {
			if end == 0 && must {
				return max(i, size)
			}
			return end
		}
		i += size
	}
	return len(text)
}
