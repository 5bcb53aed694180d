package rules

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// minMessage is the number of bytes of the shortest message that socklnd sends. A
// shorter run of bytes, such as a keep-alive probe, contains no message.
const minMessage = 24

// maxDirections is how many directions between two hosts are remembered.
const maxDirections = 1 << 12

// direction is one way between two hosts.
type direction struct{ from, to netip.Addr }

func (d direction) String() string { return d.from.String() + " to " + d.to.String() }

// loss sums up the bytes of a direction that were not captured.
type loss struct {
	runs, bytes int64
	first, last int64 // time
	captured    bool  // other messages of the direction were captured
}

func (l *loss) add(other *loss) {
	if l.runs == 0 || other.first < l.first {
		l.first = other.first
	}
	l.last = max(l.last, other.last)
	l.runs += other.runs
	l.bytes += other.bytes
	l.captured = l.captured || other.captured
}

// losses are the bytes that were not captured, by direction.
type losses struct{ *fifo.Map[direction, *loss] }

func newLosses() losses { return losses{fifo.NewMap[direction, *loss](maxDirections)} }

// lost takes a run of bytes.
func (l losses) lost(x *lnet.Loss) {
	if x.Why != lnet.Lost || x.Bytes < minMessage {
		return
	}
	one := fifo.GetOrNew(l.Map, direction{x.Src.Addr(), x.Dst.Addr()})
	one.add(&loss{1, x.Bytes, x.From, x.To, !x.OneWay})
}

func (l losses) message(_ *track.RPC, m *dissect.Message) {
	if fifo.Len(l.Map) > 0 {
		if one, ok := fifo.Get(l.Map, direction{m.Src.Addr(), m.Dst.Addr()}); ok {
			one.captured = true
		}
	}
}

// sum returns the sum over all directions of which other messages were captured, or over those of which nothing was, and these directions, most
// bytes first.
func (l losses) sum(captured bool) (sum loss, directions []direction) {
	bytes := make(map[direction]int64)
	for d, one := range fifo.All(l.Map) {
		if one.captured == captured {
			sum.add(one)
			bytes[d] = one.bytes
			directions = append(directions, d)
		}
	}
	slices.SortStableFunc(directions, func(a, b direction) int { return cmp.Compare(bytes[b], bytes[a]) })
	return sum, directions
}

