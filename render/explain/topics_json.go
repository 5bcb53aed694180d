package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/lshark/lshark/opcodes/schema"
)

type topicJSON struct {
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	Opcode     *uint32         `json:"opcode,omitempty"`
	Group      string          `json:"group,omitempty"`
	Short      string          `json:"short,omitempty"`
	Type       string          `json:"type,omitempty"`
	Unit       string          `json:"unit,omitempty"`
	Value      string          `json:"value,omitempty"`
	Mask       string          `json:"mask,omitempty"`
	Size       int             `json:"size,omitempty"`
	Open       bool            `json:"open,omitempty"`
	Shorter    []int           `json:"shorter,omitempty"`
	Order      string          `json:"order,omitempty"`
	Prefix     string          `json:"prefix,omitempty"`
	Since      string          `json:"since,omitempty"`
	Retired    bool            `json:"retired,omitempty"`
	OneWay     bool            `json:"one_way,omitempty"`
	Severity   string          `json:"severity,omitempty"`
	Summary    string          `json:"summary,omitempty"`
	Meaning    string          `json:"meaning,omitempty"`
	Limits     string          `json:"limits,omitempty"`
	Next       string          `json:"next,omitempty"`
	Thresholds []thresholdJSON `json:"thresholds,omitempty"`
	Fields     []fieldJSON     `json:"fields,omitempty"`
	Values     []topicJSON     `json:"values,omitempty"`
	Forms      []variantJSON   `json:"variants,omitempty"`
	Options    []string        `json:"options,omitempty"`
	In         []string        `json:"in,omitempty"`
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

type thresholdJSON struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Reason string  `json:"reason"`
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

func valuesJSON(u *schema.NumberUse) (list []topicJSON) {
	for _, v := range u.Values {
		j := valueJSON(u.Group, v)
		j.Group = u.Group.Group
		list = append(list, j)
	}
	return list
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
