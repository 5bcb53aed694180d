// Package ladder draws messages as a sequence diagram, in text and as SVG: a column
// for each node, an arrow for each message, time from top to bottom.
//
//	var d ladder.Diagram
//	lines := render.NewSummary(render.SummaryOptions{Names: names})
//	// for each message m that is to be drawn:
//	d.Add(ladder.NewEvent(lines, m))
//	// at the end:
//	var text schema.Marked
//	d.AppendText(&text, ladder.TextOptions{Width: 80})
//	os.Stdout.Write(colors.Paint(nil, &text))
//
// event.go makes events of messages; it uses the words of summary lines. diagram.go
// holds the events in the order of time. nodes.go chooses the columns, and layout.go
// decides what goes where in columns of text, and finds where nothing happened.
// text.go draws that with characters, svg.go with the same layout as SVG.
//
// Draw (remarks.go) adds messages that a Journal (package journal) has noted, each with a remark.
//
// A Selector (selector.go) adds the messages that belong to an xid, a file, a lock or a
// display filter. What is drawn is bounded by Diagram.Limit, what a Selector holds by the
// constants beside it.
package ladder
