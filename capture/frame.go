// Package capture is where frames come from: capture files of every common
// kind, plain or compressed, standard input, several files merged by time, or
// a live interface. It knows nothing of what the frames carry.
package capture

import "github.com/google/gopacket/layers"

// Frame is one captured frame. Data belongs to the reader and is valid until
// its next call.
type Frame struct {
	Number int64           // from 1, over all files in the merged order
	Time   int64           // nanoseconds since the epoch
	Len    int             // bytes the frame had on the wire
	Data   []byte          // bytes that were captured, at most Len
	Link   layers.LinkType // how the frame begins
	Source int             // the capture point: files of one node that follow each other share it
	Iface  int             // interface of the file, from 0
}
