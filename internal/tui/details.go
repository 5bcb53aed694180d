package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// details shows a message as a tree and as bytes, with the bytes of the chosen field
// highlighted. Of an RPC it shows one message at a time.
type details struct {
	tree   *pane
	bytes  *pane
	rows   *store.Store
	render *render.Tree
	styles *styles

	row     *store.Row // that is shown, nil: none
	list    []int64    // its messages
	at      int        // which of them is shown
	message *dissect.Message

	lines  []treeLine
	shown  []int           // lines that are not folded away
	folded map[string]bool // fields by path
	nodes  *dissect.Tree

	source []byte // whose bytes are shown
	holes  bool   // the source is the message, which may have holes
	lit    [2]int // range of the highlighted bytes
}

type treeLine struct {
	schema.Marked
	node  int    // -1: none
	path  string // names of the node and those around it
	depth int
	parts bool // lines below belong to it
}

func newDetails(rows *store.Store, opt *render.SummaryOptions, st *styles) *details {
	d := &details{tree: newPane("message"), bytes: newPane("bytes"), rows: rows,
		render: render.NewTree(render.TreeOptions{Time: opt.Time}), styles: st}
	// What a message is about is in its buffers.
	d.folded = map[string]bool{"ksock": true, "ib": true, "o2iblnd": true, "lnet": true, "lustre_msg": true, "ptlrpc_body": true}
	d.tree.moved = d.light
	d.tree.chosen = d.fold
	d.tree.pressed = d.key
	return d
}

// set shows a row, and of an RPC its first message.
func (d *details) set(k store.Kind, id int64) {
	if d.row != nil && d.row.ID == id && (d.row.RPC != nil) == (k == store.RPCs) {
		return
	}
	d.clear()
	row, err := d.rows.Row(k, id)
	if err != nil {
		d.blank(err.Error())
		return
	}
	d.row, d.list = row, row.Messages
	if len(d.list) == 0 {
		d.blank("no message of the RPC is kept")
		return
	}
	d.showMessage()
}

// clear shows no row.
func (d *details) clear() {
	d.row, d.list, d.at = nil, nil, 0
	d.blank("")
}

// blank shows a remark in place of a message.
func (d *details) blank(remark string) {
	d.message, d.lines, d.shown, d.source = nil, nil, nil, nil
	d.tree.setText(remark)
	d.bytes.title = "bytes"
	d.bytes.setText()
	d.setTitle()
}

// turn shows the next message of an RPC, or the one before.
func (d *details) turn(by int) {
	if to := d.at + by; to >= 0 && to < len(d.list) {
		d.at = to
		d.showMessage()
	}
}

func (d *details) showMessage() {
	m, err := d.rows.Row(store.Messages, d.list[d.at])
	if err != nil {
		d.blank("the message is " + err.Error())
		return
	}
	d.message = m.Message
	var text schema.Marked
	places, nodes := d.render.AppendPlaced(&text, d.message, render.Moment{First: m.First})
	d.nodes = nodes
	d.lines = splitTree(&text, places, nodes)
	d.setTitle()
	d.tree.cursor, d.tree.column = 0, 0
	d.refold()
	const bodyLines = 8
	d.tree.below, d.tree.offset = bodyLines, 0
	d.tree.cursor = max(0, slices.IndexFunc(d.shown, func(i int) bool { return d.lines[i].path == bodyPath }))
	d.light()
}

// bodyPath is the path of the section with the body of a request or reply.
const bodyPath = "buffers"

func (d *details) setTitle() {
	d.tree.title = "message"
	if d.message != nil {
		d.tree.title = d.message.Kind.String()
	}
	if len(d.list) > 1 {
		d.tree.title += fmt.Sprintf(", message %d of %d of the RPC, [ ] for the others", d.at+1, len(d.list))
	}
}

func splitTree(text *schema.Marked, places []render.Place, nodes *dissect.Tree) (list []treeLine) {
	var path []string
	off := 0
	for _, line := range text.Lines() {
		if len(line.Text) == 0 && off+1 == len(text.Text) {
			break
		}
		x := treeLine{Marked: line, node: -1}
		for len(places) > 0 && places[0].Off <= off {
			x.node = places[0].Node
			places = places[1:]
		}
		if x.node >= 0 {
			n := &nodes.Nodes[x.node]
			x.depth = int(n.Depth) + 1
			name := n.Name()
			if n.Index >= 0 {
				name += fmt.Sprintf("[%d]", n.Index)
			}
			path = append(path[:min(int(n.Depth), len(path))], name)
			x.path = strings.Join(path, "/")
		}
		off += len(line.Text) + 1
		list = append(list, x)
	}
	for i := 1; i < len(list); i++ {
		list[i-1].parts = list[i-1].node >= 0 && list[i].depth > list[i-1].depth
	}
	return list
}

// refold finds the lines that are not folded away, and keeps the cursor on its line.
func (d *details) refold() {
	line := -1
	if d.tree.cursor < len(d.shown) {
		line = d.shown[d.tree.cursor]
	}
	d.shown = d.shown[:0]
	skip := 0 // depth of the folded line above, 0: none
	for i := range d.lines {
		x := &d.lines[i]
		if skip > 0 && x.depth > skip {
			continue
		}
		skip = 0
		if x.parts && d.folded[x.path] {
			skip = x.depth
		}
		if i <= line {
			d.tree.cursor = len(d.shown)
		}
		d.shown = append(d.shown, i)
	}
	d.tree.set(len(d.shown), d.treeRuns)
}

