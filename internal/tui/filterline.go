package tui

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

// filterLine is where the display filter is typed, and below it what is wrong with the
// filter.
type filterLine struct {
	*tview.InputField
	hint   *tview.Box
	errors []string // lines below
	styles *styles
	rows   *store.Store
	kind   store.Kind
	past   []string // filters that were applied, the last one at the end
	recall int      // which of them is shown; len(past): none
}

const filterLabel = "filter: "

func newFilterLine(rows *store.Store, st *styles) *filterLine {
	f := &filterLine{InputField: tview.NewInputField(), styles: st, rows: rows}
	f.hint = bar(func() (list [][2]run) {
		for _, line := range f.errors {
			list = append(list, [2]run{{" " + line, st[schema.Bad]}})
		}
		return list
	})
	f.SetLabel(filterLabel).SetLabelStyle(tcell.StyleDefault.Dim(true))
	f.SetFieldStyle(tcell.StyleDefault).SetPlaceholderStyle(tcell.StyleDefault.Dim(true))
	f.SetPlaceholder("F to type one, such as opcode == OST_WRITE && latency > 10ms")
	f.SetAutocompleteStyles(tcell.ColorDefault, tcell.StyleDefault, tcell.StyleDefault.Reverse(true))
	f.SetAutocompleteUseTags(false)
	f.SetAutocompleteFunc(f.complete)
	f.SetAutocompletedFunc(f.completed)
	f.SetChangedFunc(f.changed)
	return f
}

// compile returns what is wrong with a filter.
func (f *filterLine) compile(text string) error {
	_, err := f.rows.NewView(store.Query{Kind: f.kind, Filter: text})
	return err
}

// changed colours the text by whether it is a filter.
func (f *filterLine) changed(text string) {
	f.errors = nil
	style := f.styles[schema.Good]
	if text == "" {
		style = tcell.StyleDefault
	} else if f.compile(text) != nil {
		style = f.styles[schema.Bad]
	}
	f.SetFieldStyle(style)
}

// fail shows what is wrong with the filter: the message, carets below the text, a hint.
func (f *filterLine) fail(err error) {
	f.errors = strings.Split(err.Error(), "\n")
	var wrong *filter.Error
	if errors.As(err, &wrong) {
		f.errors = wrong.Lines()
	}
}

// maxCompletions is the number of names that are offered.
const maxCompletions = 10

// minCompleted is the number of letters from which on names are offered.
const minCompleted = 2

// complete offers names of fields, and behind an operator values: those that the latest rows have,
// and those that have names.
func (f *filterLine) complete(text string) (list []string) {
	start, field := filter.LastWord(text)
	word := text[start:]
	if field == "" && len(word) < minCompleted || !f.HasFocus() {
		return nil
	}
	words := slices.Sorted(slices.Values(filter.Names(f.kind == store.RPCs)))
	if field != "" {
		words = append(f.seen(field), filter.ValueNames(field, f.kind == store.RPCs)...)
	}
	for _, w := range words {
		whole := text[:start] + w
		if len(list) < maxCompletions && w != word && strings.HasPrefix(strings.Trim(w, `"`), strings.Trim(word, `"`)) && !slices.Contains(list, whole) {
			list = append(list, whole)
		}
	}
	return list
}

// maxSeen is the number of rows whose values are offered.
const maxSeen = 4096

// seen returns the values that a field has in the latest rows, in the form that a filter expects.
func (f *filterLine) seen(field string) []string {
	if f.kind == store.RPCs {
		field = strings.TrimPrefix(field, records.RPCs.Prefix)
	}
	c, ok := store.NewColumn(f.kind, field)
	if !ok {
		return nil
	}
	switch c.Type {
	case records.Text, records.Enum, records.NID, records.FID, records.Address:
	default:
		return nil
	}
	values := make(map[string]bool)
	rows := f.rows.NewReader()
	from, to := f.rows.Range(f.kind)
	for id := max(from, to-maxSeen); id < to; id++ {
		if r, err := rows.Read(f.kind, id); err == nil {
			if v := c.Append(nil, &r); len(v) > 0 {
				values[filter.Literal(string(v))] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(values))
}

// completed puts a word in when it was chosen with Tab or the mouse. Enter applies the
// filter as it was typed.
func (f *filterLine) completed(text string, _, source int) bool {
	switch source {
	case tview.AutocompletedTab, tview.AutocompletedClick:
		f.SetText(text)
		return true
	case tview.AutocompletedEnter:
		return true
	}
	return false
}

// remember adds a filter to those that were applied.
func (f *filterLine) remember(text string) {
	if text != "" {
		f.past = append(slices.DeleteFunc(f.past, func(past string) bool { return past == text }), text)
		f.past = f.past[max(0, len(f.past)-maxPast):]
	}
	f.recall = len(f.past)
}

// maxPast is the number of filters that are remembered.
const maxPast = 100

// older shows the filter that was applied before the one that is shown, or after it.
func (f *filterLine) older(by int) {
	to := f.recall + by
	if to < 0 || to > len(f.past) {
		return
	}
	f.recall = to
	text := ""
	if to < len(f.past) {
		text = f.past[to]
	}
	f.SetText(text)
}
