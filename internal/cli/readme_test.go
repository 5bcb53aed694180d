package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// readmeColumns is the width of the terminal of the README.
const readmeColumns = 100

// TestReadme runs the commands of the README and of docs/ and compares what
// they print: in the README on a terminal, in docs/ into a file.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	t.Chdir(wiretest.Repo("."))
	pages, err := filepath.Glob("docs/*.md")
	must.That(t, err == nil && len(pages) != 0, "no pages in docs: %v", err)
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
		must.That(t, ok, "a block without an end")
		command, want, _ := strings.Cut(block, "\n")
		got := runConsole(t, page, command)
		if page == "README.md" {
			for line := range strings.Lines(command + "\n" + got) {
				assert.That(t, utf8.RuneCountInString(line) <= readmeColumns+1, "wider than %d columns: %s", readmeColumns, line)
			}
		}
		if got != want && !wiretest.Update() {
			t.Errorf("%s prints\n%s\nand %s says\n%s\n%s", command, got, page, want, wiretest.UpdateHint(t))
		}
		fresh += "```console\n" + command + "\n" + got + "```\n" + rest
	}
	if wiretest.Update() && fresh != string(text) {
		must.NoError(t, os.WriteFile(page, []byte(fresh), 0o644))
	}
}

// runConsole runs `$ lshark ARGS`, whose output may go through
// `| head -N`, `| tail -N`, `| grep TEXT` and `| jq …`.
func runConsole(t *testing.T, page, command string) string {
	t.Helper()
	stages := strings.Split(command, " | ")
	args, ok := strings.CutPrefix(stages[0], "$ lshark ")
	must.That(t, ok, "%q is not a command of ours", command)
	var out, errs bytes.Buffer
	sys := testSystem(&out, &errs)
	list := words(args)
	if page == "README.md" && len(stages) == 1 {
		sys, list = onTerminal(&out, readmeColumns), append(list, "--color", "never")
	}
	must.Equal(t, Run(sys, list), exit.OK, command, "exit status", &errs)
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
	case "tail":
		n, err := strconv.Atoi(strings.TrimPrefix(arg, "-"))
		must.NoError(t, err)
		lines = lines[:len(lines)-1] // an empty one
		return strings.Join(lines[max(0, len(lines)-n):], "")
	case "grep":
		return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return !strings.Contains(l, arg) }), "")
	case "jq":
		if arg == "." { // jq would round numbers
			var b bytes.Buffer
			must.NoError(t, json.Indent(&b, []byte(text), "", "  "))
			return b.String()
		}
		cmd := exec.Command("jq", words(arg)...)
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if errors.Is(err, exec.ErrNotFound) {
			t.Skip(err)
		}
		must.NoError(t, err)
		return string(out)
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

// manPage returns the manual page of a command, made from its help.
func manPage(cmd *cobra.Command) []byte {
	var b strings.Builder
	name := manName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 %q lshark \"User Commands\"\n", strings.ToUpper(roff(name)), manDate())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(strings.ToLower(cmd.Short[:1])+cmd.Short[1:]))
	b.WriteString(".SH SYNOPSIS\n.nf\n")
	for _, line := range synopsis(cmd) {
		fmt.Fprintf(&b, "\\fB%s\\fR%s\n", roff(cmd.CommandPath()), roff(strings.TrimPrefix(line, cmd.CommandPath())))
	}
	b.WriteString(".fi\n")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", strings.ReplaceAll(roff(cmd.Long), "\n\n", "\n.PP\n"))
	if subs := cmd.Commands(); len(subs) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range subs {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(c.Name()), roff(c.Short))
		}
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString(".SH OPTIONS\n")
		sets := flags.ByGroup(cmd)
		for _, group := range flags.Groups {
			if sets[group] != nil {
				fmt.Fprintf(&b, ".SS %s\n", group)
				sets[group].VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
			}
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	b.WriteString(manStatus)
	if cmd.LocalFlags().Lookup("exit-code") != nil {
		b.WriteString("With --exit-code, 4: there is an error among the findings, 5: there is a warning, and\nno error.\n")
	}
	manSeeAlso(&b, cmd)
	return []byte(b.String())
}

// manDate returns the date of the pages: that of the last release in the changelog. Until there
// is one, it is fixed.
var manDate = sync.OnceValue(func() string {
	const beforeReleases = "2026-11-28"
	text, err := os.ReadFile(wiretest.Repo("CHANGELOG.md"))
	if err != nil {
		panic(err)
	}
	if last := regexp.MustCompile(`(?m)^## \[[0-9.]+\] - (\S+)$`).FindSubmatch(text); last != nil {
		return string(last[1])
	}
	return beforeReleases
})

const manStatus = `.SH EXIT STATUS
0: success, also when nothing matched. 1: failure. 2: error in the arguments or
in a filter. 3: the input is damaged or not a capture; everything that could be
read was printed first. 130: Ctrl-C ended the reading of files, what was found so
far was printed.
`

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func manFlag(b *strings.Builder, f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n")
	if f.Shorthand != "" {
		fmt.Fprintf(b, "\\fB\\-%s\\fR, ", f.Shorthand)
	}
	fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", roff(f.Name))
	if value != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
	}
	fmt.Fprintf(b, "\n%s", roff(usage))
	switch f.DefValue {
	case "", "false", "[]", "0", "0s":
	default:
		fmt.Fprintf(b, " (default %s)", roff(f.DefValue))
	}
	b.WriteByte('\n')
}

