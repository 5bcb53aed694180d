package tui

import (
	"fmt"
	"os"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
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
	ask(s, label, "", func(path string) {
		if _, err := os.Stat(path); err == nil {
			choose(s, printable(path)+" exists", []choice{
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
	s.status.say("saving …")
	s.spawn(func() {
		frames := framesOf(s.opt.Capture.Rows.NewReader(), kind, ids)
		missing, err := s.opt.Save(path, frames)
		s.post(func() {
			numbers := make(map[int64]bool)
			for _, f := range frames {
				numbers[f.Number] = true
			}
			switch {
			case err != nil:
				s.status.fail(err)
			case missing > 0:
				s.status.say("%s: %d frames; %d are no longer available", path, len(numbers)-missing, missing)
			default:
				s.status.say("%s: %d frames", path, len(numbers))
			}
		})
	})
}

// framesOf returns the frames of rows in their order, each once, with the comments that -w
// writes.
func framesOf(rows *store.Reader, kind store.Kind, ids []int64) (list []Frame) {
	add := func(numbers []int64, comment []byte) {
		for _, n := range numbers {
			list = append(list, Frame{n, comment})
		}
	}
	lines := render.NewSummary(render.SummaryOptions{})
	for _, id := range ids {
		row, err := rows.Read(kind, id)
		if err != nil {
			continue
		}
		if row.Message != nil {
			add(slices.Clone(row.Message.Frames), lines.AppendComment(nil, row.Message))
			continue
		}
		comments := make(map[lnet.Kind][]byte)
		for _, m := range row.Messages {
			message, err := rows.Message(m)
			if err != nil {
				continue
			}
			k := message.Message.Kind
			if comments[k] == nil {
				comments[k] = render.AppendRPCComment(nil, row.RPC, k)
			}
			add(slices.Clone(message.Message.Frames), comments[k])
		}
	}
	return list
}
