package scan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
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

// Captured returns what is known about the frames so far. It is complete in the
// End func of a Consumer.
func (p *Pass) Captured() diagnose.Capture {
	if p.in.OnlyLogs() {
		return diagnose.Capture{}
	}
	c := diagnose.Capture{Stats: p.dissector.Stats(), Files: max(1, len(p.in.files)), FirstFrame: p.First()}
	c.Dropped, c.InterfaceDropped, _ = p.src.dropped() // report writes the error
	for _, x := range p.cut.list {
		if x.Frames > 0 {
			c.Truncated = append(c.Truncated, x)
		}
	}
	if len(p.in.files) > 1 {
		for i, name := range capture.FileNames(p.in.files) {
			path := p.in.files[i]
			if _, given := p.in.offsets[path]; !given && p.offsets[path] != 0 {
				c.Estimated = append(c.Estimated, diagnose.ClockOffset{File: name, Offset: p.offsets[path]})
			}
		}
	}
	var damage *capture.DamageError
	switch {
	case errors.As(p.inputErr, &damage):
		c.Damaged = damage.Plain() // findings are escaped where they are shown
	case p.inputErr != nil:
		c.Damaged = p.inputErr.Error()
	}
	return c
}

// truncations are how much files have of their frames, in the order of their first frames:
// also files that have all of them.
type truncations struct {
	list []diagnose.Truncated
	last int // file of the last frame
}

func (t *truncations) frame(f *capture.Frame) {
	if len(t.list) == 0 || t.list[t.last].File != f.File {
		t.last = slices.IndexFunc(t.list, func(x diagnose.Truncated) bool { return x.File == f.File })
		if t.last < 0 {
			t.last = len(t.list)
			t.list = append(t.list, diagnose.Truncated{File: f.File})
		}
	}
	x := &t.list[t.last]
	x.Snaplen = max(x.Snaplen, len(f.Data))
	if len(f.Data) < f.Len {
		x.Frames++
	}
}

// tooShort describes the files whose frames are truncated before the headers of
// Lustre, each in a sentence.
func (t *truncations) tooShort() (notes []string) {
	for _, x := range t.list {
		if x.Snaplen >= lnet.MinSnaplen || x.Frames == 0 && x.File != "" {
			continue
		}
		note := fmt.Sprintf("frames are truncated to %d bytes, too short for the headers of Lustre; capture with a snaplen of 1024 (tcpdump -s 1024)", x.Snaplen)
		if x.File != "" {
			note = x.File + ": " + note
		}
		notes = append(notes, note)
	}
	return notes
}
