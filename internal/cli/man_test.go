package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/flags"
)

// manPage returns the manual page of a command, made from its help.
func manPage(cmd *cobra.Command) []byte {
	var b strings.Builder
	name := manName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 \"\" lshark \"User Commands\"\n", strings.ToUpper(roff(name)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(strings.ToLower(cmd.Short[:1])+cmd.Short[1:]))
	b.WriteString(".SH SYNOPSIS\n.nf\n")
	for _, line := range synopsis(cmd) {
		fmt.Fprintf(&b, "\\fB%s\\fR%s\n", roff(cmd.CommandPath()), roff(strings.TrimPrefix(line, cmd.CommandPath())))
	}
	b.WriteString(".fi\n")
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", strings.ReplaceAll(roff(text), "\n\n", "\n.PP\n"))
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
	manSeeAlso(&b, cmd)
	return []byte(b.String())
}

const manStatus = `.SH EXIT STATUS
0: success, also when nothing matched. 1: failure. 2: error in the arguments or
in a filter. 3: the input is damaged or not a capture; everything that could be
read was printed first.
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
