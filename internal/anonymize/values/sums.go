package values

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Checksums are computed anew where the original one was right, and stay wrong where it
// was wrong.

func (w *writer) messageSum(v *value) {
	copy(v.out, v.in)
	w.messageSums[0], w.messageSums[1] = w.messageSums[1], *v
}

func (w *writer) keepTransportSum(v *value) {
	copy(v.out, v.in)
	w.transportSum = *v
}

// transferKey identifies a read or write.
type transferKey struct {
	client, server lnet.NID
	xid            uint64
}

// transfer is what is needed of the request of a read or write for its reply.
type transfer struct {
	ranges   []opcodes.DataRange
	sum      opcodes.DataChecksum // of a write; of kind 0 without one
	replaced uint32               // what it was replaced by
}

// maxTransfers is how many requests are kept, more than are in flight.
const maxTransfers = 1 << 16

// writeDataSum writes the checksum over the data of a read or write, which are zero now.
// If request and reply had different ones, they stay different.
func (w *writer) writeDataSum() {
	m := w.m
	op := m.RPC.Opcode
	if w.msg == nil || op != opcodes.OST_READ && op != opcodes.OST_WRITE {
		w.putDataSum(w.p.unrelatedSum(w.dataSum))
		return
	}
	sum, has := opcodes.DataChecksumOf(w.msg)
	if m.Kind == lnet.Request {
		w.requestedSum(sum, has)
		return
	}
	t, known := fifo.Get(w.p.transfers, transferKeyOf(m))
	switch {
	case !has:
	case !known:
		w.putDataSum(w.p.unrelatedSum(w.dataSum))
	case op == opcodes.OST_WRITE && t.sum.Kind == sum.Kind:
		w.putDataSum(t.replaced ^ t.sum.Value ^ sum.Value)
	default:
		w.putDataSum(w.zeroSum(sum, t.ranges, uint64(max(m.RPC.Status, 0))))
	}
}

func (w *writer) requestedSum(sum opcodes.DataChecksum, has bool) {
	t := fifo.GetOrNew(w.p.transfers, transferKeyOf(w.m))
	t.ranges = opcodes.DataRanges(w.msg, t.ranges[:0])
	t.sum, t.replaced = opcodes.DataChecksum{}, 0
	if !has || w.m.RPC.Opcode != opcodes.OST_WRITE {
		w.putDataSum(w.p.unrelatedSum(w.dataSum))
		return
	}
	t.sum, t.replaced = sum, w.zeroSum(sum, t.ranges, totalSize(t.ranges))
	w.putDataSum(t.replaced)
}

func totalSize(ranges []opcodes.DataRange) (n uint64) {
	for _, r := range ranges {
		n += uint64(r.Size)
	}
	return n
}

func transferKeyOf(m *dissect.Message) transferKey {
	k := transferKey{m.LNet.Src, m.LNet.Dst, m.RPC.XID}
	if m.Kind != lnet.Request {
		k.client, k.server = k.server, k.client
	}
	return k
}

func (w *writer) putDataSum(sum uint32) {
	if w.dataSum.out != nil {
		w.dataSum.put(uint64(sum))
	}
}

// zeroSum returns the checksum of n zero bytes, which replace the data. The original is taken
// for a right checksum, unless the data in the message prove that it was wrong: then the
// result is wrong, too.
func (w *writer) zeroSum(original opcodes.DataChecksum, ranges []opcodes.DataRange, n uint64) uint32 {
	const maxBytes = 64 << 20 // more than a transfer has
	if n > maxBytes {
		return w.p.unrelatedSum(w.dataSum)
	}
	key := zeroKey{original.Kind, n}
	sum, known := fifo.Get(w.p.zeroSums, key)
	if !known {
		if uint64(len(w.p.zeros)) < n {
			w.p.zeros = make([]byte, n)
		}
		zero, ok := opcodes.SumData(original.Kind, w.p.zeros[:n], ranges)
		if !ok {
			return w.p.unrelatedSum(w.dataSum)
		}
		if sum = zero.Value; slices.Contains(plainSums, original.Kind) {
			fifo.Put(w.p.zeroSums, key, sum)
		}
	}
	if short := opcodes.ShortData(w.msg); len(short) > 0 && uint64(len(short)) >= n {
		if right, ok := opcodes.SumData(original.Kind, short[:n], ranges); ok && right != original {
			sum++
		}
	}
	return sum
}

// zeroKey is what the checksum of zeros depends on, of the kinds plainSums. Others depend on where
// sectors begin, too.
type zeroKey struct{ kind, n uint64 }

var plainSums = []uint64{opcodes.ObdoFlags.Number("CKSUM_CRC32"), opcodes.ObdoFlags.Number("CKSUM_ADLER"), opcodes.ObdoFlags.Number("CKSUM_CRC32C")}

// unrelatedSum returns a pseudorandom number in place of a checksum that cannot be computed
// for the new data; 0 for 0, or where there is no checksum.
func (p *Mapper) unrelatedSum(v value) uint32 {
	if len(v.in) == 0 || v.uint() == 0 {
		return 0
	}
	return binary.BigEndian.Uint32(p.keyed.bytes(4, "checksum", v.uint(), nil))
}

// writeMessageSums writes the checksums of early replies, which are over the ptlrpc_body.
func (w *writer) writeMessageSums() {
	if w.msg == nil || len(w.msg.Buf(0)) == 0 {
		return
	}
	body, at := w.msg.Buf(0), w.bodyOffset()
	if at < 0 || at+len(body) > len(w.dst) {
		return
	}
	for _, v := range w.messageSums {
		if v.out == nil || v.uint() == 0 {
			continue
		}
		const size18 = 88
		for _, n := range [...]int{len(body), size18} { // all, or what release 1.8 had of it
			if n <= len(body) && uint32(v.uint()) == ^crc32.ChecksumIEEE(body[:n]) {
				v.put(uint64(^crc32.ChecksumIEEE(w.dst[at : at+n])))
				break
			}
		}
	}
}

// bodyOffset returns where in the message the ptlrpc_body is, -1 if it is missing.
func (w *writer) bodyOffset() int {
	for i := range w.p.tree.Nodes {
		n := &w.p.tree.Nodes[i]
		if n.Depth == 0 && n.Src == dissect.InMessage && n.Field.Type == opcodes.PtlrpcBody {
			return int(n.Off)
		}
	}
	return -1
}

// writeTransportSum writes the checksum of socklnd or o2iblnd over the whole message.
func (w *writer) writeTransportSum() {
	v, m := &w.transportSum, w.m
	if v.out == nil || v.uint() == 0 || len(m.Data) < m.Size || len(w.dst) < m.Size || len(m.Holes) > 0 {
		return
	}
	original := uint32(v.uint())
	sums := []func([]byte) uint32{wholeSum, func(b []byte) uint32 { return ^crc32.ChecksumIEEE(b[m.PayloadOff:]) }}
	if m.Transport == lnet.O2IB {
		sums = []func([]byte) uint32{lnet.O2IBChecksum}
	}
	for _, sum := range sums {
		if original == sum(m.Data) {
			v.put(uint64(sum(w.dst[:m.Size])))
			return
		}
	}
}

// wholeSum returns the checksum of a socklnd message, for which the checksum itself counts
// as zero. It is a CRC-32 that is not inverted at the end.
func wholeSum(b []byte) uint32 {
	const at, end = 4, 8
	crc := crc32.ChecksumIEEE(b[:at])
	crc = crc32.Update(crc, crc32.IEEETable, make([]byte, end-at))
	return ^crc32.Update(crc, crc32.IEEETable, b[end:])
}
