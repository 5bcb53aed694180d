package opcodes

import (
	"encoding/binary"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

// meantFields are the fields of a struct whose If funcs let them through.
func meantFields(v *View) []string {
	var names []string
	for _, f := range v.Type.Fields {
		if f.If == nil || f.If(v) {
			names = append(names, f.Name)
		}
	}
	return names
}

// TestNodemapRecords: the key in front of a record tells what it is.
func TestNodemapRecords(t *testing.T) {
	for _, c := range []struct {
		kind, subid uint32
		key, rec    string
	}{
		{nodemapCluster, 0, "nk_cluster_subid", "ncr"},
		{nodemapCluster, 1, "nk_cluster_subid", "ncrr"},
		{nodemapCluster, 2, "nk_cluster_subid", "nor"},
		{nodemapCluster, 3, "nk_cluster_subid", "nucr"},
		{nodemapCluster, 0x200, "nk_cluster_subid", "nfhr"},
		{nodemapCluster, 0x300, "nk_cluster_subid", "nfhr"},
		{nodemapCluster, 0x301, "nk_cluster_subid", "nfr"},
		{nodemapRange, 7, "nk_range_id", "nrr"},
		{nodemapNidMask, 7, "nk_range_id", "nrr2"},
		{nodemapUidMap, 1000, "nk_id_client", "nir"},
		{nodemapProjidMap, 1000, "nk_id_client", "nir"},
		{nodemapGlobal, 0, "nk_unused", "ngr"},
	} {
		entry := build(binary.LittleEndian, c.kind<<nodemapKindShift|5, c.subid, make([]byte, 32))
		up := View{Struct: entry, Type: idxpageNodemapEntry}
		key := meantFields(&View{Struct: entry[:8], Type: nodemapKey, Up: &up})
		rec := meantFields(&View{Struct: entry[8:], Type: nodemapRec, Up: &up})
		if len(key) != 2 || key[1] != c.key {
			t.Errorf("kind %d: key has %v", c.kind, key)
		}
		if len(rec) != 1 || rec[0] != c.rec {
			t.Errorf("kind %d, part %#x: record is %v", c.kind, c.subid, rec)
		}
	}
}

// TestIndexEntries: requests do not tell the sizes of keys and records; the
// index that is read does, and how far the page is filled.
func TestIndexEntries(t *testing.T) {
	order := binary.BigEndian
	for _, c := range []struct {
		seq  uint64
		nr   int
		size int
		want *Field
	}{
		{quotaGlbSeq, 3, 40, formQuota},
		{quotaSlvSeq, 3, 16, formSlave},
		{0x100000000, 2, 40, formOrphan},
		{0x100000000, 2, 72, formOrphanV2},
		{0x100000000, 40, 88, formOrphanV3},
	} {
		info := make([]byte, idxInfo.Size)
		copy(info[4:], build(order, uint32(idxNoHash)))
		copy(info[iiFid.Off:], build(order, c.seq))
		page := build(order, uint32(lipMagic), uint16(0), uint16(c.nr), uint64(0))
		for range c.nr * c.size {
			page = append(page, 0xa5)
		}
		page = append(page, make([]byte, pageSize-len(page))...)
		v := View{Struct: page, Rest: page[16:], Big: indexPageBig(page, false), Msg: &Msg{Req: &Msg{Opcode: OBD_IDX_READ, Big: true, Bufs: [][]byte{nil, info}}}}
		if f, n := nextIndexEntry(&v); f != c.want || n != c.size {
			t.Errorf("sequence %#x: entries of %d bytes, not %d", c.seq, n, c.size)
		}
		v.Index = c.nr
		if f, _ := nextIndexEntry(&v); f != nil {
			t.Errorf("sequence %#x: more than %d entries", c.seq, c.nr)
		}
	}
}

// TestNidTable: entries go on at mne_length, of which the last may reach far.
func TestNidTable(t *testing.T) {
	order := binary.LittleEndian
	short := build(order, uint64(3), uint32(1), uint32(0), uint32(32), []byte{1, 0, 8, 1}, uint64(2<<48))
	long := build(order, uint64(4), uint32(1), uint32(0), uint32(4064), []byte{2, 1, 20, 1}, make([]byte, 4040))
	v := View{Rest: append(short, long...)}
	for i, want := range []struct {
		n     int
		large bool
	}{{32, false}, {4064, true}} {
		f, n := nextNidtblEntry(&v)
		if f == nil || n != want.n || hasLargeNids(&View{Struct: v.Rest}) != want.large {
			t.Errorf("entry %d: %d bytes", i, n)
		}
		v.Rest = v.Rest[n:]
	}
	if f, _ := nextNidtblEntry(&v); f != nil {
		t.Error("an entry behind the end")
	}
}

// TestMeanings: what people ask for first is explained.
func TestMeanings(t *testing.T) {
	for _, r := range Protocol.RPCs() {
		if r.Doc == "" {
			t.Errorf("%s has no meaning", r.Name)
		}
	}
	for _, s := range Protocol.Structs() {
		if s.Doc == "" {
			t.Errorf("struct %s has no meaning", s.Name)
		}
	}
	for _, g := range Protocol.Groups() {
		if g.Doc == "" {
			t.Errorf("group %s has no meaning", g.Group)
		}
	}
	for _, g := range []*Names{ObdConnectFlags, ObdConnectFlags2} {
		for _, v := range g.Values {
			if v.Doc == "" && !v.Alias {
				t.Errorf("%s has no meaning", g.Full(v))
			}
		}
	}
	for _, f := range PtlrpcBody.Fields {
		if f.Doc == "" && !f.Pad {
			t.Errorf("%s has no meaning", f.Name)
		}
	}
}
