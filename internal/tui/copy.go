package tui

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/opcodes/schema"
)

// copyMenu shows a menu of what can be copied of the row: its xid, FIDs, lock handles and nodes;
// in the tree also the line with the cursor.
func copyMenu(s *Screen) {
	row := s.details.row
	if row == nil {
		return
	}
	var list []choice
	add := func(what, text string) {
		list = append(list, choice{text: what + " " + text, do: func() { s.copy(text) }})
	}
	if x := s.details.current(); x != nil && s.details.tree.HasFocus() {
		add("line", strings.TrimSpace(string(x.Text)))
	}
	if xid := xidOf(row); xid != 0 {
		add("xid", fmt.Sprint(xid))
	}
	about := model.SubjectOf(messagesOf(s))
	for _, fid := range about.FIDs {
		add("FID", string(schema.AppendFID(nil, fid.Seq, fid.OID, fid.Ver)))
	}
	for _, h := range about.Handles {
		add("handle", fmt.Sprintf("%#x", h))
	}
	for _, nid := range about.Nodes {
		if nid.Len > 0 {
			add("NID", nid.String())
		}
	}
	choose(s, "copy", list)
}

// copy asks the terminal to put a text into the clipboard (OSC 52). Its bytes are written as
// base64, whatever they are.
func (s *Screen) copy(text string) {
	text = printable(text)
	if tty, ok := s.screen.Tty(); ok {
		if _, err := fmt.Fprintf(tty, "\x1b]52;c;%s\a", base64.StdEncoding.EncodeToString([]byte(text))); err != nil {
			s.status.fail(err)
			return
		}
	} else {
		s.screen.SetClipboard([]byte(text))
	}
	s.status.say("copied, where the terminal allows it (OSC 52): %s", text)
}
