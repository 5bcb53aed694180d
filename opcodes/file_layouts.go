package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

// FileLayout returns the layout that a message brings of a file, with its objects,
// or of a striped directory; nil when it brings none. The default layouts of
// directories are left out.
func FileLayout(m *Msg) []byte {
	var b []byte
	switch {
	case !m.Reply && m.Opcode != LDLM_CP_CALLBACK:
		return nil
	case m.Opcode == LDLM_CP_CALLBACK, m.Opcode == LDLM_ENQUEUE && requestLock(m.Buf(1), m.Big).kind() == InodeLock && len(m.Bufs) == 3:
		b = m.Buf(2)
	default:
		if b = m.Named("mdt_md"); mdValid(m)&mdLinkname != 0 || userWrote(m) {
			return nil
		}
	}
	return wholeLayout(b)
}

// wholeLayout returns b when it is the layout of a file or directory, and all of its
// components were captured; else nil.
func wholeLayout(b []byte) []byte {
	switch f := layoutForm(b, false); f {
	case formComp:
		if len(b) < f.Type.Size || uint64(len(b)) < lovCompMdV1.Field("lcm_size").Uint(b, f.Type.Big(b, false)) {
			return nil
		}
		return b
	case formLovV1, formLovV3, formForeign, formHsm, formLmv, formLmvForeign:
		if len(b) >= f.Type.Size {
			return b
		}
	}
	return nil
}

// LayoutObject is an object in the layout of a file.
type LayoutObject struct {
	Object ObjectID
	OST    uint32 // index
	Striping
}

// LayoutObjects calls f with each object of a layout, until f returns false.
func LayoutObjects(b []byte, f func(LayoutObject) bool) {
	if layoutForm(b, false) != formComp {
		componentObjects(b, 0, 0, f)
		return
	}
	big := formComp.Type.Big(b, false)
	for i := range components(b, big) {
		entry := b[lovCompMdV1.Size+i*lovCompMdEntryV1.Size:]
		off, size := layoutRange(entry, big)
		if lcmeFlags.Uint(entry, big)&compInit == 0 || off > len(b) || size > len(b)-off {
			continue
		}
		if !componentObjects(b[off:off+size], uint32(lcmeID.Uint(entry, big)), extentStart.Uint(lcmeExtent.Bytes(entry), big), f) {
			return
		}
	}
}

// LayoutOSTs calls f with the FID of each object in the layouts of files that a reply
// or completion callback has, and the index of its OST.
func LayoutOSTs(m *Msg, f func(object FileID, ost uint32)) {
	if !m.Reply && m.Opcode != LDLM_CP_CALLBACK {
		return
	}
	for i := 1; i < len(m.Bufs); i++ {
		b := m.Bufs[i]
		switch layoutMagic(b) {
		case lovMagicV1, lovMagicV3:
			if userWrote(m) {
				continue
			}
		case lovMagicComp:
		default:
			continue
		}
		LayoutObjects(b, func(o LayoutObject) bool {
			if o.Object.FID != (FileID{}) {
				f(o.Object.FID, o.OST)
			}
			return true
		})
	}
}

var lcmeID = lovCompMdEntryV1.Field("lcme_id")

// components returns the number of components of a composite layout whose entries
// were captured.
func components(b []byte, big bool) int {
	if len(b) < lovCompMdV1.Size {
		return 0
	}
	return min(int(lcmEntryCount.Uint(b, big)), (len(b)-lovCompMdV1.Size)/lovCompMdEntryV1.Size)
}

// componentObjects calls f with each object of a layout that is not composite, or of
// a component with the id that begins at a byte of the file, until f returns false,
// which it returns then.
func componentObjects(b []byte, id uint32, start uint64, f func(LayoutObject) bool) bool {
	form := plainForm(b, false)
	if form != formLovV1 && form != formLovV3 || len(b) < form.Type.Size {
		return true
	}
	big := form.Type.Big(b, false)
	count := form.Type.Field("lmm_stripe_count").Uint(b, big)
	if form.Type.Field("lmm_pattern").Uint(b, big)&lovNoObjects != 0 || count >= lovManyStripes {
		return true
	}
	o := LayoutObject{Striping: Striping{Size: uint32(form.Type.Field("lmm_stripe_size").Uint(b, big)), Count: uint32(count), Component: id,
		Start: start}}
	b = b[form.Type.Field("lmm_objects").Off:]
	for i := range count {
		if len(b) < lovOstDataV1.Size {
			return true
		}
		o.Object, o.OST, o.Index = objectID(b, big), uint32(lOstIdx.Uint(b, big)), uint32(i)
		if o.Object != (ObjectID{}) && !f(o) {
			return false
		}
		b = b[lovOstDataV1.Size:]
	}
	return true
}

// DirectoryStripes calls f with the FID of each stripe in the layout of a
// directory.
func DirectoryStripes(b []byte, f func(stripe FileID)) {
	if layoutForm(b, false) != formLmv {
		return
	}
	big := littleLayout(b, false)
	v := View{Struct: b, Rest: b, Big: big, Type: lmvMdsMdV1}
	b = b[min(len(b), lmvMdsMdV1.Field("lmv_stripe_fids").Off):]
	for range min(lmvStripes(&v), len(b)/fidSize) {
		if stripe := fileID(b, big); stripe != (FileID{}) {
			f(stripe)
		}
		b = b[fidSize:]
	}
}

const maxComponentsShown = 8

// AppendLayout appends a layout in one line: raid0 2x1048576, mirrors and
// components with their ranges.
func AppendLayout(dst, b []byte) []byte {
	f := layoutForm(b, false)
	if f == nil || len(b) < f.Type.Size {
		return dst
	}
	if f != formComp {
		return appendLayoutBrief(dst, f, b)
	}
	big := f.Type.Big(b, false)
	n := components(b, big)
	for i := range n {
		if i > 0 {
			dst = append(dst, "; "...)
		}
		if i == maxComponentsShown {
			dst = strconv.AppendInt(dst, int64(n-i), 10)
			return append(dst, " more components"...)
		}
		dst = appendComponent(dst, b, b[lovCompMdV1.Size+i*lovCompMdEntryV1.Size:], big)
	}
	return dst
}

func appendComponent(dst, layout, entry []byte, big bool) []byte {
	if mirrors := lcmMirrorCount.Uint(layout, big) + 1; mirrors > 1 {
		dst = strconv.AppendUint(append(dst, "mirror "...), lcmeID.Uint(entry, big)>>16, 10)
		dst = append(dst, ' ')
	}
	extent := lcmeExtent.Bytes(entry)
	dst = appendRange(dst, extentStart.Uint(extent, big), extentEnd.Uint(extent, big))
	flags := lcmeFlags.Uint(entry, big)
	off, size := layoutRange(entry, big)
	if off <= len(layout) && size <= len(layout)-off {
		b := layout[off : off+size]
		if f := plainForm(b, false); f != nil && len(b) >= f.Type.Size {
			dst = append(dst, ' ')
			if flags&compExtension != 0 {
				dst = append(dst, "extension"...)
			} else {
				dst = appendLayoutBrief(dst, f, b)
			}
		}
	}
	if shown := flags &^ (compInit | compExtension); shown != 0 {
		dst = briefFlags(append(dst, ' '), LovCompEntryFlags, shown)
	}
	return dst
}
