package cli

import (
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/filter"
	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/track"
)

// selection holds the flags that select messages or RPCs.
type selection struct {
	display string
	count   int
	save    string
}

// register defines the flags. In their help texts, noun names what -Y selects,
// such as "RPCs", and counted names what -c counts.
func (s *selection) register(f *pflag.FlagSet, noun, counted string) {
	f.StringVarP(&s.display, "display", "Y", "", "only "+noun+" that match the display filter `EXPR`, such as "+
		"'pb_opc == OST_WRITE && pb_status == ENOSPC'; \"lshark fields\" lists the names")
	f.IntVarP(&s.count, "count", "c", 0, "stop after `N` "+counted)
}

// registerSave defines the flag for saving frames.
func (s *selection) registerSave(f *pflag.FlagSet, noun string) {
	f.StringVarP(&s.save, "write", "w", "", "also write the frames of the "+noun+" to `FILE`, as pcapng")
}

func (s *selection) check() error {
	if s.count < 0 {
		return exit.Usagef("-c %d: must not be negative", s.count)
	}
	return nil
}

// messageFilter is a display filter for messages. The zero value matches all.
type messageFilter struct {
	filter *filter.Filter
	msg    records.Message
}

// messages compiles the display filter for messages.
func (s *selection) messages() (*messageFilter, error) {
	f := &messageFilter{}
	if s.display == "" {
		return f, nil
	}
	var err error
	if f.filter, err = filter.Compile(s.display); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return f, nil
}

// match reports whether a message matches; first is the time of the first
// frame of the capture.
func (f *messageFilter) match(m *dissect.Message, first int64) bool {
	if f.filter == nil {
		return true
	}
	f.msg.Set(m, first)
	return f.filter.Match(&f.msg)
}

// rpcFilter is a display filter for RPCs. The zero value matches all.
type rpcFilter struct {
	filter *filter.RPCFilter
	msg    records.Message
}

// rpcs compiles the display filter for RPCs.
func (s *selection) rpcs() (*rpcFilter, error) {
	f := &rpcFilter{}
	if s.display == "" {
		return f, nil
	}
	var err error
	if f.filter, err = filter.CompileRPC(s.display); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return f, nil
}

// mark compares one of the messages of an RPC; first is the time of the first
// frame of the capture.
func (f *rpcFilter) mark(m *dissect.Message, first int64, r *track.RPC) {
	if f.filter == nil {
		return
	}
	f.msg.Set(m, first)
	f.filter.Mark(&f.msg, r)
}

// match reports whether an RPC that has ended matches.
func (f *rpcFilter) match(r *track.RPC) bool { return f.filter == nil || f.filter.Match(r) }
