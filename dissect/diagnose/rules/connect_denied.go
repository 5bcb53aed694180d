package rules

import "github.com/lshark/lshark/dissect/diagnose"

var connectDenied = &connectRule{errors: []int32{eacces, eperm}, ofNode: true}

var _ = add(diagnose.Rule{
	Code:       "connect.denied",
	Severity:   diagnose.Error,
	Noun:       "refused connect",
	Summary:    "A server does not admit a client.",
	Meaning:    "EACCES and EPERM in reply to a connect: the client does not use the security flavor that the server expects, or its nodemap does not admit it.",
	Limits:     "The reply does not show which of these it is; the server's log does.",
	Next:       "Compare the flavors: lctl get_param *.*.srpc_info on the client with srpc.flavor of the file system (lctl get_param mgs.MGS.live.* on the MGS). Look at lctl get_param nodemap.* for the client's NID.",
	Thresholds: []*diagnose.Threshold{connectSoon},
	Samples:    []string{"connect_denied.pcap.zst"},
	Start:      connectDenied.start,
})
