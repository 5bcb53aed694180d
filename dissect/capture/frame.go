// Package capture reads frames from capture files, plain or compressed, from
// standard input, from several files merged by time, or from a live interface.
//
//	r, err := capture.Open([]string{"client.pcap", "server.pcapng.zst"}, capture.Options{})
//	if err != nil {
//		return err // a file is missing: nothing has been read
//	}
//	defer r.Close()
//	var f capture.Frame
//	for {
//		err = r.Next(&f)
//		if err != nil {
//			break // io.EOF, or a *DamageError after the last readable frame
//		}
//		fmt.Println(f.Number, f.Time, f.Len)
//	}
//
// OpenLive captures from an interface; the Live that it returns has the same
// method Next. A Writer writes frames as pcapng. Package pcapfilter compiles
// capture filters.
//
// # gopacket
//
// A Source makes a Reader or a Live a data source for gopacket; a SourceReader
// reads any data source of gopacket.
//
// Files are read and written by gopacket's pcapgo. An input (input.go) holds the
// next bytes of a file in a bufio.Reader that gopacket shares; pcap.go and
// pcapng.go check each record in it before gopacket takes it, so that no length in
// a file makes gopacket allocate or fail, and an error has the offset of the
// damage. What gopacket cannot read is read from the same buffer without it;
// Reader.Notes tells where and why. Interfaces are captured with a packet socket of
// our own (ring_linux.go), because gopacket's afpacket needs cgo and its
// EthernetHandle loses frames of fast streams.
package capture

import "github.com/lshark/lshark/dissect/capture/pcapfilter"

// Frame is one captured frame. Data belongs to the Reader or Live that returned
// the frame and is valid until the next call of Next.
type Frame struct {
	Number int64    // from 1, over all files in the merged order
	Time   int64    // nanoseconds since the epoch
	Len    int      // bytes the frame had on the wire
	Data   []byte   // bytes that were captured, at most Len
	Link   LinkType // type of the first header
	Source int      // index of the capture point, which rotated files of one node share
	Iface  int      // index of the interface in the file

	Interface string // in a live capture, the name of the interface

	// Where several files are read: the name of the frame's file, one of
	// FileNames, and the number of the frame in it, from 1. With a single file
	// the name is empty, and Number is the number in it. In a live capture of
	// several interfaces: the name of the interface, and Number.
	File       string
	FileNumber int64
}

// LinkType is the type of the header that a frame begins with.
type LinkType = pcapfilter.LinkType

// The link types that are decoded.
const (
	LinkNull       = pcapfilter.LinkNull
	LinkEthernet   = pcapfilter.LinkEthernet
	LinkRawBSD     = pcapfilter.LinkRawBSD
	LinkRawOpenBSD = pcapfilter.LinkRawOpenBSD
	LinkRaw        = pcapfilter.LinkRaw
	LinkLoop       = pcapfilter.LinkLoop
	LinkLinuxSLL   = pcapfilter.LinkLinuxSLL
	LinkERF        = pcapfilter.LinkERF
	LinkIPv4       = pcapfilter.LinkIPv4
	LinkIPv6       = pcapfilter.LinkIPv6
	LinkInfiniBand = pcapfilter.LinkInfiniBand
	LinkLinuxSLL2  = pcapfilter.LinkLinuxSLL2
)
