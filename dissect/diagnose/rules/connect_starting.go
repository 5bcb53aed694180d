package rules

import "github.com/lshark/lshark/dissect/diagnose"

var connectStarting = &connectRule{errors: []int32{eagain}, restart: true}

var _ = add(diagnose.Rule{
	Code:       "connect.starting",
	Severity:   diagnose.Error,
	Noun:       "refused connect",
	Summary:    "A target that is being started does not take connects yet.",
	Meaning:    "A target refuses connects with EAGAIN while it is being set up, for example because it waits for its configuration or for another target. Clients try again by themselves.",
	Next:       "If it lasts, look at the console log of the server for what the target waits for.",
	Thresholds: []*diagnose.Threshold{connectSoon},
	Samples:    []string{"connect_refused.pcap.zst"},
	Start:      connectStarting.start,
})
