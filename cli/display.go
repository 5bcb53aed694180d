package cli

import (
	"github.com/spf13/cobra"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/filter"
)

// display is what -Y lets through, message by message.
type display struct {
	text   string
	filter *filter.Filter
	msg    filter.Message
}

func (d *display) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&d.text, "display", "Y", "", "display filter `EXPR`, such as pb_opc == OST_WRITE and pb_status == ENOSPC")
}

// check compiles the filter.
func (d *display) check() (err error) {
	if d.text == "" {
		return nil
	}
	if d.filter, err = filter.Compile(d.text); err != nil {
		return usageError{err}
	}
	return nil
}

// match says whether a message is to be shown; first is the time of the first
// frame.
func (d *display) match(m *dissect.Message, first int64) bool {
	if d.filter == nil {
		return true
	}
	d.msg.Set(m)
	d.msg.Conn0 = first
	return d.filter.Match(&d.msg)
}
