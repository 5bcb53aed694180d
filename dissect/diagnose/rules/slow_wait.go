package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
)

var _ = addTrouble(diagnose.Rule{
	Code:     "slow.stuck",
	Severity: diagnose.Warning,
	Noun:     "request that a thread held",
	Summary:  "A service thread worked on one request for long, while others of its kind were served.",
	Meaning: "The server had the request, and served other requests of the same operation to the same target at the usual speed meanwhile: neither its " +
		"storage nor its queue is to blame, but what the thread did for this one.",
	Limits: "What the thread waited for is in the server's log.",
	Next:   "On the server: the console log (\"service thread pid … was inactive\", with the stack of the thread), lctl get_param *.*.req_history.",
}, onlySuspect(diagnose.AtThread), func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	f.Text += " The target served others meanwhile: it was held in a service thread." + excluded(g, diagnose.AtStorage)
	f.Brief = diagnose.Sentences(f.Text, 2) + " Look for what the thread waited for (its stack in the server's console log), not at the storage or the network."
})

var _ = addTrouble(diagnose.Rule{
	Code:     "slow.queue",
	Severity: diagnose.Warning,
	Noun:     "request that waited in a queue",
	Summary:  "Requests waited in the queue of a server for a thread.",
	Meaning:  "The server had the requests, and others that need no thread of this service, or are of other jobs, were served at the usual speed.",
	Limits:   "Whether there are too few threads, too much work, or a limit (NRS TBF) is in the server's parameters.",
	Next:     "On the server: lctl get_param *.*.nrs_policies *.*.nrs_tbf_rule, req_waittime and req_qdepth in *.*.stats, threads_started and threads_max.",
}, onlySuspect(diagnose.AtQueue), func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	f.Text += " They waited in the queue of the server." + excluded(g, diagnose.AtStorage, diagnose.AtPath)
	f.Brief = diagnose.Sentences(f.Text, 2) + " Look for a limit on this job (NRS TBF) and at the number of service threads."
})

var _ = addTrouble(diagnose.Rule{
	Code:     "slow.wait",
	Severity: diagnose.Error,
	Noun:     "RPC that waited",
	Summary:  "RPCs waited for seconds; several places may be the cause.",
	Meaning: "The rule reports RPCs that waited three seconds or longer, and the places where the cause may be: all on the way of a request that nothing in " +
		"the input excludes.",
	Limits:  "Which of these it is, the input cannot tell.",
	Next:    "The captures and logs that the finding names would tell.",
	Samples: []string{"hung_target.pcap.zst", "lock_contention.pcap.zst", "lost_in_lnet.pcap.zst", "overload.pcap.zst", "rdma_loss.pcap.zst"},
}, nil, func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	if f.Text == "" {
		s := sumOf(g)
		f.Text = notAcknowledged(&s, s.silences[0].Span)
	}
	f.Brief = f.Text + eitherText(g.Suspects, f.WouldTell)
})

// maxPlacesShown is how many places an opening names.
const maxPlacesShown = 6

// eitherText returns a sentence about where the cause may be, with a space before it. tell has what would decide between several places.
func eitherText(list []diagnose.Place, tell []string) string {
	switch len(list) {
	case 0:
		return " Where the cause is, this input does not show."
	case 1:
		return " The cause is the " + list[0].String() + ", as all else is excluded."
	}
	if len(list) <= maxPlacesShown {
		return " The cause is one of these: " + diagnose.PlacesText(list, ", or ") + "."
	}
	text := " Where the cause is, on the way to the server or in it, this input does not show"
	if n := len(tell); n > 1 {
		text += ": a " + tell[0] + " and a " + tell[n-1] + " would tell more"
	} else if n > 0 {
		text += ": a " + tell[0] + " would tell more"
	}
	return text + "."
}
