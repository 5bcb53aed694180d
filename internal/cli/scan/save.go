package scan

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"syscall"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/pdu"
)

// saver writes selected frames or messages to files (-w) or a stream. A frame can be selected only
// after later frames were read. So the latest frames are kept in memory (recent), or
// selected frames are marked and the input is read again at the end (marks). Messages
// are written at once (pdus).
type saver struct {
	sys       *System
	out       *saveOutput
	isStream  bool            // out is Options.Stream
	recent    *capture.Recent // nil when the input is read again, and for messages
	marks     Marks
	pdus      *pduWriter                // nil: frames are written
	delay     time.Duration             // for how long recent keeps a frame until it is known whether it is selected; 0: until it is full
	released  int64                     // when recent was told to write frames
	goesOn    bool                      // the capture goes on when nothing can be written
	allFrames bool                      // Options.SaveAll
	missed    int                       // frames that were no longer kept when they were marked
	lines     *render.Summary           // makes comments
	comment   []byte                    // scratch space
	rpcFrames track.Attached[RPCFrames] // of RPCs that have not ended
	err       error                     // nothing more is written
	ends      bool                      // and the pass ends
}

const (
	// messageDelay is longer than TCP needs to send a segment again.
	messageDelay = 2 * time.Second

	// rpcDelay is longer than most RPCs take, with the time in which a request may be sent again.
	rpcDelay = 60 * time.Second

	// flushInterval is how often frames are written while they arrive.
	flushInterval = 100 * time.Millisecond
)

// newSaver creates the file, unless it is one of the inputs. With a FIFO it
// waits for the reader.
func newSaver(sys *System, in *Input, opt Options) (s *saver, err error) {
	s = &saver{sys: sys, isStream: opt.Stream != nil, goesOn: in.Live(), allFrames: opt.SaveAll,
		lines: render.NewSummary(render.SummaryOptions{Names: opt.Names})}
	if s.isStream {
		s.out = &saveOutput{w: capture.NewWriter(opt.Stream)}
	} else if s.out, err = newSaveOutput(sys, in, opt.SaveTo); err != nil {
		return nil, err
	}
	switch {
	case opt.SavePDUs:
		s.pdus = newPDUWriter(s.out, in.FlushPolicy() != iostreams.FlushWhenFull)
	case !opt.SaveRPCs || !in.Rereadable():
		// An RPC may take longer than frames are kept, and which RPCs are the
		// slowest is known at the end.
		s.recent = capture.NewRecent(s.out)
		if s.isStream || s.out.limit.endsFile() {
			s.delay = messageDelay
			if opt.SaveRPCs && !opt.SaveAll {
				s.delay = rpcDelay
			}
		}
	}
	return s, nil
}

// begin writes the headers of a stream, so that its reader can start before the first message. The
// headers of files come with their first frames.
func (s *saver) begin(src *source, in *Input) error {
	link, name := pdu.LinkType, ""
	switch {
	case !s.isStream:
		return nil
	case s.pdus != nil:
	case src.live == nil: // each frame of a capture file has a link type of its own
		return nil
	default:
		link = src.live.LinkType()
		if !in.Distinct() {
			name = in.Name()
		}
	}
	if err := s.out.w.AddInterface(link, 0, 0, name); err != nil {
		return err
	}
	return s.out.Flush()
}

// add keeps a frame until it is known whether it is selected. Its error ends the pass.
func (s *saver) add(f *capture.Frame) error {
	if s.recent == nil || s.err != nil {
		return s.ended()
	}
	s.fail(s.recent.Add(f))
	if s.allFrames {
		s.recent.Mark(f.Number, nil)
	}
	if s.delay > 0 && f.Time >= s.released+int64(flushInterval) {
		s.release(f.Time)
	}
	return s.ended()
}

// release writes the selected frames that were captured some time before now.
func (s *saver) release(now int64) {
	s.released = now
	before := now - int64(s.delay)
	s.fail(s.recent.Release(before))
	if s.err == nil {
		s.fail(s.out.reach(before))
	}
}

func (s *saver) fail(err error) {
	switch {
	case err == nil || s.err != nil:
		return
	case s.isStream || err == errEnough:
		s.err, s.ends = err, true
		return
	}
	// Not wrapped: a closed reader of this file is a failure, a closed
	// reader of the standard output is not.
	s.err = fmt.Errorf("-w: %v", err)
	if s.ends = !s.goesOn || errors.Is(err, syscall.EPIPE); !s.ends {
		s.sys.Say("%v; nothing more is written, the capture goes on", s.err)
	}
}

// ended returns the error that ends the pass, if any.
func (s *saver) ended() error {
	if s.ends {
		return s.err
	}
	return nil
}

// idle is called when no frame has arrived for a while; now is the time by the clock
// of the capture.
func (s *saver) idle(now int64) error {
	switch {
	case s.err != nil:
	case s.delay > 0:
		s.release(now)
	default:
		s.fail(s.out.reach(now))
	}
	return s.ended()
}

// mark marks a frame to be written, with a comment about a message that it
// carries.
func (s *saver) mark(number int64, comment []byte) {
	if s.recent == nil {
		s.marks.Add(number, comment)
	} else if !s.recent.Mark(number, comment) && !s.allFrames {
		s.missed++
	}
}

