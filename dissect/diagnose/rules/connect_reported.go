package rules

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var _ = addLines(diagnose.Rule{
	Code:     "connect.reported",
	Severity: diagnose.Error,
	Noun:     "logged denial of a connect",
	Summary:  "A server does not let a client in, by its log.",
	Meaning:  "A nodemap, the security flavor or the versions do not allow it.",
	Next:     "lctl nodemap_info and lctl get_param nodemap.*; the keys; lctl get_param version on both nodes.",
}, lines{
	ofClient: true,
	kinds:    []debuglog.Kind{debuglog.Denied, debuglog.SecurityFailed, debuglog.IdentityFailed},
	reasons:  []debuglog.Reason{debuglog.ByNodemap, debuglog.ByVersion, debuglog.NoReason},
	where:    func(l *track.LogLine) []diagnose.Place { return []diagnose.Place{atConfig(l.Peer), byAdmin} },
})
