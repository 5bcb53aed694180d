// Command gen builds a large capture out of real samples: their messages again
// and again, with new ports, xids and times, in segments of a chosen size. The
// result goes to standard output, as pcapng.
package main

import (
	"cmp"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"

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
	w := &writer{Writer: capture.NewWriter(os.Stdout), segment: segment, ends: make(map[[2]uint16]*wiretest.End)}
	for _, p := range pieces {
		w.conns = max(w.conns, p.conn+1)
	}
	shift := int64(0)
	for round := 0; w.Size() < size && w.err == nil; round++ {
		for i := range pieces {
			if round > 0 {
				pieces[i].renumber()
			}
			w.piece(&pieces[i], round, shift)
		}
		shift += pieces[len(pieces)-1].rel + 1e6
	}
	return cmp.Or(w.err, w.Flush())
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
		p.places(m)
		tree.Build(m)
		p.lastXID(&tree)
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
func (p *piece) places(m *dissect.Message) {
	if m.LNetOff < 0 || m.PayloadOff-m.LNetOff != 72 || m.RPC.XID == 0 {
		return
	}
	switch m.LNet.Type {
	case lnet.TypePut, lnet.TypeGet, lnet.TypeAck:
		p.xids = append(p.xids, m.LNetOff+48)
	}
	if m.Kind == lnet.Request && len(m.Payload()) > 32 && m.RPC.Mbits != 0 {
		const bodyMbits = 120
		bufs := int(binary.LittleEndian.Uint32(m.Payload()))
		p.xids = append(p.xids, m.PayloadOff+(32+4*bufs+7)&^7+bodyMbits)
	}
}

// lastXID finds pb_last_xid.
func (p *piece) lastXID(t *dissect.Tree) {
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Src == dissect.InMessage && !n.Is(dissect.Missing) && n.Name() == "pb_last_xid" && n.Val != 0 {
			p.xids = append(p.xids, int(n.Off))
		}
	}
}

type writer struct {
	*capture.Writer
	segment int
	conns   int
	ends    map[[2]uint16]*wiretest.End // of connections, by their ports, their own first
	err     error
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

func (w *writer) piece(p *piece, round int, shift int64) {
	port := func(n uint16) uint16 {
		if n == 988 {
			return n
		}
		return 1024 + uint16((round*w.conns+p.conn)%60000)
	}
	when := 1_700_000_000_000_000_000 + p.rel + shift
	srcPort, dstPort := port(p.src.Port()), port(p.dst.Port())
	src, dst := w.end(p.src.Addr(), srcPort, dstPort), w.end(p.dst.Addr(), dstPort, srcPort)
	if src.Seq+dst.Seq == 0 {
		// A connection begins with its SYNs, as all but the first ones of a
		// long capture do.
		w.tcp(src, dst, wiretest.SYN, nil, when)
		src.Seq++
		w.tcp(dst, src, wiretest.SYN|wiretest.ACK, nil, when)
		dst.Seq++
	}
	for b := p.data; len(b) > 0; {
		n := min(len(b), w.segment)
		w.tcp(src, dst, wiretest.PSH|wiretest.ACK, b[:n], when)
		src.Seq += uint32(n)
		b = b[n:]
	}
}

// end returns an end of a connection.
func (w *writer) end(addr netip.Addr, own, other uint16) *wiretest.End {
	key := [2]uint16{own, other}
	if w.ends[key] == nil {
		w.ends[key] = &wiretest.End{Port: own}
	}
	w.ends[key].Addr = addr
	return w.ends[key]
}

func (w *writer) tcp(from, to *wiretest.End, flags byte, payload []byte, when int64) {
	b := wiretest.Ethernet(wiretest.IP(from.Addr, to.Addr, 6, wiretest.TCP(from, to, flags, from.Seq, payload)))
	f := capture.Frame{Time: when, Data: b, Len: len(b), Link: capture.LinkEthernet}
	if err := w.Write(&f, ""); w.err == nil {
		w.err = err
	}
}
