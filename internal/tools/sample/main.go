// Sample writes a capture with made-up messages of an operation: for each variant, and for each form that a buffer
// can have (such as the versions of a layout), a request, a reply and bulk data. It reads the declarations in opcodes,
// and so has messages that no capture has yet, for trying out filters.
//
//	go run ./internal/tools/sample MDS_GETATTR > sample.pcap
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sample OPERATION > FILE, such as MDS_GETATTR or 33")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
}

// run writes the capture, and returns an error that names the variants which it does not have.
func run(w io.Writer, name string) error {
	r := operation(name)
	if r == nil {
		return fmt.Errorf("there is no operation %s", name)
	}
	if len(r.Variants) == 0 {
		return fmt.Errorf("%s has no messages: %s", r.Name, r.Doc)
	}
	frames, missing := dialogs(r)
	out := capture.NewPcapWriter(w, capture.Format{Snaplen: 1 << 18})
	for i := range frames {
		if err := out.Write(&frames[i]); err != nil {
			return err
		}
	}
	return errors.Join(out.Flush(), missing)
}

// dialogs are the frames of a request and a reply of each variant, as often as a buffer has other forms.
func dialogs(r *schema.RPC) (frames []capture.Frame, missing error) {
	const firstXID, behindEarlyReply = 0x6000000000040, 192
	socklnd := wiretest.Socklnd{Version: 3}
	conn := wiretest.NewConn().Open().Greet(socklnd)
	xid := uint64(firstXID)
	for _, v := range r.Variants {
		if r.Sub != nil && r.Sub(&schema.Msg{RPC: r}) == v {
			continue // it is inside the others
		}
		for form, more := 0, true; more; form++ {
			var d dialog
			var ok bool
			if d, more, ok = exchange(r, v, xid, form); !ok {
				missing = errors.Join(missing, fmt.Errorf("no values were found for which %s is %s", r.Name, v.Name))
				break
			}
			conn.Send(false, socklnd.PutAt(false, wiretest.RequestPortal, xid, 0, d.request))
			if d.bulk != nil && v.Bulk.Get {
				get, data := socklnd.Transfer(v.Bulk.Portal, xid, d.bulk)
				conn.Send(true, get).Send(false, data)
			} else if d.bulk != nil {
				conn.Send(true, socklnd.PutAt(true, v.Bulk.Portal, xid, 0, d.bulk))
			}
			if !r.OneWay {
				conn.Send(true, socklnd.PutAt(true, wiretest.ReplyPortal, xid, behindEarlyReply, d.reply))
			}
			xid += 64
		}
	}
	return conn.Frames, missing
}

// operation finds an operation by its name or its opcode.
func operation(name string) *schema.RPC {
	for _, t := range opcodes.FieldIndex().Topics(name) {
		if t.RPC != nil {
			return t.RPC
		}
	}
	return nil
}
