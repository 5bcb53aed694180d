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
	nidText = &treatment{Address, text((*names).nidText)}

	fileName  = &treatment{Name, text((*names).fileName)}
	path      = &treatment{Name, text((*names).path)}
	device    = &treatment{Name, text((*names).device)}
	plainWord = &treatment{Name, text((*names).plainWord)}
	job       = &treatment{Name, text((*names).job)}
	params    = &treatment{Name, text(configText(config.params))}
	comment   = &treatment{Name, text(configText(config.comment))}
	xattrName = &treatment{Name, text((*names).xattrName)}
	xattrText = &treatment{Name, text((*names).xattrText)}
	xattrs    = &treatment{Name, texts((*names).xattrName)}
	keyword   = &treatment{Harmless, keepKeyword}

	// These depend on other values of the message.
	entryName   = &treatment{Name, (*writer).entryName}
	updateParam = &treatment{Name, (*writer).updateParam}
	argument    = &treatment{Name, (*writer).argument}
	resource    = &treatment{Name, (*writer).resource}
	listedID    = &treatment{Identity, (*writer).listedID}
	handle      = &treatment{Harmless, keepHandle}
)

func text(replacement func(*names, []byte) string) func(*writer, *value) {
	return func(w *writer, v *value) { v.putText(schema.TrimNUL(v.in), replacement, w.p.names) }
}

func configText(replacement func(config, []byte) string) func(*names, []byte) string {
	return func(p *names, text []byte) string { return replacement(config{p}, text) }
}

// putText writes the replacement of a text, which must be as long.
func (v *value) putText(text []byte, replacement func(*names, []byte) string, p *names) {
	if len(text) == 0 {
		return
	}
	if r := replacement(p, text); len(r) == len(text) {
		copy(v.out, r)
	}
}

// texts returns a func that writes the replacements of texts with a NUL behind each.
func texts(replacement func(*names, []byte) string) func(*writer, *value) {
	return func(w *writer, v *value) {
		for at := 0; at < len(v.in); {
			name := schema.TrimNUL(v.in[at:])
			part := value{out: v.out[at : at+len(name)]}
			part.putText(name, replacement, w.p.names)
			at += len(name) + 1
		}
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

// byClass returns the treatment of a field that does not depend on other values.
func byClass(f *schema.Field) *treatment {
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

// fieldKey identifies a field where it occurs: the struct, empty for buffers of RPCs, and the
// name, which is that of the union for its members without one.
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

type fieldTable struct {
	options map[*schema.Field]string // members of unions by the names they are declared with
	known   map[fieldUse]*treatment

	resource *schema.Struct // ldlm_res_id, which is replaced as a whole
}

// fieldUse is a field as part of a struct; of buffers the struct is nil.
type fieldUse struct {
	field *schema.Field
	in    *schema.Struct
}

func newFieldTable() *fieldTable {
	t := &fieldTable{
		options:  make(map[*schema.Field]string),
		known:    make(map[fieldUse]*treatment),
		resource: opcodes.StructNamed("ldlm_res_id"),
	}
	opcodes.Protocol.EachField(func(_ *schema.Struct, f *schema.Field) {
		for _, o := range f.Options {
			if f.Kind == schema.Union && o.Name != "" {
				t.options[f.Option(o)] = o.Name
			}
		}
	})
	return t
}

// of returns the treatment of a field of a struct. name is that of the field or, if it has none,
// of the array or list around it.
func (t *fieldTable) of(in *schema.Struct, name string, f *schema.Field) *treatment {
	use := fieldUse{f, in}
	r, ok := t.known[use]
	if !ok {
		r = t.find(in, name, f)
		if len(t.known) < maxKnown {
			t.known[use] = r
		}
	}
	return r
}

// maxKnown is how many treatments are kept. It is more than there are declared fields, but a
// tree may also have fields that were made for one message.
const maxKnown = 1 << 14

func (t *fieldTable) find(in *schema.Struct, name string, f *schema.Field) *treatment {
	key := fieldKey{"", name}
	if in != nil {
		key.in = in.Name
	}
	if option := t.options[f]; option != "" {
		key.name = option
	}
	var r *treatment
	switch f.Kind {
	case schema.Uint, schema.Int:
		r = dependentNumbers[key]
	case schema.Bytes, schema.Text, schema.Strings:
		r = dependentTexts[key]
	}
	if r == nil {
		r = byClass(f)
	}
	return r
}
