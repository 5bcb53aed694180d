package structure

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestDocs checks what the Markdown pages refer to: links, Go files, and names
// of packages.
func TestDocs(t *testing.T) {
	root := os.DirFS("../..")
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "pcaps/*.md"} {
		matches := must.Value(fs.Glob(root, pattern))(t)
		pages = append(pages, matches...)
	}
	must.That(t, len(pages) >= 5, "only %d pages: %q", len(pages), pages)
	declared := declaredNames(parseModule(t, root))
	for _, page := range pages {
		for _, problem := range checkPage(t, root, page, declared) {
			t.Error(problem)
		}
	}
}

// TestPackageTable checks that docs/architecture.md says of each package what it is for.
func TestPackageTable(t *testing.T) {
	root := os.DirFS("../..")
	text, err := fs.ReadFile(root, "docs/architecture.md")
	must.NoError(t, err)
	listed := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for _, match := range codeSpan.FindAllStringSubmatch(cells[1], -1) {
			if dir := match[1]; packageFolder.MatchString(dir) {
				listed[dir] = true
				if info, err := fs.Stat(root, dir); err != nil || !info.IsDir() {
					t.Errorf("docs/architecture.md: there is no %s any more: remove it from the table of packages", dir)
				}
			}
		}
	}
	for _, pkg := range parseModule(t, root) {
		if dir := pkg.dir; dir != "." && !listed[dir] && !strings.HasPrefix(dir, "internal/tools/bench/") && len(pkg.files) > 0 {
			t.Errorf("%s is not in the table of packages in docs/architecture.md: add a line that says what it is for", dir)
		}
	}
}

var (
	packageFolder = regexp.MustCompile(`^(opcodes|dissect|render|internal)(/[a-z0-9]+)*$`)
	markdownLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan      = regexp.MustCompile("`([^`\n]+)`")
	goFileName    = regexp.MustCompile(`^([a-z0-9]+/)*[a-z0-9_]+\.go$`)
	goName        = regexp.MustCompile(`^([a-z]+)\.([A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*)?)$`)
	fencedBlock   = regexp.MustCompile("(?ms)^```.*?^```")
)

// codePages are the pages in whose text `lnet.Decoder` is a Go name. Elsewhere
// it may be a field, as lnet.type is.
var codePages = []string{"CONTRIBUTING.md", "docs/architecture.md", "docs/adding-a-message.md", "docs/library.md"}

// checkPage returns what is wrong in a page. The names of the module are keyed
// by package and name, see declaredNames.
func checkPage(t *testing.T, root fs.FS, page string, declared map[string]bool) []string {
	t.Helper()
	text, err := fs.ReadFile(root, page)
	must.NoError(t, err)
	text = fencedBlock.ReplaceAll(text, nil)
	var problems []string
	report := func(format string, args ...any) {
		problems = append(problems, page+": "+fmt.Sprintf(format, args...))
	}
	for _, match := range markdownLink.FindAllSubmatch(text, -1) {
		if problem := checkLink(root, page, string(match[1])); problem != "" {
			report("%s", problem)
		}
	}
	if !slices.Contains(codePages, page) {
		return problems
	}
	for _, match := range codeSpan.FindAllSubmatch(text, -1) {
		code := string(match[1])
		if goFileName.MatchString(code) && strings.Contains(code, "/") {
			if _, err := fs.Stat(root, code); err != nil {
				report("%s is gone: name the file that does it now", code)
			}
		}
		parts := goName.FindStringSubmatch(code)
		if parts != nil && declared[parts[1]] && !declared[code] {
			report("package %s has no %s: use the name that it has now", parts[1], parts[2])
		}
	}
	return problems
}

// checkLink returns what is wrong with the target of a link, or "".
func checkLink(root fs.FS, page, target string) string {
	if strings.Contains(target, "://") {
		return ""
	}
	name, anchor, _ := strings.Cut(target, "#")
	file := page
	if name != "" {
		file = path.Join(path.Dir(page), name)
	}
	info, err := fs.Stat(root, file)
	if err != nil {
		return "the link to " + target + " leads nowhere"
	}
	if anchor == "" || info.IsDir() {
		return ""
	}
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' && headingAnchor(heading) == anchor {
			return ""
		}
	}
	return "no heading for the link to " + target
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// headingAnchor returns the anchor that a heading gets.
func headingAnchor(heading string) string {
	text := notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
	return strings.ReplaceAll(text, " ", "-")
}

// declaredNames returns the packages of the module and what they declare at
// the top, with fields and methods: lnet, lnet.Decoder, lnet.Decoder.Frame.
func declaredNames(packages []sourcePackage) map[string]bool {
	names := make(map[string]bool)
	for _, pkg := range packages {
		base := path.Base(pkg.dir)
		names[base] = true
		for _, file := range pkg.files {
			for _, decl := range file.syntax.Decls {
				addDeclared(names, base+".", decl)
			}
		}
	}
	return names
}

func addDeclared(names map[string]bool, prefix string, decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv != nil && len(decl.Recv.List) == 1 {
			prefix += receiverName(decl.Recv.List[0].Type) + "."
		}
		names[prefix+decl.Name.Name] = true
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names[prefix+spec.Name.Name] = true
				structure, ok := spec.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, f := range structure.Fields.List {
					for _, n := range f.Names {
						names[prefix+spec.Name.Name+"."+n.Name] = true
					}
				}
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					names[prefix+n.Name] = true
				}
			}
		}
	}
}

// TestDocChecks checks that each kind of wrong reference is reported.
func TestDocChecks(t *testing.T) {
	const page = "docs/architecture.md"
	for _, tt := range []struct{ text, want string }{
		{"see [a](other.md) and [b](other.md#the-way-of-a-frame)", ""},
		{"see [a](missing.md)", "the link to missing.md leads nowhere"},
		{"see [a](other.md#nothing)", "no heading for the link to other.md#nothing"},
		{"see `lnet/link.go`, `lnet.Decoder` and `lnet.Decoder.Frame`, `lnet.Decoder.stats`, `lnet.New`, `lnet.Max`", ""},
		{"see `lnet/gone.go`", "lnet/gone.go is gone"},
		{"see `lnet.Gone`", "package lnet has no Gone"},
		{"see `lnet.Decoder.Gone`", "package lnet has no Decoder.Gone"},
		{"see `time.Now` and `go.mod`", ""},
		{"```\n[x](missing.md)\n```", ""},
	} {
		root := fstest.MapFS{
			page:            {Data: []byte(tt.text)},
			"docs/other.md": {Data: []byte("# Other\n\n## The way of a `frame`\n")},
			"lnet/link.go":  {Data: []byte("package lnet\ntype Decoder struct{ stats int }\nfunc (d *Decoder) Frame() {}\nfunc New() {}\nconst Max = 1")},
		}
		problems := checkPage(t, root, page, declaredNames(parseModule(t, root)))
		assert.That(t, tt.want != "" || len(problems) <= 0, "%s: %q", tt.text, problems)
		if tt.want != "" {
			checkProblems(t, tt.text, problems, []string{page, tt.want})
		}
	}
}
