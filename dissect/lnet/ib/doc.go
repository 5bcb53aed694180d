// Package ib decodes what lshark reads of the headers of InfiniBand packets, on InfiniBand links
// and on Ethernet (RoCE). gopacket has no layers for them.
//
//	var t ib.Transport
//	if t.DecodeHeaders(datagram) {
//		fmt.Println(t.BTH.DestQP, t.BTH.PSN)
//	}
//
// A packet has a base transport header (BTH), extension headers, the payload, up
// to three bytes of padding, and a checksum (ICRC) of four bytes. Only the opcode in
// the BTH determines which extension headers follow, so they cannot be decoded one
// by one: Transport is the BTH and its extension headers. Before it are
// Ethernet, IP and UDP in RoCEv2, Ethernet and a GRH in RoCEv1, and on links of
// InfiniBand a LRH and perhaps a GRH.
//
// Connections are opened and closed by the connection manager, whose messages are
// datagrams (MAD) to queue pair 1: CM decodes them.
//
// Nothing is allocated, and all fields that hold bytes refer to those that were decoded.
package ib
