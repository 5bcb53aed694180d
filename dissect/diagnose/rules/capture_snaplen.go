package rules

import (
	"fmt"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

var _ = add(diagnose.Rule{
	Code:     "capture.snaplen",
	Severity: diagnose.Warning,
	Summary:  "Frames were captured in part, and requests or replies lack bytes.",
	Meaning: "A capture may keep only the first bytes of each frame (snaplen). That is harmless for bulk data. It is a note where requests or replies lack a part: names, jobs, locks and results in it are unknown. " +
		"It is a warning where messages were not found at all, because their headers are in the part that was cut off.",
	Limits:  "How many messages were not found is unknown. Several messages may be in one frame, and only those at its beginning are captured.",
	Next:    "Capture whole frames (tcpdump -s 0), or 1024 bytes of each (-s 1024) where that is too much.",
	Samples: []string{"snaplen.pcap.zst", "io.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		c := &cutMessages{report: r}
		return diagnose.Hooks{Message: c.message, Lost: c.lost, End: c.end}
	},
})

// cutMessages counts messages that frames have in part.
type cutMessages struct {
	report    *diagnose.Reporter
	all, cut  int64 // requests and replies
	lostBytes int64 // in which messages may have begun
}

func (c *cutMessages) message(_ *track.RPC, m *dissect.Message) {
	if m.Kind != lnet.Request && m.Kind != lnet.Reply {
		return
	}
	c.all++
	if (len(m.Holes) > 0 || len(m.Data) < m.Size) && m.Missing(0, m.Size) == lnet.Snaplen {
		c.cut++
	}
}

func (c *cutMessages) lost(l *lnet.Loss) {
	if l.Why == lnet.Snaplen && l.Bytes >= minMessage {
		c.lostBytes += l.Bytes
	}
}

func (c *cutMessages) end() {
	list := c.report.Capture().Truncated
	if len(list) == 0 || c.cut == 0 && c.lostBytes == 0 {
		return
	}
	var b strings.Builder
	for i, t := range list {
		if i == maxFilesShown {
			fmt.Fprintf(&b, "and %d more files ", len(list)-i)
			break
		}
		if t.File != "" {
			b.WriteString("Of " + t.File + " ")
		}
		fmt.Fprintf(&b, "%s were captured in part, with %d bytes at most. ", plural(t.Frames, "frame"), t.Snaplen)
	}
	f := diagnose.Finding{Severity: diagnose.Note, First: c.report.First(), Last: c.report.Now(), Count: c.cut}
	if c.cut > 0 {
		fmt.Fprintf(&b, "%d of %d requests and replies lack a part: names, jobs, locks and results that are in it are unknown.", c.cut, c.all)
	}
	if 2*c.cut > c.all {
		f.Brief = "Most requests and replies were captured in part only: restarts, evictions and what failed cannot be seen in all cases."
	}
	if c.lostBytes > 0 {
		f.Severity = diagnose.Warning
		fmt.Fprintf(&b, " In %s that were cut off, more messages may have begun, so that some RPCs are missing or lack their reply.", size(c.lostBytes))
	}
	f.Text = strings.TrimSpace(b.String())
	c.report.Report(f)
}

// maxFilesShown is how many files a text names.
const maxFilesShown = 4
