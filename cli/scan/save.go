package scan

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/track"
)

// saver writes the frames of what matched to a file (-w). Frames are kept for a
// while, so that those of a message are still there when it is complete.
type saver struct {
	file      *os.File
	w         *capture.Writer
	recent    []kept // a ring
	head, n   int
	bytes     int                       // of frames and comments
	room      int                       // bytes that the places of the ring take, in use or not
	missed    int                       // frames that were wanted when they were gone
	later     map[int64][]byte          // frames to be read again, with their comments; nil: recent has them
	text      []byte                    // of a comment that is being made
	rpcFrames track.Attached[RPCFrames] // of RPCs that have not ended
	err       error
}

// kept is a frame that waits.
type kept struct {
	frame   capture.Frame
	data    []byte
	wanted  bool
	comment []byte
}

// What is kept: enough for the longest bulk on many connections at once.
const (
	keptBytes  = 64 << 20
	keptFrames = 1 << 17
)

// newSaver creates the file, unless it is one of the inputs. With a FIFO it
// waits for the reader.
func newSaver(sys *System, in *Input, opt Options) (*saver, error) {
	path := opt.SaveTo
	if path == "-" {
		return nil, exit.Usagef("-w -: standard output has the results; name a file")
	}
	if out, err := os.Stat(path); err == nil {
		if sys.IsOut(out) {
			return nil, exit.Usagef("-w %s: standard output has the results; name another file", path)
		}
		if in.isFile(out) {
			return nil, exit.Usagef("-w %s: would overwrite the input", path)
		}
	}
	// Not os.Create, which opens for reading too: as its own reader it would
	// neither wait for one of a FIFO nor learn that it went away.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	s := &saver{file: f, w: capture.NewWriter(f)}
	if opt.SaveRPCs && in.rereadable() {
		// An RPC may take long, and which are the slowest is known at the
		// end: the files are read again then.
		s.later = make(map[int64][]byte)
	} else {
		s.recent = make([]kept, 1024)
	}
	return s, nil
}

// add keeps a frame.
func (s *saver) add(f *capture.Frame) error {
	if s.later != nil {
		return nil
	}
	for s.n > 0 && (s.n == keptFrames || s.bytes+len(f.Data) > keptBytes) {
		s.leave()
	}
	if s.n == len(s.recent) {
		s.grow()
	}
	k := &s.recent[(s.head+s.n)%len(s.recent)]
	s.n++
	k.frame, k.wanted, k.comment = *f, false, k.comment[:0]
	s.room -= cap(k.data)
	k.data = append(k.data[:0], f.Data...)
	s.room += cap(k.data)
	k.frame.Data = k.data
	s.bytes += len(k.data)
	return s.err
}

func (s *saver) grow() {
	all := make([]kept, 2*len(s.recent))
	for i := range s.n {
		all[i] = s.recent[(s.head+i)%len(s.recent)]
	}
	s.recent, s.head = all, 0
}

// leave lets the oldest frame go, to the file when it is wanted.
func (s *saver) leave() {
	k := &s.recent[s.head]
	s.head, s.n = (s.head+1)%len(s.recent), s.n-1
	s.bytes -= len(k.data) + len(k.comment)
	if k.wanted && s.err == nil {
		s.fail(s.w.Write(&k.frame, string(k.comment)))
	}
	if s.room > keptBytes+keptBytes/2 {
		s.room -= cap(k.data) + cap(k.comment)
		k.data, k.comment = nil, nil
	}
}

func (s *saver) fail(err error) {
	if err != nil && s.err == nil {
		// Not wrapped: when the reader of the file goes away, that is a
		// failure, unlike a reader of the output that goes away.
		s.err = fmt.Errorf("-w: %v", err)
	}
}

// want marks frames, and says in each what it carries.
func (s *saver) want(frames []int64, comment []byte) {
	if s.later != nil {
		for _, n := range frames {
			s.later[n] = joinComment(s.later[n], comment)
		}
		return
	}
	if s.n == 0 {
		s.missed += len(frames)
		return
	}
	first := s.recent[s.head].frame.Number
	for _, n := range frames {
		i := s.place(n, first)
		if i < 0 {
			s.missed++
			continue
		}
		k := &s.recent[i]
		k.wanted = true
		length, room := len(k.comment), cap(k.comment)
		k.comment = joinComment(k.comment, comment)
		s.bytes += len(k.comment) - length
		s.room += cap(k.comment) - room
	}
}

