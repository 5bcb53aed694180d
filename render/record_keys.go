package render

import (
	"sort"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
)

// RecordKeys lists the names that every record has besides those of the wire.
func RecordKeys() []string {
	var names []string
	for name := range recordKeys {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// recordKeys are the keys of a record that are not fields of the wire.
var recordKeys = map[string]func(f *Fields, dst []byte, m *dissect.Message, at Moment) []byte{
	"frame": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte {
		return strconv.AppendInt(dst, m.Frame, 10)
	},
	"time": func(f *Fields, dst []byte, m *dissect.Message, _ Moment) []byte { return f.stamp.iso(dst, m.Time) },
	"rel": func(_ *Fields, dst []byte, m *dissect.Message, at Moment) []byte {
		return appendElapsed(dst, m.Time-at.First, 9)
	},
	"conn": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte {
		return strconv.AppendInt(dst, int64(m.Conn), 10)
	},
	"src": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte { return m.Src.AppendTo(dst) },
	"dst": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte { return m.Dst.AppendTo(dst) },
	"kind": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte {
		return append(dst, m.Kind.String()...)
	},
	"opcode": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte {
		if !m.RPC.HasOpcode {
			return dst
		}
		return appendOpcode(dst, m.RPC.Opcode)
	},
	"xid": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte {
		if !m.RPC.HasXID {
			return dst
		}
		return strconv.AppendUint(dst, m.RPC.XID, 10)
	},
	"variant": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte {
		if m.RPC.Variant == nil {
			return dst
		}
		return append(dst, m.RPC.Variant.Name...)
	},
	"status": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte {
		if m.Kind != lnet.Reply || !m.RPC.HasOpcode {
			return dst
		}
		return strconv.AppendInt(dst, int64(m.RPC.Status), 10)
	},
	"error": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte {
		if m.Kind != lnet.Reply || m.RPC.Status >= 0 {
			return dst
		}
		return appendErrno(dst, m.RPC.Status)
	},
	"latency": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte {
		if m.Kind != lnet.Reply || m.Req == nil || m.Req.Frame == 0 {
			return dst
		}
		return appendElapsed(dst, m.Time-m.Req.Time, 9)
	},
	"bytes": func(_ *Fields, dst []byte, m *dissect.Message, _ Moment) []byte {
		return strconv.AppendInt(dst, int64(m.RPC.Bytes), 10)
	},
	"notes": func(f *Fields, dst []byte, _ *dissect.Message, _ Moment) []byte {
		for i := range f.tree.Notes {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, f.tree.Notes[i].Code...)
		}
		return dst
	},
}

// appendOpcode appends the name of an operation, or its number.
func appendOpcode(dst []byte, opc uint32) []byte {
	if name := opcodes.Opcodes.Name(uint64(opc)); name != "" {
		return append(dst, name...)
	}
	return strconv.AppendUint(dst, uint64(opc), 10)
}
