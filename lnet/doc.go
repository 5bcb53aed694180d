// Package lnet turns frames into LNet messages.
//
// From a frame to a message: link.go and ip*.go find the TCP segment, flow.go
// the connection, segments.go puts the segments in order, ksock.go cuts the
// stream into messages, and resync.go finds the next header where the capture
// lost one. A Lustre stream knows how long its next message is, so bulk data
// that nobody wants are skipped without being copied, and bytes that the capture
// lacks are holes of known length.
package lnet
