package values

import (
	"github.com/lshark/lshark/opcodes/schema"
)

// treatment writes a value, or its replacement, into v.out, which is zero before; nil: the value
// is removed.
type treatment func(w *writer, v *value)

type value struct {
	in, out []byte // as captured, and where its replacement goes; of the same length
	big     bool   // integers are big-endian
}

func (v *value) uint() uint64 { return schema.ReadUint(v.in, v.big) }

func (v *value) put(x uint64) { schema.PutUint(v.out, x, v.big) }

func text(replacement func(*Mapper, []byte) string) treatment {
	return func(w *writer, v *value) { w.putText(v.out, schema.TrimNUL(v.in), replacement) }
}

// putText writes the replacement of a text, which must be as long.
func (w *writer) putText(out, text []byte, replacement func(*Mapper, []byte) string) {
	if len(text) == 0 {
		return
	}
	if r := replacement(w.p, text); len(r) == len(text) {
		copy(out, r)
	}
}

// writeXattrs writes names with a NUL behind each.
func writeXattrs(w *writer, v *value) {
	for at := 0; at < len(v.in); {
		name := schema.TrimNUL(v.in[at:])
		w.putText(v.out[at:], name, (*Mapper).xattrName)
		at += len(name) + 1
	}
}

// ofClass are the treatments of classes: of addresses, those as text.
var ofClass = [schema.NumClasses]treatment{
	schema.Harmless:        func(_ *writer, v *value) { copy(v.out, v.in) },
	schema.Keyword:         keepKeyword,
	schema.ContextHandle:   keepHandle,
	schema.DataSum:         func(w *writer, v *value) { w.dataSum = *v },
	schema.MessageSum:      (*writer).messageSum,
	schema.TransportSum:    (*writer).keepTransportSum,
	schema.UserID:          func(w *writer, v *value) { v.put(w.p.ID(v.uint())) },
	schema.InodesOrID:      (*writer).inodesOrID,
	schema.Address:         text((*Mapper).nidText),
	schema.FileName:        text((*Mapper).fileName),
	schema.EntryName:       (*writer).entryName,
	schema.FilePath:        text((*Mapper).path),
	schema.TargetName:      text((*Mapper).device),
	schema.PlainName:       text((*Mapper).plainWord),
	schema.JobName:         text((*Mapper).job),
	schema.ConfigParams:    text((*Mapper).params),
	schema.ConfigComment:   text((*Mapper).comment),
	schema.CommandArgument: (*writer).argument,
	schema.XattrName:       text((*Mapper).xattrName),
}

// treatmentOf returns the treatment of a field.
func treatmentOf(f *schema.Field) treatment {
	switch {
	case f.Class == schema.XattrName && f.Kind == schema.Strings:
		return writeXattrs
	case f.Class != schema.Address || f.Kind == schema.Text:
		return ofClass[f.Class]
	case f.Kind == schema.Record:
		return func(w *writer, v *value) { w.p.nid16(v.out, v.in) }
	case f.Kind == schema.Bytes:
		return func(w *writer, v *value) {
			if len(v.in) == 16 {
				copy(v.out, v.in)
				w.p.GID(v.out)
			}
		}
	case f.Format == schema.IPv4:
		return func(w *writer, v *value) { v.put(w.p.ipv4Number(v.uint())) }
	}
	return func(w *writer, v *value) { v.put(w.p.NID4(v.uint())) }
}
