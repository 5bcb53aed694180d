package rules

import "github.com/lshark/lshark/dissect/diagnose"

var connectReadOnly = &connectRule{errors: []int32{erofs}, ofNode: true}

var _ = add(diagnose.Rule{
	Code:       "connect.read_only",
	Severity:   diagnose.Error,
	Noun:       "refused connect",
	Summary:    "A server lets a client mount read-only at most.",
	Meaning:    "A server refuses a connect that may write with EROFS where the nodemap of the client has readonly_mount, or the target is read-only. The client tries once more without the right to write, so that the mount succeeds, but writing fails.",
	Limits:     "Why it is read-only is not in the capture.",
	Next:       "lctl get_param nodemap.*.readonly_mount on the MGS, and whether the target is mounted read-only; mount the client with -o ro if that is what you want.",
	Thresholds: []*diagnose.Threshold{connectSoon},
	Start:      connectReadOnly.start,
})
