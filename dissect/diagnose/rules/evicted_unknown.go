package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/evictions"
)

var _ = add(diagnose.Rule{
	Code:     "evicted.unknown",
	Severity: diagnose.Error,
	Noun:     "eviction",
	Summary:  "A server evicted a client, and the capture does not show why.",
	Meaning: "The client had to connect anew: the server did not know it any more, although the target ran on as far as the capture shows. " + evictionMeaning +
		"The rule reports evictions for which no other rule found a cause: no callback was ignored, the client was not silent for long, and no restart was seen. " +
		"For a connection to the MGS it is a note, because nothing is lost with it. An administrator who evicts a client (lctl set_param *.*.evict_client=UUID) leaves no other trace on the network.",
	Limits:  evictionLimits + "The cause may have been before the capture began, or in a part that was not captured.",
	Next:    "Look at the server's console log at that time: it has the reason for each eviction. If it has none, somebody evicted the client by hand.",
	Samples: []string{"evicted_by_hand.pcap.zst", "recovery.pcap.zst", "rolled_back.pcap.zst"},
	Start: startEvictions(evictions.Unknown, func(e *evictions.Eviction, f *diagnose.Finding) {
		f.Prove(e.Served, "the last reply that the client got before")
		if e.Kind == "mgc" {
			f.Text = e.Server.String() + " did not know the connection of " + e.Client.String() + " to the MGS any more: the MGS was restarted, or evicted the client. The client reads the configuration again."
			return
		}
		if !isSet(e.Served) {
			f.Text = whoEvicted(e) + ". The capture begins too late to show why."
			return
		}
		f.Text = whoEvicted(e) + ". The capture does not show why: no callback was ignored and no restart was seen"
		if e.Silence > 0 {
			f.Text += ", and the client had a reply from it " + duration(e.Silence) + " before. It may have been evicted by hand"
		}
		f.Text += "."
	}),
})
