package schema

import "testing"

// TestLabelsDoNotAct: names come from strangers, and a line goes to a terminal.
func TestLabelsDoNotAct(t *testing.T) {
	for wire, want := range map[string]string{
		"plain":               "plain",
		"a\u202egpj":          `a\xe2\x80\xaegpj`,
		"\u2066x\u2028\ufeff": `\xe2\x81\xa6x\xe2\x80\xa8\xef\xbb\xbf`,
		"\x1b[31m\u009b":      `\x1b[31m\xc2\x9b`,
		"\xff\\xff":           `\xff\x5cxff`,
		"é":                   "é",
		"up to NUL\x00no":     "up to NUL",
	} {
		var l Line
		if l.Label(Name, []byte(wire)); string(l.Text) != want {
			t.Errorf("%q became %s", wire, l.Text)
		}
	}
	l := PlainLine(nil)
	if l.Label(Name, []byte("\u202e")); string(l.Text) != "\u202e" {
		t.Error("text for a renderer is escaped twice")
	}
}
