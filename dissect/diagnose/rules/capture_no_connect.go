package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

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
		return diagnose.Hooks{Opcodes: connectOpcodes, Done: func(r *track.RPC) {
			// Where a connect is truncated or its reply is not captured, it may be that of any connection between these nodes.
			if r.Connection == nil || !r.HasReply {
				unclear.Put(nodePair{r.Client, r.Server}, true)
			}
		}, End: func() {
			var requests, unknownRequests int64
			connections, before, unknown := 0, 0, 0
			f := diagnose.Finding{First: reporter.First()}
			for _, i := range reporter.Imports() {
				if i.Requests == 0 || i.TargetFrom == track.TargetFromContext && !i.HasCommitted {
					continue // encrypted
				}
				if _, is := unclear.Get(nodePair{i.Client, i.Server}); is && i.Attempts == 0 {
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
			switch {
			case connections == 1:
				f.Text = "The capture does not have the connect of its only connection between a client and a target. What they negotiated is unknown"
			case before == connections:
				f.Text = fmt.Sprintf("The capture does not have the connects of its %s between clients and targets. What they negotiated is unknown",
					plural(connections, "connection"))
			default:
				f.Text = fmt.Sprintf("The capture does not have the connects of %d of %s between clients and targets. What they negotiated is unknown",
					before, plural(connections, "connection"))
			}
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

var connectOpcodes = []uint32{opcodes.OST_CONNECT, opcodes.MDS_CONNECT, opcodes.MGS_CONNECT}

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
		const most = 64 // clients
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
			clients = withNew(clients, rpc.Client, most+1)
		}, End: func() {
			if encrypted == 0 {
				return
			}
			who := nodes(clients)
			if len(clients) > most {
				who = fmt.Sprintf("more than %d clients", most)
			}
			f := diagnose.Finding{First: first.Time, Last: last, Count: encrypted,
				Text: fmt.Sprintf("%d of %d RPCs are encrypted (GSS privacy), those of %s. What they ask for, whether they failed, and their locks "+
					"and files are unknown.", encrypted, all, who)}
			f.Prove(first, "the first RPC that is encrypted")
			r.Report(f)
		}}
	},
})
