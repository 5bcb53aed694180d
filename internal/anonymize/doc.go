// Package anonymize rewrites captures so that they can be given to others.
//
//	a := anonymize.New(anonymize.Options{Key: key, Write: func(f *capture.Frame) error {
//		return w.Write(f, "")
//	}})
//	for r.Next(&frame) == nil {
//		if err := a.Frame(&frame); err != nil {
//			return err
//		}
//	}
//	err := a.Close()
//
// A frame is rewritten in two steps. Its headers, as package link lists them, are rewritten at once
// (headers): headerFields has what is kept of each and where addresses are, which are mapped.
// Everything else stays zero, and so does what package link does not know. The
// payload belongs to a stream: the dissector hands out the messages in the stream, package
// values maps their fields, and the result is kept by its place in the stream (content). The frame
// is held in a window of the latest frames (window). When it leaves the window, its payload
// is copied from content. So bytes that were sent twice are rewritten in the same way, and bytes
// that belong to no message are zero. Checksums are made last.
//
// # Memory
//
// The window has up to 131,072 frames and 32 MiB of headers, content up to 32 MiB; the
// dissector has the bounds of package lnet. Replacements are kept by package values.
package anonymize
