package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/sql/sqltest"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// allCommands returns lshark and all its commands.
func allCommands() (list []*cobra.Command) {
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		list = append(list, cmd)
		for _, c := range cmd.Commands() {
			add(c)
		}
	}
	root := newRoot(testSystem(io.Discard, io.Discard), forHelp)
	root.InitDefaultHelpCmd()
	add(root)
	return list
}

// TestExamples runs every example of every help text. No line is too long for a terminal.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("runs each command once, which other tests do, too")
	}
	for _, cmd := range allCommands() {
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			t.Parallel()
			dir := exampleFolder(t) // an example may use what the one before has written
			for line := range strings.Lines(cmd.Example) {
				assert.That(t, len(line) <= 81, "more than 80 columns: %s", line)
			}
			whole := strings.NewReplacer("\\\n    ", "", "\n    ", " ").Replace(cmd.Example)
			for line := range strings.Lines(whole) {
				line = strings.TrimSpace(line)
				if line != "" && !strings.HasPrefix(line, "#") {
					t.Run(line, func(t *testing.T) { runExample(t, dir, line) })
				}
			}
		})
	}
}

// exampleFolder returns a folder that has the files of examples.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, sample := range map[string]string{
		"mount.pcap":      "mount.pcap",
		"client.pcap":     "io.pcap.zst",
		"client.pcap.zst": "io.pcap.zst",
		"server.pcap":     "recovery.pcap.zst",
		"before.pcap":     "metadata.pcap.zst",
		"after.pcap":      "recovery.pcap.zst",
		"after2.pcap":     "mount.pcap",
		"mds.pcap":        "../dissect/track/nested/testdata/dne.mds.pcap.zst",
		"oss.pcap":        "../dissect/track/nested/testdata/dne.oss.pcap.zst",
		"messages":        "logs/evicted.oss.log",
		"evicted.pcap":    "../dissect/diagnose/rules/testdata/evicted.pcap.zst",
	} {
		must.NoError(t, os.Symlink(wiretest.Repo("pcaps/"+sample), filepath.Join(dir, name)))
	}
	must.NoError(t, os.WriteFile(filepath.Join(dir, "site.key"), []byte("key\n"), 0o600))
	for _, sub := range []string{".zfunc", ".config/fish/completions", ".local/share/bash-completion/completions"} {
		must.NoError(t, os.MkdirAll(filepath.Join(dir, sub), 0o700))
	}
	return dir
}

// runExample runs a command line and checks its exit status. A live capture
// takes in lo for a second.
func runExample(t *testing.T, dir, line string) {
	short := strings.Replace(line, " -a duration:60", "", 1)
	line = strings.Replace(line, "--log /var/log/messages", "--listen 127.0.0.1:0 --log messages -a duration:1", 1)
	if !strings.Contains(line, "lshark monitor") {
		line = strings.Replace(line, "--listen 127.0.0.1:0 --log", "--log", 1)
	}
	if live := strings.Replace(short, "-i eth0", "-i lo -a duration:1", 1); live != short {
		l, err := capture.OpenLive([]string{"lo"}, capture.LiveOptions{})
		if err != nil {
			t.Skip("no live capture here: ", err)
		}
		l.Close()
		line = live
		if !strings.Contains(line, "--listen") { // not the usual port, which may be in use
			line = strings.Replace(line, "lshark monitor ", "lshark monitor --listen 127.0.0.1:0 ", 1)
		}
	}
	if strings.Contains(line, "lshark tui") {
		runOnTerminal(t, dir, line)
		return
	}
	path := os.Getenv("PATH")
	if strings.HasPrefix(line, "lshark sql ") {
		path = sqltest.Path(t)
	}
	for _, tool := range []string{"bash", "jq", "awk", "grep"} {
		if _, err := exec.LookPath(tool); err != nil && (tool == "bash" || strings.Contains(line, "| "+tool+" ")) {
			t.Skip(err)
		}
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "set -o pipefail; "+line)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME=", "PATH="+path)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	if strings.Contains(line, " -o report.html ") {
		if page, err := os.ReadFile(filepath.Join(dir, "report.html")); err != nil || len(page) == 0 {
			t.Errorf("no page was written: %v", err)
		}
		return
	}
	silent := strings.Contains(line, "> ~/") || strings.Contains(line, " -w ") || strings.HasPrefix(line, "source ") || strings.Contains(line, "--listen") || strings.Contains(line, "-i lo")
	assert.That(t, out.Len() != 0 || silent, "nothing was printed")
}

