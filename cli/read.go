package cli

import (
	"errors"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track"
)

// dissectAll shows every message of the input.
func dissectAll(in *input, out *output) error {
	if out.form == "summary" {
		out.names = track.NewNames()
		in.notice = out.names.Message
	}
	r, err := out.renderer()
	if err != nil {
		return err
	}
	in.oneSighting()
	w := newWriter(out.sys, in)
	if f, ok := r.(*render.Flags); ok {
		return showFlags(in, w, f)
	}
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
	var at render.Moment
	err := in.run(func(m *dissect.Message, first int64) error {
		at.First = first
		buf = r.Append(buf[:0], m, at)
		at.Before = m.Time
		return w.write(buf)
	}, w.flush)
	return errors.Join(err, w.close())
}

// showFlags shows the flag words of messages, and those of connects in pairs.
func showFlags(in *input, w *writer, r *render.Flags) error {
	var buf []byte
	var failed error
	write := func() {
		if failed == nil {
			failed = w.write(buf)
		}
	}
	var at render.Moment
	connects := track.NewConnects(func(p *track.ConnectPair) {
		buf = r.AppendConnect(buf[:0], p, at.First)
		write()
	})
	err := in.run(func(m *dissect.Message, first int64) error {
		at.First = first
		if !connects.Message(m, at.Before) {
			buf = r.Append(buf[:0], m, at)
			write()
		}
		at.Before = m.Time
		return failed
	}, w.flush)
	if failed == nil {
		connects.Close()
		err = errors.Join(failed, err)
	}
	return errors.Join(err, w.close())
}
