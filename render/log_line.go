package render

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// AppendLogLine appends what a line of a log says, in words.
func AppendLogLine(dst []byte, e *debuglog.Event) []byte {
	if e.Kind >= debuglog.Note {
		return schema.AppendText(dst, []byte(e.Text))
	}
	if e.Kind == debuglog.Completed {
		dst = append(dst, "over for "...)
	}
	dst = schema.AppendText(dst, []byte(e.Process))
	switch e.Kind {
	case debuglog.Sent:
		dst = append(dst, " sends it"...)
	case debuglog.Handling:
		dst = append(dst, " begins with it"...)
	case debuglog.Handled:
		dst = AppendLatency(append(dst, " is ready: worked "...), e.Service)
		dst = append(AppendLatency(append(dst, ", "...), e.Total), " since it arrived"...)
		if e.Status < 0 {
			dst = records.AppendErrno(append(dst, ", "...), e.Status)
		}
		if e.ReplyStatus == debuglog.NoReply {
			dst = append(dst, ", no reply"...)
		}
	}
	return dst
}
