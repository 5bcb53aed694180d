// Newnames reads the public headers of a checkout of Lustre, as text, and prints the names that lshark does not know or
// knows with another number: opcodes, flags, other constants, structs and their fields.
//
//	go run ./internal/tools/newnames ~/lustre-release
//
// With -rows it prints the unknown ones in the form of opcodes/header_names.tsv, for those that no message has. With -ours it
// prints the names that lshark has and no C file of the checkout: they are of InfiniBand, of the kernel, of an older release,
// or lshark's own for a part that Lustre has no name for; any other is wrong.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

func main() {
	rows := flag.Bool("rows", false, "print unknown names as rows of opcodes/header_names.tsv")
	ours := flag.Bool("ours", false, "print names of lshark that no C file of the folder has")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: newnames [-rows|-ours] FOLDER, which has a checkout of Lustre")
		os.Exit(2)
	}
	c, err := newComparison(flag.Arg(0))
	switch {
	case err != nil:
	case *rows:
		err = c.rows(os.Stdout)
	case *ours:
		err = printOurs(os.Stdout, flag.Arg(0))
	default:
		err = c.run(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "newnames:", err)
		os.Exit(1)
	}
}

type comparison struct {
	names   []name
	release string // of the headers: 2.18; empty: not known
	index   *schema.Index
	*values
}

func newComparison(folder string) (*comparison, error) {
	names, err := readHeaders(folder)
	if err != nil {
		return nil, err
	}
	return &comparison{names: names, release: releaseOf(folder), index: opcodes.FieldIndex(), values: newValues(names)}, nil
}

var version = regexp.MustCompile(`(?m)^DEFAULT_VERSION=(\d+)\.(\d+)\.(\d+)`)

// releaseOf returns the release that a checkout is on the way to: the third number of a version is 50 or more after a
// release branch was made.
func releaseOf(folder string) string {
	text, err := os.ReadFile(filepath.Join(folder, "LUSTRE-VERSION-GEN"))
	m := version.FindSubmatch(text)
	if err != nil || m == nil {
		return ""
	}
	minor, _ := strconv.Atoi(string(m[2]))
	if len(m[3]) > 1 && m[3][0] >= '5' {
		minor++
	}
	return fmt.Sprintf("%s.%d", m[1], minor)
}

// tooLate says that lshark takes a name for newer than the headers are; empty: it does not.
func (c *comparison) tooLate(name string, since schema.Since) string {
	if c.release == "" || string(since) <= c.release {
		return ""
	}
	return fmt.Sprintf("%s: lshark has it since %s, these headers are of %s", name, since, c.release)
}

