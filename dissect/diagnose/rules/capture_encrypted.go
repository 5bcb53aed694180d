package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

var _ = add(diagnose.Rule{
	Code:     "capture.encrypted",
	Severity: diagnose.Note,
	Summary:  "RPCs are encrypted, and what they say is unknown.",
	Meaning:  "With GSS privacy (skpi, krb5p) the messages between a client and a target are encrypted. Only who sent how many bytes to whom, and when, can be seen.",
	Limits:   "Operations, errors, locks and files of these RPCs are unknown, so no other rule says anything about them.",
	Next:     "To see more, capture with a flavor that signs and does not encrypt (ski, krb5i): lctl conf_param FSNAME.srpc.flavor.default=ski.",
	Samples:  []string{"encrypted.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		e := &encrypted{report: r}
		return diagnose.Hooks{Done: e.done, End: e.end}
	},
})

// encrypted counts the RPCs that are encrypted.
type encrypted struct {
	report     *diagnose.Reporter
	all, n     int64
	first      track.Point
	last       int64
	clients    []lnet.NID
	moreClient bool
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
	if slices.Contains(e.clients, r.Client) {
		return
	}
	if e.moreClient = len(e.clients) == maxEncryptedClients; !e.moreClient {
		e.clients = append(e.clients, r.Client)
	}
}

func (e *encrypted) end() {
	if e.n == 0 {
		return
	}
	f := diagnose.Finding{First: e.first.Time, Last: e.last, Count: e.n,
		Text: fmt.Sprintf("%d of %d RPCs are encrypted (GSS privacy), those of %s. What they ask for, whether they failed, and their locks and files are unknown.", e.n, e.all, nodes(e.clients))}
	if e.moreClient {
		f.Text = fmt.Sprintf("%d of %d RPCs are encrypted (GSS privacy), those of more than %d clients. What they ask for, whether they failed, and their locks and files are unknown.", e.n, e.all, maxEncryptedClients)
	}
	f.Prove(e.first, "the first RPC that is encrypted")
	e.report.Report(f)
}
