package rules

import "github.com/lshark/lshark/dissect/diagnose"

var connectNotUp = &connectRule{errors: []int32{enodev}, restart: true}

var _ = add(diagnose.Rule{
	Code:       "connect.not_up",
	Severity:   diagnose.Error,
	Noun:       "refused connect",
	Summary:    "A target is not on the server that a client tries, or not started.",
	Meaning:    "A server that does not have a target, or is still starting or already stopping it, refuses connects to it with ENODEV. A client with several server nodes for a target then tries the next one. The rule reports targets that no server of the client had for longer than one retry. That a target was restarted, and the clients it had came back, is reported by rules about restarts.",
	Limits:     "A target that runs on a server which the client does not know looks the same.",
	Next:       "Is the target mounted (mount -t lustre on its servers), and on which node? Does the client know that node: lctl get_param *.*.import shows failover_nids; the log of the MGS may lack a --servicenode.",
	Thresholds: []*diagnose.Threshold{connectSoon},
	Start:      connectNotUp.start,
})
