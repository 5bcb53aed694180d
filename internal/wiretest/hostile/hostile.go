// Package hostile makes captures whose texts a terminal, a page or a table would act on, and
// checks that output has none of them.
package hostile

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/operations"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Text has escape sequences in one byte and in two, ends of lines and of columns, quotes,
// tags, text from right to left, what does not show, and bytes that are not UTF-8.
const Text = "\x1b]52;c;\x07\n\t\"'</script>\u009b\u202e\u00ad\xff\\x1b\r{}"

// repeated returns n bytes of Text from a place in it.
func repeated(n, at int) string {
	return strings.Repeat(Text, 2+n/len(Text))[at%len(Text):][:n]
}

// Sample returns the frames of a capture in which all texts are replaced by hostile ones of the
// same length, the same text by the same; fields of a fixed size that are empty are filled.
func Sample(t testing.TB, path string) []capture.Frame {
	t.Helper()
	frames := wiretest.ReadSample(t, path)
	texts := make(map[string]bool)
	var tree dissect.Tree
	wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		tree.Build(m)
		for i := range tree.Nodes {
			n := &tree.Nodes[i]
			if n.Src != dissect.InMessage && n.Src != dissect.InContent || n.Is(dissect.Missing) || keywords[n.Field.Name] ||
				n.Field.Kind != schema.Text && n.Field.Kind != schema.Strings {
				continue
			}
			b := tree.Bytes(n)
			if n.Field.Size > 1 && len(b) == n.Field.Size && b[0] == 0 { // in the frame, where the message is in one
				copy(b[:len(b)-1], repeated(len(b), int(n.Off)))
				continue
			}
			for _, text := range strings.Split(string(b), "\x00") {
				const least = 4 // shorter ones are in other bytes, too
				if len(text) >= least {
					texts[text] = true
				}
			}
		}
	}}), frames)
	var replace []string
	for k, text := range slices.SortedFunc(maps.Keys(texts), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		replace = append(replace, text, repeated(len(text), k))
	}
	replacer := strings.NewReplacer(replace...)
	for i := range frames {
		frames[i].Data = []byte(replacer.Replace(string(frames[i].Data)))
	}
	return frames
}

// keywords are fields that keep their text: it decides how the rest of the message is read.
var keywords = map[string]bool{"setinfo_key": true, "getinfo_key": true}

// Operations returns requests and replies of all operations and variants: all texts that they
// declare are hostile and of a length. Half of the messages have hostile bytes that nothing declares, too.
func Operations(t testing.TB, length int) []capture.Frame {
	t.Helper()
	const short = 40 // of bytes that are shown as hex
	n := 0
	dialogs := operations.New(func(f *schema.Field) string {
		n++
		switch f.Kind {
		case schema.Bytes:
			return repeated(short, n)
		case schema.Strings:
			return repeated(length/2, n) + "\x00" + repeated(length/2, n+1)
		}
		return repeated(length, n)
	})
	for _, surplus := range []string{"", repeated(short, 0)} {
		dialogs.Surplus = surplus
		for _, r := range opcodes.Protocol.RPCs() {
			err := dialogs.Add(r)
			if err != nil && err.Error() != "no values were found for which LDLM_GL_CALLBACK is quota" {
				t.Error(err)
			}
		}
	}
	return dialogs.Frames
}

// Check reports what a terminal acts on, and bytes that are not UTF-8, in output.
func Check(t testing.TB, what string, out []byte) {
	t.Helper()
	if !utf8.Valid(out) {
		t.Errorf("%s: not UTF-8", what)
	}
	for line := range strings.Lines(string(out)) {
		for _, c := range strings.TrimSuffix(line, "\n") {
			if c != '\t' && schema.NeedsEscape(c) {
				t.Errorf("%s: %q in %q", what, c, line[:min(len(line), 200)])
				break
			}
		}
	}
}
