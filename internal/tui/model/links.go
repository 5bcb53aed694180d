package model

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// Line is a line of text, and the message or the RPCs that it is about.
type Line struct {
	schema.Marked
	At     track.Point // zero: none
	Filter string      // of RPCs; empty: none
}

// Link is something that a row is about: a lock, a file, or the connection.
type Link struct {
	Title string
	Lines []Line
}

// Subject is what messages are about.
type Subject struct {
	Nodes   set[lnet.NID] // both ends
	Handles set[uint64]   // of locks
	FIDs    set[track.FID]
	record  records.Message
}

// set is values without repetitions, in the order in which they were added.
type set[T comparable] struct {
	List []T
	has  map[T]bool
}

func (s *set[T]) add(v T) {
	if s.has == nil {
		s.has = make(map[T]bool)
	}
	if !s.has[v] {
		s.List, s.has[v] = append(s.List, v), true
	}
}

// Add adds what a message is about.
func (s *Subject) Add(m *dissect.Message) {
	s.Nodes.add(m.LNet.Src)
	s.Nodes.add(m.LNet.Dst)
	s.record.Set(m, 0)
	var v records.Value
	t := s.record.Tree()
	handles := records.TreeField{Name: "lock_handle"}
	handles.Any(t, func(i int) bool {
		for k := i; k < int(t.Nodes[i].End); k++ { // it may be an array
			n := &t.Nodes[k]
			if n.Field.Format != schema.Handle || n.Is(dissect.Missing) {
				continue
			}
			if v.ReadNode(t, n); v.U != 0 {
				s.Handles.add(v.U)
			}
		}
		return false
	})
	for i := range fidPath.Len(&s.record) {
		if fidPath.Value(&s.record, i, &v) {
			s.FIDs.add(track.FID{Seq: v.U, OID: v.OID, Ver: v.Ver})
		}
	}
}

var fidPath, _ = records.Messages.Find("fid")

// Links returns what a subject leads to, with the connection of an RPC; r may be nil.
func (c *Capture) Links(s *Subject, r *track.RPC, o render.SummaryOptions) (list []Link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var seen []*locks.Lock
	for _, h := range s.Handles.List {
		for _, node := range s.Nodes.List {
			l := c.engine.Locks().Find(node, h)
			if l == nil {
				l, _ = fifo.Get(c.ended, lockKey{node, h})
			}
			if l != nil && !slices.Contains(seen, l) {
				seen = append(seen, l)
				list = append(list, Link{"lock 0x" + strconv.FormatUint(h, 16) + " " + string(l.Desc.AppendResource(nil)),
					keyLines(&records.Locks, l)})
			}
		}
	}
	for _, fid := range s.FIDs.List {
		f := c.engine.Files().File(fid)
		if f == nil {
			continue
		}
		id := string(schema.AppendFID(nil, fid.Seq, fid.OID, fid.Ver))
		title := cmp.Or(f.Path(), id)
		link := Link{Title: cmp.Or(f.Kind(), "file") + " " + title}
		if f.Activity == nil { // known by its names only
			link.Lines = []Line{{Marked: schema.Marked{Text: []byte(title + " " + id)}}}
		} else {
			link.Lines = keyLines(&records.Files, f)
		}
		list = append(list, link)
	}
	if i := c.importOf(r); i != nil {
		var events schema.Marked
		tables.NewTimeline(o, c.Rows.First()).Append(&events, []*track.Import{i})
		lines := textLines(&events)
		lines = append(lines, Line{})
		lines = append(lines, keyLines(&records.Imports, &records.Import{Import: i, EventText: func(e *track.Event) string { return tables.EventText(e, o.NIDs) }})...)
		target := cmp.Or(i.Target, i.TargetIndex, "an unknown target of "+string(o.NIDs.Append(nil, i.Server)))
		list = append(list, Link{"connection to " + target, lines})
	}
	return list
}

// importOf returns the connection of an RPC that was archived, nil when it is unknown.
func (c *Capture) importOf(r *track.RPC) *track.Import {
	if r == nil {
		return nil
	}
	for _, i := range c.engine.Imports().List() {
		x := r.Connection
		switch {
		case i.Client != r.Client && i.Client != r.Server: // servers call back
		case r.Handle != 0 && i.Handle == r.Handle:
			return i
		case x != nil && x.TargetUUID != "" && i.TargetUUID == x.TargetUUID && i.ClientUUID == x.ClientUUID:
			return i
		}
	}
	return nil
}

func textLines(text *schema.Marked) (list []Line) {
	for _, line := range text.Lines() {
		list = append(list, Line{Marked: line})
	}
	return list
}

// keyLines returns a line for each key of a record that has a value. A key that is the
// number of a frame leads to the message.
func keyLines[R any](t *records.Table[R], r R) (list []Line) {
	width := 0
	for _, e := range t.Entries() {
		width = max(width, len(e.Path))
	}
	file := ""
	for _, e := range t.Entries() {
		p, ok := t.Find(e.Path)
		if !ok || e.Type == records.Object {
			continue
		}
		value := render.NewRecordField(p, true).Append(nil, r)
		if len(value) == 0 {
			continue
		}
		line := Line{}
		line.Add(schema.Label, e.Path)
		line.Spaces(width - len(e.Path) + 2)
		line.Plain(string(value))
		switch part := e.Path[strings.LastIndexByte(e.Path, '.')+1:]; part {
		case "file":
			file = string(value)
		case "frame":
			if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				line.At = track.Point{Frame: n, File: file}
			}
			file = ""
		}
		list = append(list, line)
	}
	return list
}

// FindingLines returns findings as lines: what an expert would say first of each cause, then
// the findings as trees, what followed from one below it. Of each there is a line that names
// it, what it says, and a line for each message that proves it.
func FindingLines(list []*diagnose.Finding, o render.SummaryOptions, first int64) (lines []Line) {
	text := tables.NewFindingsText(o, first, true)
	var openings schema.Marked
	text.AppendOpenings(&openings, diagnose.Stories(list))
	lines = textLines(&openings)
	followed := make(map[*diagnose.Finding][]*diagnose.Finding)
	for _, f := range list {
		followed[f.Cause] = append(followed[f.Cause], f)
	}
	var write func(f *diagnose.Finding, indent int)
	write = func(f *diagnose.Finding, indent int) {
		points := make(map[int]track.Point)
		text.OnPoint = func(line int, p track.Point) { points[line] = p }
		var paragraph schema.Marked
		text.AppendIndented(&paragraph, f, indent)
		for i, l := range textLines(&paragraph) {
			l.At = points[i]
			lines = append(lines, l)
		}
		for _, next := range followed[f] {
			const step = 4
			write(next, indent+step)
		}
	}
	for _, f := range followed[nil] {
		write(f, 0)
	}
	return lines
}
