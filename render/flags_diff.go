package render

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// AppendConnectDiff appends in which flags the reply to a connect differs from the
// request, nothing when it does not. ok reports whether they could be compared: both
// were captured, and the connect was not refused.
func (r *Flags) AppendConnectDiff(dst []byte, p *track.ConnectPair, first int64) (_ []byte, ok bool) {
	if p.Request == nil || p.Reply == nil {
		return dst, false
	}
	granted := r.connectWords(p.Reply)
	asked := r.connectWords(p.Request)
	if asked == nil || granted == nil || p.Reply.RPC.Status < 0 {
		return dst, false
	}
	start := len(dst)
	dst = append(r.connectHead(dst, p, first), '\n')
	dst = r.target(dst)
	empty := len(dst)
	for _, w := range asked {
		// The flags of pb_op_flags have a direction: they are not negotiated.
		if w.field.Names == opcodes.MsgConnectFlags {
			continue
		}
		given, _ := findWord(granted, w.field.Name)
		dst = r.flagList(dst, w.field, "not granted", w.val&^given)
		dst = r.flagList(dst, w.field, "not asked for", given&^w.val)
	}
	for _, w := range granted { // words that the request does not have
		if _, asks := findWord(asked, w.field.Name); !asks && w.field.Names != opcodes.MsgConnectFlags {
			dst = r.flagList(dst, w.field, "not asked for", w.val)
		}
	}
	if len(dst) == empty {
		return dst[:start], true
	}
	return append(dst, '\n'), true
}

// target appends a line with the target of the connect request that the tree is of.
func (r *Flags) target(dst []byte) []byte {
	for i := range r.tree.Nodes {
		n := &r.tree.Nodes[i]
		if n.Name() == "target_uuid" && !n.Is(dissect.Missing) {
			dst = append(append(AppendSpaces(dst, indent), r.c.NID.on...), "target "...)
			dst = schema.AppendText(dst, schema.TrimNUL(r.tree.Bytes(n)))
			return append(append(dst, r.c.NID.off...), '\n')
		}
	}
	return dst
}

// flagList appends the names of flags behind a label, nothing without flags.
func (r *Flags) flagList(dst []byte, f *schema.Field, label string, flags uint64) []byte {
	if flags == 0 {
		return dst
	}
	const wordColumn, labelColumn = 20, 15
	dst = append(append(AppendSpaces(dst, indent), r.c.Key.on...), f.Name...)
	dst = AppendSpaces(append(dst, r.c.Key.off...), max(1, wordColumn-len(f.Name)))
	dst = AppendSpaces(r.c.Warn.Append(dst, label), labelColumn-len(label))
	r.text = AppendFlags(r.text[:0], f.Names, flags, " ")
	return append(AppendWrapped(dst, string(r.text), indent+max(1+len(f.Name), wordColumn)+labelColumn, r.opt.Width), '\n')
}
