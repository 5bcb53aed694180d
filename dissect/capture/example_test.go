package capture_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/lshark/lshark/dissect/capture"
)

func ExampleReader() {
	r, err := capture.Open([]string{"../../pcaps/mount.pcap"}, capture.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	var f capture.Frame
	var captured, length int
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		captured += len(f.Data)
		length += f.Len
	}
	if !errors.Is(err, io.EOF) {
		fmt.Println(err) // what was damaged; all that could be read has been read
	}
	fmt.Println(captured, "of", length, "bytes were captured")
	// Output: 166166 of 166166 bytes were captured
}

// A program that decodes with gopacket reads its packets through a Source: of
// compressed files, several files merged by time, or a live capture.
func ExampleSource() {
	r, err := capture.Open([]string{"../../pcaps/mount.pcap"}, capture.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	source := capture.NewSource(r)
	ports := map[layers.TCPPort]int{}
	for packet := range gopacket.NewPacketSource(source, layers.LayerTypeEthernet).Packets() {
		if tcp, ok := packet.TransportLayer().(*layers.TCP); ok {
			ports[tcp.DstPort]++
		}
	}
	if err := source.Err(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(ports[988], "segments to port 988")
	// Output: 163 segments to port 988
}

// A frame may have a comment, for example the message that it carries.
func ExampleWriter() {
	var file bytes.Buffer
	w := capture.NewWriter(&file)
	f := capture.Frame{Time: 1_700_000_000e9, Data: make([]byte, 60), Len: 1514, Link: capture.LinkEthernet}
	if err := errors.Join(w.Write(&f, "MDS_CONNECT request"), w.Flush()); err != nil {
		fmt.Println(err)
		return
	}
	r, err := pcapgo.NewNgReader(&file, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, info, err := r.ReadPacketData()
	fmt.Println(info.Timestamp, info.CaptureLength, info.Length, err)
	// Output: 2023-11-14 22:13:20 +0000 UTC 60 1514 <nil>
}
