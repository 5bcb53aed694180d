// Package tui is the terminal program of lshark tui: a table of RPCs or messages, the tree
// and the bytes of the chosen one, and pages with findings, locks, files and connections.
//
// A screen consists of a grid (the table), details (tree and bytes), a filterLine and bars, which are lines
// of texts; overlays such as help and menus are pages over them. All of them belong to
// the goroutine of the event loop. Others work for it: one reads the capture into the
// model.Capture, one finds the rows of the grid's view, one saves frames; they call
// screen.post to change what is shown.
//
// Tests draw on tcell's simulation screen and pass keys to screen.key, without an event
// loop: work then runs at once.
package tui
