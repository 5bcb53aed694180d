package rules

import "github.com/lshark/lshark/dissect/diagnose"

var connectRefused = &connectRule{}

var _ = add(diagnose.Rule{
	Code:       "connect.refused",
	Severity:   diagnose.Error,
	Noun:       "refused connect",
	Summary:    "A server refused connects with an error that has no rule of its own.",
	Meaning:    "The rule reports connects that were refused with an error other than ENODEV, EAGAIN, EBUSY, EALREADY, EROFS, EACCES, EPERM and EPROTO.",
	Limits:     "The reply does not show the reason; the server's log may.",
	Next:       "Look at the console log of the server at that time.",
	Thresholds: []*diagnose.Threshold{connectSoon},
	Start:      connectRefused.start,
})
