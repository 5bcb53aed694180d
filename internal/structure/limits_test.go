package structure

import (
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// Limits that keep packages and types small enough to be read as a whole.
const (
	maxFiles   = 25 // Go files of a package, tests apart
	maxFields  = 20 // of a struct type
	maxMethods = 25 // of a type
)

// A type may have more fields or methods where its comment gives the reason,
// in a line that begins with one of these.
const (
	fieldsReason  = "many fields:"
	methodsReason = "many methods:"
)

// manyFilesPackages may have any number of files: one for each service of the
// protocol, and one for each rule.
var manyFilesPackages = []string{"opcodes", "diagnose/rules"}

// limitExceptions lists the limits that are not kept yet. Nothing is to be
// added except where a type or file moved with its exception.
var limitExceptions = []string{}

func TestLimits(t *testing.T) {
	violations := limitViolations(parseModule(t, os.DirFS("../..")))
	for _, p := range checkExceptions(violations, limitExceptions, "limitExceptions in internal/structure/limits_test.go") {
		t.Error(p)
	}
}

// limitViolations returns a message for each limit that is exceeded, by
// "PACKAGE files", "PACKAGE.TYPE fields" or "PACKAGE.TYPE methods".
func limitViolations(packages []sourcePackage) map[string]string {
	violations := make(map[string]string)
	for _, pkg := range packages {
		if n := len(pkg.files); n > maxFiles && !slices.Contains(manyFilesPackages, pkg.dir) {
			violations[pkg.dir+" files"] = fmt.Sprintf("package %s has %d Go files, more than %d: move a subject of its own to a package of its own", pkg.dir, n, maxFiles)
		}
		methods := make(map[string]map[string]bool) // by type; files for several systems repeat methods
		for _, file := range pkg.files {
			countMethods(file.syntax, methods)
		}
		for _, file := range pkg.files {
			eachType(file.syntax, func(spec *ast.TypeSpec, doc string) {
				name := pkg.dir + "." + spec.Name.Name
				if n := countFields(spec.Type); n > maxFields && !hasReason(doc, fieldsReason) {
					violations[name+" fields"] = fmt.Sprintf("%s: type %s has %d fields, more than %d: split it by what belongs together, or give the reason in its comment, in a line that begins with %q",
						file.name, spec.Name.Name, n, maxFields, fieldsReason)
				}
				if n := len(methods[spec.Name.Name]); n > maxMethods && !hasReason(doc, methodsReason) {
					violations[name+" methods"] = fmt.Sprintf("%s: type %s has %d methods, more than %d: split it by what belongs together, or give the reason in its comment, in a line that begins with %q",
						file.name, spec.Name.Name, n, maxMethods, methodsReason)
				}
			})
		}
	}
	return violations
}

// eachType calls do for every type of a file, with its comment.
func eachType(file *ast.File, do func(spec *ast.TypeSpec, doc string)) {
	ast.Inspect(file, func(n ast.Node) bool {
		decl, ok := n.(*ast.GenDecl)
		if !ok {
			return true
		}
		for _, s := range decl.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			doc := spec.Doc.Text()
			if !decl.Lparen.IsValid() {
				doc = decl.Doc.Text()
			}
			do(spec, doc)
		}
		return true
	})
}

func hasReason(doc, start string) bool {
	for line := range strings.Lines(doc) {
		if reason, ok := strings.CutPrefix(line, start); ok && strings.TrimSpace(reason) != "" {
			return true
		}
	}
	return false
}

func countFields(x ast.Expr) int {
	structure, ok := x.(*ast.StructType)
	if !ok {
		return 0
	}
	n := 0
	for _, f := range structure.Fields.List {
		n += max(1, len(f.Names)) // an embedded field has no names
	}
	return n
}

func countMethods(file *ast.File, methods map[string]map[string]bool) {
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || len(fn.Recv.List) != 1 {
			continue
		}
		name := receiverName(fn.Recv.List[0].Type)
		if methods[name] == nil {
			methods[name] = make(map[string]bool)
		}
		methods[name][fn.Name.Name] = true
	}
}

