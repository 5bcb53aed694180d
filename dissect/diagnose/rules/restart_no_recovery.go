package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/recovery"
)

var shortestWindow = &diagnose.Threshold{Name: "from the last sign that the target was absent", Value: 30, Unit: "s",
	Reason: "a target waits for the clients that it knows for longer, also with recovery_time_soft at its least, unless the recovery is aborted"}

var _ = add(diagnose.Rule{
	Code:     "restart.no_recovery",
	Severity: diagnose.Error,
	Noun:     "restart without a recovery",
	Summary:  "A target came back without a recovery: it evicted all clients, also the first to connect.",
	Meaning: "A target that was restarted waits for the clients that it had. One that was unmounted with -f, was mounted with abort_recov, or lost its list of clients (last_rcvd) knows none, and evicts all that come: what they had cached and not yet written is lost. " +
		"The rule looks for restarts after which no client was let into a recovery, and the first one was evicted so soon after the target was still absent that no recovery can have ended before.",
	Limits:     "Where the capture does not show that the target was absent shortly before, a client may have come after the end of a recovery: that is evicted.recovery.",
	Next:       "Find out who restarted the target, and how: umount -f, mount -o abort_recov, a script of the HA software. The console log of the server has \"evicting\" or \"denying\" lines. Applications of all clients must check what they wrote last.",
	Thresholds: []*diagnose.Threshold{shortestWindow},
	Samples:    []string{"no_recovery.pcap.zst"},
	Start: startRecoveries(func(v *recovery.Recovery, f *diagnose.Finding) bool {
		evicted, ok := withoutRecovery(v)
		if !ok {
			return false
		}
		f.Text = v.Target + " was restarted on " + v.Server.String() + instanceText(v.InstanceBefore, v.Instance) + " without a recovery: it evicted " + nodes(clientNIDs(evicted)) +
			", also the first to connect, " + duration(v.Back.Time-lastAbsent(v)) + " after the last connect that it refused because the target was absent." + refusalsText(v)
		f.Brief = v.Target + " was restarted on " + v.Server.String() + " without a recovery, and evicted " + nodes(clientNIDs(evicted)) + ", also the first to connect: what was not yet written is lost. " +
			"Look who restarted it, and how (umount -f, abort_recov), not at the clients."
		impact := v.Impact()
		f.Text += impactText(&impact)
		f.Prove(v.LastReply, "the last reply of the target before")
		f.Prove(v.Gone, "the first sign that it is gone: %s", signText(v.GoneBy))
		for _, c := range evicted {
			f.Prove(c.Evicted, "%s connects, and is evicted", c.Connection.Client)
		}
		return true
	}),
})

// withoutRecovery returns the clients that a restarted target evicted, if it let none into
// a recovery although it was absent shortly before.
func withoutRecovery(v *recovery.Recovery) (evicted []*recovery.Client, ok bool) {
	if v.Kind != recovery.Restart && v.Kind != recovery.Failover || isSet(v.Completed) {
		return nil, false
	}
	for _, c := range v.Clients {
		switch {
		case c.Type == "mgc" || c.Type == "lwp":
		case c.Outcome == recovery.ClientEvicted && isSet(c.Evicted):
			evicted = append(evicted, c)
		case c.Outcome == recovery.ClientRecovered || c.Outcome == recovery.ClientRecovering || c.Outcome == recovery.ClientReconnected || c.Outcome == recovery.ClientUnknown:
			return nil, false
		}
	}
	absent := lastAbsent(v)
	return evicted, len(evicted) > 0 && absent != 0 && evicted[0].Evicted.Time-absent < shortestWindow.Nanoseconds()
}

// lastAbsent returns when the server said last that it does not have the target, 0 if it
// never did.
func lastAbsent(v *recovery.Recovery) (at int64) {
	for _, c := range v.Clients {
		for i := range c.Refusals {
			if r := &c.Refusals[i]; r.Status == enodev && r.Last.Time < v.Back.Time {
				at = max(at, r.Last.Time)
			}
		}
	}
	return at
}
