package opcodes

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

// RunningTarget is an entry of the table of imperative recovery: where a target runs.
type RunningTarget struct {
	Kind     string // MDT or OST, empty when it is unknown
	Index    uint32
	Instance uint32 // number of its start
	Version  uint64 // of the table with this entry
	NIDs     []string
}

// RunningTargets calls f for each complete entry of the table of imperative recovery.
func RunningTargets(table []byte, big bool, f func(RunningTarget)) {
	for len(table) >= mgsNidtblEntry.Size {
		n := int(mneLength.Uint(table, big))
		if n < mgsNidtblEntry.Size || n > len(table) {
			return
		}
		e := table[:n]
		f(RunningTarget{
			Kind:     nidtblType.Name(mgsNidtblEntry.Field("mne_type").Uint(e, big)),
			Index:    uint32(mgsNidtblEntry.Field("mne_index").Uint(e, big)),
			Instance: uint32(mgsNidtblEntry.Field("mne_instance").Uint(e, big)),
			Version:  mgsNidtblEntry.Field("mne_version").Uint(e, big),
			NIDs:     nidsOfEntry(e, big),
		})
		table = table[n:]
	}
}

// nidsOfEntry returns the NIDs of an mgs_nidtbl_entry, as far as they lie in it.
func nidsOfEntry(e []byte, big bool) (nids []string) {
	list := e[mgsNidtblEntry.Size:]
	size := 8
	large := hasLargeNids(&View{Struct: e})
	if large {
		size = LnetNid.Size
	}
	for range mgsNidtblEntry.Field("mne_nid_count").Uint(e, big) {
		if len(list) < size {
			break
		}
		if large {
			nids = append(nids, string(AppendNIDBytes(nil, list[:size])))
		} else {
			nids = append(nids, string(AppendNID4(nil, ReadUint(list[:size], big))))
		}
		list = list[size:]
	}
	return nids
}

// Registration is what a target tells the MGS when it starts, or what the MGS replies.
type Registration struct {
	FSName, Name, UUID string
	Index              uint32
	Instance           uint32
	Version            uint32 // release of the server
	Flags              uint64 // MtiFlags
	NIDs               []string
	Parameters         string
}

// ReadRegistration reads a message of MGS_TARGET_REG; ok is false when it is incomplete.
func ReadRegistration(m *Msg) (r Registration, ok bool) {
	b := m.Buf(1)
	if len(b) < mtiParams.Off+mtiParams.Size {
		return r, false
	}
	text := func(field string) string { return string(TrimNUL(mgsTargetInfo.Field(field).Bytes(b))) }
	number := func(field string) uint32 { return uint32(mgsTargetInfo.Field(field).Uint(b, m.Big)) }
	r = Registration{
		FSName: text("mti_fsname"), Name: text("mti_svname"), UUID: text("mti_uuid"), Parameters: strings.TrimSpace(text("mti_params")),
		Index:    number("mti_stripe_index"),
		Instance: number("mti_instance"),
		Version:  number("mti_lustre_ver"),
		Flags:    mtiFlags.Uint(b, m.Big),
	}
	addText := func(list []byte, count uint64) {
		count = min(count, uint64(len(list)/nidTextSize))
		r.NIDs = append(r.NIDs, RegisteredNIDs(list[:count*nidTextSize])...)
	}
	count := mtiNidCount.Uint(b, m.Big)
	if r.Flags&nidsAsText != 0 {
		addText(b[mtiParams.Off+mtiParams.Size:], count)
		if list := m.Buf(2); !m.Reply && len(list) > mgsTargetNidlist.Size {
			addText(list[mgsTargetNidlist.Size:], mgsTargetNidlist.Field("mtn_nids").Uint(list, m.Big))
		}
		return r, true
	}
	for i := range int(min(count, uint64(mtiNids.Size/8))) {
		at := mtiNids.Off + 8*i
		if nid := ReadUint(b[at:at+8], m.Big); nid != 0 {
			r.NIDs = append(r.NIDs, string(AppendNID4(nil, nid)))
		}
	}
	return r, true
}

// RegisteredNIDs returns the NIDs that an MGS_TARGET_REG sends as bulk data.
func RegisteredNIDs(content []byte) (nids []string) {
	for ; len(content) >= nidTextSize; content = content[nidTextSize:] {
		if nid := TrimNUL(content[:nidTextSize]); len(nid) > 0 {
			nids = append(nids, string(nid))
		}
	}
	return nids
}

