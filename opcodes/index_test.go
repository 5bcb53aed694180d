package opcodes

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/lshark/lshark/internal/assert"
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
		assert.That(t, len(key) == 2 && key[1] == c.key, "kind %d: key has %v", c.kind, key)
		assert.That(t, len(rec) == 1 && rec[0] == c.rec, "kind %d, part %#x: record is %v", c.kind, c.subid, rec)
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
		{seqQuotaGlobal, 3, 40, formQuota},
		{seqQuota, 3, 16, formSlave},
		{0x100000000, 2, 40, formOrphan},
		{0x100000000, 2, 72, formOrphanV2},
		{0x100000000, 40, 88, formOrphanV3},
	} {
		info := make([]byte, idxInfo.Size)
		copy(info[4:], build(order, uint32(1)))
		copy(info[iiFid.Off:], build(order, c.seq))
		page := build(order, uint32(lipMagic), uint16(0), uint16(c.nr), uint64(0))
		for range c.nr * c.size {
			page = append(page, 0xa5)
		}
		page = append(page, make([]byte, pageSize-len(page))...)
		v := View{Struct: page, Rest: page[16:], Big: indexPageBig(page, false), Msg: &Msg{Req: &Msg{Opcode: OBD_IDX_READ, Big: true, Bufs: [][]byte{nil, info}}}}
		f, n := nextIndexEntry(&v)
		assert.That(t, f == c.want && n == c.size, "sequence %#x: entries of %d bytes, not %d", c.seq, n, c.size)
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
		assert.That(t, f != nil && n == want.n && hasLargeNids(&View{Struct: v.Rest}) == want.large, "entry %d: %d bytes", i, n)
		v.Rest = v.Rest[n:]
	}
	if f, _ := nextNidtblEntry(&v); f != nil {
		t.Error("an entry behind the end")
	}
}

// TestMeanings: what people ask for first is explained.
func TestMeanings(t *testing.T) {
	for _, f := range PtlrpcBody.Fields {
		assert.That(t, f.Doc != "" || f.Pad, "%s has no meaning", f.Name)
	}
}

func connectBuf(flags, flags2 uint64, version uint32) []byte {
	b := make([]byte, ObdConnectData.Size)
	binary.LittleEndian.PutUint64(b, flags)
	binary.LittleEndian.PutUint32(b[8:], version)
	binary.LittleEndian.PutUint64(b[ObdConnectData.Field("ocd_connect_flags2").Off:], flags2)
	return b
}

func TestConnectSummary(t *testing.T) {
	const version, acl, flags2 = 0x20, 0x80, 1 << 63
	req := &Msg{Bufs: [][]byte{make([]byte, 184), []byte("lustre-MDT0000_UUID\x00"), []byte("f0cc377a\x00"),
		make([]byte, 8), connectBuf(version|acl|flags2, 3, 0x02110000)}}
	rep := &Msg{Reply: true, Req: req, Bufs: [][]byte{make([]byte, 184), connectBuf(version|flags2, 1, 0x02100101)}}

	var l Line
	summarizeConnectRequest(req, &l)
	assert.Equal(t, string(l.Text), "lustre-MDT0000_UUID from f0cc377a version 2.17.0.0 asks 5 flags", "request")
	l.Reset()
	summarizeConnectReply(rep, &l)
	assert.Equal(t, string(l.Text), "version 2.16.1.1 grants 3 of 5 refuses ACL|LOCKAHEAD", "reply")
}

// TestWhatIsNotThere: a line says nothing of a buffer, a FID or a name that a message does not have.
func TestWhatIsNotThere(t *testing.T) {
	data := connectBuf(0x20, 0, 0x02100101)
	connect := &Msg{Opcode: MDS_CONNECT, Reply: true, Bufs: [][]byte{nil, data}, Req: &Msg{Opcode: MDS_CONNECT, Bufs: make([][]byte, 5)}}
	body := make([]byte, mdtBody.Size)
	le.PutUint64(body[mboValid.Off:], bodyFID)
	attrs := &Msg{Opcode: MDS_GETATTR, Reply: true, Bufs: [][]byte{nil, body}}
	for what, c := range map[string]struct {
		m         *Msg
		summarize func(*Msg, *Line)
	}{"asked": {connect, summarizeConnectReply}, "FID": {attrs, summarizeAttrsReply}} {
		var l Line
		c.summarize(c.m, &l)
		assert.That(t, !bytes.Contains(l.Text, []byte(" of ")) && !bytes.Contains(l.Text, []byte("0x0")), "%s: %q", what, l.Text)
	}
}

func TestConnectDataValidity(t *testing.T) {
	const version, flags2, transno = 0x20, 1 << 63, 0x100
	raw := connectBuf(version, 1<<35, 0x02110000)
	body := make([]byte, 184)
	v := &View{Struct: raw, Type: ObdConnectData, Msg: &Msg{Bufs: [][]byte{body}}}
	valid := func(name string, want bool) {
		t.Helper()
		assert.Equal(t, ObdConnectData.Field(name).Valid(v), want, name, "is valid")
	}
	valid("ocd_version", true)
	valid("ocd_grant", false)
	valid("ocd_conn_policy", false) // CONN_POLICY is set, FLAGS2 is not
	valid("ocd_transno", false)

	binary.LittleEndian.PutUint64(raw, flags2)
	binary.LittleEndian.PutUint32(body[PbOpFlags.Off:], transno)
	valid("ocd_version", false)
	valid("ocd_conn_policy", true)
	valid("ocd_compr_type", false)
	valid("ocd_transno", true)
}
