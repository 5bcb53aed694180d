package diagnose

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
)

// causeOf says which findings may be the cause of others, and what proves it. The first
// entry that applies to an effect decides.
var causeOf = []struct {
	effects string // codes, or beginnings of codes
	causes  string
	proof   func(effect, cause *Finding) bool
}{
	// A node, its targets, and connections to it.
	{"node.silent", "node.restarted", sameNode(0)},
	{"restart.together restart.target restart.no_recovery restart.unreachable", "node.restarted", sameServer(0)},
	{"tcp.no_answer tcp.refused tcp.reset rdma", "node.restarted node.silent", sameNode(aftermath)},
	{"restart.together restart.target restart.no_recovery restart.unreachable", "node.silent", sameServer(0)},

	// A target that was restarted.
	{"restart.target restart.no_recovery", "restart.rolled_back", sameTarget(aftermath)},
	{"restart.target restart.rolled_back", "restart.no_recovery", sameTarget(0)},
	{"evicted.version", "restart.rolled_back", sameTarget(aftermath)},
	{"evicted.recovery recovery io.missing_object", "restart.rolled_back restart.no_recovery", sameTarget(aftermath)},

	{"restart.target", "restart.rolled_back", sameMachine},
	{"restart.target restart.no_recovery restart.rolled_back", "restart.together", sameServers},
	{"evicted.unknown recovery.reconnect", "restart.rolled_back restart.target", ofMGS},

	// A client that was gone: it misses recoveries, does not give locks back, and is evicted.
	{"evicted.silence evicted.unknown evicted.recovery evicted.lock_callback", "node.silent", sameClient(aftermath)},
	{"recovery.late recovery.reconnect slow.early_replies lock.wait lock.stuck connect.unanswered", "node.silent", sameClient(aftermath)},
	{"lock.wait lock.stuck evicted.silence evicted.unknown", "tcp.no_answer", sameClient(aftermath)},
	{"evicted.recovery evicted.version recovery", "restart.target", sameTarget(aftermath)},

	// A lock that was not given back.
	{"lock.wait lock.stuck", "evicted.lock_callback", sameLock},
	{"lock.wait lock.stuck", "lock.stuck", sameLock},

	// A target that is gone, or does not work.
	{"connect io.error lock slow metadata recovery", "restart.rolled_back restart.no_recovery restart.target restart.unreachable",
		sameTarget(aftermath)},
	{"recovery.unknown", "node.restarted node.silent", func(f, c *Finding) bool { return isAt(f.Server, c.Node) && f.overlaps(c) }},
	{"restart.target", "node.restarted node.silent", func(f, c *Finding) bool { // without a name: when is not known
		return f.Target == "" && isAt(f.Server, c.Node) && f.overlaps(c)
	}},
	{"recovery.unknown", "restart.target restart.unreachable", func(f, c *Finding) bool {
		return f.Target == c.Target && isAt(f.Server, c.Server) && f.overlaps(c)
	}},
	{"restart.unreachable", "restart.target", func(f, c *Finding) bool { // without names they may be of one target
		return f.Target == "" && c.Target == "" && isAt(f.Server, c.Server) && f.overlaps(c)
	}},
	{"connect", "restart.rolled_back restart.no_recovery restart.target", func(f, c *Finding) bool { return f.Target == "" && ofServer(f, c) }},
	{"space.read_only", "io.error", sameTarget(aftermath)},
	{"evicted recovery slow lock connect", "target.hung", sameTarget(aftermath)},
	{"evicted.unknown recovery slow lock connect mount", "node.restarted node.silent", sameServer(aftermath)},

	{"slow.early_replies", "slow.server", sameTarget(0)},
	{"slow.server", "slow.target", sameTarget(0)},
	{"slow.server", "target.hung slow.target slow.job slow.server", func(f, c *Finding) bool {
		return f.Detail == SentBefore && c.Detail != SentBefore && isAt(f.Server, c.Server)
	}},
	{"slow.thread", "target.hung slow.server", sameServers},

	// A client that is not let in.
	{"mount.failed", "gss.refused connect.denied connect.version", sameClientThen},

	// The network.
	{"slow.network slow.timeouts", "tcp.round_trip", sameHosts(0)}, // segments that are sent again in vain do not count as retransmissions
	{"slow.network", "tcp.retransmission", sameHosts(0)},
	{"tcp.retransmission slow recovery.reconnect", "tcp.black_hole", sameHosts(aftermath)},
	{"slow.network slow.early_replies slow.server", "rdma.nak rdma.not_ready", sameHosts(0)},
	{"slow.early_replies", "slow.network", func(f, c *Finding) bool { return f.Client.Len > 0 && sameHosts(0)(f, c) }},
	{"recovery.reconnect", "tcp.reset", sameHosts(aftermath)},
	{"restart.unreachable", "tcp.reset", func(f, c *Finding) bool {
		return c.Brief != "" && sameHosts(aftermath)(f, c) // both hosts went on
	}},
	{"tcp.round_trip", "tcp.round_trip", func(f, c *Finding) bool { return isAt(f.Node, c.Node) }},
	{"node.gave_up", "restart.rolled_back restart.no_recovery restart.target restart.unreachable target.hung", ofServer},
	{"node.gave_up", "node.restarted node.silent", sameServer(aftermath)},
	{"node.gave_up", "tcp.no_answer tcp.refused tcp.reset tcp.black_hole node.not_on_wire", sameHosts(aftermath)},
	{"recovery.reconnect", "node.gave_up", ofServer},
	{"node.not_on_wire", "node.restarted node.silent", sameNode(aftermath)},
	{"node.not_on_wire", "tcp.no_answer tcp.refused tcp.reset tcp.black_hole", sameHosts(aftermath)},
	{"recovery.reconnect connect.unanswered evicted.silence", "node.not_on_wire", sameHosts(aftermath)},
}

