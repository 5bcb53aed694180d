package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// name is what a header defines: a constant, an enumerator, a struct, or a field of one.
type name struct {
	file   string
	line   int
	kind   string // define, the enum of an enumerator, enum tag, struct, field
	name   string
	of     string   // of a field: its struct; of a tag: its first enumerator
	nested bool     // of a field: it is in a struct or union inside that struct
	value  []string // of a constant: the tokens of its value; nil: none
}

// headerFolders are where the public headers are: below include in 2.17 and newer, below lustre and lnet before.
var headerFolders = []string{"include/uapi/linux/lustre", "include/uapi/linux/lnet", "lustre/include/uapi/linux/lustre", "lnet/include/uapi/linux/lnet"}

func readHeaders(folder string) (names []name, err error) {
	for _, dir := range headerFolders {
		files, err := fs.Glob(os.DirFS(folder), dir+"/*.h")
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				return nil, err
			}
			names = append(names, namesIn(filepath.Base(file), string(text))...)
		}
	}
	if names == nil {
		return nil, fmt.Errorf("%s has no headers in %s", folder, strings.Join(headerFolders, ", "))
	}
	return names, nil
}

// token is a word, number, string or character of C, with the line it is in.
type token struct {
	text string
	line int
}

var (
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	directive = regexp.MustCompile(`(?m)^[ \t]*#(?:\\\n|[^\n])*`)
	define    = regexp.MustCompile(`^\s*#\s*define\s+(\w+)\s(?s:(.*))`)
	word      = regexp.MustCompile(`\w+|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+'|\n|[^\s\\]`)
)

// block is what is between two braces, or the file around them.
type block struct {
	has    content
	of     string   // fields: the struct that has them
	nested bool     // fields: they are in a struct or union inside that struct
	tag    token    // enumerators: the tag, until the first of them
	enum   string   // enumerators: their kind
	value  []string // enumerators: that of the next one
}

type content uint8

const (
	code        content = iota // or values: no declarations
	file                       // structs and enums
	fields                     // of a struct
	enumerators                // of an enum
)

// namesIn returns the names that the text of a header defines.
func namesIn(header, text string) []name {
	r := reader{file: header, blocks: []block{{has: file}}}
	blank := func(s string) string { return " " + strings.Repeat("\n", strings.Count(s, "\n")) }
	text = comment.ReplaceAllStringFunc(text, blank)
	for _, at := range directive.FindAllStringIndex(text, -1) {
		if m := define.FindStringSubmatch(strings.ReplaceAll(text[at[0]:at[1]], "\\\n", " ")); m != nil && strings.TrimSpace(m[2]) != "" {
			r.add(token{m[1], 1 + strings.Count(text[:at[0]], "\n")}, name{kind: "define", value: word.FindAllString(m[2], -1)})
		}
	}
	line, depth := 1, 0 // depth of parentheses and brackets
	for _, t := range word.FindAllString(directive.ReplaceAllStringFunc(text, blank), -1) {
		depth = max(0, depth+nesting(t))
		switch {
		case t == "\n":
			line++
		case t == "{":
			r.begin()
			depth = 0 // brackets in code that the preprocessor drops may have no partner
		case t == "}":
			r.end()
			depth = 0
		case depth == 0 && t == ",":
			r.declared()
		case depth == 0 && t == ";":
			r.declared()
			r.skips = false
		default:
			r.last = append(r.last, token{t, line})
		}
	}
	return r.names
}

// nesting is by how much a word changes the depth of parentheses and brackets.
func nesting(word string) int {
	switch word {
	case "(", "[":
		return 1
	case ")", "]":
		return -1
	}
	return 0
}

// reader collects the names of a header.
type reader struct {
	file   string
	names  []name
	blocks []block // around the place in the header
	last   []token // behind the last brace, comma or semicolon
	skips  bool    // declares nothing up to a semicolon
}

func (r *reader) top() *block { return &r.blocks[len(r.blocks)-1] }

func (r *reader) add(at token, n name) {
	n.file, n.line, n.name = r.file, at.line, at.text
	r.names = append(r.names, n)
}

// begin begins a block. What is inside functions is no declaration.
func (r *reader) begin() {
	outer := *r.top()
	var keyword string
	var tag token
	for _, t := range r.last[max(0, len(r.last)-2):] {
		if slices.Contains([]string{"enum", "struct", "union", "extern"}, t.text) {
			keyword, tag = t.text, token{}
		} else {
			tag = t
		}
	}
	var b block
	switch {
	case outer.has == code:
	case keyword == "enum":
		b = block{has: enumerators, tag: tag, enum: strings.TrimSpace("enum " + tag.text), value: []string{"0"}}
	case outer.has == fields:
		b = block{has: fields, of: outer.of, nested: true}
	case (keyword == "struct" || keyword == "union") && tag.text != "":
		b = block{has: fields, of: tag.text}
		r.add(tag, name{kind: "struct"})
	case keyword == "extern":
		b = outer
	}
	r.blocks = append(r.blocks, b)
	r.last, r.skips = nil, false
}

// end ends a block. Names behind a struct are no fields: its members stand for themselves.
func (r *reader) end() {
	r.declared()
	r.skips = r.top().has != enumerators
	r.blocks = r.blocks[:max(1, len(r.blocks)-1)]
}

// declared adds what has been declared since the last brace, comma or semicolon: a field or an enumerator.
func (r *reader) declared() {
	b, last := r.top(), r.last
	r.last = nil
	switch {
	case len(last) == 0 || r.skips:
	case b.has == fields:
		if at := fieldIn(last); at.text != "" {
			r.add(at, name{kind: "field", of: b.of, nested: b.nested})
		}
	case b.has == enumerators:
		if b.tag.text != "" {
			r.add(b.tag, name{kind: "enum tag", of: last[0].text})
			b.tag.text = ""
		}
		if len(last) > 2 {
			b.value = nil
			for _, t := range last[2:] {
				b.value = append(b.value, t.text)
			}
		}
		r.add(last[0], name{kind: b.enum, value: b.value})
		b.value = []string{last[0].text, "+", "1"}
	}
}

// fieldIn returns the name in the declaration of a field: the last word outside of parentheses and brackets, before a colon.
func fieldIn(words []token) (last token) {
	if words[0].text == "DECLARE_FLEX_ARRAY" { // (type, name)
		return words[len(words)-2]
	}
	depth := 0
	for _, t := range words {
		depth += nesting(t.text)
		switch {
		case t.text == ":":
			return last
		case depth == 0 && t.text != "__attribute__" && identifier.MatchString(t.text):
			last = t
		}
	}
	return last
}
