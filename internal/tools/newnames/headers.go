package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/scanner"
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
	comment = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	define  = regexp.MustCompile(`^\s*#\s*define\s+(\w+)(\(?)(.*)$`)
)

// tokens splits C into words, from the given line on.
func tokens(text string, line int) (list []token) {
	var s scanner.Scanner
	s.Init(strings.NewReader(text))
	s.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanChars | scanner.ScanStrings
	s.Error = func(*scanner.Scanner, string) {} // of C's numbers, which have suffixes
	for t := s.Scan(); t != scanner.EOF; t = s.Scan() {
		list = append(list, token{s.TokenText(), line + s.Pos().Line - 1})
	}
	return list
}

// namesIn returns the names that the text of a header defines.
func namesIn(file, text string) (names []name) {
	text = comment.ReplaceAllStringFunc(text, func(c string) string { return " " + strings.Repeat("\n", strings.Count(c, "\n")) })
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(strings.TrimSpace(lines[i]), "#") {
			continue
		}
		first, directive := i, lines[i]
		for lines[i] = ""; strings.HasSuffix(directive, "\\") && i+1 < len(lines); lines[i] = "" {
			i++
			directive = strings.TrimSuffix(directive, "\\") + lines[i]
		}
		if m := define.FindStringSubmatch(directive); m != nil && m[2] == "" && strings.TrimSpace(m[3]) != "" {
			names = append(names, name{file: file, line: first + 1, kind: "define", name: m[1], value: words(tokens(m[3], 1))})
		}
	}
	p := parser{file: file, tokens: tokens(strings.Join(lines, "\n"), 1)}
	for len(p.tokens) > 0 {
		p.declaration()
	}
	return append(names, p.names...)
}

func words(list []token) (texts []string) {
	for _, t := range list {
		texts = append(texts, t.text)
	}
	return texts
}

// parser finds enums and structs. What is inside functions is no declaration.
type parser struct {
	file   string
	tokens []token
	names  []name
}

func (p *parser) next() token {
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *parser) peek(i int) string {
	if i < len(p.tokens) {
		return p.tokens[i].text
	}
	return ""
}

func (p *parser) add(at token, n name) {
	n.file, n.line, n.name = p.file, at.line, at.text
	p.names = append(p.names, n)
}

// declaration reads up to the end of an enum or struct, or one token.
func (p *parser) declaration() {
	t := p.next()
	switch t.text {
	case "enum":
		p.enum()
	case "struct", "union":
		if p.peek(1) == "{" {
			at := p.next()
			p.next()
			p.add(at, name{kind: "struct"})
			p.fields(at.text, false)
		}
	case "extern":
		if p.peek(0) == `"C"` && p.peek(1) == "{" {
			p.tokens = p.tokens[2:]
		}
	case "{": // of a function, or of values
		p.skip()
	}
}

// skip drops what is left of a block.
func (p *parser) skip() {
	for depth := 1; depth > 0 && len(p.tokens) > 0; {
		switch p.next().text {
		case "{":
			depth++
		case "}":
			depth--
		}
	}
}

func (p *parser) enum() {
	kind, tag := "enum", token{}
	if p.peek(1) == "{" {
		tag = p.next()
		kind += " " + tag.text
	}
	if p.peek(0) != "{" {
		return
	}
	p.next()
	if tag.text != "" {
		p.add(tag, name{kind: "enum tag", of: p.peek(0)})
	}
	value := []string{"0"}
	for len(p.tokens) > 0 && p.peek(0) != "}" {
		at, depth := p.next(), 0
		if p.peek(0) == "=" {
			p.next()
			value = nil
			for len(p.tokens) > 0 && (depth > 0 || p.peek(0) != "," && p.peek(0) != "}") {
				t := p.next().text
				depth += strings.Count(t, "(") - strings.Count(t, ")")
				value = append(value, t)
			}
		}
		p.add(at, name{kind: kind, value: value})
		value = []string{at.text, "+", "1"}
		if p.peek(0) == "," {
			p.next()
		}
	}
}

// fields reads the members of a struct or union up to its closing brace. The name of each is the last word
// before a bracket, a comma, a colon or a semicolon.
func (p *parser) fields(of string, nested bool) {
	var last token
	depth := 0 // of parentheses and brackets
	for len(p.tokens) > 0 {
		t := p.next()
		switch {
		case t.text == "}":
			return
		case t.text == "enum":
			p.enum()
		case t.text == "{":
			p.fields(of, true)
			for len(p.tokens) > 0 && p.peek(0) != ";" {
				p.next() // its members stand for themselves
			}
			last = token{}
		case t.text == "(" || t.text == "[":
			depth++
		case t.text == ")" || t.text == "]":
			depth--
		case depth > 0 || slices.Contains([]string{"*", "struct", "union", "__attribute__"}, t.text):
		case t.text == "DECLARE_FLEX_ARRAY": // (type, name)
			for p.peek(0) != ")" && len(p.tokens) > 0 {
				last = p.next()
			}
			p.next()
		case t.text == "," || t.text == ";":
			if last.text != "" {
				p.add(last, name{kind: "field", of: of, nested: nested})
			}
			last = token{}
		case t.text == ":":
			p.next() // bits
		default:
			last = t
		}
	}
}
