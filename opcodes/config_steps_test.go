package opcodes

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

// TestReadConfigStep: records in the words of lctl llog_print.
func TestReadConfigStep(t *testing.T) {
	const nid = 2<<48 | 192<<24 | 2<<8 | 1
	marker := build(binary.LittleEndian, uint32(4), uint32(1), uint32(0x02110000), uint32(0), uint64(1795248343), uint64(0),
		zeroPadded("lustre-OST0000", 64), zeroPadded("add osc", 64))
	lovDescription := make([]byte, lovDesc.Size)
	for _, c := range []struct {
		record []byte
		want   string
	}{
		{configRecord(binary.LittleEndian, 0xcf001, 0, 0, "lustre-OST0000-osc\x00", "osc\x00", "lustre-clilov_UUID\x00"),
			"- { index: 7, event: attach, device: lustre-OST0000-osc, type: osc, UUID: lustre-clilov_UUID }"},
		{configRecord(binary.BigEndian, 0xcf003, 0, 0, "lustre-OST0000-osc\x00", "lustre-OST0000_UUID\x00", "192.0.2.1@tcp\x00"),
			"- { index: 7, event: setup, device: lustre-OST0000-osc, UUID: lustre-OST0000_UUID, node: 192.0.2.1@tcp }"},
		{configRecord(binary.LittleEndian, 0xcf003, 0, 0, "lustre-clilov\x00", string(lovDescription)),
			"- { index: 7, event: setup, device: lustre-clilov, UUID:  }"},
		{configRecord(binary.BigEndian, 0xcf005, 0, nid, "", "192.0.2.1@tcp\x00"), "- { index: 7, event: add_uuid, nid: 192.0.2.1@tcp(0x20000c0000201), node: 192.0.2.1@tcp }"},
		{configRecord(binary.LittleEndian, 0xcf005, 0, 0, "", "fd00::1@tcp\x00", "fd00::1@tcp1\x00"), "- { index: 7, event: add_uuid, nid: fd00::1@tcp1, node: fd00::1@tcp }"},
		{configRecord(binary.LittleEndian, 0xcf007, 0, 0, "", "lustre-client\x00", "lustre-clilov\x00", "lustre-clilmv\x00"),
			"- { index: 7, event: new_profile, name: lustre-client, lov: lustre-clilov, lmv: lustre-clilmv }"},
		{configRecord(binary.LittleEndian, 0xcf00f, 0, 0, "lustre-OST0000-osc\x00", "osc.active=0\x00"),
			"- { index: 7, event: conf_param, device: lustre-OST0000-osc, parameter: osc.active, value: 0 }"},
		{configRecord(binary.LittleEndian, 0xce032, 0, 0, "general\x00", "osc.*.max_dirty_mb=1024\x00", "lctl\x00"),
			"- { index: 7, event: set_param, device: general, parameter: osc.*.max_dirty_mb, value: 1024 }"},
		{configRecord(binary.LittleEndian, 0xce021, 0, 0, "lustre-clilov\x00", "lustre\x00", "p\x00", "lustre-OST0000_UUID\x00"),
			"- { index: 7, event: add_pool, device: lustre-clilov, fsname: lustre, pool: p, ost: lustre-OST0000_UUID }"},
		{configRecord(binary.LittleEndian, 0xcf009, 100, 0, "lustre\x00"), "- { index: 7, event: set_timeout, device: lustre, num: 100 }"},
		{configRecord(binary.LittleEndian, 0xcf777, 0, 0, "a\x00", "", "b\x00"), "- { index: 7, event: command 0xcf777, 0: a, 2: b }"},
		{configRecord(binary.LittleEndian, lcfgMarker, 0, 0, "", string(marker)), "# marker 4 start lustre-OST0000 'add osc' 2026-11-21 08:05:43"},
		{configRecord(binary.LittleEndian, lcfgMarker, 0, 0, "", "short"), ""},
	} {
		big := llogBig(c.record, false)
		s, ok := ReadConfigStep(c.record, big)
		if got := string(s.AppendText(nil, 7)); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%v, %s, want %s", ok, got, c.want)
		}
		for n := range c.record { // a part of a record is none
			if s, ok := ReadConfigStep(c.record[:n], big); ok && len(s.Arguments) > len(c.want) {
				t.Errorf("%d of %d bytes: %+v", n, len(c.record), s)
			}
		}
	}
}