// run prints a line for each name that differs, and last how many names were compared.
func (c *comparison) run(w io.Writer) error {
	differ := 0
	for _, n := range c.names {
		text := c.difference(n)
		if text == "" {
			continue
		}
		differ++
		if _, err := fmt.Fprintf(w, "%s:%d: %s\n", n.file, n.line, text); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d names, %d differ\n", len(c.names), differ)
	return err
}

// rows prints a row for the fields of each unknown struct, for the unknown names of each enum, and for those defined one
// after the other with the same beginning.
func (c *comparison) rows(w io.Writer) error {
	type row struct{ file, kind, beginning string }
	var last row
	var text string
	for _, n := range c.names {
		r, word := row{file: n.file, kind: n.kind}, n.name+c.valueText(n)
		switch n.kind {
		case "struct":
			r.kind, word = "struct "+n.name, ""
		case "field":
			r.kind = "struct " + n.of
		case "define":
			r.beginning, _, _ = strings.Cut(n.name, "_")
		}
		if _, ok := c.number(n.value); !ok && c.alias(n) != "" {
			r.kind, r.beginning = "alias", ""
		}
		ofUnknown := n.kind == "field" && r == last
		if !ofUnknown && !strings.HasSuffix(c.difference(n), ": unknown") {
			continue
		}
		if r != last {
			text += "\t\n" + r.file + "\t" + r.kind + "\t" + word
			last = r
			continue
		}
		if !strings.HasSuffix(text, "\t") {
			text += " "
		}
		text += word
	}
	_, err := fmt.Fprint(w, strings.TrimPrefix(text+"\t\n", "\t\n"))
	return err
}

// valueText returns =VALUE: a number, a text, or another name.
func (c *comparison) valueText(n name) string {
	number, ok := c.number(n.value)
	switch {
	case !ok && c.alias(n) != "":
		return "=" + c.alias(n)
	case ok:
		return "=" + numberText(number)
	case len(n.value) == 1 && !strings.Contains(n.value[0], " "):
		return "=" + n.value[0]
	}
	return ""
}

// path matches the value of a macro that is a field, such as a.b[0], and its name.
var path = regexp.MustCompile(`^(?:\w+\.)*([A-Za-z_]\w*)(?:\[\d+\])?$`)

// alias returns the name that lshark has for a macro that is another name of a field or struct, or for an enum; empty: none.
func (c *comparison) alias(n name) string {
	text := n.of
	if n.kind == "define" {
		text = strings.Join(n.value, "")
	}
	m := path.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	for _, t := range c.index.Topics(m[1]) {
		switch {
		case n.kind == "enum tag" && t.Value != nil:
			return t.Group.Group
		case n.kind == "define" && (t.Field != "" || t.Struct != nil || t.Header != nil && (t.Header.Struct || t.Header.Name != m[1])):
			return m[1]
		}
	}
	return ""
}

// difference says how a name differs from lshark's; empty: not at all.
func (c *comparison) difference(n name) string {
	text, key := n.kind+" "+n.name, n.name
	if n.kind == "field" {
		text, key = "struct "+n.of+" has "+n.name, n.of+"."+n.name
	}
	topics := c.index.Topics(key)
	number, isNumber := c.number(n.value)
	switch {
	case n.kind == "struct" && len(topics) > 0 && topics[0].Struct != nil:
		return c.tooLate(text, topics[0].Struct.Since)
	case n.kind == "field" && len(topics) > 0 && topics[0].Places != nil:
		return c.tooLate(text, topics[0].Places[0].Field.Since)
	case n.kind == "field" && (opcodes.StructNamed(n.of) == nil || n.nested && c.index.Find(n.name) != nil):
		return ""
	case n.kind == "struct", n.kind == "field", !isNumber && c.alias(n) != "":
		if len(topics) == 0 {
			return text + ": unknown"
		}
		return ""
	case n.kind == "enum tag", n.kind == "define" && (strings.HasPrefix(n.name, "__") || !isNumber && strings.ToUpper(n.name) != n.name):
		return "" // of the C library, or code
	}
	var others []string
	known := false
	for _, t := range topics {
		var have string
		var since schema.Since
		switch {
		case t.RPC != nil:
			have, since = numberText(uint64(t.RPC.Opcode)), t.RPC.Since
		case t.Value != nil && t.Group.Full(*t.Value) == n.name:
			have, since = numberText(t.Value.Value), t.Value.Since
		case t.Header != nil:
			have = t.Header.Value
		case t.Field != "" || t.Value != nil:
			continue
		}
		known = true
		if have != "" && isNumber && have != numberText(number) && have != numberText(uint64(uint32(number))) {
			others = append(others, have)
			continue
		}
		return c.tooLate(text, since)
	}
	switch {
	case !known && isNumber:
		return fmt.Sprintf("%s = %s: unknown", text, numberText(number))
	case !known:
		return text + ": unknown"
	default:
		return fmt.Sprintf("%s = %s: lshark has %s", text, numberText(number), strings.Join(others, ", "))
	}
}

func numberText(n uint64) string {
	if int64(n) < 0 && int64(n) > -4096 {
		return strconv.FormatInt(int64(n), 10)
	}
	return fmt.Sprintf("%#x", n)
}

var identifier = regexp.MustCompile(`[A-Za-z_]\w*`)

// printOurs prints the groups with the full names of values, and the structs with the names of fields, that no C file has.
func printOurs(w io.Writer, folder string) error {
	inSources := make(map[string]bool)
	err := filepath.WalkDir(folder, func(path string, file fs.DirEntry, err error) error {
		if err != nil || !file.Type().IsRegular() || filepath.Ext(path) != ".h" && filepath.Ext(path) != ".c" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, word := range identifier.FindAllString(string(text), -1) {
			inSources[word] = true
		}
		return err
	})
	line := func(of string, names []string) {
		if names = slices.DeleteFunc(names, func(name string) bool { return inSources[name] || name == "" }); len(names) > 0 && err == nil {
			_, err = fmt.Fprintln(w, of, strings.Join(names, " "))
		}
	}
	for _, g := range opcodes.Protocol.Groups() {
		var names []string
		for _, v := range g.Values {
			names = append(names, g.Full(v))
		}
		line("group "+g.Group+":", names)
	}
	for _, s := range opcodes.Protocol.Structs() {
		names := []string{s.Name}
		for _, f := range s.Fields {
			names = append(names, f.Name)
		}
		line("struct "+s.Name+":", names)
	}
	return err
}