func manSeeAlso(b *strings.Builder, cmd *cobra.Command) {
	var names []string
	if cmd.HasParent() {
		names = append(names, manName(cmd.Root()))
	}
	for _, c := range cmd.Commands() {
		names = append(names, manName(c))
	}
	b.WriteString(".SH SEE ALSO\n")
	for i, n := range append(names, "tshark", "pcap-filter") {
		section := "1"
		if n == "pcap-filter" {
			section = "7"
		}
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(b, "\\fB%s\\fR(%s)", roff(n), section)
	}
	b.WriteByte('\n')
}

// roff escapes text: backslashes, hyphens, and characters that would begin a
// request at the start of a line.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...", "—", `\(em`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

// TestGenerated checks that the completion scripts and man pages in completions/
// are up to date; UPDATE=1 in the environment writes them.
func TestGenerated(t *testing.T) {
	dir := wiretest.Repo("completions")
	fresh := make(map[string][]byte)
	for shell, name := range map[string]string{"bash": "lshark.bash", "zsh": "_lshark", "fish": "lshark.fish", "powershell": "lshark.ps1"} {
		var b bytes.Buffer
		if code := Run(testSystem(&b, &b), []string{"completion", shell}); code != 0 {
			t.Fatalf("completion %s: status %d\n%s", shell, code, b.Bytes())
		}
		fresh[name] = b.Bytes()
	}
	var pages func(cmd *cobra.Command)
	pages = func(cmd *cobra.Command) {
		must.That(t, cmd.Short != "", "%s has no Short", cmd.CommandPath())
		cmd.InitDefaultHelpFlag()
		fresh[manName(cmd)+".1"] = manPage(cmd)
		for _, c := range cmd.Commands() {
			pages(c)
		}
	}
	pages(newRoot(testSystem(io.Discard, io.Discard), forHelp))
	old := must.Value(os.ReadDir(dir))(t)
	for _, e := range old {
		if e.Name() == "wireshark" {
			continue // generated by package extcap
		}
		if fresh[e.Name()] == nil {
			if t.Errorf("completions/%s belongs to no command: %s", e.Name(), wiretest.UpdateHint(t)); wiretest.Update() {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	for name, want := range fresh {
		path := filepath.Join(dir, name)
		wiretest.Golden(t, path, string(want))
	}
}

// TestZshVariables checks that a completion in zsh, where it is installed, leaves no variables in the shell.
func TestZshVariables(t *testing.T) {
	zsh, err := exec.LookPath("zsh")
	if err != nil {
		t.Skip(err)
	}
	const script = `compdef() { :; }; compadd() { :; }; _describe() { :; }
source $1
typeset -A compstate
lshark() { echo :4; }
words=(lshark rpcs "--display='opcode == OST_WR") CURRENT=3
_lshark
print ${+MATCH} ${+MBEGIN} ${+MEND} ${+match} ${+mbegin} ${+mend} ${+BASH_REMATCH}`
	out, err := exec.CommandContext(t.Context(), zsh, "-f", "-c", script, "zsh", wiretest.Repo("completions/_lshark")).CombinedOutput()
	assert.That(t, err == nil && string(out) == "0 0 0 0 0 0 0\n", "%v: %s", err, out)
}

// TestComplete checks completions as a shell requests them.
func TestComplete(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{""}, "rpcs\t"},
		{[]string{"-T", "js"}, "json\n"},
		{[]string{"rpcs", "-T", "su"}, "summary\n"},
		{[]string{"-T", "fields", "-e", "mbo_va"}, "mbo_valid\n"},
		{[]string{"rpcs", "-e", "late"}, "latency\n"},
		{[]string{"-Y", "pb_opc == 3 and ocd_ver"}, "pb_opc == 3 and ocd_version\n"},
		{[]string{"rpcs", "-Y", "rpc.tar"}, "rpc.target\n"},
		{[]string{"stats", "--by", "op,tar"}, "op,target\n"},
		{[]string{"-i", "an"}, "any\n"},
		{[]string{"explain", "obd_connect_d"}, "obd_connect_data\n"},
		{[]string{"explain", "OBD_CONNECT_GRANT_S"}, "OBD_CONNECT_GRANT_SHRINK\n"},
		{[]string{"decode", "ver"}, "version\n"},
		{[]string{"completion", "z"}, "zsh\n"},
		{[]string{"help", "rp"}, "rpcs\n"},
	} {
		var out, errs bytes.Buffer
		sys := testSystem(&out, &errs)
		if code := Run(sys, append([]string{"__complete"}, tt.args...)); code != 0 || !bytes.Contains(append([]byte("\n"), out.Bytes()...), []byte("\n"+tt.want)) {
			t.Errorf("%q: status %d, %q, want a line %q", tt.args, code, out.Bytes(), tt.want)
		}
	}
}
