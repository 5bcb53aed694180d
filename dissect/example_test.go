package dissect_test

import (
	"fmt"
	"io"
	"os"

	"github.com/google/gopacket/pcapgo"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// read gives all messages of a capture to handle.
func read(path string, handle func(*dissect.Message)) error {
	r, err := capture.Open([]string{path}, capture.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	d := dissect.New(dissect.Options{Handle: handle})
	var f capture.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		d.Frame(&f)
	}
	d.Close()
	if err != io.EOF {
		return err
	}
	return nil
}

// The replies to connects of metadata targets, with the requests that they answer.
func Example() {
	err := read("../pcaps/mount.pcap", func(m *dissect.Message) {
		if m.Kind != lnet.Reply || m.Req == nil || m.RPC.Opcode != opcodes.MDS_CONNECT {
			return
		}
		fmt.Printf("%s: frame %d answers frame %d after %d µs, status %d\n",
			opcodes.ByOpcode(m.RPC.Opcode).Name, m.Frame, m.Req.Frame, (m.Time-m.Req.Time)/1000, m.RPC.Status)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// MDS_CONNECT: frame 116 answers frame 113 after 25025 µs, status 0
	// MDS_CONNECT: frame 117 answers frame 111 after 33427 µs, status 0
	// MDS_CONNECT: frame 119 answers frame 114 after 39990 µs, status 0
	// MDS_CONNECT: frame 242 answers frame 240 after 6643 µs, status 0
	// MDS_CONNECT: frame 246 answers frame 239 after 13671 µs, status 0
	// MDS_CONNECT: frame 246 answers frame 239 after 13671 µs, status 0
}

// The fields of a message: a Tree is built again for each.
func ExampleTree() {
	var tree dissect.Tree
	err := read("../pcaps/mount.pcap", func(m *dissect.Message) {
		if m.Kind != lnet.PingReply {
			return
		}
		tree.Build(m)
		for i := range tree.Nodes {
			if n := &tree.Nodes[i]; n.Name() == "ns_nid" {
				fmt.Printf("%s, %d bytes at offset %d\n", n.Name(), n.Len, n.Off)
			}
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// ns_nid, 8 bytes at offset 112
	// ns_nid, 8 bytes at offset 128
	// ns_nid, 8 bytes at offset 112
	// ns_nid, 8 bytes at offset 128
}

// Whatever is a gopacket data source can be dissected: a pcap.Handle, an
// afpacket.TPacket, or as here a reader of pcapgo.
func ExampleDissector_gopacket() {
	file, err := os.Open("../pcaps/mount.pcap")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	source, err := pcapgo.NewReader(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	messages := 0
	d := dissect.New(dissect.Options{Handle: func(*dissect.Message) { messages++ }})
	r := capture.NewSourceReader(source, capture.LinkEthernet)
	var f capture.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		d.Frame(&f)
	}
	if err != io.EOF {
		fmt.Println(err)
	}
	d.Close()
	fmt.Println(messages, "messages in", f.Number, "frames")
	// Output: 196 messages in 293 frames
}
