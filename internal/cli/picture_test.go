package cli

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestPicture draws the terminal of the README: lines of messages, and one of them as a tree.
func TestPicture(t *testing.T) {
	t.Chdir(wiretest.Repo("."))
	tree := terminalLines(t, "lshark -V -Y 'frame == 7' pcaps/io.pcap.zst")
	const skipped = "\x1b[2m  ⋮\x1b[22m"
	opcode, buffers, end := lineWith(t, tree, "pb_opc"), lineWith(t, tree, "  \x1b[1mbuffers"), lineWith(t, tree, "lum_hash_type")
	lines := append(terminalLines(t, "lshark -c 5 pcaps/io.pcap.zst"), "")
	lines = append(append(lines, tree[:3]...), skipped)
	lines = append(append(lines, tree[opcode:opcode+2]...), skipped)
	lines = append(append(lines, tree[buffers:end]...), skipped)
	wiretest.Golden(t, "docs/terminal.svg", terminalPicture(lines))
}

// terminalLines returns a command line and what it prints on a terminal in colour.
func terminalLines(t *testing.T, command string) []string {
	t.Helper()
	var out bytes.Buffer
	args := words(strings.TrimPrefix(command, "lshark "))
	must.Equal(t, Run(onTerminal(&out, readmeColumns), append(args, "--color", "always")), exit.OK, command, "exit status")
	return append([]string{"\x1b[1m$ " + command + "\x1b[22m"}, strings.Split(strings.TrimRight(out.String(), "\n"), "\n")...)
}

// lineWith returns the index of the first line with a text.
func lineWith(t *testing.T, lines []string, text string) int {
	t.Helper()
	for i, line := range lines {
		if strings.Contains(line, text) {
			return i
		}
	}
	t.Fatalf("no line has %q", text)
	return 0
}

// terminalStyle has a class for each escape sequence of render.Colors.
const terminalStyle = `
text{font:12px ui-monospace,monospace;fill:#e6edf3;white-space:pre}
.s1{font-weight:bold}.s2{fill:#8b949e}.s32{fill:#7ee787}.s33{fill:#e3b341}.s34{fill:#79c0ff}.s35{fill:#d2a8ff}.s36{fill:#56d4dd}
`

// terminalPicture returns lines with escape sequences as SVG.
func terminalPicture(lines []string) string {
	const lineHeight, charWidth, border = 15, 7.3, 16
	var b strings.Builder
	width, height := int(readmeColumns*charWidth)+2*border, len(lines)*lineHeight+2*border
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`, width, height)
	fmt.Fprintf(&b, "\n<title>lshark in a terminal</title>\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#0d1117\"/>\n", terminalStyle)
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d">`, border, border+(i+1)*lineHeight-4)
		text, rest, styled := strings.Cut(line, "\x1b[")
		xml.EscapeText(&b, []byte(text))
		for styled {
			codes, after, _ := strings.Cut(rest, "m")
			text, rest, styled = strings.Cut(after, "\x1b[")
			if codes == "0" || codes == "22" {
				xml.EscapeText(&b, []byte(text))
				continue
			}
			fmt.Fprintf(&b, `<tspan class="s%s">`, strings.ReplaceAll(codes, ";", " s"))
			xml.EscapeText(&b, []byte(text))
			b.WriteString("</tspan>")
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}
