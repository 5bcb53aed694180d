package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

// The layouts in a few words, with the words of lfs getstripe.

func briefLov(v *View, dst []byte) []byte {
	dst = briefStripes(v, dst)
	if n := lovObjects(v); n > 0 {
		at := v.Type.Field("lmm_objects").Off
		if at >= 0 && len(v.Struct) >= at+lovObjectSize {
			dst = append(dst, ", stripe_offset "...)
			dst = strconv.AppendUint(dst, ReadUint(v.Struct[at+20:at+24], v.Big), 10)
		}
	} else if noObjectsYet(v) {
		dst = append(dst, ", no objects yet"...)
	}
	return briefPool(v, dst, "lmm_pool_name")
}

func briefUserLov(v *View, dst []byte) []byte {
	dst = briefStripes(v, dst)
	dst = append(dst, ", stripe_offset "...)
	dst = briefIndex16(dst, v.Uint(v.Type.Field("lmm_stripe_offset")))
	return briefPool(v, dst, "lmm_pool_name")
}

func briefStripes(v *View, dst []byte) []byte {
	count, size := v.Uint(v.Type.Field("lmm_stripe_count")), v.Uint(v.Type.Field("lmm_stripe_size"))
	what := ", stripe_size "
	if flags, ok := componentFlags(v); ok && flags&compExtension != 0 {
		count, size, what = 0, size*extensionUnit, ", extension_size "
	}
	dst = briefStripeCount(append(dst, "stripe_count "...), count)
	dst = append(dst, what...)
	dst = strconv.AppendUint(dst, size, 10)
	dst = append(dst, ", "...)
	return briefPattern(dst, v.Uint(v.Type.Field("lmm_pattern")))
}

// extensionUnit is what the stripe size of an extension counts in.
const extensionUnit = 1024

// patternWords are the patterns as lfs getstripe names them.
var patternWords = []struct {
	bit  uint64
	word string
}{
	{0x1, "raid0"}, {0x2, "raid1"}, {0x4, "parity"}, {0x100, "mdt"}, {0x200, "overstriped"}, {0x400, "foreign"},
	{0x800, "compress"}, {0x40000000, "hole"}, {0x80000000, "released"},
}

func briefPattern(dst []byte, pattern uint64) []byte {
	if pattern == 0 || pattern == 0xffffffff {
		return append(dst, "default"...)
	}
	comma := false
	for _, p := range patternWords {
		if pattern&p.bit == 0 {
			continue
		}
		if comma {
			dst = append(dst, ',')
		}
		dst, comma = append(dst, p.word...), true
		pattern &^= p.bit
	}
	if pattern != 0 {
		if comma {
			dst = append(dst, ',')
		}
		dst = AppendHex(dst, pattern)
	}
	return dst
}

// briefStripeCount shows the counts from 0xffe0 on as lfs does: -1 is all
// OSTs, -2 to -32 so many stripes on each.
func briefStripeCount(dst []byte, n uint64) []byte {
	if n >= lovManyStripes {
		return strconv.AppendInt(dst, int64(int16(n)), 10)
	}
	return strconv.AppendUint(dst, n, 10)
}

func briefIndex16(dst []byte, n uint64) []byte {
	if n == 0xffff {
		return append(dst, "-1"...)
	}
	return strconv.AppendUint(dst, n, 10)
}

func briefIndex(dst []byte, n uint32) []byte { return strconv.AppendInt(dst, int64(int32(n)), 10) }

// briefCount appends how many there are of what: "1 stripe", "2 stripes".
func briefCount(dst []byte, what string, n int32) []byte {
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(append(dst, ' '), what...)
	if n != 1 {
		dst = append(dst, 's')
	}
	return dst
}

func briefFlags(dst []byte, n *Names, word uint64) []byte {
	first := true
	rest := n.Set(word, func(v *Value) {
		if !first {
			dst = append(dst, ',')
		}
		dst, first = append(dst, v.Name...), false
	})
	if rest != 0 || first {
		if !first {
			dst = append(dst, ',')
		}
		dst = AppendHex(dst, rest)
	}
	return dst
}

func briefPool(v *View, dst []byte, field string) []byte {
	f, ok := v.Type.Lookup(field)
	if !ok {
		return dst
	}
	if pool := TrimNUL(f.Bytes(v.Struct)); len(pool) > 0 {
		dst = append(dst, ", pool "...)
		dst = append(dst, pool...)
	}
	return dst
}

func briefObject(v *View, dst []byte) []byte {
	if len(v.Struct) < lovObjectSize {
		return dst
	}
	dst = append(dst, "l_ost_idx "...)
	dst = strconv.AppendUint(dst, ReadUint(v.Struct[20:24], v.Big), 10)
	dst = append(dst, ", l_fid "...)
	return AppendOSTID(dst, v.Struct, v.Big, false)
}

func briefForeign(v *View, dst []byte) []byte {
	kind := uint64(0)
	if len(v.Struct) >= 12 {
		kind = ReadUint(v.Struct[8:12], v.Big)
	}
	if name := ForeignType.Name(kind); name != "" {
		dst = append(dst, name...)
	} else {
		dst = AppendHex(dst, kind)
	}
	if value, ok := v.Type.Lookup("lfm_value"); ok && len(v.Struct) > value.Off {
		n := min(value.Elements(v), len(v.Struct)-value.Off, maxForeignShown)
		dst = append(dst, ", "...)
		dst = append(dst, v.Struct[value.Off:value.Off+n]...)
	}
	return dst
}

// maxForeignShown is how much of a foreign value a line has room for.
const maxForeignShown = 64

