package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// kindNames are the kinds of errors.
var kindNames = []string{"when", "bit", "condition", "names", "swap", "since", "prefix", "size", "value", "order", "branch", "threshold"}

// source is a Go file.
type source struct {
	name string
	text []byte
	tree *ast.File
}

// pkg is a package in which errors are made.
type pkg struct {
	files   *token.FileSet
	random  *rand.Rand
	sources []source
	groups  map[string][]string // names of the values, by the variable of the group
	words   map[string]string   // the variable of the group, by the name of the field
	numbers map[string]bool     // constants
	found   []mutation

	*source           // that is searched
	group   token.Pos // end of the group of values that is searched
}

// add notes an error: before and after are inserted around the node.
func (p *pkg) add(kind string, at ast.Node, what, before, after string) {
	m := mutation{kind: kind, what: what, file: p.name, line: p.files.Position(at.Pos()).Line}
	p.found = append(p.found, m.around(p, at, before, after))
}

// around inserts text before and after a node.
func (m mutation) around(p *pkg, n ast.Node, before, after string) mutation {
	from, to := p.files.Position(n.Pos()).Offset, p.files.Position(n.End()).Offset
	m.texts = append(m.texts, insertion{from, 1, from - to, before}, insertion{to, 0, to - from, after})
	return m
}

// replace notes an error that puts another expression in place of one; its type is needed where Go
// would infer a wrong one.
func (p *pkg) replace(kind string, at ast.Expr, typ, now string) {
	if typ != "" {
		typ = "[" + typ + "]"
	}
	p.add(kind, at, p.of(at)+" -> "+now, "either"+typ+"(§, ", ", "+now+")")
}

// of is the text of a node.
func (p *pkg) of(n ast.Node) string {
	return string(p.text[p.files.Position(n.Pos()).Offset:p.files.Position(n.End()).Offset])
}

// unquoted is the value of a string literal; empty: it is none.
func (p *pkg) unquoted(e ast.Expr) string {
	text, _ := strconv.Unquote(p.of(e))
	return text
}

// number is the value of an integer literal; 0: it is none.
func (p *pkg) number(e ast.Expr) int {
	n, _ := strconv.ParseInt(p.of(e), 0, 64)
	return int(n)
}

// collect finds the groups and which fields have them.
func (p *pkg) collect() {
	group := ""
	ast.Inspect(p.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			for _, s := range n.Specs {
				if c, ok := s.(*ast.ValueSpec); ok && n.Tok == token.CONST {
					for _, id := range c.Names {
						p.numbers[id.Name] = true
					}
				}
			}
		case *ast.ValueSpec:
			group = n.Names[0].Name
		case *ast.CallExpr:
			if name := p.of(n.Fun); name == "Bits" || name == "Enum" {
				p.groups[group] = p.valueNames(n)
			}
			if len(n.Args) == 0 {
				break
			}
			for _, arg := range n.Args[1:] {
				if of, ok := strings.CutPrefix(p.of(arg), "&"); ok {
					p.words[p.unquoted(n.Args[0])] = of
				}
			}
		}
		return true
	})
}

// valueNames are the names of the values in the declaration of a group.
func (p *pkg) valueNames(group *ast.CallExpr) (names []string) {
	ast.Inspect(group, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok && p.of(kv.Key) == "Name" && p.unquoted(kv.Value) != "" {
			names = append(names, p.unquoted(kv.Value))
		}
		return true
	})
	return names
}

// find notes all errors that can be made in a file.
func (p *pkg) find() {
	for _, d := range p.tree.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				p.call(n)
			case *ast.CompositeLit:
				p.literal(n)
			case *ast.KeyValueExpr:
				p.member(n)
			}
			if isFunc {
				p.statement(f.Name.Name, n)
			}
			return true
		})
	}
}

// nothing is an option of a field that changes nothing where there is none of its type.
const nothing = `Counted("")`

// widths are constructors of integers, and those of other ones.
var widths = map[string]string{"U8": "U16", "U16": "U32", "U24": "U32", "U32": "U64", "U48": "U64", "U64": "U32", "S32": "S64", "S64": "S32"}

// sized are constructors with a size or a number as their second argument.
var sized = map[string]bool{"Str": true, "Opaque": true, "Pad": true, "Pads": true, "Arr": true, "Subs": true}