// joinComment adds to a comment while the file has room for it: a frame can
// carry thousands of messages.
func joinComment(dst, comment []byte) []byte {
	if len(dst) >= capture.MaxComment {
		return dst
	}
	if len(dst) > 0 {
		dst = append(dst, "; "...)
	}
	return append(dst, comment...)
}

// place is where a frame is kept. Frames that a capture filter leaves out have
// numbers too.
func (s *saver) place(n, first int64) int {
	if n < first {
		return -1
	}
	lo, hi := 0, min(s.n, int(n-first)+1)
	for lo < hi {
		mid := (lo + hi) / 2
		i := (s.head + mid) % len(s.recent)
		switch have := s.recent[i].frame.Number; {
		case have == n:
			return i
		case have < n:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return -1
}

// message marks the frames of a message.
func (s *saver) message(m *dissect.Message) {
	s.text = appendMessage(s.text[:0], m)
	s.want(m.Frames, s.text)
}

// appendMessage appends what names a message.
func appendMessage(b []byte, m *dissect.Message) []byte {
	if m.RPC.HasOpcode {
		b = append(appendOpcode(b, m.RPC.Opcode), ' ')
	}
	b = append(b, m.Kind.String()...)
	if m.RPC.HasXID {
		b = strconv.AppendUint(append(b, " x"...), m.RPC.XID, 10)
	}
	if m.Kind == lnet.Reply && m.RPC.Status < 0 {
		b = append(append(b, ' '), schema.Errnos.Name(uint64(-int64(m.RPC.Status)))...)
	}
	if m.LNetOff >= 0 {
		b = m.LNet.Src.Append(append(b, ' '))
		b = m.LNet.Dst.Append(append(b, " > "...))
	}
	return b
}

func appendOpcode(dst []byte, opc uint32) []byte {
	if name := opcodes.Opcodes.Name(uint64(opc)); name != "" {
		return append(dst, name...)
	}
	return strconv.AppendUint(append(dst, "opcode "...), uint64(opc), 10)
}

// noteFrames notes the frames of a message of an RPC.
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

// rpc marks the frames of an RPC.
func (s *saver) rpc(r *track.RPC, frames RPCFrames) {
	for i, f := range frames {
		if i == 0 || frames[i-1].kind != f.kind {
			b := s.text[:0]
			if r.HasOpcode {
				b = append(appendOpcode(b, r.Opcode), ' ')
			}
			b = strconv.AppendUint(append(append(b, f.kind.String()...), " x"...), r.XID, 10)
			if t := r.Target(); t != "" {
				b = append(append(b, ' '), t...)
			}
			s.text = b
		}
		s.want([]int64{f.number}, s.text)
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

// NoteFrames notes the frames of a message of an RPC for RPCFrames.
func (p *Pass) NoteFrames(m *dissect.Message, r *track.RPC) {
	if p.saver != nil {
		p.saver.noteFrames(m, r)
	}
}

// RPCFrames returns the frames of an RPC that has ended, valid until the next
// message. It must be called for each RPC of which frames were noted.
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

// finishSave writes the rest of the file of SaveTo and closes it.
func (p *Pass) finishSave() error {
	s := p.saver
	if s == nil {
		return nil
	}
	if s.later != nil && s.err == nil {
		s.fail(p.readMarked())
	}
	for s.n > 0 {
		s.leave()
	}
	if s.err == nil {
		s.fail(s.w.Flush())
	}
	if err := s.file.Close(); s.err == nil {
		s.fail(err)
	}
	if s.missed > 0 && !p.in.quiet {
		p.sys.Say("-w: %d frames were no longer there when they were wanted", s.missed)
	}
	return s.err
}

// readMarked reads the input a second time and writes the marked frames.
func (p *Pass) readMarked() (err error) {
	s := p.saver
	src, err := p.in.open(p.sys, p.offsets)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.frames.Close()) }()
	var f capture.Frame
	for left := len(s.later); left > 0; {
		switch err := src.next(&f); {
		case err == io.EOF, errors.As(err, new(*capture.DamageError)):
			s.missed += left // a file is shorter than it was
			return nil       // the first reading reported the damage
		case err != nil:
			return err
		}
		if text, ok := s.later[f.Number]; ok {
			left--
			if err := s.w.Write(&f, string(text)); err != nil {
				return err
			}
		}
	}
	return nil
}
