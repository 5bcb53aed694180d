package opcodes

import (
	"strconv"
	"time"

	. "github.com/lshark/lshark/opcodes/schema"
)

// configVerbs are the names of config commands that differ from those of the
// constants.
var configVerbs = map[uint64]string{
	0xcf007: "mount_option",
	0xcf008: "del_mount_option",
	0xce032: "set_param",
	0xcf00f: "param",
}

const (
	lcfgAddUUID        = 0xcf005
	lcfgDelUUID        = 0xcf006
	lcfgSetTimeout     = 0xcf009
	lcfgSetLdlmTimeout = 0xce030
)

// configText puts a config record into one line: the command, the device and
// the arguments.
func configText(v *View, dst []byte) []byte {
	if len(v.Struct) < llogRecHdr.Size+lustreCfgFixed {
		return dst
	}
	b := v.Struct[llogRecHdr.Size:]
	big := lustreCfg.Big(b, v.Big)
	command := lcfgCommand.Uint(b, big)
	if command == lcfgMarker {
		return markerText(b, big, dst)
	}
	dst = appendVerb(dst, command)
	switch command {
	case lcfgAddUUID:
		return addUUIDText(b, big, dst)
	case lcfgDelUUID:
		if nid := lcfgNid.Uint(b, big); nid != 0 {
			dst = AppendNID4(append(dst, ' '), nid)
		}
	case lcfgSetTimeout, lcfgSetLdlmTimeout:
		dst = strconv.AppendUint(append(dst, ' '), lcfgNum.Uint(b, big), 10)
	}
	return appendArguments(dst, b, 0, big)
}

func appendVerb(dst []byte, command uint64) []byte {
	if verb := configVerbs[command]; verb != "" {
		return append(dst, verb...)
	}
	if name := LcfgCommand.Name(command); name != "" {
		return appendLower(dst, name)
	}
	return AppendHex(append(dst, "command "...), command)
}

func appendLower(dst []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// appendArguments appends the arguments from number first on that are not
// empty.
func appendArguments(dst, b []byte, first int, big bool) []byte {
	for i := first; i < int(min(lcfgBufcount.Uint(b, big), maxArguments)); i++ {
		if text := argumentText(b, i, big); len(text) > 0 {
			dst = append(append(dst, ' '), text...)
		}
	}
	return dst
}

func argumentText(b []byte, i int, big bool) []byte {
	off, size := argument(b, i, big)
	if off+size > len(b) || isDesc(b, i, size, big) {
		return nil
	}
	return TrimNUL(b[off : off+size])
}

// addUUIDText: the NID comes first; that of a large address is the text in the
// third argument.
func addUUIDText(b []byte, big bool, dst []byte) []byte {
	dst = append(dst, ' ')
	if text := argumentText(b, 2, big); len(text) > 0 {
		dst = append(dst, text...)
	} else {
		dst = AppendNID4(dst, lcfgNid.Uint(b, big))
	}
	for i := range 2 {
		if text := argumentText(b, i, big); len(text) > 0 {
			dst = append(append(dst, ' '), text...)
		}
	}
	return dst
}

// markerText: "marker 4 start lustre-OST0000 'lov setup' 2026-11-21 08:06:41".
func markerText(b []byte, big bool, dst []byte) []byte {
	off, size := argument(b, 1, big)
	if off == 0 || off+size > len(b) || size < cfgMarker32.Size {
		return append(dst, "marker"...)
	}
	s := cfgMarker
	if size == cfgMarker32.Size {
		s = cfgMarker32
	}
	m := b[off : off+size]
	dst = strconv.AppendUint(append(dst, "marker "...), s.Field("cm_step").Uint(m, big), 10)
	flags := s.Field("cm_flags").Uint(m, big)
	for i := range CfgMarkerFlags.Values {
		if f := &CfgMarkerFlags.Values[i]; !f.Alias && flags&f.Value != 0 {
			dst = appendLower(append(dst, ' '), f.Name)
		}
	}
	dst = append(append(dst, ' '), TrimNUL(s.Field("cm_tgtname").Bytes(m))...)
	dst = append(append(dst, " '"...), TrimNUL(s.Field("cm_comment").Bytes(m))...)
	dst = append(dst, "' "...)
	created := time.Unix(int64(s.Field("cm_createtime").Uint(m, big)), 0).UTC()
	return created.AppendFormat(dst, "2006-01-02 15:04:05")
}
