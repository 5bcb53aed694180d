package scan

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/pdu"
)

// saver writes selected frames or messages to a file (-w). A frame can be selected only
// after later frames were read. So the latest frames are kept in memory (recent), or
// selected frames are marked and the input is read again at the end (marks). Messages
// are written at once (pdus).
type saver struct {
	file      *os.File // nil for Options.Stream
	w         *capture.Writer
	recent    *capture.Recent // nil when the input is read again, and for messages
	marks     Marks
	pdus      *pduWriter                // nil: frames are written
	stream    *stream                   // nil without Options.Stream
	allFrames bool                      // Options.SaveAll
	missed    int                       // frames that were no longer kept when they were marked
	lines     *render.Summary           // makes comments
	comment   []byte                    // scratch space
	rpcFrames track.Attached[RPCFrames] // of RPCs that have not ended
	err       error
}

// stream passes frames on soon after they were captured (Options.Stream).
type stream struct {
	flushed int64
}

const (
	// streamDelay is for how long a frame is kept until it is known whether it is
	// selected: longer than TCP needs to send a segment again.
	streamDelay = 2 * time.Second

	// streamFlush is how often frames are written while they arrive.
	streamFlush = 100 * time.Millisecond
)

// add writes frames that were kept long enough when f was added to recent.
func (s *stream) add(recent *capture.Recent, f *capture.Frame) error {
	if f.Time < s.flushed+int64(streamFlush) {
		return nil
	}
	return s.release(recent, f.Time)
}

// release writes the selected frames that were captured at least streamDelay before now.
func (s *stream) release(recent *capture.Recent, now int64) error {
	s.flushed = now
	return recent.Release(now - int64(streamDelay))
}

// newSaver creates the file, unless it is one of the inputs. With a FIFO it
// waits for the reader.
func newSaver(sys *System, in *Input, opt Options) (*saver, error) {
	s := &saver{allFrames: opt.SaveAll, lines: render.NewSummary(render.SummaryOptions{Names: opt.Names})}
	if opt.Stream != nil {
		s.w = capture.NewWriter(opt.Stream)
		s.stream = &stream{}
	} else {
		file, err := createSaveFile(sys, in, opt.SaveTo)
		if err != nil {
			return nil, err
		}
		s.file, s.w = file, capture.NewWriter(file)
	}
	switch {
	case opt.SavePDUs:
		s.pdus = newPDUWriter(s.w, in.FlushPolicy() != iostreams.FlushWhenFull)
	case !opt.SaveRPCs || !in.Rereadable():
		// An RPC may take longer than frames are kept, and which RPCs are the
		// slowest is known at the end.
		s.recent = capture.NewRecent(s.w)
	}
	return s, nil
}

func createSaveFile(sys *System, in *Input, path string) (*os.File, error) {
	if path == "-" {
		return nil, exit.Usagef("-w -: standard output has the results; name a file")
	}
	if out, err := os.Stat(path); err == nil && sys.IsOut(out) {
		return nil, exit.Usagef("-w %s: standard output has the results; name another file", path)
	}
	if err := in.checkOutput("-w", path); err != nil {
		return nil, err
	}
	// Not os.Create, which opens for reading too: this process would then be a
	// reader of the FIFO, so opening would not wait for another reader, and
	// writing would not fail after that reader has closed it.
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, iostreams.NewFileMode)
}

// begin writes the headers to Options.Stream, so that its reader can start before the
// first message.
func (s *saver) begin(src *source) error {
	link := pdu.LinkType
	if s.pdus == nil {
		if src.live == nil {
			return nil // each frame has a type of its own
		}
		link = src.live.LinkType()
	}
	if err := s.w.AddInterface(link, 0, 0); err != nil {
		return err
	}
	return s.w.Flush()
}

// add keeps a frame until it is known whether it is selected.
func (s *saver) add(f *capture.Frame) error {
	if s.recent != nil {
		s.fail(s.recent.Add(f))
		if s.allFrames {
			s.recent.Mark(f.Number, nil)
		}
		if s.stream != nil {
			s.fail(s.stream.add(s.recent, f))
		}
	}
	return s.err
}

func (s *saver) fail(err error) {
	switch {
	case err == nil || s.err != nil:
	case s.stream != nil:
		s.err = err
	default:
		// Not wrapped: a closed reader of this file is a failure, a closed
		// reader of the standard output is not.
		s.err = fmt.Errorf("-w: %v", err)
	}
}

// idle is called when no frame has arrived for a while; now is the time by the clock
// of the capture.
func (s *saver) idle(now int64) error {
	if s.stream != nil && s.recent != nil {
		s.fail(s.stream.release(s.recent, now))
	}
	return s.err
}

// mark marks a frame to be written, with a comment about a message that it
// carries.
func (s *saver) mark(number int64, comment []byte) {
	if s.recent == nil {
		s.marks.Add(number, comment)
	} else if !s.recent.Mark(number, comment) {
		s.missed++
	}
}

