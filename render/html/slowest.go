package html

import (
	"cmp"
	"strconv"
	"strings"

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
	r.raw(`<li><details data-xid="`, markup(strconv.FormatUint(s.XID, 10)), `"><summary><span class="time" data-v="`,
		markup(seconds(s.Waited)), `">`, text(latency(s.Waited)), "</span> <b>", text(operation(s.Opcode, s.HasOpcode)))
	if s.Variant != nil {
		r.raw(text(" " + s.Variant.String()))
	}
	r.raw("</b> ")
	if s.Failed() {
		r.raw(element(`span class="bad"`, string(records.AppendErrno(nil, s.Status))), " ")
	}
	r.raw(`<span class="who">`, text(r.rpcText(s)+", "), r.time(s.Requested().Time, thin+"s"), "</span></summary>\n")
	r.message(tree, "request", s.Request)
	r.message(tree, "reply", s.Reply)
	r.raw("</details></li>\n")
}

// rpcText describes an RPC: who, when, what for.
func (r *renderer) rpcText(s *slowest.RPC) string {
	what := string(r.NIDs.Append(nil, s.Client)) + " → " + cmp.Or(s.Target(), s.TargetIndex(), string(r.NIDs.Append(nil, s.Server)))
	if job := s.Job(); len(job) > 0 {
		what += ", job " + string(job)
	}
	if name := s.Name(); len(name) > 0 {
		what += ", " + string(name)
	}
	if ns, ok := s.LockWait(); ok && ns == s.Waited {
		what += ", waited for its lock"
	}
	if n := s.Retransmits(); n > 0 {
		what += ", " + render.Counted(int64(n), "segment") + " sent again"
	}
	return what + ", frame " + frame(s.Requested())
}

func (r *renderer) message(tree *render.Tree, name string, m *dissect.Message) {
	if m == nil {
		r.nothing("The " + name + " was not kept: it is too large, or too many were waiting for their replies.")
		return
	}
	var shown schema.Marked
	tree.Append(&shown, m, render.Moment{First: r.Capture.First})
	rows := strings.Split(strings.TrimRight(string(shown.Text), "\n"), "\n")
	kept, size := 0, 0
	for kept < min(len(rows), maxTreeLines) && size+len(rows[kept]) <= maxTreeBytes {
		size += len(rows[kept]) + 1
		kept++
	}
	r.raw(`<pre tabindex="0">`, lines(strings.Join(rows[:kept], "\n")))
	if more := len(rows) - kept; more > 0 {
		r.raw("\n… ", text(render.Counted(int64(more), "more line")))
	}
	r.raw("</pre>\n")
}
