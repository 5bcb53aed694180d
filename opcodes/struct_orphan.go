package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// luOrphanRec is struct lu_orphan_rec.
var luOrphanRec = Define("lu_orphan_rec", "OST object that no file refers to, as the layout LFSCK finds it",
	Sub("lor_fid", luFid, "file that it says it belongs to; f_ver is the number of the stripe"),
	U32("lor_uid"),
	U32("lor_gid"),
)

// luOrphanEnt is struct lu_orphan_ent.
var luOrphanEnt = Define("lu_orphan_ent", "entry of the list of orphans",
	Sub("loe_key", luFid, "the object"),
	Sub("loe_rec", luOrphanRec),
)

// luOrphanRecV2 is struct lu_orphan_rec_v2.
var luOrphanRecV2 = Define("lu_orphan_rec_v2", "orphan, with its place in a composite layout",
	Sub("lor_rec", luOrphanRec),
	Sub("lor_layout", ostLayout, "its place in the layout"),
	Pad("lor_padding", 4),
)

// luOrphanEntV2 is struct lu_orphan_ent_v2.
var luOrphanEntV2 = Define("lu_orphan_ent_v2", "entry of the list of orphans",
	Sub("loe_key", luFid, "the object"),
	Sub("loe_rec", luOrphanRecV2),
)

// luOrphanRecV3 is struct lu_orphan_rec_v3.
var luOrphanRecV3 = Define("lu_orphan_rec_v3", "orphan, with its place in a composite layout and the layout's version",
	Sub("lor_rec", luOrphanRec),
	Sub("lor_layout", ostLayout, "its place in the layout"),
	U32("lor_layout_version", "version of the layout"),
	U32("lor_range", "versions that are equally good"),
	Pad("lor_padding_1", 4),
	Pad("lor_padding_2", 8),
)

// luOrphanEntV3 is struct lu_orphan_ent_v3.
var luOrphanEntV3 = Define("lu_orphan_ent_v3", "entry of the list of orphans",
	Sub("loe_key", luFid, "the object"),
	Sub("loe_rec", luOrphanRecV3),
)
