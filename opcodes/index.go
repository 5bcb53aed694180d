package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const OBD_IDX_READ = 403

var Idx = Enum("idx", "", "sizes and magic of index pages", []Value{
	{Name: "LU_PAGE_SHIFT", Value: 0xc},
	{Name: "LIP_HDR_SIZE", Value: 0x10},
	{Name: "LU_PAGE_SIZE", Value: 0x1000},
	{Name: "IDX_INFO_MAGIC", Value: 0x3d37cc37},
	{Name: "LIP_MAGIC", Value: lipMagic},
	{Name: "II_END_OFF", Value: dirHashEnd},
})

var IdxFlags = Bits("idx_flags", "II_FL_", "form of the entries of an index", []Value{
	{Name: "NOHASH", Value: 0x1, Doc: "no hash is stored"},
	{Name: "VARKEY", Value: 0x2, Doc: "keys of different sizes"},
	{Name: "VARREC", Value: 0x4, Doc: "records of different sizes"},
	{Name: "NONUNQ", Value: 0x8, Doc: "keys may occur more than once"},
	{Name: "NOKEY", Value: 0x10, Doc: "no key is stored"},
})

var idxInfo = &Struct{Name: "idx_info", Doc: "which index, and which part of it", Fields: []*Field{
	U32("ii_magic", Hex, &Idx, "IDX_INFO_MAGIC"),
	U32("ii_flags", &IdxFlags, "form of the entries"),
	U16("ii_count", Harmless, "pages of 4 KiB: wanted, or sent"),
	Pad("ii_pad0", 2),
	U32("ii_attrs", &DirentAttrs, "what is wanted of each entry"),
	Sub("ii_fid", &LuFid, "the index"),
	U64("ii_version", Cookie, "version of the index when it was read"),
	U64("ii_hash_start", Cookie, "first hash"),
	U64("ii_hash_end", Cookie, "hash to go on with; 0xfffffffffffffffe: that was all"),
	U16("ii_keysize", Size, "bytes of a key, in the reply"),
	U16("ii_recsize", Size, "bytes of a record, in the reply"),
	Padding("ii_pad", 1, 4, 8, 8),
}}

var luIdxpage = &Struct{Name: "lu_idxpage", Detect: indexPageBig, Doc: "page of an index: 4096 bytes", Fields: []*Field{
	U32("lip_magic", Hex, &Idx, "LIP_MAGIC; its bytes give the byte order"),
	U16("lip_flags", &IdxFlags),
	lipNr,
	Pad("lip_pad0", 8),
	Str("lip_entries", 0, Removed, If(never), "the entries; shown as `entries`"),
	Records("entries", nextIndexEntry, indexForms, "hash, key and record of each entry, as far as they are stored"),
}}

const (
	lipMagic    = 0x8a6d6b6c
	idxHashSize = 8
)

var (
	lipNr = U16("lip_nr", Harmless, "number of entries")
	iiFid = idxInfo.Field("ii_fid")
)

func indexPageBig(b []byte, big bool) bool { return magicAt(b, 0, lipMagic, big) }

var indexPages = &Struct{Name: "index_pages", Doc: "pages of an index", Fields: []*Field{
	Records("pages", nextPage(indexPage), []*Field{indexPage}),
}}

var indexPage = Sub("", &luIdxpage)

var idxpageQuotaEntry = &Struct{Name: "idxpage_quota_entry", Doc: "limits of an id, in the index of the quota master", Fields: []*Field{
	U64("key", UserID, "user, group or project"),
	Sub("rec", &lquotaGlbRec, "its limits"),
}}

// idxpageQuotaSlave is an entry of the index that a slave has at the master.
var idxpageQuotaSlave = &Struct{Name: "idxpage_quota_slave", Doc: "share of an id, in the index of a quota slave", Fields: []*Field{
	U64("key", UserID, "user, group or project"),
	Sub("rec", &lquotaSlvRec, "what the slave may give out"),
}}

var idxpageNodemapEntry = &Struct{Name: "idxpage_nodemap_entry", Doc: "entry of the nodemap index", Fields: []*Field{
	Sub("key", &nodemapKey),
	Sub("rec", &nodemapRec),
}}

var idxpageEntry = &Struct{Name: "idxpage_entry", Doc: "entry of an index of unknown type", Fields: []*Field{
	Opaque("entry", 0, "the entry"),
}}

var (
	formQuota    = Sub("", &idxpageQuotaEntry, Tagged(true))
	formSlave    = Sub("", &idxpageQuotaSlave, Tagged(true))
	formNodemap  = Sub("", &idxpageNodemapEntry, Tagged(true))
	formOrphan   = Sub("", &luOrphanEnt, Tagged(true))
	formOrphanV2 = Sub("", &luOrphanEntV2, Tagged(true))
	formOrphanV3 = Sub("", &luOrphanEntV3, Tagged(true))
	formEntry    = Sub("", &idxpageEntry)
	indexForms   = []*Field{formQuota, formSlave, formNodemap, formOrphan, formOrphanV2, formOrphanV3, formEntry}
)

