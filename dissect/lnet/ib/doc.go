// Package ib decodes the headers of InfiniBand packets, on InfiniBand links and
// on Ethernet (RoCE). gopacket has no layers for them; the
// types here have the form of its layers, and work with its parser as well as
// with plain calls:
//
//	var t ib.Transport
//	if err := t.DecodeFromBytes(datagram, gopacket.NilDecodeFeedback); err != nil {
//		return err
//	}
//	fmt.Println(t.BTH.Opcode, t.BTH.DestQP, t.BTH.PSN)
//
// A packet has a base transport header (BTH), extension headers, the payload, up
// to three bytes of padding, and a checksum (ICRC) of four bytes. Only the opcode in
// the BTH determines which extension headers follow, so they cannot be decoded one
// by one: Transport is the layer of the BTH and its extension headers. Before it are
// Ethernet, IP and UDP in RoCEv2, Ethernet and a GRH in RoCEv1, and on links of
// InfiniBand a LRH and perhaps a GRH.
//
// Connections are opened and closed by the connection manager, whose messages are
// datagrams (MAD) to queue pair 1: CM decodes their data.
//
// Importing the package does not change gopacket; Register makes the layers known
// to its NewPacket. Nothing is allocated by the other functions, and all fields that
// hold bytes refer to those that were decoded.
package ib
