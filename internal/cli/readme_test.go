package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
)

// TestReadme runs the commands of the README and of docs/ and compares what
// they print.
func TestReadme(t *testing.T) {
	t.Chdir(wiretest.Repo("."))
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	for _, page := range append(pages, "README.md") {
		t.Run(page, func(t *testing.T) { runPage(t, page) })
	}
}

// runPage runs the commands of one page. With UPDATE=1 it writes their output
// into the page.
func runPage(t *testing.T, page string) {
	text := must.ReadFile(t, page)
	parts := strings.Split(string(text), "```console\n")
	fresh := parts[0]
	for _, part := range parts[1:] {
		block, rest, ok := strings.Cut(part, "```\n")
		if !ok {
			t.Fatal("a block without an end")
		}
		command, want, _ := strings.Cut(block, "\n")
		got := runConsole(t, command)
		if got != want && !wiretest.Update() {
			t.Errorf("%s prints\n%s\nand %s says\n%s", command, got, page, want)
		}
		fresh += "```console\n" + command + "\n" + got + "```\n" + rest
	}
	if wiretest.Update() && fresh != string(text) {
		must.NoError(t, os.WriteFile(page, []byte(fresh), 0o644))
	}
}

// runConsole runs `$ lshark ARGS`, whose output may go through
// `| head -N`, `| grep TEXT` and `| jq .`.
func runConsole(t *testing.T, command string) string {
	t.Helper()
	stages := strings.Split(command, " | ")
	args, ok := strings.CutPrefix(stages[0], "$ lshark ")
	if !ok {
		t.Fatalf("%q is not a command of ours", command)
	}
	var out, errs bytes.Buffer
	sys := testSystem(&out, &errs)
	if status := Run(sys, words(args)); status != exit.OK {
		t.Fatalf("%s: exit status %d: %s", command, status, &errs)
	}
	text := out.String()
	for _, stage := range stages[1:] {
		text = pipe(t, stage, text)
	}
	return text
}

// pipe does what a command at the end of a pipe does to a text.
func pipe(t *testing.T, command, text string) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	name, arg, _ := strings.Cut(command, " ")
	switch name {
	case "head":
		n, err := strconv.Atoi(strings.TrimPrefix(arg, "-"))
		must.NoError(t, err)
		return strings.Join(lines[:min(n, len(lines))], "")
	case "grep":
		return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return !strings.Contains(l, arg) }), "")
	case "jq":
		var b bytes.Buffer
		must.NoError(t, json.Indent(&b, []byte(text), "", "  "))
		return b.String()
	}
	t.Fatalf("%q is no command that a pipe may end with", command)
	return ""
}

// words splits a command line at spaces outside single quotes.
func words(s string) []string {
	var list []string
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			list = append(list, part)
			continue
		}
		list = append(list, strings.Fields(part)...)
	}
	return list
}