// nextIndexEntry finds the entries of a page. What they are follows from the
// request: which index, and, as it rarely tells sizes, how far the page is
// filled.
func nextIndexEntry(v *View) (*Field, int) {
	nr := int(lipNr.Uint(v.Struct, v.Big))
	if v.Index >= nr || len(v.Rest) == 0 {
		return nil, 0
	}
	if v.Msg == nil || v.Msg.Req == nil {
		return formEntry, len(v.Rest)
	}
	req := v.Msg.Req
	if req.Opcode == MGS_CONFIG_READ {
		return formNodemap, formNodemap.Size
	}
	info := req.Buf(1)
	hash := idxHashSize
	if idxInfo.Field("ii_flags").Uint(info, req.Big)&IdxFlags.Bit("NOHASH") != 0 {
		hash = 0
	}
	key, rec := int(idxInfo.Field("ii_keysize").Uint(info, req.Big)), int(idxInfo.Field("ii_recsize").Uint(info, req.Big))
	if fid := iiFid.Bytes(info); hash == 0 && len(fid) >= 8 {
		switch seq := ReadUint(fid[:8], req.Big); {
		case isQuotaSeq(seq):
			return formThatFills(v, nr, formSlave, formQuota)
		case key+rec == 0 || key+rec == formOrphan.Size || key+rec == formOrphanV2.Size || key+rec == formOrphanV3.Size:
			return formThatFills(v, nr, formOrphan, formOrphanV2, formOrphanV3)
		}
	}
	if key+rec == 0 {
		return formEntry, len(v.Rest)
	}
	return formEntry, hash + key + rec
}

// formThatFills returns the smallest form whose nr entries fill the page: all
// bytes after them are zero.
func formThatFills(v *View, nr int, forms ...*Field) (*Field, int) {
	const header = 16
	page := v.Struct[:min(len(v.Struct), pageSize)]
	for _, f := range forms {
		if end := header + nr*f.Size; end <= pageSize && end <= len(page) && allZero(page[end:]) {
			return f, f.Size
		}
	}
	return formEntry, len(v.Rest)
}

var luOrphanRec = &Struct{Name: "lu_orphan_rec", Doc: "OST object that no file refers to, as the layout LFSCK finds it", Fields: []*Field{
	Sub("lor_fid", &LuFid, "file that the object claims to belong to; f_ver is the number of the stripe"),
	U32("lor_uid", UserID, "owner"),
	U32("lor_gid", UserID, "group"),
}}

var luOrphanEnt = &Struct{Name: "lu_orphan_ent", Doc: "entry of the list of orphans", Fields: []*Field{
	Sub("loe_key", &LuFid, "the object"),
	Sub("loe_rec", &luOrphanRec),
}}

var luOrphanRecV2 = &Struct{Name: "lu_orphan_rec_v2", Doc: "orphan, with its place in a composite layout", Fields: []*Field{
	Sub("lor_rec", &luOrphanRec),
	Sub("lor_layout", &ostLayout, "its place in the layout"),
	Pad("lor_padding", 4),
}}

var luOrphanEntV2 = &Struct{Name: "lu_orphan_ent_v2", Doc: "entry of the list of orphans", Fields: []*Field{
	Sub("loe_key", &LuFid, "the object"),
	Sub("loe_rec", &luOrphanRecV2),
}}

var luOrphanRecV3 = &Struct{Name: "lu_orphan_rec_v3",
	Doc: "orphan, with its place in a composite layout and the layout's version", Fields: []*Field{
		Sub("lor_rec", &luOrphanRec),
		Sub("lor_layout", &ostLayout, "its place in the layout"),
		U32("lor_layout_version", Harmless, "version of the layout"),
		U32("lor_range", Harmless, "versions that are equally good"),
		Padding("lor_padding_", 1, 4, 8),
	}}

var luOrphanEntV3 = &Struct{Name: "lu_orphan_ent_v3", Doc: "entry of the list of orphans", Fields: []*Field{
	Sub("loe_key", &LuFid, "the object"),
	Sub("loe_rec", &luOrphanRecV3),
}}

var bufIdxInfo = Sub("idx_info", &idxInfo)

var _ = DefineRPC(&RPC{Opcode: OBD_IDX_READ, Name: "OBD_IDX_READ", Variants: []*Variant{{
	Request:          Bufs(bufPtlrpcBody, bufIdxInfo),
	Reply:            Bufs(bufPtlrpcBody, bufIdxInfo),
	Bulk:             &BulkData{Portal: portalMDSBulk, Type: indexPages},
	SummarizeRequest: summarizeIndexRequest,
	SummarizeReply:   summarizeIndexReply,
	Subject:          func(m *Msg) (fid, name []byte) { return iiFid.Bytes(m.Buf(1)), nil },
}},
	Doc: "Reads an index of a target as pages: quota slaves fetch limits and their shares with it, " +
		"the LFSCK the list of orphans, MDTs the directories of other MDTs.",
	Context: true,
})

func summarizeIndexRequest(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < idxInfo.Size {
		return
	}
	l.FID(iiFid.Bytes(b), m.Big)
	l.Key("from ").Hex(Number, idxInfo.Field("ii_hash_start").Uint(b, m.Big))
}

func summarizeIndexReply(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < idxInfo.Size {
		return
	}
	l.Key("").Count(idxInfo.Field("ii_count").Uint(b, m.Big), "page")
	if end := idxInfo.Field("ii_hash_end").Uint(b, m.Big); end == dirHashEnd {
		l.Add(Dim, ", end")
	} else {
		l.Key("to ").Hex(Number, end)
	}
}
