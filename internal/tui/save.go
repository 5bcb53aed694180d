package tui

import (
	"fmt"
	"os"

	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/render"
)

// askSave asks for the name of a file, and saves the frames of the row with the cursor to
// it, or those of all rows of the view.
func askSave(s *Screen, all bool) {
	id, ok := s.grid.selected()
	if !ok {
		return
	}
	ids, label := []int64{id}, "save the frames of this row to: "
	if all {
		ids, label = s.grid.ids, fmt.Sprintf("save the frames of %d rows to: ", len(s.grid.ids))
	}
	kind := s.grid.view.Kind
	s.ask(label, "", func(path string) {
		if _, err := os.Stat(path); err == nil {
			s.choose(printable(path)+" exists", []choice{
				{text: "keep it", do: func() {}},
				{text: "overwrite it", do: func() { save(s, kind, ids, path) }},
			})
			return
		}
		save(s, kind, ids, path)
	})
}

// save saves the frames of rows to a file.
func save(s *Screen, kind store.Kind, ids []int64, path string) {
	s.later("saving …", func() func() {
		frames := framesOf(s.opt.Capture.Rows.NewReader(), kind, ids)
		missing, err := s.opt.Save(path, frames)
		numbers := make(map[int64]bool)
		for _, f := range frames {
			numbers[f.Number] = true
		}
		return func() {
			switch {
			case err != nil:
				s.fail(err)
			case missing > 0:
				s.say("%s: %d frames; %d are no longer available", path, len(numbers)-missing, missing)
			default:
				s.say("%s: %d frames", path, len(numbers))
			}
		}
	})
}

// framesOf returns the frames of rows in their order, each once, with the comments that -w
// writes.
func framesOf(rows *store.Reader, kind store.Kind, ids []int64) (list []Frame) {
	lines := render.NewSummary(render.SummaryOptions{})
	for _, id := range ids {
		row, err := rows.Read(kind, id)
		if err != nil {
			continue
		}
		messages := row.Messages
		if row.Message != nil {
			messages = []int64{id}
		}
		for _, id := range messages {
			m, err := rows.Message(id)
			if err != nil {
				continue
			}
			var comment []byte
			if row.RPC != nil {
				comment = render.AppendRPCComment(nil, row.RPC, m.Message.Kind)
			} else {
				comment = lines.AppendComment(nil, m.Message)
			}
			for _, n := range m.Message.Frames {
				list = append(list, Frame{n, comment})
			}
		}
	}
	return list
}