func (p *pkg) call(call *ast.CallExpr) {
	name := p.of(call.Fun)
	switch {
	case name == "Bits" || name == "Enum":
		p.group = call.End()
		p.replace("prefix", call.Args[1], "", strconv.Quote(p.unquoted(call.Args[1])+"X_"))
		return
	case widths[name] != "":
		p.add("size", call.Fun, name+" -> "+widths[name]+" of "+p.of(call.Args[0]), "either(§, ", ", "+widths[name]+")")
	case sized[name] && p.number(call.Args[1]) > 0:
		p.replace("size", call.Args[1], "", strconv.Itoa(p.number(call.Args[1])+1))
	case name != "Sub" && name != "Strs":
		return
	}
	for _, arg := range call.Args[1:] {
		p.option(arg, p.of(call.Args[0]))
	}
}

// option notes what can be wrong with an option of a field.
func (p *pkg) option(arg ast.Expr, field string) {
	text := p.of(arg)
	instead := func(kind, now string) {
		p.add(kind, arg, field+": "+text+" -> "+now, "either[any](§, ", ", "+now+")")
	}
	name, rest, isCall := strings.Cut(text, "(")
	group, isAddress := strings.CutPrefix(text, "&")
	switch {
	case strings.HasPrefix(text, "When{"):
		instead("when", nothing)
		p.bits(arg.(*ast.CompositeLit), func(now string) { instead("bit", now) })
	case isAddress && p.groups[group] != nil:
		instead("names", "&"+p.other(group, slices.Sorted(maps.Keys(p.groups))))
	case isCall && (name == "If" || name == "IfNot"):
		instead("condition", opposites[name]+"("+rest)
	case isCall && name == "ValidIf":
		instead("condition", nothing)
	case isCall && name == "Since":
		instead("since", fmt.Sprintf("Since(%q)", p.other(p.unquoted(arg.(*ast.CallExpr).Args[0]), releases)))
	case opposites[text] != "":
		instead("order", opposites[text])
	}
}

var opposites = map[string]string{"If": "IfNot", "IfNot": "If", "Little": "Big", "Big": "Little"}

var releases = []string{"", "2.15", "2.16", "2.17", "2.18"}

// other is one of the list that is not the given one.
func (p *pkg) other(than string, list []string) string {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == than })
	if len(list) == 0 {
		return ""
	}
	return list[p.random.IntN(len(list))]
}

// bits notes conditions that lack a bit, or have one that they should not have in its place.
func (p *pkg) bits(when *ast.CompositeLit, instead func(now string)) {
	var texts []string
	others := slices.Clone(p.groups[p.words[p.unquoted(when.Elts[0])]])
	for _, e := range when.Elts {
		texts = append(texts, p.of(e))
		others = slices.DeleteFunc(others, func(s string) bool { return s == p.unquoted(e) })
	}
	for i := 1; i < len(texts); i++ {
		if len(texts) > 2 {
			instead("When{" + strings.Join(slices.Delete(slices.Clone(texts), i, i+1), ", ") + "}")
		}
		if other := p.other("", others); other != "" {
			instead("When{" + strings.Join(slices.Replace(slices.Clone(texts), i, i+1, strconv.Quote(other)), ", ") + "}")
		}
	}
}

// literal notes fields that change places, and values.
func (p *pkg) literal(lit *ast.CompositeLit) {
	list, ok := lit.Type.(*ast.ArrayType)
	if !ok {
		p.declaredThreshold(lit)
		return
	}
	switch p.of(list.Elt) {
	case "*Field":
		for i := 1; i < len(lit.Elts); i++ {
			a, b := p.of(lit.Elts[i-1]), p.of(lit.Elts[i])
			name, next := fieldName(a), fieldName(b)
			if name == "" || next == "" || name == next && strings.Contains(b, "Over("+name+")") ||
				isPlaced(a) && isPlaced(b) { // at one place, or each at its own, in any order
				continue
			}
			first, _, _ := strings.Cut(a, ",")
			m := mutation{kind: "swap", what: first + "…) and the next field", file: p.name, line: p.files.Position(lit.Elts[i].Pos()).Line}
			m = m.around(p, lit.Elts[i-1], "either(§, ", ", "+b+")")
			p.found = append(p.found, m.around(p, lit.Elts[i], "either(§, ", ", "+a+")"))
		}
	case "Value":
		for _, e := range lit.Elts {
			p.value(e)
		}
	}
}

// isPlaced reports whether the field lies where its declaration says, and not behind the one before.
func isPlaced(field string) bool {
	return strings.Contains(field, "Over(") || strings.Contains(field, "At(")
}