var (
	mtiNids   = mgsTargetInfo.Field("mti_nids")
	mtiParams = mgsTargetInfo.Field("mti_params")
)

// NodemapEntry is an entry of the nodemap index. Which of its fields are set depends on
// what it is: exactly one of them besides Key and Nodemap.
type NodemapEntry struct {
	Key     uint64 // identifies the entry in the index
	Nodemap uint32 // number of the nodemap

	Properties []ConfigArgument // by the names of `lctl get_param nodemap.*`
	Name       string           // of the nodemap, with properties of its first record
	Range      *NodemapRange
	IDMap      *NodemapIDMap
	Fileset    *NodemapFileset
	Active     *bool // whether nodemaps are used at all
}

// NodemapRange is a range of NIDs in a nodemap.
type NodemapRange struct {
	ID         uint32
	Start, End string // the first and the last NID, or a prefix in Start
}

// NodemapIDMap is the mapping of an id.
type NodemapIDMap struct {
	Type         string // uid, gid, projid
	Client, File uint32 // the id on the client, and in the file system
}

// NodemapFileset is a directory that the clients of a nodemap are confined to: of an entry, the
// head or the next piece of the path.
type NodemapFileset struct {
	Number   uint32 // of the fileset: 0 is the primary one
	Path     string
	ReadOnly bool // of the head
}

// NodemapEntries calls f for the entries in pages of the nodemap index.
func NodemapEntries(pages []byte, f func(NodemapEntry)) {
	for ; len(pages) >= luIdxpage.Size; pages = pages[min(len(pages), pageSize):] {
		page := pages[:min(len(pages), pageSize)]
		big := luIdxpage.Big(page, false)
		if luIdxpage.Field("lip_magic").Uint(page, big) != lipMagic {
			return
		}
		entries := page[luIdxpage.Size:]
		for range lipNr.Uint(page, big) {
			if len(entries) < idxpageNodemapEntry.Size {
				break
			}
			f(readNodemapEntry(entries[:idxpageNodemapEntry.Size]))
			entries = entries[idxpageNodemapEntry.Size:]
		}
	}
}

// readNodemapEntry reads an entry; it is little-endian.
func readNodemapEntry(b []byte) (e NodemapEntry) {
	key, rec := b[:nodemapKey.Size], b[nodemapKey.Size:]
	subid := uint32(nodemapKey.Field("nk_cluster_subid").Uint(key, false))
	e.Nodemap = uint32(nkNodemap.Uint(key, false)) & (1<<nodemapKindShift - 1)
	e.Key = nkNodemap.Uint(key, false)<<32 | uint64(subid)
	number := func(s *Struct, field string) uint64 { return s.Field(field).Uint(rec, false) }
	switch kind := keyKind(key); kind {
	case nodemapCluster:
		e.addCluster(uint64(subid), rec)
	case nodemapRange:
		nid := func(field string) string { return string(AppendNID4(nil, number(nodemapRangeRec, field))) }
		e.Range = &NodemapRange{ID: subid, Start: nid("nrr_start_nid"), End: nid("nrr_end_nid")}
	case nodemapNidMask:
		start := AppendNIDBytes(nil, nodemapRange2Rec.Field("nrr_nid_prefix").Bytes(rec))
		e.Range = &NodemapRange{ID: subid, Start: string(strconv.AppendUint(append(start, '/'), number(nodemapRange2Rec, "nrr_netmask"), 10))}
	case nodemapUidMap, nodemapUidMap + 1, nodemapProjidMap:
		kindOfID := strings.ToLower(NodemapIdType.Name(kind - nodemapUidMap))
		e.IDMap = &NodemapIDMap{Type: kindOfID, Client: subid, File: uint32(number(nodemapIdRec, "nir_id_fs"))}
	case nodemapGlobal:
		active := number(nodemapGlobalRec, "ngr_is_active") != 0
		e.Active = &active
	}
	return e
}

