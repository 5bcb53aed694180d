package opcodes

import (
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"

	"github.com/lshark/lshark/internal/checksum"
	. "github.com/lshark/lshark/opcodes/schema"
)

// DataRange is a range of an object.
type DataRange struct {
	Offset uint64
	Size   uint32
}

// DataRanges appends the ranges of a request of OST_READ or OST_WRITE to a list.
func DataRanges(m *Msg, list []DataRange) []DataRange {
	for b := m.Buf(3); len(b) >= niobufRemote.Size; b = b[niobufRemote.Size:] {
		list = append(list, DataRange{rnbOffset.Uint(b, m.Big), uint32(rnbLen.Uint(b, m.Big))})
	}
	return list
}

// ShortData returns the data of a short read, from its reply, or of a short write, from
// its request. It returns nil for other messages.
func ShortData(m *Msg) []byte {
	switch {
	case m.Opcode == OST_WRITE && !m.Reply && attrsOf(m, 1).flag(flagShortIO):
		return m.Buf(5)
	case m.Opcode == OST_READ && m.Reply:
		return m.Buf(2)
	}
	return nil
}

type checksumKind struct {
	name   string
	number uint64 // in bits 12 to 15 of ObdoFlags
	sum    func(data []byte, ranges []DataRange) uint32
}

var dataChecksums = []checksumKind{
	checksumNamed("CRC32", func(b []byte, _ []DataRange) uint32 { return ^crc32.ChecksumIEEE(b) }),
	checksumNamed("ADLER", func(b []byte, _ []DataRange) uint32 { return adler32.Checksum(b) }),
	checksumNamed("CRC32C", func(b []byte, _ []DataRange) uint32 { return crc32.Checksum(b, castagnoli) }),
	checksumNamed("T10IP512", func(b []byte, r []DataRange) uint32 { return guardsSum(b, r, 512, checksum.Internet) }),
	checksumNamed("T10IP4K", func(b []byte, r []DataRange) uint32 { return guardsSum(b, r, 4096, checksum.Internet) }),
	checksumNamed("T10CRC512", func(b []byte, r []DataRange) uint32 { return guardsSum(b, r, 512, t10CRC) }),
	checksumNamed("T10CRC4K", func(b []byte, r []DataRange) uint32 { return guardsSum(b, r, 4096, t10CRC) }),
}

func checksumNamed(name string, sum func([]byte, []DataRange) uint32) checksumKind {
	return checksumKind{name, ObdoFlags.Number("CKSUM_" + name), sum}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func kindOfChecksum(number uint64) *checksumKind {
	for i := range dataChecksums {
		if dataChecksums[i].number == number {
			return &dataChecksums[i]
		}
	}
	return nil
}

// Name returns the name of the kind of checksum as in "CRC32C", empty when it has
// none.
func (c DataChecksum) Name() string {
	if k := kindOfChecksum(c.Kind); k != nil {
		return k.name
	}
	return ""
}

// SumData returns the checksum of a kind over the data of a read or write, which may
// end before the ranges do; ok is false when the kind is unknown.
func SumData(kind uint64, data []byte, ranges []DataRange) (c DataChecksum, ok bool) {
	k := kindOfChecksum(kind)
	if k == nil {
		return c, false
	}
	return DataChecksum{kind, k.sum(data, ranges)}, true
}

// guardsSum returns the checksum over the T10 guard tags of sectors: those of the
// object, of which the first and the last of a range may be incomplete.
func guardsSum(data []byte, ranges []DataRange, sector uint64, guard func([]byte) uint16) uint32 {
	sum := adler32.New()
	var tag [2]byte
	for _, r := range ranges {
		at, end := r.Offset, r.Offset+uint64(r.Size)
		for at < end && len(data) > 0 {
			n := min(sector-at%sector, end-at, uint64(len(data)))
			binary.BigEndian.PutUint16(tag[:], guard(data[:n]))
			sum.Write(tag[:])
			data, at = data[n:], at+n
		}
	}
	return sum.Sum32()
}

// t10CRC returns the CRC-16 of T10 data integrity fields.
func t10CRC(b []byte) (crc uint16) {
	for _, c := range b {
		crc = crc<<8 ^ t10Table[byte(crc>>8)^c]
	}
	return crc
}

var t10Table = func() (table [256]uint16) {
	const polynomial = 0x8bb7
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			if crc <<= 1; carry {
				crc ^= polynomial
			}
		}
		table[i] = crc
	}
	return table
}()
