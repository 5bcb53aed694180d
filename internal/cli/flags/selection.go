package flags

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

// Selection holds the flags that select messages or RPCs.
type Selection struct {
	Display string
	Count   int
	Save    string
	All     bool // save all frames
}

// Register defines the flags. In their help texts, noun names what -Y selects,
// such as "RPCs", and counted names what -c counts.
func (s *Selection) Register(f *pflag.FlagSet, noun, counted string) {
	f.StringVarP(&s.Display, "display", "Y", "", "only "+noun+" that match the display filter `EXPR`, such as "+
		"'pb_opc == OST_WRITE && pb_status == ENOSPC'; \"lshark fields\" lists the names")
	f.IntVarP(&s.Count, "count", "c", 0, "stop after `N` "+counted)
}

// RegisterSave defines the flag for saving frames.
func (s *Selection) RegisterSave(f *pflag.FlagSet, noun string) {
	f.StringVarP(&s.Save, "write", "w", "", "also write the frames of the "+noun+" to `FILE`, as pcapng")
	f.BoolVar(&s.All, "all-frames", false, "with -w, write all frames; those of the "+noun+" have comments")
}

func (s *Selection) Check() error {
	if s.Count < 0 {
		return exit.Usagef("-c %d: must not be negative", s.Count)
	}
	if s.All && s.Save == "" {
		return exit.Usagef("--all-frames needs -w")
	}
	return nil
}

// MessageFilter is a display filter for messages. The zero value matches all.
type MessageFilter struct {
	filter *filter.Filter
	msg    records.Message
}

// Messages compiles the display filter for Messages.
func (s *Selection) Messages() (*MessageFilter, error) {
	f, err := compile(s.Display, filter.Compile)
	return &MessageFilter{filter: f}, err
}

// compile compiles a display filter, nil for an empty one.
func compile[F any](text string, compiled func(string) (*F, error)) (*F, error) {
	if text == "" {
		return nil, nil
	}
	f, err := compiled(text)
	if err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return f, nil
}

// Match reports whether a message matches; first is the time of the first
// frame of the capture.
func (f *MessageFilter) Match(m *dissect.Message, first int64) bool {
	if f.filter == nil {
		return true
	}
	f.msg.Set(m, first)
	return f.filter.Match(&f.msg)
}

// RPCFilter is a display filter for RPCs. The zero value matches all.
type RPCFilter struct {
	// Nested reports whether the filter may use keys of nested RPCs, which are followed only
	// for those who need them.
	Nested bool

	filter *filter.RPCFilter
	msg    records.Message
}

// RPCs compiles the display filter for RPCs.
func (s *Selection) RPCs() (*RPCFilter, error) {
	f, err := compile(s.Display, filter.CompileRPC)
	return &RPCFilter{Nested: usesNested(s.Display), filter: f}, err
}

// usesNested reports whether a filter or the name of a column has a key of nested RPCs.
func usesNested(text string) bool {
	return strings.Contains(text, "nested") || strings.Contains(text, "own_time")
}

// UseNested reports whether one of the columns is a key of nested RPCs.
func (c *Columns) UseNested() bool { return slices.ContainsFunc(c.Names, usesNested) }

// Mark compares one of the messages of an RPC with the parts of the filter that are about
// messages, and keeps the result for Match; first is the time of the first frame of the
// capture.
func (f *RPCFilter) Mark(m *dissect.Message, first int64, r *track.RPC) {
	if f.filter == nil {
		return
	}
	if m.Target == "" {
		m.Target = r.Target()
	}
	f.msg.Set(m, first)
	f.filter.Mark(&f.msg, r)
}

// Match reports whether an RPC that has ended matches.
func (f *RPCFilter) Match(r *track.RPC) bool { return f.filter == nil || f.filter.Match(r) }
