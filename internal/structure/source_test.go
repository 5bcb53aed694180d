// Package structure checks the source of the module as a whole: the direction
// of the imports, and what the pages name. It
// consists of tests.
package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// modulePath is what the import paths of this module begin with.
const modulePath = "github.com/lshark/lshark"

// sourceFile is a Go file, but not a test.
type sourceFile struct {
	name    string // with its folder, as in dissect/lnet/socklnd.go
	imports []string
	syntax  *ast.File
}

// sourcePackage is a folder with Go files.
type sourcePackage struct {
	dir   string // "." for the main package
	files []sourceFile
}

// parseModule parses every Go file below root except tests, and returns the
// packages sorted by folder. It leaves out testdata, hidden folders and nested
// modules.
func parseModule(t *testing.T, root fs.FS) []sourcePackage {
	t.Helper()
	files := make(map[string][]sourceFile)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipFolder(root, name):
			return fs.SkipDir
		case entry.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files[path.Dir(name)] = append(files[path.Dir(name)], sourceFile{name, importPaths(syntax), syntax})
		return nil
	})
	must.NoError(t, err)
	var packages []sourcePackage
	for dir, list := range files {
		packages = append(packages, sourcePackage{dir, list})
	}
	slices.SortFunc(packages, func(a, b sourcePackage) int { return strings.Compare(a.dir, b.dir) })
	return packages
}

// skipFolder reports whether a folder holds no code of this module.
func skipFolder(root fs.FS, name string) bool {
	if name == "." {
		return false
	}
	base := path.Base(name)
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(root, path.Join(name, "go.mod"))
	return err == nil
}

func importPaths(file *ast.File) []string {
	var list []string
	for _, spec := range file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			list = append(list, p)
		}
	}
	return list
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
