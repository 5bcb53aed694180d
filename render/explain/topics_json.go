package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

type topicJSON struct {
	Kind    string        `json:"kind"`
	Name    string        `json:"name"`
	Opcode  *uint32       `json:"opcode,omitempty"`
	Group   string        `json:"group,omitempty"`
	Short   string        `json:"short,omitempty"`
	Type    string        `json:"type,omitempty"`
	Unit    string        `json:"unit,omitempty"`
	Value   string        `json:"value,omitempty"`
	Mask    string        `json:"mask,omitempty"`
	Size    int           `json:"size,omitempty"`
	Open    bool          `json:"open,omitempty"`
	Shorter []int         `json:"shorter,omitempty"`
	Order   string        `json:"order,omitempty"`
	Prefix  string        `json:"prefix,omitempty"`
	Since   string        `json:"since,omitempty"`
	Retired bool          `json:"retired,omitempty"`
	OneWay  bool          `json:"one_way,omitempty"`
	Meaning string        `json:"meaning,omitempty"`
	Fields  []fieldJSON   `json:"fields,omitempty"`
	Values  []topicJSON   `json:"values,omitempty"`
	Forms   []variantJSON `json:"variants,omitempty"`
	Options []string      `json:"options,omitempty"`
	In      []string      `json:"in,omitempty"`
}

type fieldJSON struct {
	In      string   `json:"in,omitempty"`
	Name    string   `json:"name"`
	Offset  *int     `json:"offset,omitempty"`
	Size    int      `json:"size,omitempty"`
	Type    string   `json:"type,omitempty"`
	Since   string   `json:"since,omitempty"`
	Names   string   `json:"names,omitempty"`
	Forms   []string `json:"options,omitempty"`
	When    []string `json:"when,omitempty"` // one of the bits must be set
	Over    string   `json:"over,omitempty"`
	CountBy string   `json:"count_by,omitempty"`
	Meaning string   `json:"meaning,omitempty"`
}

type variantJSON struct {
	Operation string      `json:"operation,omitempty"` // of a request format
	Name      string      `json:"name"`
	Request   []fieldJSON `json:"request"`
	Reply     []fieldJSON `json:"reply"`
	Bulk      *bulkJSON   `json:"bulk,omitempty"`
}

type bulkJSON struct {
	Portal uint32 `json:"portal"`
	From   string `json:"from"`
	Type   string `json:"type,omitempty"`
}

// AppendKeyJSON appends a key, a code or a column as an object on a line.
func (e *Topics) AppendKeyJSON(dst []byte, k *records.Entry) []byte {
	return appendObject(dst, topicJSON{Kind: string(k.Kind), Name: k.Name, Type: k.TypeText(), Unit: string(k.Unit),
		In: []string{k.Of}, Meaning: k.Doc})
}

// AppendTopicJSON appends a topic as an object on a line.
func (e *Topics) AppendTopicJSON(dst []byte, t *schema.Topic) []byte {
	var j topicJSON
	switch {
	case t.Struct != nil:
		j = e.structJSON(t.Struct)
	case t.Value != nil:
		j = valueJSON(t.Group, t.Value)
		j.Group = t.Group.Group
		j.In = placeNames(e.index.Users(t.Group))
	case t.Group != nil:
		j = topicJSON{Kind: "enum", Name: t.Group.Group, Prefix: t.Group.Prefix, Meaning: t.Group.Doc}
		if t.Group.Flags {
			j.Kind = "flags"
		}
		for _, v := range t.Group.Values {
			j.Values = append(j.Values, valueJSON(t.Group, &v))
		}
		j.In = placeNames(e.index.Users(t.Group))
	case t.Text != nil:
		j = topicJSON{Kind: "name", Name: t.Text.Name, Value: t.Text.Value, Since: string(t.Text.Since), Meaning: t.Text.Doc,
			Options: optionNames(t.Text.Forms)}
	case t.Header != nil:
		j = topicJSON{Kind: "constant", Name: t.Header.Name, Group: t.Header.Of, Value: t.Header.Value, Meaning: t.Header.Doc,
			In: []string{t.Header.Header}, Options: headerFieldNames(t.Header)}
		if f := t.HeaderField; f != nil && f.Size > 0 {
			j = topicJSON{Kind: "field", Name: f.Name, Meaning: f.Doc, In: j.In,
				Fields: []fieldJSON{{In: t.Header.Name, Name: f.Name, Offset: &f.Offset, Size: f.Size}}}
		} else if t.Header.Struct {
			j.Kind = "struct"
		} else if t.Header.Alias {
			j.Kind = "name"
		}
	case t.Term != nil:
		j = topicJSON{Kind: "term", Name: t.Term.Name, Short: t.Term.Long, Meaning: t.Term.Doc, In: t.Term.See}
	case t.Number != nil:
		j = numberJSON(t.Number)
	case t.Flags != nil:
		j = topicJSON{Kind: "flags", Name: t.Flags.Group.Group, Value: fmt.Sprintf("%#x", t.Flags.Word()),
			Values: valuesJSON(t.Flags.Group, t.Flags.Values), In: placeNames(e.index.Users(t.Flags.Group))}
	case t.Format != nil:
		j = formatJSON(t.Format)
	case t.RPC != nil:
		j = topicJSON{Kind: "operation", Name: t.RPC.Name, Opcode: &t.RPC.Opcode, Since: string(t.RPC.Since), Retired: t.RPC.Retired, OneWay: t.RPC.OneWay,
			Meaning: t.RPC.Doc, Forms: variantsJSON(t.RPC.Variants)}
	default:
		j = topicJSON{Kind: "field", Name: t.Field}
		if t.Buffer != nil {
			j = topicJSON{Kind: "buffer", Name: t.Buffer.Name, Short: t.Buffer.Buffer, Type: t.Buffer.Struct}
		}
		for _, p := range t.Places {
			f := describeField(p.Field, opcodes.StructNamed(p.In) != nil)
			f.In = p.In
			j.Fields = append(j.Fields, f)
		}
	}
	return appendObject(dst, j)
}

