package tui

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// copyMenu shows a menu of what can be copied of the row: its xid, FIDs, lock handles and nodes;
// in the tree also the line with the cursor.
func copyMenu(s *Screen) {
	if s.details.row == nil {
		return
	}
	list := s.subjects()
	if x := s.details.current(); x != nil && s.details.tree.HasFocus() {
		list = slices.Insert(list, 0, subject{"line", strings.TrimSpace(string(x.Text)), ""})
	}
	var choices []choice
	for _, x := range list {
		choices = append(choices, choice{text: x.what + " " + x.text, do: func() { s.copy(x.text) }})
	}
	s.choose("copy", choices)
}

// copy asks the terminal to put a text into the clipboard (OSC 52). Its bytes are written as
// base64, whatever they are.
func (s *Screen) copy(text string) {
	text = printable(text)
	if tty, ok := s.screen.Tty(); ok {
		if _, err := fmt.Fprintf(tty, "\x1b]52;c;%s\a", base64.StdEncoding.EncodeToString([]byte(text))); err != nil {
			s.fail(err)
			return
		}
	} else {
		s.screen.SetClipboard([]byte(text))
	}
	s.say("copied, where the terminal allows it (OSC 52): %s", text)
}
