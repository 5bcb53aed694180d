package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// messageRef names messages of a capture: those of an xid, or one that a frame completed.
type messageRef struct {
	text  string
	file  string
	frame int64
	xid   uint64
	isXID bool
}

func parseMessageRef(text string) (messageRef, error) {
	i := strings.LastIndexByte(text, ':')
	ref := messageRef{text: text, file: text[:max(i, 0)]}
	number, isXID := strings.CutPrefix(text[i+1:], "x")
	n, err := strconv.ParseUint(number, 10, 63)
	if i <= 0 || err != nil {
		return ref, exit.Usagef("%s: must be FILE:FRAME or FILE:xXID, such as a.pcap:112 or a.pcap:x1882522806458496", text)
	}
	if ref.isXID = isXID; isXID {
		ref.xid = n
	} else {
		ref.frame = int64(n)
	}
	return ref, nil
}

// matches reports whether a message is meant.
func (r *messageRef) matches(m *dissect.Message) bool {
	if r.isXID {
		return m.RPC.HasXID && m.RPC.XID == r.xid && (m.Kind == lnet.Request || m.Kind == lnet.Reply)
	}
	return m.Frame == r.frame
}

func (r *messageRef) isComplete(list []*dissect.Message) bool {
	return r.isXID && len(list) == 2 || !r.isXID && len(list) > 0
}

// readMessages returns the messages that a reference names: of an xid the first request and
// the first reply, of a frame the first message of an RPC, or another one.
func (c *diffOptions) readMessages(ref *messageRef) (list []*dissect.Message, p *scan.Pass, err error) {
	f := c.Input
	f.Read = []string{ref.file}
	in, err := f.Check(nil, false)
	if err != nil {
		return nil, nil, err
	}
	c.NodeName = in.NodeNames()
	p = scan.New(c.Sys, in, scan.Options{Select: func(m *dissect.Message, _ int64) bool { return ref.matches(m) }})
	p.Add(scan.Consumer{Message: func(m *dissect.Message) error {
		for i, known := range list {
			switch {
			case known.Kind == m.Kind:
				return nil
			case !ref.isXID && known.Kind != lnet.Request && known.Kind != lnet.Reply && m.RPC.HasOpcode:
				list[i] = m.Clone()
				return nil
			}
		}
		if list = append(list, m.Clone()); ref.isXID && ref.isComplete(list) {
			return scan.ErrStop
		}
		return nil
	}})
	if err = p.Run(); err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: there is no such message", ref.text)
	}
	if !ref.isXID && len(list) > 1 {
		list = list[:1]
	}
	return list, p, err
}

// runMessages compares two messages, or the messages of two RPCs.
func (c *diffOptions) runMessages() error {
	args := c.Args
	if len(args) != 2 || len(c.before)+len(c.after)+len(c.Input.Read) > 0 || c.Display != "" || c.all {
		return exit.Usagef("diff --messages needs two messages, FILE:FRAME or FILE:xXID, and takes no -Y, --all, --before, --after and -r")
	}
	before, err := parseMessageRef(args[0])
	after, wrong := parseMessageRef(args[1])
	if err := errors.Join(err, wrong); err != nil {
		return err
	}
	first, _, err := c.readMessages(&before)
	if err != nil {
		return err
	}
	second, p, err := c.readMessages(&after)
	if err != nil {
		return err
	}
	var text schema.Marked
	compared := 0
	o := c.Options()
	for _, a := range first {
		for _, b := range second {
			if a.Kind != b.Kind && (before.isXID || after.isXID) {
				continue
			}
			compared++
			d := render.CompareMessages(a, b)
			if c.Form.Value == "json" {
				text.Text = d.AppendJSON(text.Text)
				continue
			}
			if len(text.Text) > 0 {
				text.Plain("\n")
			}
			d.AppendText(&text, &o, messageTitle(a, before.file), messageTitle(b, after.file))
			if len(d.Differences) == 0 {
				p.Note("the messages are equal")
			}
			if d.Missing > 0 {
				p.Note("%d fields are not compared: one of the captures lacks them", d.Missing)
			}
		}
	}
	if compared == 0 {
		return exit.Usagef("%s and %s: a request cannot be compared with a reply", before.text, after.text)
	}
	return c.write(&text)
}

func messageTitle(m *dissect.Message, file string) string {
	title := file[strings.LastIndexByte(file, '/')+1:] + ":" + strconv.FormatInt(m.Frame, 10)
	if m.RPC.HasOpcode {
		title += " " + string(render.AppendOpcode(nil, m.RPC.Opcode))
	}
	return title
}