// receiverName returns T for the receivers T, *T, T[K] and *T[K, V].
func receiverName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return receiverName(x.X)
	case *ast.ParenExpr:
		return receiverName(x.X)
	case *ast.IndexExpr:
		return receiverName(x.X)
	case *ast.IndexListExpr:
		return receiverName(x.X)
	}
	return ""
}

// TestLimitChecks checks that a limit is reported when it is exceeded, and not
// when it is reached.
func TestLimitChecks(t *testing.T) {
	fields := func(n int) string {
		return "struct {" + strings.Repeat("a, b int;", n/2) + strings.Repeat("T;", n%2) + "}"
	}
	methods := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "func (x *T[K]) m%d() {}\n", i)
		}
		return b.String()
	}
	for _, tt := range []struct {
		name, text, violation, message string
	}{
		{"fields reached", "type T " + fields(maxFields), "", ""},
		{"fields", "type T " + fields(maxFields+1), "p.T fields", "has 21 fields"},
		{"fields in a func", "func f() { type T " + fields(maxFields+1) + "}", "p.T fields", "has 21 fields"},
		{"fields with a reason", "// T is wide.\n// many fields: the wire has them.\ntype T " + fields(maxFields+1), "", ""},
		{"fields with a reason, grouped", "type (\n// T is wide.\n//\n// many fields: the wire has them.\nT " + fields(maxFields+1) + "\n)", "", ""},
		{"fields, empty reason", "// T is wide.\n// many fields:\ntype T " + fields(maxFields+1), "p.T fields", "give the reason"},
		{"methods reached", "type T[K any] struct{}\n" + methods(maxMethods), "", ""},
		{"methods", "type T[K any] struct{}\n" + methods(maxMethods+1), "p.T methods", "has 26 methods"},
		{"methods with a reason", "// many methods: one a state.\ntype T[K any] struct{}\n" + methods(maxMethods+1), "", ""},
	} {
		got := limitViolations(parseModule(t, fstest.MapFS{"p/a.go": {Data: []byte("package p\n" + tt.text)}}))
		if want := min(1, len(tt.violation)); len(got) != want || !strings.Contains(got[tt.violation], tt.message) {
			t.Errorf("%s: violations %q, want %q with %q", tt.name, got, tt.violation, tt.message)
		}
	}
}

// TestFileLimit checks that files are counted by package, without the tests.
func TestFileLimit(t *testing.T) {
	tree := make(fstest.MapFS)
	for i := range maxFiles + 1 {
		for _, format := range []string{"many/f%d.go", "opcodes/f%d.go", "tests/f%d_test.go"} {
			tree[fmt.Sprintf(format, i)] = &fstest.MapFile{Data: []byte("package p")}
		}
		if i < maxFiles {
			tree[fmt.Sprintf("enough/f%d.go", i)] = &fstest.MapFile{Data: []byte("package p")}
		}
	}
	got := limitViolations(parseModule(t, tree))
	if len(got) != 1 || got["many files"] == "" {
		t.Errorf("violations %q, want one of package many", got)
	}
}

// TestExceptions checks that an exception covers its own violation only, and
// fails the test when it is not needed any more.
func TestExceptions(t *testing.T) {
	violations := map[string]string{"p files": "p has many files"}
	for _, tt := range []struct {
		exceptions []string
		want       string
	}{
		{nil, "p has many files"},
		{[]string{"p files", "q files"}, "q files: the limit is kept now, or the name has changed: update the list"},
	} {
		checkProblems(t, fmt.Sprint(tt.exceptions), checkExceptions(violations, tt.exceptions, "the list"), []string{tt.want})
	}
	if got := checkExceptions(violations, []string{"p files"}, "the list"); len(got) != 0 {
		t.Errorf("excepted, but still %q", got)
	}
}