// addCluster reads a record about a nodemap itself.
func (e *NodemapEntry) addCluster(subid uint64, rec []byte) {
	number := func(s *Struct, field string) uint64 { return s.Field(field).Uint(rec, false) }
	add := func(name, value string) { e.Properties = append(e.Properties, ConfigArgument{name, value}) }
	decimal := func(name string, s *Struct, field string) { add(name, strconv.FormatUint(number(s, field), 10)) }
	switch {
	case subid == NodemapSubid.Number("CLUSTER_REC"):
		e.Name = string(TrimNUL(nodemapClusterRec.Field("ncr_name").Bytes(rec)))
		flag := func(name string, names *Names, bit string, word uint64) {
			value := "0"
			if word&names.Bit(bit) != 0 {
				value = "1"
			}
			add(name, value)
		}
		flags, flags2 := number(nodemapClusterRec, "ncr_flags"), number(nodemapClusterRec, "ncr_flags2")
		flag("admin_nodemap", NodemapFlags, "ALLOW_ROOT_ACCESS", flags)
		flag("audit_mode", NodemapFlags, "ENABLE_AUDIT", flags)
		flag("deny_mount", NodemapFlags2, "DENY_MOUNT", flags2)
		flag("deny_unknown", NodemapFlags, "DENY_UNKNOWN", flags)
		flag("forbid_encryption", NodemapFlags, "FORBID_ENCRYPT", flags)
		if flags2&NodemapFlags2.Bit("GSS_IDENTIFY") != 0 {
			add("gss_identify", "1")
		}
		add("map_mode", mapMode(flags))
		flag("readonly_mount", NodemapFlags2, "READONLY_MOUNT", flags2)
		decimal("squash_gid", nodemapClusterRec, "ncr_squash_gid")
		decimal("squash_projid", nodemapClusterRec, "ncr_squash_projid")
		decimal("squash_uid", nodemapClusterRec, "ncr_squash_uid")
		flag("trusted_nodemap", NodemapFlags, "TRUST_CLIENT_IDS", flags)
	case subid == NodemapSubid.Number("CLUSTER_ROLES"):
		add("rbac", nodemapNames(NodemapRbac, number(nodemapClusterRolesRec, "ncrr_roles")))
		add("child_raise_privileges", nodemapNames(NodemapRaisePrivs, number(nodemapClusterRolesRec, "ncrr_privs")))
	case subid == NodemapSubid.Number("CLUSTER_OFFSET"):
		for _, name := range []string{"start_uid", "limit_uid", "start_gid", "limit_gid", "start_projid", "limit_projid"} {
			decimal("offset."+name, nodemapOffsetRec, "nor_"+name)
		}
	case subid == NodemapSubid.Number("CLUSTER_CAPS"):
		kind := number(nodemapUserCapabilitiesRec, "nucr_type")
		text := strings.ToLower(NodemapCapType.Name(kind))
		if kind != NodemapCapType.Number("OFF") {
			text += ":" + string(AppendHex(nil, number(nodemapUserCapabilitiesRec, "nucr_caps")))
		}
		add("enable_cap_mask", text)
	case subid >= nodemapFileset:
		e.Fileset = &NodemapFileset{Number: uint32(subid/nodemapFilesetStep - nodemapFileset/nodemapFilesetStep)}
		if subid%nodemapFilesetStep == 0 {
			e.Fileset.ReadOnly = number(nodemapFilesetHeaderRec, "nfhr_flags")&NodemapFilesetFlags.Bit("READONLY") != 0
			return
		}
		e.Fileset.Path = string(TrimNUL(nodemapFilesetRec.Field("nfr_path_fragment").Bytes(rec)))
	}
}

// mapMode returns which ids a nodemap maps, in the words of nodemap.*.map_mode.
func mapMode(flags uint64) string {
	var list []string
	for _, id := range []string{"uid", "gid", "projid"} {
		if flags&NodemapFlags.Bit("MAP_"+strings.ToUpper(id)) != 0 {
			list = append(list, id)
		}
	}
	switch {
	case len(list) == 3:
		return "all"
	case slices.Equal(list, []string{"uid", "gid"}):
		return "both"
	}
	return strings.Join(list, ",")
}

// nodemapNames returns the names of bits as nodemap.*.rbac lists them.
func nodemapNames(names *Names, word uint64) string {
	var list []string
	rest := names.Set(word, func(v *Value) {
		name := strings.ToLower(v.Name)
		if v.Name == "IGN_ROOT_PRJQUOTA" {
			name = "ignore_root_prjquota"
		}
		list = append(list, name)
	})
	if rest != 0 {
		list = append(list, string(AppendHex(nil, rest)))
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ",")
}

var nkNodemap = nodemapKey.Field("nk_nodemap_id")

// RecoveryTable is the name of the variant of MGS_CONFIG_READ that reads where targets
// run now.
const RecoveryTable = "recover"

// RegisteredTarget returns the name of the target in an MGS_TARGET_REG.
func RegisteredTarget(m *Msg) (name []byte, ok bool) {
	name, _, ok = bytes.Cut(mtiSvname.Bytes(m.Buf(1)), []byte{0})
	return name, ok && len(name) > 0
}
