package cli

import (
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
	in.oneSighting()
	w := newWriter(out.sys, in)
	if out.parallel() && w.buffered {
		return showParallel(in, out, w)
	}
	return show(in, out, w, r)
}

// show renders and writes one message after the other.
func show(in *input, out *output, w *writer, r render.Renderer) error {
	var buf []byte
	if f, ok := r.(*render.Fields); ok && out.header {
		buf = f.Header(buf)
		if err := w.write(buf); err != nil {
			return err
		}
	}
	if s, ok := r.(*render.Summary); ok {
		in.notice = s.Notice
	}
	var at render.Moment
	err := in.run(func(m *dissect.Message, first int64) error {
		at.First = first
		buf = r.Append(buf[:0], m, at)
		at.Before = m.Time
		return w.write(buf)
	}, w.flush)
	if f, ok := r.(*render.Flags); ok && !errors.Is(err, errWrite) {
		err = errors.Join(w.write(f.Finish(buf[:0])), err)
	}
	return errors.Join(err, w.close())
}
