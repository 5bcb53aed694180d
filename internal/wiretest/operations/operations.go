// Package operations makes messages of operations from the declarations in opcodes: for each variant, and for each form
// that a buffer can have (such as the versions of a layout), a request, a reply and bulk data.
package operations

import (
	"errors"
	"fmt"

	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes/schema"
)

// Made is a connection with messages of operations.
type Made struct {
	*wiretest.Conn
	text func(f *schema.Field) string
	xid  uint64 // of the next request
}

// New returns a connection without messages but hellos. Text returns what fills a text; nil: its name does.
func New(text func(f *schema.Field) string) *Made {
	if text == nil {
		text = func(f *schema.Field) string { return f.Name }
	}
	return &Made{wiretest.NewConn().Open().Greet(socklnd), text, 0x6000000000040}
}

var socklnd = wiretest.Socklnd{Version: 3}

// Add adds the messages of an operation. The error names the variants of which none were found.
func (c *Made) Add(r *schema.RPC) (missing error) {
	const behindEarlyReply = 192
	for _, v := range r.Variants {
		if r.Sub != nil && r.Sub(&schema.Msg{RPC: r}) == v {
			continue // it is inside the others
		}
		for form, more := 0, true; more; form++ {
			var d dialog
			var ok bool
			if d, more, ok = c.exchange(r, v, form); !ok {
				missing = errors.Join(missing, fmt.Errorf("no values were found for which %s is %s", r.Name, v.Name))
				break
			}
			c.Send(false, socklnd.PutAt(false, wiretest.RequestPortal, c.xid, 0, d.request))
			if d.bulk != nil && v.Bulk.Get {
				get, data := socklnd.Transfer(v.Bulk.Portal, c.xid, d.bulk)
				c.Send(true, get).Send(false, data)
			} else if d.bulk != nil {
				c.Send(true, socklnd.PutAt(true, v.Bulk.Portal, c.xid, 0, d.bulk))
			}
			if !r.OneWay {
				c.Send(true, socklnd.PutAt(true, wiretest.ReplyPortal, c.xid, behindEarlyReply, d.reply))
			}
			c.xid += 64
		}
	}
	return missing
}
