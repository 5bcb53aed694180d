package rules

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

func atClient(n lnet.NID) diagnose.Place { return diagnose.Place{Kind: diagnose.AtClient, Node: n} }
func atHolder(n lnet.NID) diagnose.Place { return diagnose.Place{Kind: diagnose.AtHolder, Node: n} }
func atNode(n lnet.NID) diagnose.Place   { return diagnose.Place{Kind: diagnose.AtNode, Node: n} }
func atThread(n lnet.NID) diagnose.Place { return diagnose.Place{Kind: diagnose.AtThread, Node: n} }
func atConfig(n lnet.NID) diagnose.Place { return diagnose.Place{Kind: diagnose.AtConfig, Node: n} }

func atTarget(name string, server lnet.NID) diagnose.Place {
	return diagnose.Place{Kind: diagnose.AtTarget, Target: name, Node: server}
}

func atStorage(name string, server lnet.NID) diagnose.Place {
	return diagnose.Place{Kind: diagnose.AtStorage, Target: name, Node: server}
}

func onPath(a, b lnet.NID) diagnose.Place { return diagnose.Between(diagnose.AtPath, a, b) }
func inLNet(a, b lnet.NID) diagnose.Place { return diagnose.Between(diagnose.AtLNet, a, b) }

var (
	byAdmin       = diagnose.Place{Kind: diagnose.AtAdmin}
	byApplication = diagnose.Place{Kind: diagnose.AtApplication}
	notCaptured   = diagnose.Place{Kind: diagnose.AtCapture}
)

// isServer reports whether somebody connects to targets of a node.
func isServer(r *diagnose.Reporter, n lnet.NID) bool {
	return slices.ContainsFunc(r.Imports(), func(i *track.Import) bool { return i.Server == n })
}

// isClient reports whether a node connects to targets, and has none of its own.
func isClient(r *diagnose.Reporter, n lnet.NID) bool {
	return !isServer(r, n) && slices.ContainsFunc(r.Imports(), func(i *track.Import) bool { return i.Client == n })
}

// suspect sets the places where the cause of a finding may be.
func suspect(f *diagnose.Finding, list ...diagnose.Place) { f.Suspects = list }

// nameTarget sets the target of a finding whose suspects are all in one, where not all requests show which one they were for.
func nameTarget(f *diagnose.Finding) {
	name := ""
	for i, p := range f.Suspects {
		if i > 0 && p.Target != name {
			return
		}
		name = p.Target
	}
	if f.Target != "" || f.TargetIndex != "" {
		return
	}
	if strings.Contains(name, "-") {
		f.Target = name
	} else {
		f.TargetIndex = name
	}
}

// exclude moves a place from the suspects of a finding to those that are cleared.
func exclude(f *diagnose.Finding, p diagnose.Place, at facts.Point, text string) {
	n := len(f.Suspects)
	f.Suspects = slices.DeleteFunc(slices.Clone(f.Suspects), func(o diagnose.Place) bool { return o == p })
	if len(f.Suspects) < n {
		f.Cleared = append(f.Cleared, diagnose.Clearance{Place: p, Evidence: diagnose.Evidence{Point: at, Text: text}})
	}
}

// tell sets what would decide between the suspects of a finding.
func tell(f *diagnose.Finding, known *facts.Facts) {
	f.WouldTell = wouldTell(known, &suspects.Group{Suspects: f.Suspects, Span: facts.Span{From: f.First, To: f.Last}})
}

// factsOf returns what is known of the capture, for the Start func of a rule.
func factsOf(r *diagnose.Reporter) *facts.Facts { return diagnose.Shared(r, newTroubles).facts }

// rebootTime is the shortest time in which a node is up again after a crash, with LNet and a target.
const rebootTime = int64(10e9)

// excludeNode clears a node that lived on: it was not restarted within a span, as it sent messages all the time.
func excludeNode(f *diagnose.Finding, known *facts.Facts, n lnet.NID, s facts.Span) {
	host := facts.HostOf(n)
	for _, peer := range known.Peers(host) {
		for _, c := range known.Contacts(host, peer) {
			if at, ok := c.Messages.Within(s); ok && c.Messages.Pause(s) < rebootTime && known.UnackedIn(peer, host, s) == nil {
				exclude(f, atNode(n), at, n.String()+" sent messages all the time")
				return
			}
		}
	}
}

// excludePath clears a path on which frames went both ways all the time, and none was sent again for long.
func excludePath(f *diagnose.Finding, known *facts.Facts, a, b lnet.NID, s facts.Span) {
	if at, ok := pathWorked(known, facts.HostOf(a), facts.HostOf(b), s); ok {
		exclude(f, onPath(a, b), at, "frames went both ways between "+a.String()+" and "+b.String()+" all the time")
	}
}

func pathWorked(f *facts.Facts, a, b netip.Addr, s facts.Span) (at facts.Point, ok bool) {
	if !a.IsValid() || !b.IsValid() || s.Length() < facts.LongPause/2 {
		return at, false
	}
	if list := f.BothWays(a, b, s); len(list) > 0 {
		return list[0].Active.Within(s)
	}
	return at, false
}
