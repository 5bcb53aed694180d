package tui

import "strings"

// helpText is the page of keys. docs/tui.md has it too.
const helpText = `MOVE
  ↑ ↓ k j          row or line             Tab, Shift-Tab  table, tree, bytes, filter
  PgUp PgDn ^B ^F  page                    Home End g G    first, last
  ← → h l          column; in the tree     [ ]             message of the RPC
                   fold and unfold         mouse           click, wheel, double click

ROWS
  m                messages or RPCs        Enter           messages of an RPC, RPC of a
  /                filter: Tab completes,                  message; in the tree: fold
                   ^P ^N older and newer   u               no filter
  s                sort by the column:     c               choose columns
                   up, down, not           t               format of times
  f                follow an xid, a FID,   p               pause, go on
                   a lock handle, a client; in the tree: the field

LOOK
  o                open the locks, files and the connection that the row is about
  d                findings of diagnose    a A             arrows: ladder of the row, of all rows
  w W              save the frames of the row, of all rows, as pcapng
  z                zoom: table, or tree and bytes, on the whole screen
  ?                this page               Esc             close a page, back to the table
  q, Ctrl-C        quit                    Ctrl-L          draw the screen again`

func showHelp(s *Screen) {
	p := newPane("keys, Esc closes")
	lines := strings.Split(helpText, "\n")
	text := make([][]byte, len(lines))
	for i, l := range lines {
		text[i] = []byte(l)
	}
	p.setText(text)
	s.open(full(s, p))
}
