package tui

import (
	"errors"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/filter"
)

// filterLine is where the display filter is typed, and below it what is wrong with the
// filter.
type filterLine struct {
	*tview.InputField
	hint   *tview.Box
	errors []string // lines below
	colors *render.Colors
	kind   store.Kind
	names  []string // that the filter knows, in their order
	past   []string // filters that were applied, the last one at the end
	recall int      // which of them is shown; len(past): none
}

const filterLabel = "filter: "

func newFilterLine(colors *render.Colors) *filterLine {
	f := &filterLine{InputField: tview.NewInputField(), hint: tview.NewBox(), colors: colors}
	f.SetLabel(filterLabel).SetLabelStyle(tcell.StyleDefault.Dim(true))
	f.SetFieldStyle(tcell.StyleDefault).SetPlaceholderStyle(tcell.StyleDefault.Dim(true))
	f.SetPlaceholder("F to type one, such as opcode == OST_WRITE && latency > 10ms")
	f.SetAutocompleteStyles(tcell.ColorDefault, tcell.StyleDefault, tcell.StyleDefault.Reverse(true))
	f.SetAutocompleteUseTags(false)
	f.SetAutocompleteFunc(f.complete)
	f.SetAutocompletedFunc(f.completed)
	f.SetChangedFunc(f.changed)
	f.hint.SetBackgroundColor(tcell.ColorDefault)
	f.hint.SetDrawFunc(func(screen tcell.Screen, x, y, width, height int) (int, int, int, int) {
		bad := styleOf(&colors.Bad)
		for i := 0; i < min(height, len(f.errors)); i++ {
			put(screen, x+1, y+i, width-1, 0, []run{{f.errors[i], bad}}, nil)
		}
		return x, y, width, height
	})
	return f
}

func (f *filterLine) setKind(k store.Kind) {
	if f.kind != k || f.names == nil {
		f.kind, f.names = k, filter.Names(k == store.RPCs)
		slices.Sort(f.names)
		f.names = slices.Compact(f.names)
	}
}

func (f *filterLine) compile(text string) (err error) {
	switch {
	case text == "":
	case f.kind == store.RPCs:
		_, err = filter.CompileRPC(text)
	default:
		_, err = filter.Compile(text)
	}
	return err
}

// changed colours the text by whether it is a filter.
func (f *filterLine) changed(text string) {
	f.errors = nil
	style := tcell.StyleDefault
	switch {
	case text == "":
	case f.compile(text) != nil:
		style = styleOf(&f.colors.Bad)
	default:
		style = styleOf(&f.colors.Good)
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

func (f *filterLine) complete(text string) (list []string) {
	start := wordStart(text)
	word := text[start:]
	if len(word) < minCompleted || !f.HasFocus() {
		return nil
	}
	from, exact := slices.BinarySearch(f.names, word)
	if exact {
		from++
	}
	for _, name := range f.names[from:] {
		if !strings.HasPrefix(name, word) || len(list) == maxCompletions {
			break
		}
		list = append(list, text[:start]+name)
	}
	return list
}

// wordStart returns where the last word of a text begins. Words in quotes are not
// completed.
func wordStart(text string) int {
	if strings.Count(text, `"`)%2 != 0 {
		return len(text)
	}
	return strings.LastIndexFunc(text, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) + 1
}

// completed puts a name in when it was chosen with Tab or the mouse. Enter applies the
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
