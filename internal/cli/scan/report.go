package scan

import "strings"

// report writes notes about the capture itself. complete means that it
// was read to its end without an error.
func (p *Pass) report(src *source, complete bool) {
	st := p.dissector.Stats()
	switch n, err := src.dropped(); {
	case err != nil:
		p.sys.Say("dropped frames cannot be counted: %v", err)
	case n > 0:
		p.sys.Say("%d frames were dropped: they came faster than they could be read", n)
	}
	var short []string
	if st.TCP.CutBytes+st.IB.CutBytes > 0 {
		short = p.cut.tooShort()
	}
	switch none := p.messages == 0 && complete; {
	case none && len(short) > 0:
		p.sys.Say("no Lustre traffic in %d frames: %s", st.Frames, strings.Join(short, "; "))
	case none && st.IB.Packets > 0:
		p.sys.Say("no Lustre traffic in %d frames, %d of them RDMA (InfiniBand or RoCE)", st.Frames, st.IB.Packets)
	case none:
		p.sys.Say("no Lustre traffic in %d frames", st.Frames)
	default:
		for _, note := range short {
			p.sys.Say("%s", note)
		}
	}
	if p.in.verbose {
		p.sys.Say("%d frames, %d TCP connections, %d messages, %d segments retransmitted (%d fast, %d spurious), "+
			"%d out of order, %d zero windows, %d gaps of %d bytes, %d resynchronisations, %d streams that are not LNet, "+
			"%d messages truncated by the memory limit", st.Frames, st.TCP.Conns, p.messages,
			st.TCP.Marks.Retransmissions, st.TCP.Marks.Fast, st.TCP.Marks.Spurious,
			st.TCP.Marks.OutOfOrder, st.TCP.Marks.ZeroWindows, st.TCP.Gaps, st.TCP.LostBytes, st.TCP.Resyncs, st.TCP.NotLNet, st.Unaffordable)
	}
	if src.reader != nil && p.in.verbose {
		for _, note := range src.reader.Notes() {
			p.sys.Say("%s", note)
		}
	}
	if n := &st.IB; p.in.verbose && n.Packets > 0 {
		p.sys.Say("InfiniBand: %d packets, %d queue pairs, %d connections, %d transfers joined, %d packets retransmitted, "+
			"%d out of order, %d negative acknowledgements (%d receiver not ready), %d gaps of %d packets, "+
			"%d bytes of RDMA writes that match no transfer, %d messages sent with the last credit, %d messages of other drivers",
			n.Packets, n.QueuePairs, n.Conns, n.Joined, n.Retransmits, n.OutOfOrder, n.Naks, n.RNR, n.Gaps, n.LostPackets,
			n.Unjoined, n.Exhausted, n.Foreign)
	}
}

// NoteHidden notes the columns for which the terminal has no room, if any.
func (p *Pass) NoteHidden(columns string) {
	if columns != "" {
		p.Note("hidden: %s", columns)
	}
}
