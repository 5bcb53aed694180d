package tables

import (
	"math"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/opcodes/schema"
)

// SuspectsText returns the suspects of a finding in words, empty where there are not several:
// a single one is what the text of the finding is about.
func SuspectsText(f *diagnose.Finding) string {
	if len(f.Suspects) < 2 {
		return ""
	}
	return diagnose.PlacesText(f.Suspects, ", or ")
}

// Exclusion is the places that one message, or one line of a log, excludes.
type Exclusion struct {
	diagnose.Evidence
	places []diagnose.Place
}

// Exclusions returns what is excluded, by the evidence.
func Exclusions(f *diagnose.Finding) (list []Exclusion) {
	for i := range f.Cleared {
		c := &f.Cleared[i]
		n := 0
		for n < len(list) && list[n].Evidence != c.Evidence {
			n++
		}
		if n == len(list) {
			list = append(list, Exclusion{Evidence: c.Evidence})
		}
		list[n].places = append(list[n].places, c.Place)
	}
	return list
}

// Places returns the places in words.
func (x *Exclusion) Places() string { return diagnose.PlacesText(x.places, " and ") }

const excludedLabel = "excluded: "

// maxExcluded is how many lines about what is excluded a finding has, unless all are wanted.
const maxExcluded = 3

// suspects appends where the cause may be, what is excluded, what would tell, and in full what was compared with thresholds.
func (t *FindingsText) suspects(dst *schema.Marked, f *diagnose.Finding) {
	t.labelled(dst, "suspects: ", SuspectsText(f))
	excluded := Exclusions(f)
	shown := len(excluded)
	if !t.inFull {
		shown = min(shown, maxExcluded)
	}
	for i := range excluded[:shown] {
		x := &excluded[i]
		text := x.Places()
		if x.Frame != 0 {
			what := ", by frame "
			if x.Line() > 0 {
				what = ", by "
			}
			text += what + frameText(x.Point) + " at " + t.time(x.Time)
		}
		t.point(dst, x.Point)
		t.labelled(dst, excludedLabel, text+": "+x.Text)
	}
	if n := len(excluded) - shown; n > 0 {
		t.labelled(dst, excludedLabel, strconv.Itoa(n)+" more, which -v shows")
	}
	t.labelled(dst, "would tell: ", strings.Join(f.WouldTell, "; "))
	if !t.inFull {
		return
	}
	var measured []string
	for _, c := range f.Compared {
		number := strconv.FormatFloat(math.Round(c.Measured*1e3)/1e3, 'f', -1, 64)
		measured = append(measured, c.Name+" "+number+" "+c.Unit+" (threshold "+strconv.FormatFloat(c.Value, 'f', -1, 64)+")")
	}
	t.labelled(dst, "measured: ", strings.Join(measured, "; "))
}

// labelled appends a line that begins with a label, nothing where the text is empty.
func (t *FindingsText) labelled(dst *schema.Marked, label, text string) {
	if text == "" {
		return
	}
	t.wrapped(dst.Spaces(findingIndent).Add(schema.Heading, label), text, findingIndent+len(label))
}

// before returns a text with a word before it, nothing where it is empty.
func before(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}