// appendRange appends [start, end), with EOF for all ones.
func appendRange(dst []byte, start, end uint64) []byte {
	dst = strconv.AppendUint(append(dst, '['), start, 10)
	dst = append(dst, ", "...)
	if end == ^uint64(0) {
		return append(dst, "EOF)"...)
	}
	return append(strconv.AppendUint(dst, end, 10), ')')
}

func briefComponent(v *View, dst []byte) []byte {
	if len(v.Struct) < atCompOffset {
		return dst
	}
	dst = appendRange(dst, ReadUint(v.Struct[atCompStart:atCompStart+8], v.Big), ReadUint(v.Struct[atCompStart+8:atCompStart+16], v.Big))
	if flags := ReadUint(v.Struct[atCompFlags:atCompFlags+4], v.Big); flags != 0 {
		dst = append(dst, ", "...)
		dst = briefFlags(dst, LovCompEntryFlags, flags)
	}
	return dst
}

func briefComposite(v *View, dst []byte) []byte {
	if len(v.Struct) < 18 {
		return dst
	}
	dst = briefCount(dst, "component", int32(le16or(v.Struct[atCompCount:], v.Big)))
	if mirrors := le16or(v.Struct[16:], v.Big) + 1; mirrors > 1 {
		dst = append(dst, ", "...)
		dst = briefCount(dst, "mirror", int32(mirrors))
		if state := LovCompMdFlags.Name(le16or(v.Struct[12:], v.Big)); state != "" {
			dst = append(append(dst, ", "...), state...)
		}
	}
	return dst
}

// sketchLayout says in one or two words what a layout of the form f is, for
// summary lines.
func sketchLayout(dst []byte, f *Field, b []byte) []byte {
	v := View{Struct: b, Rest: b, Big: f.Type.Big(b, false), Type: f.Type}
	switch f {
	case formComp:
		return briefComposite(&v, dst)
	case formLmv, formUserLmv:
		return sketchStripes(&v, dst)
	case formForeign, formHsm, formLmvForeign:
		return append(dst, "foreign"...)
	}
	pattern := v.Uint(v.Type.Field("lmm_pattern"))
	dst = briefPattern(dst, pattern)
	if pattern&lovNoObjects == 0 {
		dst = append(dst, ' ')
		dst = briefStripeCount(dst, v.Uint(v.Type.Field("lmm_stripe_count")))
		dst = append(dst, 'x')
		dst = strconv.AppendUint(dst, v.Uint(v.Type.Field("lmm_stripe_size")), 10)
	}
	return briefPool(&v, dst, "lmm_pool_name")
}

// sketchStripes tells the number of stripes of a directory and their hash.
func sketchStripes(v *View, dst []byte) []byte {
	count, hash := "lum_stripe_count", "lum_hash_type"
	if v.Type.Name == "lmv_mds_md_v1" {
		count, hash = "lmv_stripe_count", "lmv_hash_type"
	}
	dst = briefCount(dst, "stripe", int32(v.Uint(v.Type.Field(count))))
	if word := v.Uint(v.Type.Field(hash)); word != 0 {
		dst = briefFlags(append(dst, ' '), lmvHashWord, word)
	}
	return dst
}

// The remarks behind single values.

func restUint(v *View, size int) (uint64, bool) {
	if len(v.Rest) < size {
		return 0, false
	}
	return ReadUint(v.Rest[:size], v.Big), true
}

func remarkStripeCount(v *View, dst []byte) []byte {
	if n, ok := restUint(v, 2); ok && n >= lovManyStripes {
		return briefStripeCount(dst, n)
	}
	return dst
}

func remarkStripeOffset(v *View, dst []byte) []byte {
	if n, ok := restUint(v, 2); ok && n == 0xffff {
		return append(dst, "any OST"...)
	}
	return dst
}

// remarkLayoutGen tells what the place of the generation holds in a component
// without objects: the OST to begin with.
func remarkLayoutGen(v *View, dst []byte) []byte {
	if n, ok := restUint(v, 2); ok && noObjectsYet(v) {
		return briefIndex16(append(dst, "stripe_offset "...), n)
	}
	return dst
}

func remarkExtensionSize(v *View, dst []byte) []byte {
	flags, ok := componentFlags(v)
	if n, there := restUint(v, 4); there && ok && flags&compExtension != 0 {
		return strconv.AppendUint(append(dst, "extension_size "...), n*extensionUnit, 10)
	}
	return dst
}

func remarkFileFID(v *View, dst []byte) []byte {
	if len(v.Rest) < 16 {
		return dst
	}
	return AppendFID(append(dst, "lmm_fid "...), ReadUint(v.Rest[8:16], v.Big), uint32(ReadUint(v.Rest[:8], v.Big)), 0)
}

func remarkMirror(v *View, dst []byte) []byte {
	if id, ok := restUint(v, 4); ok && id != 0 && id < 0x80000000 {
		return strconv.AppendUint(append(dst, "mirror "...), id>>16, 10)
	}
	return dst
}

func remarkMirrors(v *View, dst []byte) []byte {
	if n, ok := restUint(v, 2); ok {
		return briefCount(dst, "mirror", int32(n)+1)
	}
	return dst
}

func remarkCompression(v *View, dst []byte) []byte {
	n, ok := restUint(v, 1)
	if !ok || n == 0 {
		return dst
	}
	dst = strconv.AppendUint(append(dst, "level "...), n&15, 10)
	return strconv.AppendUint(append(dst, ", chunks of "...), 65536<<(n>>4), 10)
}