// TestConfigStepClaims: sizes and counts of arguments that are too large.
func TestConfigStepClaims(t *testing.T) {
	record := configRecord(binary.LittleEndian, 0xcf001, 0, 0, "device\x00", "type\x00")
	for _, at := range []int{llogRecHdr.Size + lcfgBufcount.Off, llogRecHdr.Size + lustreCfgFixed, llogRecHdr.Size + lustreCfgFixed + 4} {
		for _, claim := range []uint32{3, 9, 200, 1 << 16, 1 << 31, 1<<32 - 1} {
			b := slices.Clone(record)
			binary.LittleEndian.PutUint32(b[at:], claim)
			if s, ok := ReadConfigStep(b, false); ok && len(s.Arguments) > 3 {
				t.Errorf("%d at %d: %+v", claim, at, s)
			}
		}
	}
}

func TestMarkerFlags(t *testing.T) {
	for flags, want := range map[uint64]string{1: "start", 2: "end", 5: "start skipped", 6: "end skipped", 0x11: "start skipped"} {
		m := ConfigMarker{Flags: flags}
		var got []string
		for _, f := range []struct {
			name string
			is   bool
		}{{"start", m.IsStart()}, {"end", m.IsEnd()}, {"skipped", m.IsSkipped()}} {
			if f.is {
				got = append(got, f.name)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%#x: %s, want %s", flags, text, want)
		}
	}
}

// TestLogRecords: the records of a block, up to one that is damaged.
func TestLogRecords(t *testing.T) {
	one := configRecord(binary.BigEndian, 0xcf001, 0, 0, "a\x00")
	other := record(binary.BigEndian, 0x10600000, make([]byte, 8)) // fills the block up
	block := slices.Concat(one, other, one)
	read := func(block []byte) (n int, configs int) {
		LogRecords(&Msg{Bufs: [][]byte{nil, nil, block}}, func(r LogRecord) {
			if n++; r.Config {
				configs++
			}
			if r.Index != 7 || !r.Big {
				t.Errorf("record %+v", r)
			}
		})
		return n, configs
	}
	if n, configs := read(block); n != 3 || configs != 2 {
		t.Errorf("%d records, %d of them configuration", n, configs)
	}
	for cut := range block {
		want := 0
		for _, end := range []int{len(one), len(one) + len(other), len(block)} {
			if cut >= end {
				want++
			}
		}
		if n, _ := read(block[:cut]); n != want {
			t.Errorf("%d bytes: %d records, want %d", cut, n, want)
		}
	}
	tail := len(one) + len(other) - 1
	block[tail] ^= 1 // the index in the tail of the second record
	if n, _ := read(block); n != 1 {
		t.Errorf("damaged tail: %d records", n)
	}
}

// logHeaderOf returns a header of a log with bits for these records.
func logHeaderOf(order binary.AppendByteOrder, size int, indices ...int) []byte {
	bits := make([]uint32, (size-logHeader-llogTail)/4)
	last := 0
	for _, i := range indices {
		bits[i/32] |= 1 << (i % 32)
		last = max(last, i)
	}
	b := build(order, uint32(size), uint32(0), uint32(llogHeaderMagic), uint32(0), uint64(1795248343), uint32(len(indices)), uint32(logHeader), uint32(0), uint32(4), uint32(0))
	b = append(b, make([]byte, logHeader-len(b))...)
	for _, w := range bits {
		b = order.AppendUint32(b, w)
	}
	return build(order, b, uint32(size), uint32(last))
}

func TestReadLogHeader(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		b := logHeaderOf(order, 8192, 0, 1, 2, 40)
		h, ok := ReadLogHeader(&Msg{Bufs: [][]byte{nil, b}})
		if !ok || h.Created != 1795248343 || h.Last != 40 {
			t.Fatalf("%v: %v, created %d, last %d", order, ok, h.Created, h.Last)
		}
		for i, want := range map[uint32]bool{0: true, 1: true, 3: false, 39: false, 40: true, 41: false, 1 << 31: false} {
			if h.Uses(i) != want {
				t.Errorf("%v: record %d: %v", order, i, !want)
			}
		}
		for _, n := range []int{0, logHeader, len(b) - 1} {
			if _, ok := ReadLogHeader(&Msg{Bufs: [][]byte{nil, b[:n]}}); ok {
				t.Errorf("%v: %d bytes are a header", order, n)
			}
		}
	}
}
