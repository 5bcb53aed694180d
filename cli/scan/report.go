package scan

import (
	"fmt"

	"github.com/lshark/lshark/lnet"
)

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
	short := ""
	if st.TCP.CutBytes > 0 && p.longest < lnet.MinSnaplen {
		short = fmt.Sprintf("frames are truncated to %d bytes, too short for the headers of Lustre; capture with a snaplen of 1024 (tcpdump -s 1024)", p.longest)
	}
	switch none := p.messages == 0 && complete; {
	case none && short != "":
		p.sys.Say("no Lustre traffic in %d frames: %s", st.Frames, short)
	case none && st.RDMA > 0:
		p.sys.Say("no Lustre traffic over TCP in %d frames; %d frames are RDMA (RoCE), which is not dissected yet", st.Frames, st.RDMA)
	case none:
		p.sys.Say("no Lustre traffic in %d frames", st.Frames)
	case short != "":
		p.sys.Say("%s", short)
	}
	if p.in.verbose {
		p.sys.Say("%d frames, %d connections, %d messages, %d segments retransmitted (%d fast, %d spurious), "+
			"%d out of order, %d zero windows, %d gaps of %d bytes, %d resynchronisations, %d streams that are not LNet, "+
			"%d messages truncated by the memory limit", st.Frames, st.TCP.Conns, p.messages,
			st.TCP.Marks.Retransmissions, st.TCP.Marks.Fast, st.TCP.Marks.Spurious,
			st.TCP.Marks.OutOfOrder, st.TCP.Marks.ZeroWindows, st.TCP.Gaps, st.TCP.LostBytes, st.TCP.Resyncs, st.TCP.NotLNet, st.Unaffordable)
	}
}