// treeRuns returns a line of the tree. A line that can be folded or unfolded begins with a
// sign.
func (d *details) treeRuns(i int) []run {
	x := &d.lines[d.shown[i]]
	sign := "  "
	if x.parts {
		sign = "▾ "
		if d.folded[x.path] {
			sign = "▸ "
		}
	}
	return append([]run{{sign, tcell.StyleDefault.Dim(true)}}, d.styles.runs(&x.Marked)...)
}

// current returns the line with the cursor, nil for none.
func (d *details) current() *treeLine {
	if d.tree.cursor >= len(d.shown) {
		return nil
	}
	return &d.lines[d.shown[d.tree.cursor]]
}

// fold folds the line with the cursor, or unfolds it.
func (d *details) fold() {
	if x := d.current(); x != nil && x.parts {
		d.folded[x.path] = !d.folded[x.path]
		d.refold()
	}
}

func (d *details) key(event *tcell.EventKey) bool {
	x := d.current()
	if x == nil {
		return false
	}
	switch {
	case event.Key() == tcell.KeyRune && event.Rune() == ' ':
		d.fold()
	case motionOf(event) == tcell.KeyLeft && d.tree.column == 0:
		if x.parts && !d.folded[x.path] {
			d.fold()
			break
		}
		for i := d.tree.cursor - 1; i >= 0; i-- {
			if d.lines[d.shown[i]].depth < x.depth {
				d.tree.move(i)
				break
			}
		}
	case motionOf(event) == tcell.KeyRight && x.parts && d.folded[x.path]:
		d.fold()
	default:
		return false
	}
	return true
}

// light shows the bytes with those of the field with the cursor highlighted.
func (d *details) light() {
	d.source, d.holes, d.lit = nil, false, [2]int{}
	x := d.current()
	if x == nil || d.message == nil {
		d.bytes.set(0, nil)
		return
	}
	title := "bytes of the message"
	d.source, d.holes = d.message.Data, true
	if x.node >= 0 {
		n := &d.nodes.Nodes[x.node]
		switch {
		case n.Src == dissect.InMessage:
			d.lit = [2]int{int(n.Off), int(n.Off + n.Len)}
		case n.Src == dissect.InText || n.Src == dissect.Implied:
			title = "not on the wire"
			d.source = nil
		default:
			title = "bulk data"
			if n.Src >= dissect.InTransport {
				title = "bytes of the packet"
			}
			outer := d.outermost(x.node)
			d.source, d.holes = d.nodes.Bytes(outer), false
			d.lit = [2]int{int(n.Off - outer.Off), int(n.Off - outer.Off + n.Len)}
		}
	}
	if d.lit[1] > d.lit[0] {
		title += fmt.Sprintf(", %d from %d", d.lit[1]-d.lit[0], d.lit[0])
	} else if d.source != nil {
		title += fmt.Sprintf(", %d", len(d.source))
	}
	if d.holes && len(d.message.Data) < d.message.Size {
		title += fmt.Sprintf(" of %d: %v", d.message.Size, d.message.Tail)
	}
	d.bytes.title = title
	d.bytes.set((len(d.source)+bytesInLine-1)/bytesInLine, d.byteRuns)
	_, _, _, height := d.bytes.body()
	d.bytes.cursor = max(0, min(d.lit[0]/bytesInLine, d.bytes.count-1))
	if line := d.lit[0] / bytesInLine; line < d.bytes.offset || line >= d.bytes.offset+max(height, 1) {
		d.bytes.offset = max(0, line-1)
	}
}

// outermost returns the outermost node that contains node i and has its bytes from the same
// source; node i itself if there is no other.
func (d *details) outermost(i int) *dissect.Node {
	list := d.nodes.Nodes
	for k := range list[:i] {
		if int(list[k].End) > i && list[k].Src == list[i].Src {
			return &list[k]
		}
	}
	return &list[i]
}

const bytesInLine = 16

// byteRuns returns a line of the bytes: offset, digits, text.
func (d *details) byteRuns(line int) []run {
	from := line * bytesInLine
	dim, plain := tcell.StyleDefault.Dim(true), tcell.StyleDefault
	style := func(i int) tcell.Style {
		if i >= d.lit[0] && i < d.lit[1] {
			return plain.Bold(true).Reverse(true)
		}
		return plain
	}
	runs := []run{{fmt.Sprintf("%6d  ", from), dim}}
	text := make([]run, 0, bytesInLine)
	for i := from; i < from+bytesInLine; i++ {
		if i >= len(d.source) {
			runs = append(runs, run{"   ", plain})
			continue
		}
		digits, c := fmt.Sprintf("%02x", d.source[i]), string(rune(d.source[i]))
		if d.source[i] < ' ' || d.source[i] >= 0x7f {
			c = "."
		}
		if d.holes && d.message.Missing(i, 1) != 0 {
			digits, c = "··", "·"
		}
		gap := plain
		if i+1 < d.lit[1] && i >= d.lit[0] && i+1 < from+bytesInLine {
			gap = style(i)
		}
		runs = append(runs, run{digits, style(i)}, run{" ", gap})
		text = append(text, run{c, style(i)})
	}
	return append(append(runs, run{" ", plain}), text...)
}