// notInUsage are the commands that docs/usage.md is not about.
var notInUsage = []string{"completion", "extcap", "help", "lshark", "version"}

// TestHelpTexts checks that commands have help texts, that these fit a terminal of 80 columns, that every
// flag has a group, that values of flags have a name that means something, and that docs/usage.md has every command.
func TestHelpTexts(t *testing.T) {
	usage := must.ReadFile(t, wiretest.Repo("docs/usage.md"))
	for _, cmd := range allCommands() {
		assert.That(t, cmd.Short != "", "%s has no Short: add what it does in one line, for the list of commands", cmd.CommandPath())
		assert.That(t, cmd.Long != "", "%s has no Long: add what it prints, for its help and manual page", cmd.CommandPath())
		if !regexp.MustCompile("(?:lshark |`)"+cmd.Name()+`\b`).Match(usage) && !slices.Contains(notInUsage, cmd.Name()) {
			t.Errorf("docs/usage.md does not name %s: add a section with an example, or list it in notInUsage", cmd.CommandPath())
		}
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		out, errs, status := run(t, args...)
		assert.That(t, status == exit.OK && errs == "", "%v: status %d, %s", args, status, errs)
		for line := range strings.Lines(out) {
			n := utf8.RuneCountInString(line) - 1
			assert.That(t, n <= 80, "%v: %d columns: %s", args, n, line)
		}
		const most = 5 // lines; docs/ has the rest
		about, _, _ := strings.Cut(out, "\n\nUsage:")
		assert.That(t, strings.Count(about, "\n") < most, "%v: more than %d lines before Usage:\n%s", args, most, about)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			switch f.Name {
			case "help", "version":
				return
			}
			assert.That(t, len(f.Annotations) != 0, "%v: --%s has no group: define it in flags.Add", args, f.Name)
			if value, _ := pflag.UnquoteUsage(f); value != "" && value == f.Value.Type() && value == strings.ToLower(value) {
				t.Errorf("%v: the value of --%s is named %s: name it in backquotes", args, f.Name, value)
			}
		})
	}
}

// TestHelpWidth checks that help uses the width of the terminal, up to a limit.
func TestHelpWidth(t *testing.T) {
	for columns, want := range map[int]int{60: 60, 200: 100} {
		var out bytes.Buffer
		must.Equal(t, Run(onTerminal(&out, columns), []string{"stats", "--help"}), exit.OK, "status")
		longest := 0
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, "  lshark ") {
				longest = max(longest, utf8.RuneCountInString(line)-1)
			}
		}
		assert.That(t, longest <= want && longest >= want-10, "%d columns: a line has %d", columns, longest)
	}
}

// TestVersion checks that --version prints what version does.
func TestVersion(t *testing.T) {
	flag, _, status := run(t, "--version")
	command, _, _ := run(t, "version")
	assert.That(t, status == exit.OK && flag == command && strings.HasPrefix(flag, "lshark "), "status %d, %q, %q", status, flag, command)
}

// TestFormsOnce checks that the form of a value, such as FILE=SECS, is not
// repeated in parentheses.
func TestFormsOnce(t *testing.T) {
	forms := 0
	for _, cmd := range allCommands() {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			form, usage := pflag.UnquoteUsage(f)
			if strings.ContainsAny(form, ":=") {
				forms++
			}
			if form != "" && strings.Contains(usage, "("+form+")") {
				t.Errorf("%s --%s %s: %s", cmd.Name(), f.Name, form, usage)
			}
		})
	}
	assert.That(t, forms != 0, "no flag has such a form")
}
