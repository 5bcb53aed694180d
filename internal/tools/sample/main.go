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
	"github.com/lshark/lshark/internal/wiretest/operations"
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
	dialogs := operations.New(nil)
	missing := dialogs.Add(r)
	out := capture.NewPcapWriter(w, capture.Format{Snaplen: 1 << 18})
	for i := range dialogs.Frames {
		if err := out.Write(&dialogs.Frames[i]); err != nil {
			return err
		}
	}
	return errors.Join(out.Flush(), missing)
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
