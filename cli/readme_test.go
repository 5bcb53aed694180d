package cli

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/cli/exit"
)

// TestReadme runs the commands of the README and compares what they print.
func TestReadme(t *testing.T) {
	t.Chdir("..")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "```console\n")
	fresh := parts[0]
	for _, part := range parts[1:] {
		block, rest, ok := strings.Cut(part, "```\n")
		if !ok {
			t.Fatal("a block without an end")
		}
		command, want, _ := strings.Cut(block, "\n")
		got := runConsole(t, command)
		if got != want && !*update {
			t.Errorf("%s prints\n%s\nand the README says\n%s", command, got, want)
		}
		fresh += "```console\n" + command + "\n" + got + "```\n" + rest
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runConsole runs `$ lshark ARGS | head -N`.
func runConsole(t *testing.T, command string) string {
	t.Helper()
	args, ok := strings.CutPrefix(command, "$ lshark ")
	if !ok {
		t.Fatalf("%q is not a command of ours", command)
	}
	limit := -1
	if a, n, found := strings.Cut(args, " | head -"); found {
		args = a
		limit, _ = strconv.Atoi(n)
	}
	var out, errs bytes.Buffer
	sys := testSystem(&out, &errs)
	if status := Run(sys, words(args)); status != exit.OK {
		t.Fatalf("%s: exit status %d: %s", command, status, &errs)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	if limit >= 0 && limit < len(lines) {
		lines = lines[:limit]
	}
	return strings.Join(lines, "")
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