// directionsText lists directions as in "from A to B, from C to D and 3 others".
func directionsText(list []direction) string {
	const shown = 3
	var text string
	for i, d := range list[:min(len(list), shown)] {
		switch {
		case i == 0:
			text = "from " + d.String()
		case d.from == list[i-1].from:
			text += " and " + d.to.String()
		default:
			text += ", from " + d.String()
		}
	}
	if more := len(list) - shown; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

var _ = add(diagnose.Rule{
	Code:     "capture.lost",
	Severity: diagnose.Warning,
	Summary:  "The capture lacks bytes that the hosts received.",
	Meaning: "TCP and InfiniBand acknowledge what has arrived. Bytes that were acknowledged and are in no frame of the capture were lost " +
		"by the capture: the program or the switch that captured could not keep up. " +
		"It is a warning where requests or replies may be in these bytes, and a note where they are in the middle of bulk data only.",
	Limits: "Bytes that were lost and acknowledged before the first frame of a connection, or after the last one, cannot be found.",
	Next: "An RPC without a reply at these times may have had one: lshark rpcs lists its reply as not_captured, not as unanswered. " +
		"For the next capture, write to a local disk, capture fewer bytes of each frame (tcpdump -s 1024), and give tcpdump a larger buffer (-B 65536).",
	Samples: []string{"lost_frames.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		l := newLosses()
		report := func() {
			sum, directions := l.sum(true)
			where := ", "
			switch {
			case sum.runs == 0:
				return
			case sum.runs > 1:
				where = " in " + plural(sum.runs, "place") + ": "
			}
			r.Report(diagnose.Finding{First: sum.first, Last: sum.last, Count: sum.runs,
				Text: fmt.Sprintf("The capture lacks %s that the hosts received%s%s. "+
					"Requests and replies may be in them, so that some RPCs are missing, and of others it is unknown whether and when they were answered.",
					size(sum.bytes), where, directionsText(directions))})
		}
		return diagnose.Hooks{Lost: l.lost, Message: l.message, Tick: func(int64) { report() }, End: func() {
			if report(); fifo.Len(l.Map) == 0 {
				reportGaps(r)
			}
		}}
	},
})

// reportGaps reports bytes that are missing in the middle of messages only.
func reportGaps(r *diagnose.Reporter) {
	c := r.Capture()
	lacks := size(c.TCP.LostBytes)
	if c.TCP.LostBytes == 0 {
		lacks = plural(c.IB.LostPackets, "packet") + " of InfiniBand"
	}
	if c.TCP.LostBytes > 0 || c.IB.LostPackets > 0 {
		r.Report(diagnose.Finding{Severity: diagnose.Note, First: r.First(), Last: r.Now(), Count: c.TCP.Gaps + c.IB.Gaps,
			Text: "The capture lacks " + lacks + " in the middle of messages. No request and no reply is missing, but what these bytes were is " +
				"unknown, such as the data that was read or written."})
	}
}

var _ = add(diagnose.Rule{
	Code:     "capture.one_way",
	Severity: diagnose.Warning,
	Summary:  "Of some connections the capture has one direction only.",
	Meaning: "The acknowledgements of one host show that it received bytes from the other, and not a single message of the other was captured. " +
		"That is so where requests and replies take different ways through the network, or where a switch port is mirrored for one direction.",
	Limits: "It is known from acknowledgements: where none was captured, hosts that are silent and hosts that were not captured look the same.",
	Next: "Capture on a node instead of a switch, or mirror both directions of the port. On nodes with several network interfaces, " +
		"capture on all of them (tcpdump -i any).",
	Samples: []string{"one_way.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		l := newLosses()
		return diagnose.Hooks{Lost: l.lost, Message: l.message, End: func() {
			sum, directions := l.sum(false)
			if sum.runs == 0 {
				return
			}
			nothing := "The capture has nothing of what was sent " + directionsText(directions)
			r.Report(diagnose.Finding{Brief: nothing + ": latencies and evictions cannot be seen there, and restarts and errors only in part.",
				First: sum.first, Last: sum.last, Count: int64(len(directions)), Text: nothing + ", though " + size(sum.bytes) + " arrived there. Requests without a reply, and replies without a request, are due to that; how long these RPCs took is unknown, and without a reply also whether they failed."})
		}}
	},
})

// atEnd starts a rule that looks at the capture when it has ended.
func atEnd(report func(*diagnose.Reporter)) func(*diagnose.Reporter) diagnose.Hooks {
	return func(r *diagnose.Reporter) diagnose.Hooks { return diagnose.Hooks{End: func() { report(r) }} }
}

var _ = add(diagnose.Rule{
	Code:     "capture.dropped",
	Severity: diagnose.Warning,
	Summary:  "Frames came faster than they could be captured.",
	Meaning: "In a live capture the kernel counts the frames that it had to drop because lshark had not read those before, and interfaces count those " +
		"that they had to drop before the kernel saw them.",
	Limits: "A capture file does not have this count; its rule is capture.lost.",
	Next: "Capture the first bytes of each frame (-s 1024) and let the kernel buffer more (-B 256), write to a file with tcpdump and diagnose that, or " +
		"capture fewer frames with a filter (-f), such as those of one server. Where the interface drops them, a larger ring of its own may help " +
		"(ethtool -G). An RPC without a reply may have had one.",
	Start: atEnd(func(r *diagnose.Reporter) {
		c := r.Capture()
		var text string
		if c.Dropped > 0 {
			text = plural(c.Dropped, "frame") + " " + was(c.Dropped) + " dropped because they came faster than they could be read. "
		}
		if c.InterfaceDropped > 0 {
			text += plural(c.InterfaceDropped, "frame") + " " + was(c.InterfaceDropped) + " dropped by the interfaces, before the kernel saw them. "
		}
		if text == "" {
			return
		}
		r.Report(diagnose.Finding{Count: c.Dropped + c.InterfaceDropped, First: r.First(), Last: r.Now(),
			Text: fmt.Sprintf("%s%d were read. RPCs are missing, and of others it is unknown whether and when they were answered.", text, c.Frames)})
	}),
})

var _ = add(diagnose.Rule{
	Code:     "capture.memory",
	Severity: diagnose.Warning,
	Summary:  "Messages were truncated because too many were incomplete at the same time.",
	Meaning: "Messages of which bytes are missing are kept in memory until a retransmission or a late frame completes them. " +
		"The memory for that is limited; beyond the limit only the first bytes of a message are kept.",
	Limits: "Which messages these were is not recorded.",
	Next:   "Read fewer files at a time, or the connections of fewer nodes (lshark -f 'host 192.0.2.3').",
	Start: atEnd(func(r *diagnose.Reporter) {
		if n := r.Capture().Unaffordable; n > 0 {
			r.Report(diagnose.Finding{First: r.First(), Last: r.Now(), Count: n, Text: plural(n, "message") +
				" had to be truncated to limit the use of memory. Names, jobs, locks and results in the rest of them are unknown."})
		}
	}),
})

var _ = add(diagnose.Rule{
	Code:     "capture.damaged",
	Severity: diagnose.Warning,
	Summary:  "The capture file ends too early, or is damaged.",
	Meaning: "The file could not be read to its end: it ends in the middle of a frame, as when the disk was full or the program that " +
		"captured was killed, or its bytes are no frame. " +
		"Everything before that was read.",
	Limits: "What came after is unknown. RPCs that were waiting for a reply then count as \"end\", not as unanswered.",
	Next:   "Copy the file again, and compare its size. If it was written by tcpdump -w, stop tcpdump with SIGINT, and use -U.",
	Start: atEnd(func(r *diagnose.Reporter) {
		if why := r.Capture().Damaged; why != "" {
			r.Report(diagnose.Finding{First: r.Now(), Text: "The capture could not be read to its end: " + why +
				". What happened after that is unknown."})
		}
	}),
})

var _ = add(diagnose.Rule{
	Code:     "capture.snaplen",
	Severity: diagnose.Warning,
	Summary:  "Frames were captured in part, and requests or replies lack bytes.",
	Meaning: "A capture may keep only the first bytes of each frame (snaplen). That is harmless for bulk data. It is a note where requests " +
		"or replies lack a part: names, jobs, locks and results in it are unknown. " +
		"It is a warning where messages were not found at all, because their headers are in the part that was cut off.",
	Limits:  "How many messages were not found is unknown. Several messages may be in one frame, and only those at its beginning are captured.",
	Next:    "Capture whole frames (tcpdump -s 0), or 1024 bytes of each (-s 1024) where that is too much.",
	Samples: []string{"io.pcap.zst", "lost_in_lnet.pcap.zst", "partition.pcap.zst", "slow_mdt.pcap.zst", "snaplen.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		var c cutMessages
		return diagnose.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
			if m.Kind == lnet.Request || m.Kind == lnet.Reply {
				c.all++
				if (len(m.Holes) > 0 || len(m.Data) < m.Size) && m.Missing(0, m.Size) == lnet.Snaplen {
					c.cut++
				}
			}
		}, Lost: func(l *lnet.Loss) {
			if l.Why == lnet.Snaplen && l.Bytes >= minMessage {
				c.lostBytes += l.Bytes
			}
		}, End: func() {
			if list := r.Capture().Truncated; len(list) > 0 && (c.cut > 0 || c.lostBytes > 0) {
				f := c.finding(list)
				f.First, f.Last = r.First(), r.Now()
				r.Report(f)
			}
		}}
	},
})

