package rules

import "github.com/lshark/lshark/dissect/diagnose"

var connectRecovering = &connectRule{errors: []int32{ebusy}, restart: true}

var _ = add(diagnose.Rule{
	Code:       "connect.recovering",
	Severity:   diagnose.Error,
	Noun:       "refused connect",
	Summary:    "A target in recovery does not take new clients.",
	Meaning:    "After a restart, a target first waits for the clients that it had. Until that is over, it refuses those that it does not know with EBUSY; a mount waits. Old servers also refuse a client with EBUSY while they are at work on its earlier requests.",
	Limits:     "How long the recovery takes is only known where the capture shows its end.",
	Next:       "lshark recovery shows whom the target waits for; lctl get_param *.*.recovery_status on the server, too. A client that will not come back can be left out with lctl --device TARGET abort_recovery.",
	Thresholds: []*diagnose.Threshold{connectSoon},
	Start:      connectRecovering.start,
})
