package rules

import "github.com/lshark/lshark/dissect/diagnose"

var connectInProgress = &connectRule{errors: []int32{ealready}}

var _ = add(diagnose.Rule{
	Code:       "connect.in_progress",
	Severity:   diagnose.Error,
	Noun:       "refused connect",
	Summary:    "A server refuses a client that connects while an earlier connect is in progress.",
	Meaning:    "A server refuses a connect with EALREADY while it is at work on one that the client has given up, or when it gets two at once. After an interruption of the network that happens once and does no harm; if it lasts, the server is slow, or both ends disagree about whether they are connected.",
	Next:       "If it lasts, look at the server's load and console log, and whether another client uses the same UUID.",
	Thresholds: []*diagnose.Threshold{connectSoon},
	Samples:    []string{"connect_refused.pcap.zst", "no_answer.pcap.zst"},
	Start:      connectInProgress.start,
})
