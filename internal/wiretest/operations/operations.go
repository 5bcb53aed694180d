// Package operations makes messages of operations from the declarations in opcodes: for each variant, and for each form
// that a buffer can have (such as the versions of a layout), a request, a reply and bulk data.
package operations

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes/schema"
)

// Dialogs is a connection with requests and replies of operations.
type Dialogs struct {
	*wiretest.Conn
	Surplus string // at the end of each buffer behind the body, and in one more: no declaration has it
	text    func(f *schema.Field) string
	xid     uint64 // of the next request
}

// New returns a connection without messages but hellos. Text returns what fills a text; nil: its name does.
func New(text func(f *schema.Field) string) *Dialogs {
	if text == nil {
		text = func(f *schema.Field) string { return f.Name }
	}
	return &Dialogs{Conn: wiretest.NewConn().Open().Greet(socklnd), text: text, xid: 0x6000000000040}
}

var socklnd = wiretest.Socklnd{Version: 3}

// Add adds the messages of an operation, little-endian. In each round, a buffer that can have several forms has the
// next one, or its last one. The error names the variants for which no request was found.
func (c *Dialogs) Add(r *schema.RPC) (missing error) {
	for _, v := range r.Variants {
		if r.Sub != nil && r.Sub(&schema.Msg{RPC: r}) == v {
			continue // it is inside the others
		}
		for form, more := 0, true; more; form++ {
			req := c.message(r, v.Request, wiretest.TypeRequest)
			if r.Pick != nil && !req.choose(r, v) {
				missing = errors.Join(missing, fmt.Errorf("no values were found for which %s is %s", r.Name, v.Name))
				break
			}
			asked := &schema.Msg{Bufs: req.bufs, Opcode: r.Opcode, RPC: r, Variant: v}
			more = req.fillUnions(v.Request, asked, form)
			rep := c.message(r, v.Reply, wiretest.TypeReply)
			more = rep.fillUnions(v.Reply, &schema.Msg{Bufs: rep.bufs, Opcode: r.Opcode, RPC: r, Variant: v, Reply: true, Req: asked}, form) || more
			c.send(false, socklnd.PutAt(false, wiretest.RequestPortal, c.xid, 0, req.pack(c.Surplus)))
			if v.Bulk != nil {
				c.bulk(v.Bulk, rep)
			}
			if !r.OneWay {
				const behindEarlyReply = 192
				c.send(true, socklnd.PutAt(true, wiretest.ReplyPortal, c.xid, behindEarlyReply, rep.pack(c.Surplus)))
			}
			c.xid += 64
		}
	}
	return missing
}

func (c *Dialogs) bulk(b *schema.BulkData, rep *message) {
	content := []byte("file data")
	if b.Type != nil {
		content = rep.record(b.Type, 0, 0, false)
	}
	if !b.Get {
		c.send(true, socklnd.PutAt(true, b.Portal, c.xid, 0, content))
		return
	}
	get, data := socklnd.Transfer(b.Portal, c.xid, content)
	c.send(true, get)
	c.send(false, data)
}

// send sends a message in as many segments as it needs.
func (c *Dialogs) send(back bool, message []byte) {
	const largest = 32 << 10
	for segment := range slices.Chunk(message, largest) {
		c.Send(back, segment)
	}
}
