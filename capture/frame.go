// Package capture is where frames come from: capture files of every common
// kind, plain or compressed, standard input, several files merged by time, or
// a live interface. It knows nothing of what the frames carry.
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
//			break // io.EOF, or a *DamageError after all that could be read
//		}
//	}
package capture

import "github.com/lshark/lshark/capture/pcapfilter"

// Frame is one captured frame. Data belongs to the reader and is valid until
// its next call.
type Frame struct {
	Number int64    // from 1, over all files in the merged order
	Time   int64    // nanoseconds since the epoch
	Len    int      // bytes the frame had on the wire
	Data   []byte   // bytes that were captured, at most Len
	Link   LinkType // how the frame begins
	Source int      // the capture point: files of one node that follow each other share it
	Iface  int      // interface of the file, from 0
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
	LinkIPv4       = pcapfilter.LinkIPv4
	LinkIPv6       = pcapfilter.LinkIPv6
	LinkLinuxSLL2  = pcapfilter.LinkLinuxSLL2
)