// cutMessages counts messages that frames have in part.
type cutMessages struct {
	all, cut  int64 // requests and replies
	lostBytes int64 // in which messages may have begun
}

func (c *cutMessages) finding(list []diagnose.Truncated) diagnose.Finding {
	var b strings.Builder
	for i, t := range list {
		if i == maxFilesShown {
			fmt.Fprintf(&b, "and %d more files ", len(list)-i)
			break
		}
		if t.File != "" {
			b.WriteString("Of " + t.File + " ")
		}
		fmt.Fprintf(&b, "%s %s captured in part, with %d bytes at most. ", plural(t.Frames, "frame"), was(t.Frames), t.Snaplen)
	}
	f := diagnose.Finding{Severity: diagnose.Note, Count: c.cut}
	if c.cut > 0 {
		fmt.Fprintf(&b, "%d of %d requests and replies lack a part: names, jobs, locks and results that are in it are unknown. ", c.cut, c.all)
	}
	if 2*c.cut > c.all {
		f.Brief = "Most requests and replies were captured in part only: restarts, evictions, locks and errors cannot be seen, or only some of them."
	}
	if c.lostBytes > 0 {
		f.Severity = diagnose.Warning
		fmt.Fprintf(&b, "In %s that were cut off, more messages may have begun, so that some RPCs are missing or lack their reply.",
			size(c.lostBytes))
	}
	f.Text = strings.TrimSpace(b.String())
	return f
}

