package scan

import (
	"fmt"
	"strings"
)

// report writes notes about the capture itself. complete means that it
// was read to its end without an error.
func (p *Pass) report(src *source, complete bool) {
	st := p.dissector.Stats()
	if src.live != nil {
		p.reportLive(src)
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
	if p.in.flags.Verbose {
		p.sys.Say("%d frames, %d TCP connections, %d messages, %d segments retransmitted (%d fast, %d spurious), "+
			"%d out of order, %d zero windows, %d gaps of %d bytes, %d resynchronisations, %d streams that are not LNet, "+
			"%d messages truncated by the memory limit", st.Frames, st.TCP.Conns, p.messages,
			st.TCP.Marks.Retransmissions, st.TCP.Marks.Fast, st.TCP.Marks.Spurious,
			st.TCP.Marks.OutOfOrder, st.TCP.Marks.ZeroWindows, st.TCP.Gaps, st.TCP.LostBytes, st.TCP.Resyncs, st.TCP.NotLNet, st.Unaffordable)
	}
	if src.reader != nil {
		for _, note := range src.reader.StrangeTimes() {
			p.sys.Say("%s", note)
		}
		p.in.sayNotes(p.sys, src.reader.Notes())
	}
	if n := &st.IB; p.in.flags.Verbose && n.Packets > 0 {
		p.sys.Say("InfiniBand: %d packets, %d queue pairs, %d connections, %d transfers joined, %d packets retransmitted, "+
			"%d out of order, %d negative acknowledgements (%d receiver not ready), %d gaps of %d packets, "+
			"%d bytes of RDMA writes that match no transfer, %d messages sent with the last credit, %d messages of other drivers",
			n.Packets, n.QueuePairs, n.Conns, n.Joined, n.Retransmits, n.OutOfOrder, n.Naks, n.RNR, n.Gaps, n.LostPackets,
			n.Unjoined, n.Exhausted, n.Foreign)
	}
}

// reportLive writes how many frames were captured, and what is missing.
func (p *Pass) reportLive(src *source) {
	byKernel, byInterfaces, err := src.dropped()
	if err != nil {
		p.sys.Say("dropped frames cannot be counted: %v", err)
		return
	}
	why, of := "", "interface"
	if p.in.Distinct() {
		of = "interfaces"
	}
	if byKernel > 0 {
		why = " (they came faster than they could be read)"
	}
	line := fmt.Sprintf("%d frames captured; %d dropped by the kernel%s, %d by the %s", p.frames, byKernel, why, byInterfaces,
		of)
	var cut, snaplen int64
	for _, x := range p.cut.list {
		cut += x.Frames
		snaplen = max(snaplen, int64(x.Snaplen))
	}
	if cut > 0 {
		line += fmt.Sprintf(", %d cut to %d bytes", cut, snaplen)
	}
	p.sys.Say("%s", line)
}

// NoteHidden notes the columns for which the terminal has no room, if any.
func (p *Pass) NoteHidden(columns string) {
	if columns != "" {
		p.Note("hidden: %s; a wider terminal or -T json shows them", columns)
	}
}
