package opcodes

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestRunningTargets: entries with NIDs of both forms, in both byte orders. One that claims more or less
// than there is ends the table.
func TestRunningTargets(t *testing.T) {
	const nid = 2<<48 | 192<<24 | 2<<8 | 1
	large := append([]byte{0, 2, 0, 0, 192, 0, 2, 2}, make([]byte, 12)...)
	entry := func(order binary.AppendByteOrder, kind, form, size, count byte, nids []byte) []byte {
		return build(order, uint64(9), uint32(2), uint32(10), uint32(mgsNidtblEntry.Size+len(nids)), []byte{kind, form, size, count}, nids)
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		table := slices.Concat(entry(order, 1, 0, 8, 2, build(order, uint64(nid), uint64(nid+1))), entry(order, 2, 1, 20, 1, large), entry(order, 3, 1, 20, 200, large))
		const want = "MDT 10 2 9 [192.0.2.1@tcp 192.0.2.2@tcp], OST 10 2 9 [192.0.2.2@tcp],  10 2 9 [192.0.2.2@tcp]"
		var got []string
		read := func(b []byte) {
			got = nil
			RunningTargets(b, order == binary.BigEndian, func(r RunningTarget) {
				got = append(got, fmt.Sprint(r.Kind, " ", r.Index, " ", r.Instance, " ", r.Version, " ", r.NIDs))
			})
		}
		read(table)
		assert.Equal(t, strings.Join(got, ", "), want, order, got)
		for n := range table {
			if read(table[:n]); len(got) > 0 && !strings.HasPrefix(want, strings.Join(got, ", ")) {
				t.Errorf("%v, %d bytes: %q", order, n, got)
			}
		}
		short := entry(order, 1, 0, 8, 0, nil)
		copy(short[mneLength.Off:], build(order, uint32(4)))
		read(slices.Concat(table, short, table))
		assert.Equal(t, strings.Join(got, ", "), want, order, "behind an entry that is too short")
	}
}

// nodemapPage makes a page of the nodemap index of entries with a key and a record.
func nodemapPage(entries ...[]byte) []byte {
	b := build(binary.LittleEndian, uint32(lipMagic), uint16(0), uint16(len(entries)), uint64(0))
	for _, e := range entries {
		b = append(b, append(e, make([]byte, idxpageNodemapEntry.Size-len(e))...)...)
	}
	return append(b, make([]byte, pageSize-len(b))...)
}

// TestNodemapEntries: the nodemap of a test cluster, with all kinds of records.
func TestNodemapEntries(t *testing.T) {
	le := binary.LittleEndian
	const first, last = 2<<48 | 192<<24 | 2<<8 | 50, 2<<48 | 192<<24 | 2<<8 | 60
	page := nodemapPage(
		build(le, uint32(1<<28|1), uint32(0), zeroPadded("nm1", 17), []byte{0x1 | 0x20 | 0x8 | 0x10 | 0x80, 0x1, 0}, make([]byte, 0), uint32(65534), uint32(65534), uint32(65533)),
		build(le, uint32(1<<28|1), uint32(1), uint64(0x4ff), uint64(0), uint64(0)),
		build(le, uint32(1<<28|1), uint32(2), uint32(100), uint32(10)),
		build(le, uint32(1<<28|1), uint32(3), uint64(5), []byte{0}),
		build(le, uint32(1<<28|1), uint32(0x200), []byte{1}),
		build(le, uint32(1<<28|1), uint32(0x201), zeroPadded("/dir", 28), uint16(0)),
		build(le, uint32(2<<28|1), uint32(1), uint64(first), uint64(last)),
		build(le, uint32(3<<28|1), uint32(500), uint32(600)),
		build(le, uint32(4<<28|1), uint32(501), uint32(601)),
		build(le, uint32(5<<28|1), uint32(502), uint32(602)),
		build(le, uint32(6<<28|1), uint32(2), []byte{0, 2, 0, 0, 192, 0, 2, 0}, make([]byte, 23), []byte{24}),
		build(le, uint32(15<<28), uint32(0), []byte{1}),
	)
	var got []string
	NodemapEntries(slices.Concat(page, nodemapPage()), func(e NodemapEntry) {
		text := fmt.Sprint(e.Nodemap, " ", e.Name)
		for _, p := range e.Properties {
			text += " " + p.Name + "=" + p.Value
		}
		switch {
		case e.Range != nil:
			text += fmt.Sprintf("%+v", *e.Range)
		case e.IDMap != nil:
			text += fmt.Sprintf("%+v", *e.IDMap)
		case e.Fileset != nil:
			text += fmt.Sprintf("%+v", *e.Fileset)
		case e.Active != nil:
			text += fmt.Sprint("active ", *e.Active)
		}
		got = append(got, text)
	})
	want := []string{
		"1 nm1 admin_nodemap=1 audit_mode=1 deny_mount=0 deny_unknown=0 forbid_encryption=0 map_mode=all readonly_mount=1 squash_gid=65533 squash_projid=65534 squash_uid=65534 trusted_nodemap=0",
		"1  rbac=file_perms,dne_ops,quota_ops,byfid_ops,chlg_ops,fscrypt_admin,server_upcall,ignore_root_prjquota,pool_quota_ops child_raise_privileges=none",
		"1  offset.start_uid=100 offset.limit_uid=10 offset.start_gid=0 offset.limit_gid=0 offset.start_projid=0 offset.limit_projid=0",
		"1  enable_cap_mask=off",
		"1 {Number:0 Path: ReadOnly:true}",
		"1 {Number:0 Path:/dir ReadOnly:false}",
		"1 {ID:1 Start:192.0.2.50@tcp End:192.0.2.60@tcp}",
		"1 {Type:uid Client:500 File:600}",
		"1 {Type:gid Client:501 File:601}",
		"1 {Type:projid Client:502 File:602}",
		"1 {ID:2 Start:192.0.2.0@tcp/24 End:}",
		"0 active true",
	}
	assert.That(t, slices.Equal(got, want), "%q\nwant\n%q", got, want)
	NodemapEntries(make([]byte, pageSize), func(e NodemapEntry) { t.Errorf("%+v in a page without magic", e) })
}

