package values

import (
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

type treatment struct {
	class Class

	// write writes the value, or its replacement, into v.out, which is zero before; nil:
	// the value is removed.
	write func(w *writer, v *value)
}

type value struct {
	in, out []byte // as captured, and where its replacement goes; of the same length
	big     bool   // integers are big-endian
	index   int    // in its list, or -1
}

func (v *value) uint() uint64 { return schema.ReadUint(v.in, v.big) }

func (v *value) put(x uint64) {
	for i := range v.out {
		shift := 8 * i
		if v.big {
			shift = 8 * (len(v.out) - 1 - i)
		}
		v.out[i] = byte(x >> shift)
	}
}

var (
	keep    = &treatment{Harmless, func(_ *writer, v *value) { copy(v.out, v.in) }}
	remove  = &treatment{Data, nil}
	replID  = &treatment{Identity, func(w *writer, v *value) { v.put(w.p.ID(v.uint())) }}
	nid4    = &treatment{Address, func(w *writer, v *value) { v.put(w.p.nid4(v.uint())) }}
	nid16   = &treatment{Address, func(w *writer, v *value) { w.p.nid16(v.out, v.in) }}
	ipv4    = &treatment{Address, func(w *writer, v *value) { v.put(w.p.ipv4Number(v.uint())) }}
	gid     = &treatment{Address, func(w *writer, v *value) { w.p.gid(v.out, v.in) }}
	nidText = text(Address, (*Mapper).nidText)

	fileName  = text(Name, (*Mapper).fileName)
	path      = text(Name, (*Mapper).path)
	device    = text(Name, (*Mapper).device)
	plainWord = text(Name, (*Mapper).plainWord)
	job       = text(Name, (*Mapper).job)
	params    = text(Name, (*Mapper).params)
	comment   = text(Name, (*Mapper).comment)
	xattrName = text(Name, (*Mapper).xattrName)
	xattrText = text(Name, (*Mapper).xattrText)
	xattrs    = &treatment{Name, writeXattrs}
	keyword   = &treatment{Harmless, keepKeyword}
)

func text(c Class, replacement func(*Mapper, []byte) string) *treatment {
	return &treatment{c, func(w *writer, v *value) { w.putText(v.out, schema.TrimNUL(v.in), replacement) }}
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

// ofClass are the treatments of classes: those of texts, where a class has numbers, too.
var ofClass = [schema.NumClasses]*treatment{
	schema.Harmless:      keep,
	schema.Removed:       remove,
	schema.UserID:        replID,
	schema.Address:       nidText,
	schema.FileName:      fileName,
	schema.FilePath:      path,
	schema.TargetName:    device,
	schema.PlainName:     plainWord,
	schema.JobName:       job,
	schema.ConfigParams:  params,
	schema.ConfigComment: comment,
	schema.XattrName:     xattrName,
	schema.XattrText:     xattrText,
	schema.Keyword:       keyword,
}

// treatment returns that of a field.
func (p *Mapper) treatment(f *schema.Field) *treatment {
	if t := p.dependent[f]; t != nil {
		return t
	}
	switch {
	case f.Class == schema.XattrName && f.Kind == schema.Strings:
		return xattrs
	case f.Class != schema.Address || f.Kind == schema.Text:
		return ofClass[f.Class]
	case f.Kind == schema.Record:
		return nid16
	case f.Kind == schema.Bytes:
		return gid
	case f.Format == schema.IPv4:
		return ipv4
	}
	return nid4
}

// fieldKey identifies a field: the struct, empty for buffers of RPCs, and the name, which is also
// that of its elements and members without one.
type fieldKey struct{ in, name string }

// dependentNumbers and dependentTexts are the treatments of fields that depend on other values
// of the message, and of those that they depend on.
var (
	dependentNumbers = map[fieldKey]*treatment{
		{"kib_msg", "ibm_cksum"}:          transportSum,
		{"ksock_msg_hdr", "ksh_csum"}:     transportSum,
		{"ldlm_resource_desc", "lr_type"}: lockKind,
		{"lustre_cfg", "lcfg_command"}:    command,
		{"lustre_msg_v2", "lm_cksum"}:     messageSum,
		{"obd_dqblk", "dqb_curinodes"}:    listedID,
		{"obd_quotactl", "qc_cmd"}:        quotaCommand,
		{"obdo", "o_cksum"}:               dataSum,
		{"object_update", "ou_type"}:      updateKind,
		{"update_op", "uop_type"}:         loggedUpdate,
	}
	dependentTexts = map[fieldKey]*treatment{
		{"", "name"}:                         entryName,
		{"lustre_cfg", "lcfg_bufs"}:          argument,
		{"netobj_s", "data"}:                 handle,
		{"object_update_param", "oup_buf"}:   updateParam,
		{"object_update_result", "our_data"}: xattrs,
	}
)

// dependentFields returns the treatments of these fields.
func dependentFields() map[*schema.Field]*treatment {
	fields := make(map[*schema.Field]*treatment)
	var add func(key fieldKey, f *schema.Field)
	add = func(key fieldKey, f *schema.Field) {
		switch f.Kind {
		case schema.Uint, schema.Int:
			if t := dependentNumbers[key]; t != nil {
				fields[f] = t
			}
		case schema.Bytes, schema.Text, schema.Strings:
			if t := dependentTexts[key]; t != nil {
				fields[f] = t
			}
		case schema.Array:
			add(key, f.Elem)
		case schema.List, schema.Union:
			for _, o := range f.Options {
				if o.Name != "" {
					continue
				}
				if f.Kind == schema.Union {
					o = f.Option(o)
				}
				add(key, o)
			}
		}
	}
	field := func(in *schema.Struct, f *schema.Field) {
		key := fieldKey{"", f.Name}
		if in != nil {
			key.in = in.Name
		}
		add(key, f)
	}
	opcodes.Protocol.EachField(field)
	for _, s := range []*schema.Struct{opcodes.KibMsg, opcodes.KibConnect} { // copies of kib_msg
		for _, f := range s.Resolve().Fields {
			field(s, f)
		}
	}
	return fields
}
