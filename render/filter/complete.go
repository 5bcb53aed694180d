package filter

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
)

// LastWord returns where the last word of a filter that is being typed begins, and the name of
// the field whose value it is, behind an operator or in a set; empty when it is a name itself.
// A text may lack its closing quote. An end after white space or an operator is an empty word.
func LastWord(text string) (at int, field string) {
	l := lexer{text: text}
	var last token // that is no value: a name, an operator or what separates values
	for {
		t, err := l.next()
		end := t.kind == eof || t.kind == word && t.col+t.len == len(text)
		switch {
		case err != nil && strings.IndexByte(`"'`, text[l.pos]) < 0:
			return len(text), ""
		case err != nil:
			t.col, end = l.pos, true // a text that is not complete
		}
		isValue := last.kind == operator && !slices.Contains([]string{"and", "or", "not", "(", ")", "}"}, last.text)
		switch {
		case end && isValue:
			return t.col, field
		case end:
			return t.col, ""
		case t.kind == word && !isValue:
			field = t.text
		}
		last = t
	}
}

// Literal returns a text as it is written in a filter: in quotes unless it is a word.
func Literal(text string) string {
	l := lexer{text: text}
	if t, err := l.next(); err != nil || t.kind != word && t.kind != fid || t.len != len(text) {
		return strconv.Quote(text)
	}
	return text
}

// ValueNames lists the names that values of a field have: of an enumeration, of flags, of errors.
func ValueNames(field string, ofRPCs bool) (list []string) {
	var c compiler
	if ofRPCs {
		c.rpc = &RPCFilter{}
	}
	f := c.resolve(token{text: field, len: len(field)})
	if c.wrong != nil {
		return nil
	}
	groups := f.names
	if f.hasErrnos || field[strings.LastIndexByte(field, '.')+1:] == "error" {
		groups = append(groups, schema.Errnos)
	}
	for _, n := range groups {
		for i := range n.Values {
			if v := &n.Values[i]; !v.Alias {
				list = append(list, v.Name)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
