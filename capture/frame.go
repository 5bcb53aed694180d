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

// LinkType says how a frame begins. The numbers are those of capture files
// (LINKTYPE_… of the tcpdump group). gopacket's own type has eight bits, which
// cannot hold LINUX_SLL2.
type LinkType uint16

// The link types the filter and the live capture know.
const (
	LinkNull       LinkType = 0   // address family, 4 bytes, in the byte order of the writer
	LinkEthernet   LinkType = 1   // Ethernet, without preamble and checksum
	LinkRawBSD     LinkType = 12  // an IPv4 or IPv6 packet, as BSD numbered it
	LinkRawOpenBSD LinkType = 14  // an IPv4 or IPv6 packet, as OpenBSD does
	LinkRaw        LinkType = 101 // an IPv4 or IPv6 packet
	LinkLoop       LinkType = 108 // address family, 4 bytes, big endian
	LinkLinuxSLL   LinkType = 113 // Linux cooked capture, 16 bytes
	LinkIPv4       LinkType = 228 // an IPv4 packet
	LinkIPv6       LinkType = 229 // an IPv6 packet
	LinkLinuxSLL2  LinkType = 276 // Linux cooked capture version 2, 20 bytes
)
