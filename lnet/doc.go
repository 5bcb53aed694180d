// Package lnet turns frames into LNet messages.
//
// From a frame to a message: link.go and ip*.go find the TCP segment,
// tcp_conn.go its connection, reassembly.go puts the segments in order,
// framer.go cuts the stream into messages by their headers (socklnd.go), and
// resync.go finds the next header where the capture lost one. A Lustre stream knows how long its next message is, so bulk data
// that nobody wants are skipped without being copied, and bytes that the capture
// lacks are holes of known length.
package lnet