func TestMapMode(t *testing.T) {
	for flags, want := range map[uint64]string{0: "", 0x8: "uid", 0x18: "both", 0x98: "all", 0x90: "gid,projid"} {
		assert.Equal(t, mapMode(flags), want, flags)
	}
}

// TestReadRegistration: NIDs in each of their forms.
func TestReadRegistration(t *testing.T) {
	le := binary.LittleEndian
	info := func(flags, count uint32, nids []byte) []byte {
		b := build(le, uint32(0x02110000), uint32(3), uint32(0), flags, count, uint32(7), zeroPadded("lustre", 64), zeroPadded("lustre-OST0003", 64), zeroPadded("lustre-OST0003_UUID", 40))
		b = append(b, nids...)
		b = append(b, make([]byte, mtiParams.Off-len(b))...)
		return append(b, zeroPadded(" a=b failover.node=192.0.2.9@tcp ", mtiParams.Size)...)
	}
	text := zeroPadded("fd00::1@tcp", nidTextSize)
	large := uint32(nidsAsText)
	const nid = 2<<48 | 192<<24 | 2<<8 | 1
	for _, c := range []struct {
		m    *Msg
		nids string
	}{
		{&Msg{Bufs: [][]byte{nil, info(2, 2, build(le, uint64(nid), uint64(nid+1)))}}, "[192.0.2.1@tcp 192.0.2.2@tcp]"},
		{&Msg{Bufs: [][]byte{nil, append(info(large, 1, nil), text...)}}, "[fd00::1@tcp]"},
		{&Msg{Bufs: [][]byte{nil, info(large, 1, nil), build(le, uint32(0), uint32(1), text)}}, "[fd00::1@tcp]"},
		{&Msg{Bufs: [][]byte{nil, info(large, 1<<31, nil), build(le, uint32(0), uint32(1<<31), text)}}, "[fd00::1@tcp]"},
		{&Msg{Bufs: [][]byte{nil, info(2, 1<<31, nil)}}, "[]"},
	} {
		r, ok := ReadRegistration(c.m)
		if got := fmt.Sprint(r.NIDs); !ok || got != c.nids || r.Name != "lustre-OST0003" || r.Index != 3 || r.Instance != 7 || r.Parameters != "a=b failover.node=192.0.2.9@tcp" {
			t.Errorf("%v, %+v, want %s", ok, r, c.nids)
		}
	}
	if _, ok := ReadRegistration(&Msg{Bufs: [][]byte{nil, make([]byte, mtiParams.Off)}}); ok {
		t.Error("half a registration is one")
	}
	if got := RegisteredNIDs(slices.Concat(text, make([]byte, nidTextSize), text[:60])); fmt.Sprint(got) != "[fd00::1@tcp]" {
		t.Errorf("bulk data: %v", got)
	}
}

func TestRegisteredTarget(t *testing.T) {
	info := make([]byte, mgsTargetInfo.Size)
	copy(info[mtiSvname.Off:], "lustre-OST0001")
	for n, want := range map[int]string{len(info): "lustre-OST0001", mtiSvname.Off + mtiSvname.Size: "lustre-OST0001", mtiSvname.Off + 10: "", 0: ""} {
		name, ok := RegisteredTarget(&Msg{Bufs: [][]byte{nil, info[:n]}})
		assert.That(t, string(name) == want && ok == (want != ""), "%d bytes: %q, %v", n, name, ok)
	}
}

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
		got := string(s.AppendText(nil, 7))
		assert.That(t, ok == (c.want != "") && (!ok || got == c.want), "%v, %s, want %s", ok, got, c.want)
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
			s, ok := ReadConfigStep(b, false)
			assert.That(t, !ok || len(s.Arguments) <= 3, "%d at %d: %+v", claim, at, s)
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
		assert.Equal(t, strings.Join(got, " "), want, flags)
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
			assert.That(t, r.Index == 7 && r.Big, "record %+v", r)
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
		must.That(t, ok && h.Created == 1795248343 && h.Last == 40, "%v: %v, created %d, last %d", order, ok, h.Created, h.Last)
		for i, want := range map[uint32]bool{0: true, 1: true, 3: false, 39: false, 40: true, 41: false, 1 << 31: false} {
			assert.Equal(t, h.Uses(i), want, order, "record", i, !want)
		}
		for _, n := range []int{0, logHeader, len(b) - 1} {
			if _, ok := ReadLogHeader(&Msg{Bufs: [][]byte{nil, b[:n]}}); ok {
				t.Errorf("%v: %d bytes are a header", order, n)
			}
		}
	}
}
