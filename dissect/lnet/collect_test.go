package lnet

import (
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
)

func TestMain(m *testing.M) { wiretest.Main(m) }

// seen is what a test compares of a message.
type seen struct {
	flow  string // direction
	what  string // everything a change of segments must not change
	frame int64
	conn  int
	seq   uint32
	size  int
	tail  Why
	holes int
	notes []Note
	m     *Message
}

// place is where a message is in the stream of its direction.
type place struct {
	flow string
	seq  uint32
	size int
}

func (s *seen) place() place { return place{s.flow, s.seq, s.size} }

// collect runs frames through a Decoder.
func collect(frames []capture.Frame, o Options) ([]seen, Stats) {
	var all []seen
	o.Handle = func(m *Message) {
		c := m.Clone()
		all = append(all, seen{
			flow: fmt.Sprintf("%v>%v", m.Src, m.Dst),
			what: fmt.Sprintf("%v>%v %v v%d %v %v %d %08x", m.Src, m.Dst, m.Kind, m.Version, m.LNet.Type, m.LNet.MatchBits,
				m.Size, crc32.ChecksumIEEE(m.Data)),
			frame: m.Frame, conn: m.Conn, seq: m.Seq, size: m.Size, tail: m.Tail, holes: len(m.Holes), notes: c.Notes, m: c,
		})
	}
	s := NewDecoder(o)
	for i := range frames {
		s.Frame(&frames[i])
	}
	s.Close()
	return all, s.Stats()
}

// byFlow returns descriptions of the messages of each direction, in order.
func byFlow(all []seen) map[string][]string {
	flows := make(map[string][]string)
	for _, m := range all {
		flows[m.flow] = append(flows[m.flow], m.what)
	}
	return flows
}
