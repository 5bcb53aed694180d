package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = Define("lustre_swap_layouts",
	"what a user asks of the client to swap the layouts of two files",
	U64("sl_flags", SwapLayoutsFlags, "what to check and keep"),
	U32("sl_fd", "descriptor of the second file"),
	U32("sl_gid", "group lock that keeps others out"),
	U64("sl_dv1", Cookie, When("sl_flags", "CHECK_DV1"), "data version that the first file must have"),
	U64("sl_dv2", Cookie, When("sl_flags", "CHECK_DV2"), "data version that the second file must have"),
)

// changelogFilter is struct changelog_filter.
var changelogFilter = Define("changelog_filter",
	Since("2.17"),
	"which changelog records a user wants, and who that user is",
	U64("cf_mask", Hex, "record types, one bit each"),
	U32("cf_user_id", "number of the changelog user: 3 is cl3"),
	Pad("cf_padding", 4),
	Str("cf_username", 30, "name of the changelog user"),
	Pad("cf_tail", 2, "rounds the size up"),
)

// mdtIoepoch is struct mdt_ioepoch.
var mdtIoepoch = Define("mdt_ioepoch",
	"the open file that a close or setattr is about",
	Sub("mio_open_handle", lustreHandle, "open handle that the open gave"),
	Pad("mio_unused1", 8),
	Pad("mio_unused2", 4),
	Pad("mio_padding", 4),
)

// getinfoFid2path is struct getinfo_fid2path.
var getinfoFid2path = Define("getinfo_fid2path",
	"asks for the path of a FID; the reply brings it",
	Sub("gf_fid", luFid, "the object"),
	U64("gf_recno", "changelog record up to which names may be as they were; all ones: as they are"),
	U32("gf_linkno", "which of several names, from 0; reply: the next one"),
	U32("gf_pathlen", Size, "room for the path"),
	Str("gf_path", 0, If(isReply), "the path, from the root of the file system or of the fileset"),
	Arr("gf_root_fid", -1, Sub("", luFid), Over("gf_path"), If(isRequest), "root of the client's fileset"),
)

// fid2pathKey is what fills the key buffer of a fid2path: its name in an area
// of 16 bytes, and the question.
var fid2pathKey = Define("fid2path_key",
	"key of a fid2path together with its argument",
	Str("key", 16, "the name of the key"),
	Sub("getinfo_fid2path", getinfoFid2path, "the question"),
)

func isReply(v *View) bool   { return v.Msg != nil && v.Msg.Reply }
func isRequest(v *View) bool { return v.Msg != nil && !v.Msg.Reply }

var _ = Define("getparent",
	"asks for a parent of a FID and its name there",
	Sub("gp_fid", luFid, "the object; answer: its parent"),
	U32("gp_linkno", "which of several names, from 0"),
	U32("gp_name_size", Size, "room for the name"),
	Str("gp_name", 0, "the name"),
)

// mdcSwapLayouts is struct mdc_swap_layouts.
var mdcSwapLayouts = Define("mdc_swap_layouts",
	"how the layouts of two files are swapped",
	Shorter{8},
	U64("msl_flags", SwapLayoutsFlags, "what to check and keep"),
	U64("msl_dv1", Since("2.18"), Cookie, When("msl_flags", "CHECK_DV1"), "data version that the first file must have"),
	U64("msl_dv2", Since("2.18"), Cookie, When("msl_flags", "CHECK_DV2"), "data version that the second file must have"),
)

var _ = Define("mdc_swap_layouts_217",
	Since("2.18"),
	"mdc_swap_layouts as releases up to 2.17 send it",
	U64("msl_flags", SwapLayoutsFlags, "what to keep"),
)

// closeDataResyncDone is struct close_data_resync_done.
var closeDataResyncDone = Define("close_data_resync_done",
	"components that a resync has brought up to date",
	U32("resync_count", "how many; when there are more than 15 all of them travel in the u32_array buffer"),
	Arr("resync_ids_inline", 15, U32(""), CountOf(inlineResyncIDs), "their numbers (lcme_id)"),
)

const maxInlineResyncIDs = 15

// inlineResyncIDs is how many numbers are in close_data: when there are too
// many for it, it should be none.
func inlineResyncIDs(v *View) int {
	used := usedElements(v.Rest, maxInlineResyncIDs, 4)
	if n := resyncCountOf(v.Struct, v.Big); n <= maxInlineResyncIDs {
		return max(int(n), used)
	}
	return used
}

// outerResyncIDs is how many numbers are in the buffer u32_array: as many as
// it holds, when there are too many for close_data. Else it is one word of
// zero.
func outerResyncIDs(v *View) int {
	if allZero(v.Rest) {
		return 0
	}
	return -1
}

func resyncCountOf(b []byte, big bool) uint64 { return ReadUint(b[:min(4, len(b))], big) }

// closeData is struct close_data.
var closeData = Define("close_data",
	"what a close does beside closing: a release, a swap, merge or split of layouts, the end of a resync",
	U64("cd_handle", Cookie, "handle of the lease that the close gives up; in the sender's byte order, unlike other handles"),
	Sub("cd_fid", luFid, "the second file: volatile file of a release or migration, victim of a merge or split"),
	U64("cd_data_version", Cookie, "data version that the file must still have"),
	Pads("cd_reserved", 8, 8, If(closeNeeds(0))),
	Sub("cd_resync", closeDataResyncDone, Over("cd_reserved"), If(closeNeeds(biasResyncDone)), "components that are in sync again"),
	U16("cd_mirror_id", Over("cd_reserved"), If(closeNeeds(biasSplit)), "the mirror that is split off"),
	U32("cd_archive_id", Over("cd_reserved"), Since("2.15"), If(closeNeeds(biasPCC)), "the client cache that gets the data"),
	U64("cd_data_version2", Over("cd_reserved"), Since("2.16"), Cookie, If(closeNeeds(biasSwap)), "data version that the second file must still have"),
)

// The biases that give the last part of close_data a meaning.
var (
	biasResyncDone = MdsOpBias.Bit("CLOSE_RESYNC_DONE")
	biasSplit      = MdsOpBias.Bit("CLOSE_LAYOUT_SPLIT")
	biasMerge      = MdsOpBias.Bit("CLOSE_LAYOUT_MERGE")
	biasPCC        = MdsOpBias.Bit("PCC_ATTACH")
	biasSwap       = MdsOpBias.Bit("CLOSE_LAYOUT_SWAP")
	biasRelease    = MdsOpBias.Bit("HSM_RELEASE")
	biasCloseUnion = biasResyncDone | biasSplit | biasPCC | biasSwap
)

// closeNeeds says whether the record that came with a close has a bias; 0:
// none of those that give close_data a last part.
func closeNeeds(bias uint64) func(v *View) bool {
	return func(v *View) bool {
		got := closeBias(v.Msg) & biasCloseUnion
		if bias == 0 {
			return got == 0
		}
		// One member at a time, the one with the lowest bit.
		return got&-got == bias
	}
}

// closeBias is the bias of the setattr record of a close, or of the rename
// record of a migration that closes.
func closeBias(m *Msg) uint64 {
	if m == nil {
		return 0
	}
	rec := m.Named("rec_reint")
	if m.Opcode == MDS_REINT {
		return rnBias.Uint(rec, m.Big)
	}
	return saBias.Uint(rec, m.Big)
}
