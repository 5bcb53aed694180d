// Command gen builds a large capture out of a real sample: its messages again
// and again, with new ports, xids and times, in segments of a chosen size. The
// result goes to standard output, as pcap.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
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

// piece is a message of the sample.
type piece struct {
	data     []byte
	conn     int
	bits     int // where its match bits lie, 0: nowhere
	mbits    int // where pb_mbits lies, 0: nowhere
	src, dst [4]byte
	sp, dp   uint16
	rel      int64
}

func run(sample string, size int64, segment int, bulk bool) error {
	pieces, err := read(sample, bulk)
	if err != nil {
		return err
	}
	if len(pieces) == 0 {
		return errors.New("the sample has no messages to repeat")
	}
	w := &writer{w: bufio.NewWriterSize(os.Stdout, 1<<20), segment: segment, seq: map[[2]uint16]uint32{}}
	for _, p := range pieces {
		w.conns = max(w.conns, p.conn+1)
	}
	w.header()
	span := pieces[len(pieces)-1].rel + 1e6
	for round := int64(0); w.written < size && w.err == nil; round++ {
		for _, p := range pieces {
			w.piece(p, round, round*span)
		}
	}
	if w.err != nil {
		return w.err
	}
	return w.w.Flush()
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
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		if first == 0 {
			first = m.Time
		}
		if m.Transport != lnet.TCP || !m.Src.Addr().Is4() || bulk && !carries(m) {
			return
		}
		p := piece{data: make([]byte, m.Size), conn: m.Conn,
			src: m.Src.Addr().As4(), dst: m.Dst.Addr().As4(), sp: m.Src.Port(), dp: m.Dst.Port(), rel: m.Time - first}
		copy(p.data, m.Data)
		p.places(m)
		list = append(list, p)
	}})
	var f capture.Frame
	for {
		if err := r.Next(&f); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		d.Frame(&f)
	}
	d.Close()
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
		p.bits = m.LNetOff + 48
	}
	if m.Kind == lnet.Request && len(m.Payload()) > 32 && m.RPC.Mbits != 0 {
		const bodyMbits = 120
		bufs := int(binary.LittleEndian.Uint32(m.Payload()))
		p.mbits = m.PayloadOff + (32+4*bufs+7)&^7 + bodyMbits
	}
}

type writer struct {
	w       *bufio.Writer
	segment int
	conns   int
	seq     map[[2]uint16]uint32 // next number, by ports
	frame   [16 + 54]byte
	written int64
	id      uint16
	err     error
}

func (w *writer) header() {
	var h [24]byte
	binary.LittleEndian.PutUint32(h[0:], 0xa1b23c4d)
	binary.LittleEndian.PutUint16(h[4:], 2)
	binary.LittleEndian.PutUint16(h[6:], 4)
	binary.LittleEndian.PutUint32(h[16:], 1<<18)
	binary.LittleEndian.PutUint32(h[20:], 1)
	w.write(h[:])
}

func (w *writer) write(b []byte) {
	n, err := w.w.Write(b)
	w.written += int64(n)
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) piece(p piece, round, shift int64) {
	for _, at := range [2]int{p.bits, p.mbits} {
		if at > 0 && at+8 <= len(p.data) {
			binary.LittleEndian.PutUint64(p.data[at:], binary.LittleEndian.Uint64(p.data[at:])+uint64(min(round, 1))<<24)
		}
	}
	port := func(n uint16) uint16 {
		if n == 988 {
			return n
		}
		return 1024 + uint16((round*int64(w.conns)+int64(p.conn))%60000)
	}
	sp, dp := port(p.sp), port(p.dp)
	key, back := [2]uint16{sp, dp}, [2]uint16{dp, sp}
	when := 1_700_000_000_000_000_000 + p.rel + shift
	if _, known := w.seq[key]; !known {
		// A connection begins with its SYNs, as all but the first ones of a
		// long capture do.
		q := p
		q.src, q.dst = p.dst, p.src
		w.tcp(p, sp, dp, ^uint32(0), nil, when, flagSYN)
		w.tcp(q, dp, sp, ^uint32(0), nil, when, flagSYN|flagACK)
		w.seq[key], w.seq[back] = 0, 0
	}
	for b := p.data; len(b) > 0; {
		n := min(len(b), w.segment)
		w.tcp(p, sp, dp, w.seq[key], b[:n], when, flagPSH|flagACK)
		w.seq[key] += uint32(n)
		b = b[n:]
	}
}

const (
	flagSYN = 0x02
	flagPSH = 0x08
	flagACK = 0x10
)

func (w *writer) tcp(p piece, sp, dp uint16, seq uint32, payload []byte, when int64, flags byte) {
	h := &w.frame
	n := uint32(54 + len(payload))
	binary.LittleEndian.PutUint32(h[0:], uint32(when/1e9))
	binary.LittleEndian.PutUint32(h[4:], uint32(when%1e9))
	binary.LittleEndian.PutUint32(h[8:], n)
	binary.LittleEndian.PutUint32(h[12:], n)
	eth := h[16:]
	eth[12], eth[13] = 8, 0
	ip := eth[14:]
	ip[0], ip[8], ip[9] = 0x45, 64, 6
	total := 40 + len(payload)
	if total > 0xffff {
		total = 0 // as with segmentation offload
	}
	binary.BigEndian.PutUint16(ip[2:], uint16(total))
	w.id++
	binary.BigEndian.PutUint16(ip[4:], w.id)
	copy(ip[12:], p.src[:])
	copy(ip[16:], p.dst[:])
	tcp := ip[20:]
	binary.BigEndian.PutUint16(tcp[0:], sp)
	binary.BigEndian.PutUint16(tcp[2:], dp)
	binary.BigEndian.PutUint32(tcp[4:], seq+1)
	ack := uint32(0)
	if flags&flagACK != 0 {
		ack = w.seq[[2]uint16{dp, sp}] + 1
	}
	binary.BigEndian.PutUint32(tcp[8:], ack)
	tcp[12], tcp[13] = 5<<4, flags
	binary.BigEndian.PutUint16(tcp[14:], 0xffff)
	w.write(h[:])
	w.write(payload)
}
