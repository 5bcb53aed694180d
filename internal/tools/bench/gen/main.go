// Command gen builds a large capture out of real samples: their messages again
// and again, with new ports, xids and times, in segments of a chosen size. The
// result goes to standard output, as pcapng.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
)

func main() {
	size := flag.Int64("size", 1<<30, "bytes to make")
	segment := flag.Int("segment", 1448, "payload bytes of a frame, at most")
	bulk := flag.Bool("bulk", false, "only RPCs that carry file data, and their data")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gen [-size BYTES] [-segment BYTES] [-bulk] SAMPLE >FILE")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *size, *segment, *bulk); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// piece is a message of a sample.
type piece struct {
	data     []byte
	conn     int
	xids     []int // where match bits, pb_mbits and pb_last_xid lie
	src, dst netip.AddrPort
	rel      int64
}

func run(sample string, size int64, segment int, bulk bool) error {
	pieces, err := read(sample, bulk)
	if err != nil {
		return err
	}
	if len(pieces) == 0 {
		return fmt.Errorf("%s has no messages to repeat", sample)
	}
	w := &writer{Writer: capture.NewWriter(os.Stdout), segment: segment, open: make(map[uint16]*wiretest.Conn)}
	conns := 0
	for _, p := range pieces {
		conns = max(conns, p.conn+1)
	}
	begin := int64(1_700_000_000_000_000_000)
	for round := 0; w.Size() < size; round++ {
		for i := range pieces {
			p := &pieces[i]
			if err := w.piece(p, 1024+uint16((round*conns+p.conn)%60000), begin+p.rel); err != nil {
				return err
			}
			p.renumber()
		}
		begin += pieces[len(pieces)-1].rel + 1e6
	}
	return w.Flush()
}

// read takes the messages of a sample. Bulk data that the dissector skips come
// back as zeros.
func read(path string, bulk bool) ([]piece, error) {
	r, err := capture.Open([]string{path}, capture.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var list []piece
	var first int64
	var tree dissect.Tree
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		if first == 0 {
			first = m.Time
		}
		if m.Transport != lnet.TCP || !m.Src.Addr().Is4() || bulk && !carries(m) {
			return
		}
		p := piece{data: make([]byte, m.Size), conn: m.Conn, src: m.Src, dst: m.Dst, rel: m.Time - first}
		copy(p.data, m.Data)
		tree.Build(m)
		p.places(&tree)
		list = append(list, p)
	}})
	var f capture.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		d.Frame(&f)
	}
	d.Close()
	if err != io.EOF {
		return nil, err
	}
	return list, nil
}

// carries says whether a message belongs to the reading or writing of files.
func carries(m *dissect.Message) bool {
	const ostRead, ostWrite = 3, 4
	switch m.Kind {
	case lnet.Hello, lnet.Connreq, lnet.Noop:
		return true
	}
	return m.RPC.Opcode == ostRead || m.RPC.Opcode == ostWrite
}

// places finds the numbers that must be new in each round.
func (p *piece) places(t *dissect.Tree) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Src != dissect.InMessage || n.Is(dissect.Missing) || n.Val == 0 {
			continue
		}
		switch n.Name() {
		case "match_bits", "pb_mbits", "pb_last_xid":
			p.xids = append(p.xids, int(n.Off))
		}
	}
}

// renumber makes the xids of the next repetition.
func (p *piece) renumber() {
	le := binary.LittleEndian
	for _, at := range p.xids {
		if at+8 <= len(p.data) {
			le.PutUint64(p.data[at:], le.Uint64(p.data[at:])+1<<24)
		}
	}
}

type writer struct {
	*capture.Writer
	segment int
	open    map[uint16]*wiretest.Conn // by the port of the end that is not a server
}

// piece writes the frames of a message.
func (w *writer) piece(p *piece, port uint16, when int64) error {
	ports := [2]uint16{p.src.Port(), p.dst.Port()}
	for i := range ports {
		if ports[i] != lnet.DefaultPort {
			ports[i] = port
		}
	}
	c := w.open[port]
	if c == nil {
		c = wiretest.NewConn()
		c.A.Port, c.B.Port = ports[0], ports[1]
		w.open[port] = c.Open() // with its SYNs, as all but the first ones of a long capture do
	}
	from, to := &c.A, &c.B
	if from.Port != ports[0] {
		from, to = to, from
	}
	from.Addr, to.Addr = p.src.Addr(), p.dst.Addr()
	for part := range slices.Chunk(p.data, w.segment) {
		c.Send(from == &c.B, part)
	}
	for i := range c.Frames {
		c.Frames[i].Time = when
		if err := w.Write(&c.Frames[i], ""); err != nil {
			return err
		}
	}
	c.Frames = c.Frames[:0]
	return nil
}
