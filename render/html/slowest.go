package html

import (
	"bytes"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track/slowest"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// The bounds of what is shown of a message.
const (
	maxTreeLines = 300
	maxTreeBytes = 12 << 10
)

// slowest appends the RPCs that took longest, with the trees of their messages folded.
func (r *renderer) slowest() {
	if len(r.Slowest) == 0 {
		r.nothing("No request and its reply were both captured.")
		return
	}
	r.paragraph("The time is that until the reply or, where that came later, until the lock was granted. Open a row to see every field of " +
		"the request and the reply.")
	tree := render.NewTree(render.TreeOptions{Time: render.Relative})
	r.raw("<ol class=\"rpcs\">\n")
	for i := range r.Slowest {
		r.rpc(&r.Slowest[i], tree)
	}
	r.raw("</ol>\n<p class=\"remark print-only\">The fields of the messages are left out in print.</p>\n")
}

func (r *renderer) rpc(s *slowest.RPC, tree *render.Tree) {
	r.raw(`<li><details data-xid="`, markup(strconv.FormatUint(s.XID, 10)), `"><summary><span class="time" data-v="`, markup(seconds(s.Waited)), `">`)
	r.text(latency(s.Waited))
	r.raw("</span> <b>")
	r.text(operation(s.Opcode, s.HasOpcode))
	if s.Variant != nil {
		r.text(" " + s.Variant.String())
	}
	r.raw("</b> ")
	if s.Failed() {
		r.element(`span class="bad"`, string(records.AppendErrno(nil, s.Status)))
		r.raw(" ")
	}
	r.raw(`<span class="who">`)
	r.text(r.rpcText(s) + ", ")
	r.time(s.Requested().Time, thin+"s")
	r.raw("</span></summary>\n")
	r.message(tree, "request", s.Request)
	r.message(tree, "reply", s.Reply)
	r.raw("</details></li>\n")
}

// rpcText describes an RPC: who, when, what for.
func (r *renderer) rpcText(s *slowest.RPC) string {
	text := string(r.NIDs.Append(nil, s.Client)) + " → "
	switch {
	case s.Target() != "":
		text += s.Target()
	case s.TargetIndex() != "":
		text += s.TargetIndex()
	default:
		text += string(r.NIDs.Append(nil, s.Server))
	}
	if job := s.Job(); len(job) > 0 {
		text += ", job " + string(job)
	}
	if name := s.Name(); len(name) > 0 {
		text += ", " + string(name)
	}
	if ns, ok := s.LockWait(); ok && ns == s.Waited {
		text += ", waited for its lock"
	}
	if n := s.Retransmits(); n > 0 {
		text += ", " + render.Counted(int64(n), "segment") + " sent again"
	}
	return text + ", frame " + frame(s.Requested())
}

func (r *renderer) message(tree *render.Tree, name string, m *dissect.Message) {
	if m == nil {
		r.nothing("The " + name + " was not kept: it is too large, or too many were waiting for their replies.")
		return
	}
	var shown schema.Marked
	tree.Append(&shown, m, render.Moment{First: r.Capture.First})
	text := bytes.TrimRight(shown.Text, "\n")
	cut := cutTree(text)
	r.raw(`<pre tabindex="0">`)
	r.lines(string(text[:cut]))
	if cut < len(text) {
		r.raw("\n… ")
		r.text(render.Counted(int64(bytes.Count(text[cut:], []byte{'\n'})), "more line"))
	}
	r.raw("</pre>\n")
}

// cutTree returns how many bytes of a tree are shown: whole lines.
func cutTree(text []byte) int {
	if len(text) <= maxTreeBytes && bytes.Count(text, []byte{'\n'}) < maxTreeLines {
		return len(text)
	}
	end := 0
	for range maxTreeLines {
		n := bytes.IndexByte(text[end:], '\n')
		if n < 0 || end+n > maxTreeBytes {
			break
		}
		end += n + 1
	}
	return max(0, end-1)
}
