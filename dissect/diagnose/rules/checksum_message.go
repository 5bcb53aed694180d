package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var _ = add(diagnose.Rule{
	Code:     "checksum.message",
	Severity: diagnose.Error,
	Summary:  "Messages of the network driver have a wrong checksum: the network or a node changes bytes.",
	Meaning: "The drivers for TCP (ksocklnd) and InfiniBand (ko2iblnd) may send a checksum of each message. The receiver drops a message whose checksum is wrong, and the connection. " +
		"The rule computes the checksums of all messages that have one and are in the capture as a whole.",
	Limits: "Checksums are off by default, and ksocklnd has none on connections of its protocol version 3. Whether the bytes changed before or after the capture point is unknown: they did before, or the sender computed a wrong checksum.",
	Next:   "Network cards and their offloads (ethtool -K … rx off tx off), cables, switches, and memory of the sender. A capture on the other side shows whether it received what was sent.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		c := &messageChecksums{report: r, senders: fifo.NewMap[messageEnds, *badMessages](maxTargets)}
		return diagnose.Hooks{Message: c.message}
	},
})

// messageChecksums counts messages with a wrong checksum.
type messageChecksums struct {
	report  *diagnose.Reporter
	senders *fifo.Map[messageEnds, *badMessages]
}

// messageEnds is who sends to whom.
type messageEnds struct{ from, to lnet.NID }

// badMessages counts messages with a wrong checksum of a sender.
type badMessages struct {
	count       int64
	first, last int64
	proofs      []diagnose.Evidence
}

func (c *messageChecksums) message(_ *track.RPC, m *dissect.Message) {
	for i := range m.Notes {
		if m.Notes[i].Code == "checksum" {
			c.bad(m, m.Notes[i].Text)
			return
		}
	}
}

func (c *messageChecksums) bad(m *dissect.Message, text string) {
	k := messageEnds{m.LNet.Src, m.LNet.Dst}
	b, ok := c.senders.Get(k)
	if !ok {
		b = &badMessages{first: m.Time}
		c.senders.Put(k, b)
	}
	b.count++
	b.last = m.Time
	if len(b.proofs) < maxProofs {
		var f diagnose.Finding
		f.Prove(track.Point{Frame: m.Frame, File: m.File, Time: m.Time}, "%s", text)
		b.proofs = append(b.proofs, f.Evidence...)
	}
	f := diagnose.Finding{Subject: diagnose.Subject{Client: k.from, Server: k.to}, First: b.first, Last: b.last, Count: b.count, Evidence: slices.Clone(b.proofs)}
	f.Text = fmt.Sprintf("The checksums of %d messages from %s to %s are wrong.", b.count, k.from, k.to)
	if b.count == 1 {
		f.Text = fmt.Sprintf("The checksum of a message from %s to %s is wrong.", k.from, k.to)
	}
	c.report.Report(f)
}
