// Package wiretest builds input for tests: frames of TCP connections and of
// InfiniBand queue pairs, the socklnd, o2iblnd and LNet messages in them in every
// version of the protocol, and ptlrpc messages. It has its own copies of the protocol's numbers, so that a
// wrong number in the packages under test fails a test.
//
// The parts nest: a lustre_msg is the payload of an LNet message, which is sent
// over a connection, whose frames a decoder reads. See the example.
//
// [Dialog] does all of that for a request and its answer. [ReadSample] and
// [Samples] read the real captures of the repository.
//
// The tests of capture and dissect/capture/pcapfilter do not use this package, which
// imports capture; they build their frames with gopacket.
package wiretest
