package html

import (
	"path/filepath"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/render"
)

const maxSources = 32

// capture appends what was captured, and what limits it.
func (r *renderer) capture() {
	c := &r.Capture
	r.raw(`<dl class="facts">`, "\n")
	add := func(name, value string) { r.raw(element("dt", name), element("dd", value), "\n") }
	sources := r.sources()
	what := "File"
	switch {
	case c.IsLive:
		what = "Interface"
	case len(sources) > 1:
		what = "Files"
	}
	names := strings.Join(sources[:min(maxSources, len(sources))], ", ")
	if n := len(sources) - maxSources; n > 0 {
		names += " and " + render.Counted(int64(n), "more file")
	}
	add(what, names)
	if c.First != 0 {
		add("From", utc(c.First)+" UTC")
		add("To", utc(c.Last)+" UTC ("+span(c.Last-c.First)+")")
	}
	if !c.OnlyLogs {
		add("Frames", render.Thousands(c.Frames))
		add("Messages of LNet", render.Thousands(c.Messages))
	}
	if c.TCP.Conns > 0 {
		add("TCP", render.Counted(c.TCP.Conns, "connection")+", "+render.Counted(c.TCP.Segments, "segment")+", "+size(c.TCP.Bytes))
		m := &c.TCP.Marks
		add("Retransmission", render.Counted(m.Retransmissions, "segment")+" sent again ("+render.Thousands(m.Fast)+" fast, "+render.Thousands(m.Spurious)+" spurious), "+render.Thousands(m.OutOfOrder)+" out of order, "+render.Counted(m.ZeroWindows, "zero window"))
	}
	if c.IB.Packets > 0 {
		add("InfiniBand, RoCE", render.Counted(c.IB.Packets, "packet")+", "+render.Counted(c.IB.QueuePairs,
			"queue pair")+", "+render.Thousands(c.IB.Retransmits)+" sent again")
	}
	add("Cut by the snaplen", r.truncation())
	add("Lost by the capture", r.losses())
	if c.Dropped > 0 {
		add("Dropped by the kernel", render.Counted(c.Dropped, "frame"))
	}
	if c.InterfaceDropped > 0 {
		add("Dropped by the interfaces", render.Counted(c.InterfaceDropped, "frame"))
	}
	for _, e := range c.Estimated {
		add("Clock of "+filepath.Base(e.File), "differs; "+seconds(int64(e.Offset))+thin+"s were added to its times, by an estimate")
	}
	if c.Damaged != "" {
		add("Damaged", c.Damaged)
	}
	if c.Partial != "" {
		add("Partial", c.Partial)
	}
	r.raw("</dl>\n")
	var remarks []*diagnose.Finding
	for _, f := range r.Findings.List {
		if f.AboutCapture() {
			remarks = append(remarks, f)
		}
	}
	r.raw("<h3>What limits this report</h3>\n")
	if len(remarks) == 0 {
		r.nothing("No remarks about the quality of the capture.")
		return
	}
	r.articles(remarks)
}

// truncation describes the frames that were captured in part.
func (r *renderer) truncation() string {
	var frames int64
	longest := 0
	for _, t := range r.Capture.Truncated {
		frames += t.Frames
		longest = max(longest, t.Snaplen)
	}
	if frames == 0 {
		return "no frame"
	}
	return render.Counted(frames, "frame") + ", of which at most " + size(int64(longest)) + " were captured"
}

// losses describes what the hosts received and the capture lacks.
func (r *renderer) losses() string {
	c := &r.Capture
	var parts []string
	if c.TCP.Gaps > 0 {
		parts = append(parts, render.Counted(c.TCP.Gaps, "gap")+" of "+size(c.TCP.LostBytes))
	}
	if c.IB.Gaps > 0 {
		parts = append(parts, render.Counted(c.IB.LostPackets, "packet")+" in "+render.Counted(c.IB.Gaps, "gap"))
	}
	if c.TCP.Resyncs > 0 {
		parts = append(parts, render.Counted(c.TCP.Resyncs, "search")+" for the header of the next message")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
