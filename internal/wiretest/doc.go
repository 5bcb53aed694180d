// Package wiretest builds what tests read: frames of TCP connections, the
// socklnd and LNet messages in them in every version of the protocol, and
// ptlrpc messages. Its numbers are written independently of the packages that
// use it, so that a wrong number there fails a test.
//
// The parts nest: a lustre_msg is the payload of an LNet message, which is sent
// over a connection, whose frames a decoder reads. See the example.
//
// [Dialog] does all of that for a request and what answers it. [ReadSample] and
// [Samples] give the real captures of the repository.
//
// The tests of capture and capture/pcapfilter do not use this package, which
// imports capture; they build their frames with gopacket.
package wiretest
