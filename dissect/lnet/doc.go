// Package lnet turns the frames of a capture into LNet messages.
//
//	d := lnet.NewDecoder(lnet.Options{Handle: func(m *lnet.Message) {
//		fmt.Println(m.Frame, m.Kind, m.LNet.Src, m.LNet.Dst, m.LNet.Length)
//	}})
//	for r.Next(&frame) == nil {
//		d.Frame(&frame)
//	}
//	d.Close()
//
// It knows the transports and the headers of LNet. The payload of a message,
// such as ptlrpc, is left to package dissect.
//
// Files are named after their transport: tcp_, socklnd, ib_, o2iblnd. The others are for
// all. They are one package, since a transport and what all share (the pool, Want and
// Handle, the pending GETs, the message that is being assembled) refer to each other at each frame,
// and none of that is of use to others.
//
// # The way of a frame
//
// A Decoder looks for the packets of a transport in each frame, through VLAN
// tags, tunnels and IP fragments (package link), and passes them to that transport.
// That is TCP with socklnd:
//
//   - tcp (tcp.go, tcp_conn.go) finds the connection of a segment. A source
//     (tcp_source.go), one for each capture point, queues segments while it is unknown where
//     their stream begins.
//   - reassembly (tcp_reassembly.go) has the TCP state of one direction of a connection.
//     It puts the segments in order and passes their bytes on once,
//     with the gaps among them, by the methods start, consume, skip, gap and close of framer.
//   - analysis (tcp_analysis.go) sees the segments of one direction as they were
//     captured. It finds those that were sent again and the round trip.
//     Message.Transfer and Options.TransferUpdate have what belongs to a message, with the
//     latency that it cost, where an ACK proves it: the receiver reports data that
//     came twice, and its timestamps show which transmission it had waited for.
//   - framer (socklnd_framer.go, socklnd_message.go) cuts these bytes into messages by
//     their headers (socklnd.go, socklnd_hello.go). Its method skips tells reassembly
//     which bytes behind a gap need not be kept.
//   - resync (socklnd_resync.go) has the bytes in which the framer has to find a header,
//     after a loss or in mid-stream (methods add and find). What it finds is framed again from
//     its buffer.
//   - output (decoder.go) is shared by all transports: the pool of buffers, the
//     pending GETs, Options.Want and Options.Handle.
//
// A framer knows how long its message is as soon as it has the header, and then
// calls Options.Want to learn how much of the payload is needed. The rest is
// skipped without a copy. Bytes that the capture lacks are holes of known length
// (Hole), and the framing goes on behind them.
//
// # InfiniBand and RoCE
//
// The other transport is InfiniBand with o2iblnd. It calls the same output:
//
//   - infiniband (ib_queue_pair.go) finds the queue pair that a packet is sent to. The
//     other end of its connection is its peer (ib_connection.go). It is known from the
//     messages of the connection manager, or else from an acknowledgement that matches
//     only one queue pair, or from a cookie or an address that was sent in the other
//     direction.
//   - queuePair (ib_packets.go) puts the requests that it receives in the order of
//     their packet sequence numbers (methods arrive, take, hold, release, giveUpGap). Its field
//     sent (sentPackets) finds those that were sent again and measures the round trip.
//   - o2iblnd (o2iblnd.go) gets the packets in order. It joins those of a SEND and
//     parses the o2iblnd message in it (methods take, gap, close).
//   - transfer (o2iblnd_transfer.go) is an LNet message whose payload comes in RDMA
//     writes: a PUT or REPLY announced by a PUT_REQ, or the REPLY to a GET_REQ. The
//     writes go to the memory that the PUT_ACK or GET_REQ describes, and the PUT_DONE or
//     GET_DONE after them completes the message.
//
// An IMMEDIATE is a whole message. A message announced by a PUT_REQ has the LNet header
// of the PUT_REQ, followed by the payload. A GET_REQ is handed out at once, as the GET.
// The REPLY to it has no LNet header on the wire: its message has LNetOff -1 and a Header
// made from that of the GET. Want is called with the PUT_REQ or GET_REQ, or with the
// first write if the peer is unknown until then. Message.IB has the o2iblnd messages and
// describes the writes.
//
// All packets but the last one of a SEND or write have the same size. So a lost packet
// is a hole of known length, and only the message that it belongs to has holes. If the
// first packet of a write, with the address, is lost, the other bytes are kept until the
// next write or the DONE comes, which follows the last byte of the write: then their place
// in the payload is known. Writes that match no transfer are dropped and counted
// (IBStats.Unjoined).
//
// # Delays
//
// Messages are handed out in the order of the frames that completed them. Four
// queues hold back what came too early; all are bounded, and when a bound is
// reached the oldest goes on as it is.
//
//	queue                  holds              until                             bound
//	source.queue           segments of one    a SYN shows where their stream    8 MiB of segments
//	                       capture point      begins, or ReorderFrames frames
//	                                          passed there: the stream begins
//	                                          at the lowest number seen
//	reassembly.held        segments behind    the gap is filled; or, after      Options.MaxStream,
//	                       a gap              ReorderFrames frames: the         8192 segments,
//	                                          receiver acknowledged the gap,    Options.MaxTotal
//	                                          or is silent for 256 segments,
//	                                          the connection ended, 30 s passed
//	packetOrder.held       packets behind a   as for reassembly.held            Options.MaxStream,
//	                       gap                                                  8192 packets,
//	                                                                            Options.MaxTotal
//	                       first packets of   the connection manager announced  the same
//	                       a queue pair       where it begins, or
//	                                          ReorderFrames frames passed
//	                       packets that wait  that packet came, or              the same
//	                       for one of the     ReorderFrames frames passed
//	                       other direction
//	lateMessages           complete messages  their request was read, or        4096 messages,
//	(package dissect)                         2 * ReorderFrames frames passed;  16 MiB
//	                                          and no earlier frame is held by
//	                                          the queues above (Decoder.Held)
//
// Messages of one direction pass them in order; messages of other connections
// would overtake those behind a gap, which is why the last queue waits for the
// others. In a live capture Decoder.Flush lets all of them go on when no frames
// come.
//
// Two kinds of messages are not waited for, as that could take as long as their
// connection is silent: those found in mid-stream, which are believed only with a
// header behind them, and those cut by the snaplen, which have the number of the
// frame that was cut. They come late, with the numbers they have.
//
// # Buffers
//
// No frame and no message costs an allocation in steady state. So most buffers
// are lent, and nothing that is lent may be kept or changed.
//
//	buffer                     lent by          to                 until
//	capture.Frame.Data         the reader       Decoder.Frame      Frame returns
//	fragments.whole            link.Decoder     transport          the next call of Decode
//	queued.buf                 output.pool      source.queue       the segment was delivered
//	piece.data                 output.pool      reassembly.held    the piece was consumed
//	heldPacket.buf             output.pool      packetOrder.held   the packet was taken
//	transfer.buf, parts        output.pool      o2iblnd.requests   the message was handed out
//	partial.buf, holes         output.pool      framer.msg         the message was handed out
//	resync.buf, marks          output.pool      resync             the search ended
//	Message and all its slices Decoder          Want, Handle       they return
//
// Message.Data is part of the frame where a message is complete in one segment,
// else partial.buf. Message.Clone copies a message; dissect.Arena copies many of
// them into few slices. Buffers of the pool and the records kept about them count
// against Options.MaxTotal. While more is held, gaps are given up, resyncs end, and
// of new messages only the headers are kept.
//
// # Why reassembly is not gopacket's
//
// Package reassembly of gopacket v1.1.19 was tried behind the same framer. It loses
// the start of a stream whose first segments are out of order, ignores a SYN on a
// reused port, cannot give up the gap of one stream, lets later bytes replace those
// it holds, copies bulk data twice, and has no bound on its connections. 15 of 218
// cases of stream tests failed, and it took 2 to 3.5 times the CPU.
package lnet