// aftermath is how many nanoseconds after the end of a cause its effects may begin: clients
// try again for a while, and find out what happened with their next request.
const aftermath = int64(30e9)

// link finds the cause of each finding.
func link(list []*Finding) {
	byCode := make(map[string][]*Finding)
	for _, f := range list {
		f.Cause = nil
		byCode[f.Rule.Code] = append(byCode[f.Rule.Code], f)
	}
	for _, f := range list {
		f.Cause = f.findCause(byCode)
		if f.Text = strings.TrimSuffix(f.Text, f.Unexplained); f.Cause == nil {
			f.Text += f.Unexplained
		}
	}
}

// findCause returns the cause of a finding, nil if there is none.
func (f *Finding) findCause(byCode map[string][]*Finding) *Finding {
	if f.Rule.Background || f.AboutCapture() {
		return nil
	}
	for i := range causeOf {
		if !hasCode(causeOf[i].effects, f.Rule.Code) {
			continue
		}
		for code := range strings.FieldsSeq(causeOf[i].causes) {
			for _, c := range byCode[code] {
				if c != f && !c.follows(f) && causeOf[i].proof(f, c) {
					return c
				}
			}
		}
	}
	return nil
}

func (f *Finding) follows(other *Finding) bool {
	for c := f; c != nil; c = c.Cause {
		if c == other {
			return true
		}
	}
	return false
}

// hasCode reports whether a code is in a list, or begins with one of its words and a dot.
func hasCode(list, code string) bool {
	for word := range strings.FieldsSeq(list) {
		if rest, ok := strings.CutPrefix(code, word); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}

// beginsIn reports whether an effect began while its cause lasted, or so many nanoseconds
// after.
func (f *Finding) beginsIn(cause *Finding, after int64) bool {
	const before = int64(5e9) // the first sign of the cause may be a later message
	if f.Last > cause.Last+aftermath && hasCode("slow io metadata", f.Rule.Code) {
		return false // these sum up all of a capture: there is more than this cause explains
	}
	return f.Last >= cause.First && f.First >= cause.First-before && f.First <= cause.Last+after
}

// overlaps reports whether two findings are about the same time.
func (f *Finding) overlaps(other *Finding) bool {
	return f.First <= other.Last && other.First <= f.Last
}

// isAt reports whether a finding is about a target of a server.
func isAt(n, server lnet.NID) bool { return n.Len > 0 && n == server }

// sameNode proves by the node of the cause, which the effect is about in any role.
func sameNode(after int64) func(effect, cause *Finding) bool {
	return func(f, c *Finding) bool {
		return (isAt(f.Node, c.Node) || isAt(f.Client, c.Node) || isAt(f.Server, c.Node)) && f.beginsIn(c, after)
	}
}

// sameServer proves by the server of a target, or the one that had it before.
func sameServer(after int64) func(effect, cause *Finding) bool {
	return func(f, c *Finding) bool {
		return (isAt(f.Server, c.Node) || isAt(f.Node, c.Node)) && f.beginsIn(c, after)
	}
}

// sameServers proves by the server of both, ofServer also what begins after the cause.
func sameServers(f, c *Finding) bool { return isAt(f.Server, c.Server) && f.beginsIn(c, 0) }
func ofServer(f, c *Finding) bool    { return isAt(f.Server, c.Server) && f.beginsIn(c, aftermath) }

// sameClient proves by the client. What a client that was gone missed shows when it is back.
func sameClient(after int64) func(effect, cause *Finding) bool {
	return func(f, c *Finding) bool {
		return (isAt(f.Client, c.Node) || isAt(f.Node, c.Node)) && f.Last >= c.First && f.First <= c.Last+after
	}
}

// sameClientThen proves by the client, of what happened meanwhile.
func sameClientThen(f, c *Finding) bool { return isAt(f.Client, c.Client) && f.Last >= c.First }

// sameTarget proves by the target.
func sameTarget(after int64) func(effect, cause *Finding) bool {
	return func(f, c *Finding) bool {
		if f.Target == "" && f.TargetIndex == "" && c.Target == "" && c.TargetIndex == "" { // only the server is known
			return isAt(f.Server, c.Server) && f.beginsIn(c, 0) && f.Last <= c.Last+after
		}
		same := f.Target != "" && f.Target == c.Target || f.Target == "" && f.TargetIndex != "" && f.TargetIndex == c.TargetIndex &&
			f.Server == c.Server
		return same && f.beginsIn(c, after)
	}
}

// sameMachine proves by the server of two targets that were gone at the same time.
func sameMachine(f, c *Finding) bool {
	return f.Server.Len > 0 && f.Server == c.Server && f.First < c.Last && c.First < f.Last
}

// ofMGS proves by the server that the MGS was gone with a target of the same node.
func ofMGS(f, c *Finding) bool { return f.Target == "MGS" && f.Server == c.Server && f.beginsIn(c, 0) }

// sameHosts proves by client and server; the effect may be about all clients of the server.
func sameHosts(after int64) func(effect, cause *Finding) bool {
	return func(f, c *Finding) bool {
		return c.Client.Len > 0 && (f.Client == c.Client || f.Client.Len == 0) && f.Server == c.Server && f.Last >= c.First &&
			f.First <= c.Last+after
	}
}

// sameLock reports whether both are about a lock of the same server.
func sameLock(f, c *Finding) bool {
	if f.Server != c.Server && f.Target != c.Target {
		return false
	}
	return slices.ContainsFunc(f.Locks, func(handle uint64) bool { return slices.Contains(c.Locks, handle) })
}
