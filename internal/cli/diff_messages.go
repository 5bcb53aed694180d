package cli

import (
	"errors"
	"fmt"
	"slices"
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
	text   string
	file   string
	number uint64
	isXID  bool // the number
}

func parseMessageRef(text string) (ref messageRef, err error) {
	i := max(strings.LastIndexByte(text, ':'), 0)
	ref = messageRef{text: text, file: text[:i]}
	number, isXID := strings.CutPrefix(strings.TrimPrefix(text[i:], ":"), "x")
	ref.isXID = isXID
	if ref.number, err = strconv.ParseUint(number, 10, 63); i == 0 || err != nil {
		return ref, exit.Usagef("%s: must be FILE:FRAME or FILE:xXID, such as a.pcap:112 or a.pcap:x1882522806458496", text)
	}
	return ref, nil
}

// matches reports whether a message is meant.
func (r *messageRef) matches(m *dissect.Message) bool {
	if r.isXID {
		return m.RPC.HasXID && m.RPC.XID == r.number && (m.Kind == lnet.Request || m.Kind == lnet.Reply)
	}
	return uint64(m.Frame) == r.number
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
		if !slices.ContainsFunc(list, func(known *dissect.Message) bool { return known.Kind == m.Kind }) {
			list = append(list, m.Clone())
		}
		if ref.isXID && len(list) == 2 {
			return scan.ErrStop
		}
		return nil
	}})
	if err = p.Run(); err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: there is no such message", ref.text)
	}
	if !ref.isXID && len(list) > 1 {
		i := max(0, slices.IndexFunc(list, func(m *dissect.Message) bool { return m.RPC.HasOpcode }))
		list = list[i : i+1]
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