// message writes a message, or marks its frames; first is the time of the first
// frame of the capture.
func (s *saver) message(m *dissect.Message, first int64) {
	s.comment = s.lines.AppendComment(s.comment[:0], m)
	if s.pdus != nil {
		s.fail(s.pdus.write(m, first, s.comment))
		return
	}
	for _, n := range m.Frames {
		s.mark(n, s.comment)
	}
}

func (s *saver) noteFrames(m *dissect.Message, r *track.RPC) {
	list := s.rpcFrames.Of(r)
	for _, n := range m.Frames {
		*list = append(*list, rpcFrame{n, m.Kind})
	}
}

// takeFrames returns and forgets the frames of an RPC that has ended. They are
// valid until the next message.
func (s *saver) takeFrames(r *track.RPC) RPCFrames {
	list := s.rpcFrames.Of(r)
	all := *list
	*list = all[:0]
	return all
}

func (s *saver) rpc(r *track.RPC, frames RPCFrames) {
	for i, f := range frames {
		if i == 0 || frames[i-1].kind != f.kind {
			s.comment = render.AppendRPCComment(s.comment[:0], r, f.kind)
		}
		s.mark(f.number, s.comment)
	}
}

// RPCFrames is the frames that carried the messages of an RPC; nil without
// SaveTo.
type RPCFrames []rpcFrame

// rpcFrame is a frame with bytes of a message of this kind.
type rpcFrame struct {
	number int64
	kind   lnet.Kind
}

// NoteFrames records the frames of a message of an RPC for RPCFrames.
func (p *Pass) NoteFrames(m *dissect.Message, r *track.RPC) {
	if p.saver != nil {
		p.saver.noteFrames(m, r)
	}
}

// RPCFrames returns the frames of an RPC that has ended, valid until the next
// message. It must be called for each RPC of which frames were recorded.
func (p *Pass) RPCFrames(r *track.RPC) RPCFrames {
	if p.saver == nil {
		return nil
	}
	return p.saver.takeFrames(r)
}

// SaveRPC marks the frames of an RPC for the file of SaveTo, if there is one.
func (p *Pass) SaveRPC(r *track.RPC, frames RPCFrames) {
	if p.saver != nil {
		p.saver.rpc(r, frames)
	}
}

// SaveFinding writes a finding behind the messages that SavePDUs has written so far.
func (p *Pass) SaveFinding(f *diagnose.Finding) {
	if p.saver != nil && p.saver.pdus != nil {
		p.saver.fail(p.saver.pdus.writeFinding(f, p.First()))
	}
}

// finishSave writes the rest of the file of SaveTo and closes it.
func (p *Pass) finishSave() error {
	s := p.saver
	if s == nil {
		return nil
	}
	switch {
	case s.err != nil:
	case s.pdus != nil:
		s.fail(s.w.Flush())
	case s.recent != nil:
		s.fail(s.recent.Flush())
	default:
		s.fail(p.readMarked(s))
	}
	if s.file != nil {
		s.fail(s.file.Close())
	}
	if s.missed > 0 && !p.in.quiet {
		p.sys.Say("-w: %d frames are missing: they were no longer available when they were selected", s.missed)
	}
	return s.err
}

// readMarked reads the input a second time and writes the marked frames, or all.
func (p *Pass) readMarked(s *saver) (err error) {
	src, err := p.in.open(p.sys, p.offsets)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.frames.Close()) }()
	var f capture.Frame
	for left := s.marks.n; left > 0 || s.allFrames; {
		switch err := src.next(&f); {
		case err == io.EOF, errors.As(err, new(*capture.DamageError)):
			s.missed += left   // a file has become shorter
			return s.w.Flush() // the first reading reported the damage
		case err != nil:
			return err
		}
		if s.marks.has(f.Number) {
			left--
		} else if !s.allFrames {
			continue
		} else if keep, err := p.keeps(&f); err != nil {
			return err
		} else if !keep {
			continue
		}
		if err := s.w.Write(&f, string(s.marks.comments[f.Number])); err != nil {
			return err
		}
	}
	return s.w.Flush()
}

// SaveFrames writes frames of the input to a file, also while the pass runs, from another
// goroutine. Frames that are not available any more are counted in missing. kept returns a
// frame of an input that cannot be read again; it is nil for others.
func (p *Pass) SaveFrames(path string, m *Marks, kept func(number int64) (capture.Frame, error)) (missing int, err error) {
	s, err := newSaver(p.sys, p.in, Options{SaveTo: path, SaveRPCs: true})
	if err != nil {
		return 0, err
	}
	s.marks = *m
	if kept == nil {
		s.fail(p.readMarked(s))
	} else {
		s.fail(s.writeKept(kept))
	}
	s.fail(s.file.Close())
	return s.missed, s.err
}

func (s *saver) writeKept(kept func(number int64) (capture.Frame, error)) (err error) {
	s.marks.numbers(func(number int64) bool {
		f, gone := kept(number)
		if gone != nil {
			s.missed++
			return true
		}
		err = s.w.Write(&f, string(s.marks.comments[number]))
		return err == nil
	})
	return errors.Join(err, s.w.Flush())
}
