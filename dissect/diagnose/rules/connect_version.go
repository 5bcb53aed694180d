package rules

import "github.com/lshark/lshark/dissect/diagnose"

var connectVersion = &connectRule{errors: []int32{eproto}, ofNode: true}

var _ = add(diagnose.Rule{
	Code:       "connect.version",
	Severity:   diagnose.Error,
	Noun:       "refused connect",
	Summary:    "Client and server have no common version of the protocol.",
	Meaning:    "A server refuses a connect with EPROTO when the client is too old or too new for it, or does not support what the server requires.",
	Next:       "lshark imports shows the versions and flags that the client asked for; compare lfs --version on both sides with the list of releases that work together.",
	Thresholds: []*diagnose.Threshold{connectSoon},
	Start:      connectVersion.start,
})