// maxFilesShown is how many files a text names.
const maxFilesShown = 4

var clockDifference = &diagnose.Threshold{Name: "difference", Value: 0.001, Unit: "s",
	Reason: "a smaller difference is not more than the latency of a network, and does not matter when logs are compared"}

var _ = add(diagnose.Rule{
	Code:     "capture.clocks",
	Severity: diagnose.Note,
	Summary:  "The clocks of captures that are merged differ; times were corrected by an estimate.",
	Meaning: "Captures of several nodes have times by the clocks of these nodes. From the packets that two captures have in common, the " +
		"difference of their clocks is estimated, " +
		"and the times of the second file are corrected by that.",
	Limits: "The estimate takes the delay of the network as the same in both directions, and the difference as constant. Without packets " +
		"in common, times are taken as they are.",
	Next: "Where the times matter, give the difference with --offset FILE=SECONDS. Compare times of the nodes' logs with those of their " +
		"own capture, without the correction.",

	Thresholds: []*diagnose.Threshold{clockDifference},
	Start: atEnd(func(r *diagnose.Reporter) {
		var words []string
		var most time.Duration
		for _, c := range r.Capture().Estimated {
			if d := c.Offset; d.Abs() >= time.Duration(clockDifference.Nanoseconds()) {
				most = max(most, d.Abs())
				word := "ahead of"
				if d > 0 {
					word = "behind"
				}
				words = append(words, fmt.Sprintf("that of %s is %s %s", c.File, duration(int64(d.Abs())), word))
			}
		}
		if n := len(words); n > 0 {
			f := diagnose.Finding{First: r.First(), Count: int64(n), Text: "The clocks of the captures differ: " +
				strings.Join(words[:min(n, maxFilesShown)], ", ") +
				" that of the first file with packets in common. Times were corrected by this estimate, so times between two files may be wrong by " +
				"part of the network's delay."}
			f.CompareTime(clockDifference, int64(most))
			r.Report(f)
		}
	}),
})

