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

// collect finds the groups and which fields have them.
func (p *pkg) collect() {
	for i := range p.sources {
		ast.Inspect(p.sources[i].tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, value := range n.Values {
					if call, ok := value.(*ast.CallExpr); ok && (called(call) == "Bits" || called(call) == "Enum") {
						p.groups[n.Names[i].Name] = valueNames(call)
					}
				}
			case *ast.GenDecl:
				for _, s := range n.Specs {
					if c, ok := s.(*ast.ValueSpec); ok && n.Tok == token.CONST {
						for _, id := range c.Names {
							p.numbers[id.Name] = true
						}
					}
				}
			case *ast.CallExpr:
				if len(n.Args) == 0 {
					break
				}
				name := unquoted(n.Args[0])
				for _, arg := range n.Args[1:] {
					if group := addressed(arg); group != "" && name != "" {
						p.words[name] = group
					}
				}
			}
			return true
		})
	}
}

// valueNames are the names of the values in the declaration of a group.
func valueNames(group *ast.CallExpr) (names []string) {
	ast.Inspect(group, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok && isKey(kv, "Name") && unquoted(kv.Value) != "" {
			names = append(names, unquoted(kv.Value))
		}
		return true
	})
	return names
}

func isKey(kv *ast.KeyValueExpr, name string) bool {
	id, ok := kv.Key.(*ast.Ident)
	return ok && id.Name == name
}

func called(call *ast.CallExpr) string {
	if id, ok := call.Fun.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// unquoted is the value of a string literal.
func unquoted(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value)
	return text
}

// addressed is the variable whose address an expression is.
func addressed(e ast.Expr) string {
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		if id, ok := u.X.(*ast.Ident); ok {
			return id.Name
		}
	}
	return ""
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
	name := called(call)
	switch {
	case name == "Bits" || name == "Enum":
		p.group = call.End()
		p.replace("prefix", call.Args[1], "", strconv.Quote(unquoted(call.Args[1])+"X_"))
		return
	case widths[name] != "":
		p.add("size", call.Fun, name+" -> "+widths[name]+" of "+p.of(call.Args[0]), "either(§, ", ", "+widths[name]+")")
	case sized[name] && number(call.Args[1]) > 0:
		p.replace("size", call.Args[1], "", strconv.Itoa(number(call.Args[1])+1))
	case name != "Sub" && name != "Strs":
		return
	}
	field := p.of(call.Args[0])
	for _, arg := range call.Args[1:] {
		p.option(arg, field)
	}
}

func number(e ast.Expr) int {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.INT {
		n, _ := strconv.ParseInt(lit.Value, 0, 64)
		return int(n)
	}
	return 0
}

// option notes what can be wrong with an option of a field.
func (p *pkg) option(arg ast.Expr, field string) {
	instead := func(kind, now string) {
		p.add(kind, arg, field+": "+p.of(arg)+" -> "+now, "either[any](§, ", ", "+now+")")
	}
	switch arg := arg.(type) {
	case *ast.CompositeLit:
		if id, ok := arg.Type.(*ast.Ident); ok && id.Name == "When" {
			instead("when", nothing)
			for i := range arg.Elts[1:] {
				if len(arg.Elts) > 2 {
					instead("bit", p.when(arg, i, ""))
				}
				if other := p.otherBit(arg); other != "" {
					instead("bit", p.when(arg, i, other))
				}
			}
		}
	case *ast.UnaryExpr:
		if group := addressed(arg); p.groups[group] != nil {
			instead("names", "&"+p.other(group, slices.Sorted(maps.Keys(p.groups))))
		}
	case *ast.CallExpr:
		switch name := called(arg); name {
		case "If", "IfNot":
			instead("condition", opposites[name]+strings.TrimPrefix(p.of(arg), name))
		case "ValidIf":
			instead("condition", nothing)
		case "Since":
			instead("since", fmt.Sprintf("Since(%q)", p.other(unquoted(arg.Args[0]), releases)))
		}
	case *ast.Ident:
		if other := opposites[arg.Name]; other != "" {
			instead("order", other)
		}
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

// otherBit is a bit that a condition does not have.
func (p *pkg) otherBit(when *ast.CompositeLit) string {
	list := slices.Clone(p.groups[p.words[unquoted(when.Elts[0])]])
	for _, e := range when.Elts[1:] {
		list = slices.DeleteFunc(list, func(s string) bool { return s == unquoted(e) })
	}
	return p.other("", list)
}

// when is a condition without its bit i, or with another one in its place.
func (p *pkg) when(when *ast.CompositeLit, i int, other string) string {
	var elements []string
	for k, e := range when.Elts {
		switch {
		case k != i+1:
			elements = append(elements, p.of(e))
		case other != "":
			elements = append(elements, strconv.Quote(other))
		}
	}
	return "When{" + strings.Join(elements, ", ") + "}"
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
			overlaid := strings.Contains(b, "Over("+p.nameOf(lit.Elts[i-1])+")") && p.nameOf(lit.Elts[i-1]) == p.nameOf(lit.Elts[i]) ||
				isPlaced(a) && isPlaced(b) // at one place, or each at its own, in any order
			if !isField(lit.Elts[i-1]) || !isField(lit.Elts[i]) || overlaid {
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

// nameOf is the name of a field, in quotes.
func (p *pkg) nameOf(field ast.Expr) string {
	if call, ok := field.(*ast.CallExpr); ok && len(call.Args) > 0 {
		return p.of(call.Args[0])
	}
	return ""
}

func isField(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && (widths[called(call)] != "" || sized[called(call)] || called(call) == "Sub")
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
		since = since || isKey(kv, "Since")
		if isKey(kv, "Value") {
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
	case isKey(kv, "Since") && unquoted(kv.Value) != "":
		p.replace("since", kv.Value, "Since", strconv.Quote(p.other(unquoted(kv.Value), releases)))
	case isKey(kv, "Order") && opposites[p.of(kv.Value)] != "":
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
		if kv, ok := e.(*ast.KeyValueExpr); ok && isKey(kv, "Value") {
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
		if number(x) < 2 && !(named && p.numbers[id.Name] && !strings.HasPrefix(id.Name, "max")) {
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