// message writes a message, or marks its frames; first is the time of the first
// frame of the capture.
func (s *saver) message(m *dissect.Message, first int64) {
	s.comment = s.lines.AppendComment(s.comment[:0], m)
	if s.pdus != nil {
		if s.err == nil {
			s.fail(s.pdus.write(m, first, s.comment))
		}
		return
	}
	for _, n := range m.Frames {
		s.mark(n, s.comment)
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
	if p.saver == nil {
		return
	}
	list := p.saver.rpcFrames.Of(r)
	for _, n := range m.Frames {
		*list = append(*list, rpcFrame{n, m.Kind})
	}
}

// RPCFrames returns and forgets the frames of an RPC that has ended, valid until the next
// message. It must be called for each RPC of which frames were recorded.
func (p *Pass) RPCFrames(r *track.RPC) RPCFrames {
	if p.saver == nil {
		return nil
	}
	list := p.saver.rpcFrames.Of(r)
	all := *list
	*list = all[:0]
	return all
}

// SaveRPC marks the frames of an RPC for the file of SaveTo, if there is one.
func (p *Pass) SaveRPC(r *track.RPC, frames RPCFrames) {
	s := p.saver
	for i, f := range frames {
		if i == 0 || frames[i-1].kind != f.kind {
			s.comment = render.AppendRPCComment(s.comment[:0], r, f.kind)
		}
		s.mark(f.number, s.comment)
	}
}

// SaveFinding writes a finding behind the messages that SavePDUs has written so far.
func (p *Pass) SaveFinding(f *diagnose.Finding) {
	if p.saver != nil && p.saver.pdus != nil && p.saver.err == nil {
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
		s.fail(s.out.Flush())
	case s.recent != nil:
		s.fail(s.recent.Flush())
	default:
		s.fail(p.readMarked(s))
	}
	if s.err == errEnough {
		s.err = nil
	}
	if p.in.Live() && s.err == nil && s.out.file != nil {
		s.fail(s.out.reach(time.Now().UnixNano()))
	}
	s.fail(s.out.Close())
	if s.missed > 0 && !p.in.flags.Quiet {
		p.sys.Say("-w: %d frames are missing: they were no longer available when they were selected", s.missed)
	}
	return s.err
}

// Reread reads the input a second time, and calls do with the frames that the capture filter
// keeps, until do returns an error; io.EOF ends the reading without being one. The first reading
// has reported damage.
func (p *Pass) Reread(do func(*capture.Frame) error) (err error) {
	return p.readAgain(func(f *capture.Frame, keep bool) error {
		if !keep {
			return nil
		}
		return do(f)
	})
}

// readAgain is Reread with all frames; keep is what the capture filter says.
func (p *Pass) readAgain(do func(f *capture.Frame, keep bool) error) (err error) {
	src, err := p.in.open(p.sys, p.offsets)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.frames.Close()) }()
	var f capture.Frame
	for err == nil {
		if err = src.next(&f); err == nil {
			var keep bool
			if keep, err = p.keeps(&f); err == nil {
				err = do(&f, keep)
			}
		}
	}
	if err == io.EOF || errors.As(err, new(*capture.DamageError)) {
		return nil
	}
	return err
}

// readMarked reads the input a second time and writes the marked frames, or all.
func (p *Pass) readMarked(s *saver) (err error) {
	left := s.marks.n
	if left == 0 && !s.allFrames {
		return s.out.Flush()
	}
	err = p.Reread(func(f *capture.Frame) error {
		if s.marks.has(f.Number) {
			left--
		} else if !s.allFrames {
			return nil
		}
		if err := s.out.Write(f, string(s.marks.comments[f.Number])); err != nil {
			return err
		}
		if left == 0 && !s.allFrames {
			return io.EOF
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.missed += left // a file has become shorter
	return s.out.Flush()
}

// SaveFrames writes frames of the input to a file, also while the pass runs, from another
// goroutine. Frames that are not available any more are counted in missing. kept returns a
// frame of an input that cannot be read again; it is nil for others.
func (p *Pass) SaveFrames(path string, m *Marks, kept func(number int64) (capture.Frame, error)) (missing int, err error) {
	s, err := newSaver(p.sys, p.in, Options{SaveTo: path, SaveRPCs: true})
	if err != nil {
		return 0, err
	}
	s.marks, s.goesOn = *m, false
	if kept == nil {
		s.fail(p.readMarked(s))
	} else {
		s.fail(s.writeKept(kept))
	}
	s.fail(s.out.Close())
	return s.missed, s.err
}

func (s *saver) writeKept(kept func(number int64) (capture.Frame, error)) error {
	for number := range s.marks.numbers() {
		f, err := kept(number)
		if err != nil {
			s.missed++
		} else if err = s.out.Write(&f, string(s.marks.comments[number])); err != nil {
			return err
		}
	}
	return s.out.Flush()
}

// maxMarkComments limits the bytes of all comments of marks.
const maxMarkComments = 64 << 20

// Marks is a set of frames by number, with comments. It needs one bit for each
// frame of the capture. Comments beyond maxMarkComments are dropped; their frames
// are marked without one.
type Marks struct {
	bits     []uint64
	n        int // marked frames
	comments map[int64][]byte
	bytes    int // of comments
}

// Add marks a frame, and adds to its comment.
func (m *Marks) Add(number int64, comment []byte) {
	word, bit := int(number/64), uint64(1)<<(number%64)
	for word >= len(m.bits) {
		m.bits = append(m.bits, 0)
	}
	if m.bits[word]&bit == 0 {
		m.bits[word] |= bit
		m.n++
	}
	if m.bytes+len(comment) > maxMarkComments {
		return
	}
	if m.comments == nil {
		m.comments = make(map[int64][]byte)
	}
	old := m.comments[number]
	joined := capture.JoinComments(old, comment)
	m.comments[number] = joined
	m.bytes += len(joined) - len(old)
}

func (m *Marks) has(number int64) bool {
	word := int(number / 64)
	return word < len(m.bits) && m.bits[word]&(1<<(number%64)) != 0
}

// numbers returns the marked frames in order.
func (m *Marks) numbers() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i, word := range m.bits {
			for ; word != 0; word &= word - 1 {
				if !yield(int64(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
