package dissect

import (
	"fmt"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
)

const pageBytes = 4096

// page fills a blob up to a page.
func page(b blob) blob {
	b.data = append(b.data, make([]byte, pageBytes-len(b.data))...)
	return b
}

// indexPage is a page of entries, each a key and a record.
func (b *builder) indexPage(entries ...blob) blob {
	out := b.record("lu_idxpage", values{"lip_nr": len(entries), "lip_flags": 1})
	for i, e := range entries {
		out.put("entries"+index(i), e)
	}
	var all blob
	all.put("content.pages[0]", page(out))
	return all
}

// nodemapPage has a record of each kind; the key says which.
func nodemapPage(b *builder) blob {
	var entries []blob
	for _, r := range []struct {
		kind, subid int
		key, rec    string
	}{
		{1, 0, "nk_cluster_subid", "ncr"}, {1, 1, "nk_cluster_subid", "ncrr"}, {1, 2, "nk_cluster_subid", "nor"},
		{1, 3, "nk_cluster_subid", "nucr"}, {1, 0x200, "nk_cluster_subid", "nfhr"}, {1, 0x201, "nk_cluster_subid", "nfr"},
		{2, 7, "nk_range_id", "nrr"}, {6, 8, "nk_range_id", "nrr2"}, {3, 500, "nk_id_client", "nir"}, {15, 9, "nk_unused", "ngr"},
	} {
		entries = append(entries, b.little(func() blob {
			return b.record("idxpage_nodemap_entry", values{"key.nk_nodemap_id": r.kind<<28 | 1, "key.+" + r.key: r.subid, "rec.+" + r.rec: nil})
		}))
	}
	return b.indexPage(entries...)
}

func quotaPage(b *builder) blob {
	return b.indexPage(b.record("idxpage_quota_entry", nil), b.record("idxpage_quota_entry", nil))
}

// nidTable has a target with small NIDs and one with large ones.
func nidTable(b *builder) blob {
	var all blob
	for i, large := range []int{0, 1} {
		nids, size, name := func(b *builder) blob { return b.numbers(2, 8) }, 8, "u.nids"
		if large == 1 {
			nids, size, name = several(2, "lnet_nid"), 20, "u.nidlist"
		}
		all.put("content.entries"+index(i), b.record("mgs_nidtbl_entry", values{"mne_length": 24 + 2*size, "mne_nid_type": large,
			"mne_nid_size": size, "mne_nid_count": 2, name: nids}))
	}
	return all
}

// directoryPage has two entries, the second the last.
func directoryPage(b *builder) blob {
	out := b.record("lu_dirpage", values{"ldp_flags": 0})
	for i, name := range []string{"first", "second"} {
		e := b.little(func() blob {
			return b.record("lu_dirent", values{"lde_reclen": 40 * (1 - i), "lde_namelen": len(name), "lde_attrs": 0, "lde_name": name})
		})
		e.fill(8)
		out.put("entries"+index(i), e)
	}
	var all blob
	all.put("content.pages[0]", page(out))
	return all
}

var bulkCases = []struct {
	form    string
	portal  uint32
	request map[string]any
	data    func(*builder) blob
}{
	{"MGS_CONFIG_READ nodemap", 33, nil, nodemapPage},
	{"MGS_CONFIG_READ recover", 33, nil, nidTable},
	{"OBD_IDX_READ -", 14, bufs{"idx_info": values{"ii_flags": 1, "ii_keysize": 8, "ii_recsize": 32, "ii_fid": quotaIndex}}, quotaPage},
	{"MDS_READPAGE -", 14, nil, directoryPage},
}

// quotaIndex is the FID of the index of user quota of blocks.
func quotaIndex(b *builder) blob {
	p := append(encode(quotaSeq, 8, b.big), encode(0x20000, 4, b.big)...)
	return blob{append(p, 0, 0, 0, 0), nil}.whole(b.big)
}

// TestSyntheticBulk decodes bulk data that mean something.
func TestSyntheticBulk(t *testing.T) {
	c := &synthetic{readFacts(t)}
	for _, one := range bulkCases {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s big=%v", one.form, big), func(t *testing.T) {
				b := &builder{factTables: c.f, big: big}
				request := c.message(b, c.formNamed(b, one.form), false, synthCase{request: one.request})
				data := one.data(b)
				w := wiretest.Socklnd{Version: 3}
				tape := wiretest.NewConn().Open().Greet(w)
				tape.Send(false, w.PutAt(false, wiretest.RequestPortal, synthXID, 0, request.data))
				tape.Send(true, w.PutAt(true, one.portal, synthXID, 0, data.data))
				found := false
				d := New(Options{Handle: func(m *Message) {
					if m.Kind == lnet.Bulk {
						found = true
						check(t, m, data.wants, map[string]bool{})
					}
				}})
				wiretest.Play(d, tape.Frames)
				if !found {
					t.Error("no bulk data")
				}
			})
		}
	}
}
