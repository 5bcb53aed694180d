package cli

import (
	"github.com/spf13/cobra"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/filter"
	"github.com/lshark/lshark/track"
)

// display is what -Y lets through: messages, or RPCs where these are the
// records.
type display struct {
	text     string
	rpcs     bool
	messages *filter.Filter
	whole    *filter.RPCFilter
	msg      filter.Message
}

func (d *display) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&d.text, "display", "Y", "", "display filter `EXPR`, such as pb_opc == OST_WRITE and pb_status == ENOSPC")
}

// check compiles the filter.
func (d *display) check() (err error) {
	switch {
	case d.text == "":
		return nil
	case d.rpcs:
		d.whole, err = filter.CompileRPC(d.text)
	default:
		d.messages, err = filter.Compile(d.text)
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// match says whether a message is to be shown; first is the time of the first
// frame.
func (d *display) match(m *dissect.Message, first int64) bool {
	if d.messages == nil {
		return true
	}
	d.msg.Set(m)
	d.msg.Conn0 = first
	return d.messages.Match(&d.msg)
}

// mark compares one of the messages of an RPC.
func (d *display) mark(m *dissect.Message, first int64, r *track.RPC) {
	if d.whole == nil {
		return
	}
	d.msg.Set(m)
	d.msg.Conn0 = first
	d.whole.Mark(&d.msg, r)
}

// matchRPC reports whether an RPC that has ended is to be shown.
func (d *display) matchRPC(r *track.RPC) bool { return d.whole == nil || d.whole.Match(r) }

// belongs notes that a message belongs to an RPC, nil when it belongs to none.
func (in *input) belongs(m *dissect.Message, first int64, r *track.RPC) {
	if r == nil {
		return
	}
	in.display.mark(m, first, r)
	if in.saver != nil {
		in.saver.carried(m, r)
	}
}