// fieldName is the name of a field, in quotes; empty: it is none that can change its place.
func fieldName(field string) string {
	constructor, rest, _ := strings.Cut(field, "(")
	if widths[constructor] == "" && !sized[constructor] && constructor != "Sub" {
		return ""
	}
	return rest[:strings.IndexAny(rest, ",)")]
}

// value notes what can be wrong with a value of a group.
func (p *pkg) value(e ast.Expr) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return
	}
	since := false
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		since = since || p.of(kv.Key) == "Since"
		if p.of(kv.Key) == "Value" {
			p.replace("value", kv.Value, "uint64", "("+p.of(kv.Value)+")^1")
		}
	}
	if !since && lit.Pos() < p.group { // values of which a group is computed have none
		p.add("since", lit.Elts[0], p.of(lit)+": no Since -> 2.16", "", `, Since: either[Since](§, "", "2.16")`)
	}
}

// member notes what can be wrong with a member of a struct.
func (p *pkg) member(kv *ast.KeyValueExpr) {
	switch {
	case p.of(kv.Key) == "Since" && p.unquoted(kv.Value) != "":
		p.replace("since", kv.Value, "Since", strconv.Quote(p.other(p.unquoted(kv.Value), releases)))
	case p.of(kv.Key) == "Order" && opposites[p.of(kv.Value)] != "":
		p.replace("order", kv.Value, "", opposites[p.of(kv.Value)])
	}
}

// statement notes errors in the code of a func: in one that guesses or summarizes, conditions that
// are wrong; in all, other numbers in comparisons.
func (p *pkg) statement(name string, n ast.Node) {
	guess := strings.HasPrefix(name, "guess") || strings.HasPrefix(name, "pick") || strings.HasPrefix(name, "choose") ||
		strings.HasPrefix(name, "summarize")
	switch n := n.(type) {
	case *ast.IfStmt:
		if guess {
			p.branch(n.Cond)
		}
	case *ast.SwitchStmt:
		if !guess || n.Tag != nil {
			return
		}
		for _, c := range n.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				p.branch(e)
			}
		}
	case *ast.BinaryExpr:
		p.threshold(n)
	}
}

// branch notes that a condition is turned round, and that its parts are ignored.
func (p *pkg) branch(cond ast.Expr) {
	p.add("branch", cond, "not: "+p.of(cond), "mutated(§) != (", ")")
	var parts func(e ast.Expr)
	parts = func(e ast.Expr) {
		b, ok := e.(*ast.BinaryExpr)
		if !ok || b.Op != token.LAND && b.Op != token.LOR {
			return
		}
		for _, x := range []ast.Expr{b.X, b.Y} {
			if b.Op == token.LAND {
				p.add("branch", x, "always: "+p.of(x)+" in "+p.of(cond), "(mutated(§) || ", ")")
			} else {
				p.add("branch", x, "never: "+p.of(x)+" in "+p.of(cond), "(!mutated(§) && ", ")")
			}
			parts(x)
		}
	}
	parts(cond)
}

// declaredThreshold notes that a Threshold of a rule has twice or half of its value.
func (p *pkg) declaredThreshold(lit *ast.CompositeLit) {
	if lit.Type == nil || !strings.HasSuffix(p.of(lit.Type), "Threshold") {
		return
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && p.of(kv.Key) == "Value" {
			p.replace("threshold", kv.Value, "float64", "2*("+p.of(kv.Value)+")")
			p.replace("threshold", kv.Value, "float64", "("+p.of(kv.Value)+")/2")
		}
	}
}

// threshold notes that what is compared with a number is compared with twice or half of it.
func (p *pkg) threshold(b *ast.BinaryExpr) {
	if !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, b.Op) {
		return
	}
	for _, x := range []ast.Expr{b.X, b.Y} {
		id, named := x.(*ast.Ident)
		if p.number(x) < 2 && !(named && p.numbers[id.Name] && !strings.HasPrefix(id.Name, "max")) {
			continue // max… bound memory
		}
		for _, form := range []string{"2*%s", "%s/2"} {
			now := fmt.Sprintf(form, p.of(x))
			other := p.of(b.X) + " " + b.Op.String() + " " + now
			if x == b.X {
				other = now + " " + b.Op.String() + " " + p.of(b.Y)
			}
			p.add("threshold", b, p.of(b)+" -> "+other, "(mutated(§) && "+other+" || !mutated(§) && ", ")")
		}
	}
}
