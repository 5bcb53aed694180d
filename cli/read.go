package cli

import (
	"bufio"
	"errors"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
)

// dissectAll shows every message of the input.
func dissectAll(in *input, out *output) error {
	r, err := out.renderer()
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(out.sys.Out, 1<<16)
	flush := out.sys.OutTTY || in.live()
	var buf []byte
	var at render.Moment
	err = in.run(func(m *dissect.Message, first int64) error {
		at.First = first
		buf = r.Append(buf[:0], m, at)
		at.Before = m.Time
		_, err := w.Write(buf)
		if err == nil && flush {
			err = w.Flush()
		}
		return err
	}, w.Flush)
	return errors.Join(w.Flush(), err)
}