var _ = add(diagnose.Rule{
	Code:     "capture.no_connect",
	Severity: diagnose.Note,
	Summary:  "The capture began after connections were made.",
	Meaning: "A client tells a server in a connect request which target it wants, who it is, and what it can do, and the server answers " +
		"what it grants. " +
		"Where the capture does not have this request, because it began later or lost it, all of that is unknown. The name of the target is " +
		"known where other messages prove it.",
	Limits: "Connections that are encrypted are not counted, as their connects cannot be told from other requests, nor those between nodes " +
		"where connects were captured in part. " +
		"Locks, open files and transactions from before the capture are unknown in any case.",
	Next: "To see connects, begin the capture before the file system is mounted. lctl get_param '*.*.import' on a client shows its " +
		"targets and what was negotiated.",
	Samples: []string{"locks.pcap.zst", "lost_frames.pcap.zst"},
	Common:  true,
	Start: func(reporter *diagnose.Reporter) diagnose.Hooks {
		unclear := fifo.NewMap[nodePair, bool](maxDirections) // nodes with connects that cannot be assigned to what followed
		return diagnose.Hooks{Opcodes: opcodes.OpcodesOf(opcodes.Connects), Done: func(r *track.RPC) {
			// Where a connect is truncated or its reply is not captured, it may be that of any connection between these nodes.
			if r.Connection == nil || !r.HasReply {
				fifo.Put(unclear, nodePair{r.Client, r.Server}, true)
			}
		}, End: func() {
			var requests, unknownRequests int64
			connections, before, unknown := 0, 0, 0
			f := diagnose.Finding{First: reporter.First()}
			for _, i := range reporter.Imports() {
				if i.Requests == 0 || i.TargetFrom == track.TargetFromContext && !i.HasCommitted {
					continue // encrypted
				}
				if _, is := fifo.Get(unclear, nodePair{i.Client, i.Server}); is && i.Attempts == 0 {
					continue
				}
				connections++
				requests += i.Requests
				if i.Attempts > 0 {
					continue
				}
				before++
				if i.Target != "" {
					continue
				}
				unknown++
				unknownRequests += i.Requests
				switch {
				case unknown > maxUnnamed:
				case i.TargetIndex != "":
					f.Prove(i.First, "%s uses a connection to %s of %s, of which only the index is known", i.Client, i.TargetIndex, i.Server)
				default:
					f.Prove(i.First, "%s uses a connection to %s, of which the target is unknown", i.Client, i.Server)
				}
			}
			if before == 0 {
				return
			}
			which := fmt.Sprintf("connects of %d of %s between clients and targets", before, plural(connections, "connection"))
			switch {
			case connections == 1:
				which = "connect of its only connection between a client and a target"
			case before == connections:
				which = "connects of its " + plural(connections, "connection") + " between clients and targets"
			}
			f.Text = "The capture does not have the " + which + ". What they negotiated is unknown"
			switch {
			case connections == 1 && unknown == 0:
				f.Text += "; the name of the target is known from other messages."
			case connections == 1:
				f.Text += fmt.Sprintf(", and so is the name of the target (%s).", plural(requests, "request"))
			case unknown == 0:
				f.Text += "; the names of their targets are known from other messages."
			case unknown == before:
				f.Text += fmt.Sprintf(", and so are the names of their targets (%d of %s).", unknownRequests, plural(requests, "request"))
			default:
				f.Text += fmt.Sprintf(", and for %d of them the name of the target (%d of %s).", unknown, unknownRequests, plural(requests, "request"))
			}
			reporter.Report(f)
		}}
	},
})

// nodePair are the client and the server of connections.
type nodePair struct{ client, server lnet.NID }

// maxUnnamed is how many connections without a name are evidence.
const maxUnnamed = 4

var _ = add(diagnose.Rule{
	Code:     "capture.encrypted",
	Severity: diagnose.Note,
	Summary:  "RPCs are encrypted, and what they say is unknown.",
	Meaning: "With GSS privacy (skpi, krb5p) the messages between a client and a target are encrypted. Only who sent how many bytes to " +
		"whom, and when, can be seen.",
	Limits: "Operations, errors, locks and files of these RPCs are unknown, so no other rule says anything about them.",
	Next: "To see more, capture with a flavor that signs and does not encrypt (ski, krb5i): lctl conf_param " +
		"FSNAME.srpc.flavor.default=ski.",
	Samples: []string{"encrypted.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		var all, encrypted, last int64
		var first track.Point
		var clients []lnet.NID
		return diagnose.Hooks{Done: func(rpc *track.RPC) {
			if all++; !rpc.Encrypted {
				return
			}
			p := rpc.Requested()
			if encrypted++; first.Frame == 0 {
				first = p
			}
			last = max(last, p.Time)
			clients = withNew(clients, rpc.Client, maxNames)
		}, End: func() {
			if encrypted == 0 {
				return
			}
			f := diagnose.Finding{First: first.Time, Last: last, Count: encrypted,
				Text: fmt.Sprintf("%d of %d RPCs are encrypted (GSS privacy), those of %s. What they ask for, whether they failed, and their locks "+
					"and files are unknown.", encrypted, all, nodes(clients))}
			f.Prove(first, "the first RPC that is encrypted")
			r.Report(f)
		}}
	},
})
