// Package ib decodes the headers of InfiniBand packets, as they are sent over
// InfiniBand links and over Ethernet (RoCE). gopacket has no layers for them; the
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
// to three bytes of padding, and a checksum (ICRC) of four bytes. Nothing but the
// opcode in the BTH says which extension headers follow, so that they cannot be
// decoded one by one: Transport is the layer of the BTH and its extension headers.
//
// Nothing is allocated, and all fields that hold bytes refer to those decoded.
package ib
