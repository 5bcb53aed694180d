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
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		n := &noConnects{report: r, unclear: fifo.NewMap[nodePair, bool](maxDirections)}
		return diagnose.Hooks{Opcodes: connectOpcodes, Done: n.done, End: n.end}
	},
})

var connectOpcodes = []uint32{opcodes.OST_CONNECT, opcodes.MDS_CONNECT, opcodes.MGS_CONNECT}

// nodePair are the client and the server of connections.
type nodePair struct{ client, server lnet.NID }

// noConnects finds connections without a connect.
type noConnects struct {
	report  *diagnose.Reporter
	unclear *fifo.Map[nodePair, bool] // nodes with connects that cannot be assigned to what followed
}

// done takes a connect. Where it is truncated or its reply is not captured, it may be
// that of any connection between these nodes.
func (n *noConnects) done(r *track.RPC) {
	if r.Connection == nil || !r.HasReply {
		n.unclear.Put(nodePair{r.Client, r.Server}, true)
	}
}

// maxUnnamed is how many connections without a name are evidence.
const maxUnnamed = 4

func (n *noConnects) end() {
	var requests, unknownRequests int64
	connections, before, unknown := 0, 0, 0
	f := diagnose.Finding{First: n.report.First()}
	for _, i := range n.report.Imports() {
		if i.Requests == 0 || i.TargetFrom == track.TargetFromContext && !i.HasCommitted {
			continue // encrypted
		}
		if _, unclear := n.unclear.Get(nodePair{i.Client, i.Server}); unclear && i.Attempts == 0 {
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
	n.report.Report(f)
}

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
		e := &encrypted{report: r}
		return diagnose.Hooks{Done: e.done, End: e.end}
	},
})

// encrypted counts the RPCs that are encrypted.
type encrypted struct {
	report  *diagnose.Reporter
	all, n  int64
	first   track.Point
	last    int64
	clients []lnet.NID
}

const maxEncryptedClients = 64

func (e *encrypted) done(r *track.RPC) {
	e.all++
	if !r.Encrypted {
		return
	}
	p := r.Requested()
	if e.n++; e.first.Frame == 0 {
		e.first = p
	}
	e.last = max(e.last, p.Time)
	e.clients = withNew(e.clients, r.Client, maxEncryptedClients+1)
}

func (e *encrypted) end() {
	if e.n == 0 {
		return
	}
	f := diagnose.Finding{First: e.first.Time, Last: e.last, Count: e.n,
		Text: fmt.Sprintf("%d of %d RPCs are encrypted (GSS privacy), those of %s. What they ask for, whether they failed, and their locks "+
			"and files are unknown.", e.n, e.all, nodes(e.clients))}
	if len(e.clients) > maxEncryptedClients {
		f.Text = fmt.Sprintf("%d of %d RPCs are encrypted (GSS privacy), those of more than %d clients. What they ask for, whether they "+
			"failed, and their locks and files are unknown.", e.n, e.all, maxEncryptedClients)
	}
	f.Prove(e.first, "the first RPC that is encrypted")
	e.report.Report(f)
}