func appendObject(dst []byte, v any) []byte {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // no value of these types has no JSON
	}
	return b.Bytes()
}

func (e *Topics) structJSON(s *schema.Struct) topicJSON {
	_, order := structOrder(s)
	j := topicJSON{Kind: "struct", Name: s.Name, Size: s.Size, Open: s.Open, Shorter: s.Shorter, Order: order,
		Since: string(s.Since), Meaning: s.Doc, In: placeNames(e.index.Holders(s))}
	j.Fields = fieldsJSON(s.Fields, true)
	return j
}

func valueJSON(g *schema.Names, v *schema.Value) topicJSON {
	j := topicJSON{Kind: "value", Name: g.Full(*v), Short: v.Name, Value: fmt.Sprintf("%#x", v.Value),
		Since: string(v.Since), Meaning: v.Doc}
	if g.Signed && int64(v.Value) < 0 {
		j.Value = strconv.FormatInt(int64(v.Value), 10)
	}
	if g.Flags {
		j.Kind, j.Mask = "flag", fmt.Sprintf("%#x", v.Bits())
	}
	return j
}

func valuesJSON(g *schema.Names, values []*schema.Value) (list []topicJSON) {
	for _, v := range values {
		j := valueJSON(g, v)
		j.Group = g.Group
		list = append(list, j)
	}
	return list
}

func numberJSON(n *schema.NamedNumber) topicJSON {
	j := topicJSON{Kind: "number", Name: n.Text, Value: fmt.Sprintf("%#x", n.Value)}
	for i := range n.Uses {
		j.Values = append(j.Values, valuesJSON(n.Uses[i].Group, n.Uses[i].Values)...)
	}
	return j
}

func formatJSON(f *schema.RequestFormat) topicJSON {
	j := topicJSON{Kind: "request format", Name: f.Name, Meaning: f.Doc}
	for _, u := range opcodes.Protocol.Uses(f) {
		for _, v := range variantsJSON(u.Variants) {
			v.Operation = u.RPC.Name
			j.Forms = append(j.Forms, v)
		}
	}
	return j
}

func variantsJSON(variants []*schema.Variant) (list []variantJSON) {
	for _, v := range variants {
		form := variantJSON{Name: v.Name, Request: fieldsJSON(v.Request, false), Reply: fieldsJSON(v.Reply, false)}
		if b := v.Bulk; b != nil {
			form.Bulk = &bulkJSON{Portal: b.Portal, From: "server"}
			if b.Get {
				form.Bulk.From = "client"
			}
			if b.Type != nil {
				form.Bulk.Type = b.Type.Name
			}
		}
		list = append(list, form)
	}
	return list
}

func fieldsJSON(fields []*schema.Field, placed bool) []fieldJSON {
	list := []fieldJSON{}
	for _, f := range fields {
		list = append(list, describeField(f, placed))
	}
	return list
}

func describeField(f *schema.Field, placed bool) fieldJSON {
	j := fieldJSON{Name: f.Name, Size: f.Size, Type: f.TypeText(), Since: string(f.Since), Over: f.OverlaidField(),
		CountBy: f.CountBy, Meaning: f.Doc, Forms: optionNames(f.Options)}
	if placed && offsetText(f) != "-" {
		j.Offset = &f.Off
	}
	if g := f.Group(); g != nil {
		j.Names = g.Group
	}
	for _, c := range f.When {
		for _, b := range c.Bits {
			j.When = append(j.When, c.Field+"."+b)
		}
	}
	return j
}
