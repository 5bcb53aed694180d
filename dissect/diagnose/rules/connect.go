package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// connectRule describes a rule about connects that are refused with certain errors.
type connectRule struct {
	errors  []int32 // nil: those that no other rule has
	ofNode  bool    // the server refuses the client for all its targets: one finding for them
	restart bool    // a restart of the target explains them: rules about restarts report them

	suspects func(target string, client, server lnet.NID) []diagnose.Place
}

// connectSoon is how long a connect may be refused before that is more than a note.
var connectSoon = &diagnose.Threshold{Name: "refused for", Value: 5, Unit: "s", Reason: "Clients try again after five seconds: one " +
	"retry is part of normal operation."}

// connectRules are the rules about refused connects.
var connectRules []*connectRule

// addConnect registers a rule about connects that are refused.
func addConnect(c *connectRule, r diagnose.Rule) bool {
	connectRules = append(connectRules, c)
	r.Severity, r.Noun, r.Thresholds, r.Start, r.Logs = diagnose.Error, "refused connect", []*diagnose.Threshold{connectSoon}, c.start, true
	return add(r)
}

func (c *connectRule) start(r *diagnose.Reporter) diagnose.Hooks {
	k := &refusedConnects{connectRule: c, report: r, known: factsOf(r),
		attempts: fifo.NewMap[*track.Connection, *attempt](maxAttempts),
		refusals: make(map[diagnose.Subject]*refusal)}
	return diagnose.Hooks{Import: k.changed, Unseen: k.logged, Tick: k.tick, End: k.end}
}

// refusedConnects are the connects that are refused with the errors of a rule.
type refusedConnects struct {
	*connectRule
	report   *diagnose.Reporter
	known    *facts.Facts
	attempts *fifo.Map[*track.Connection, *attempt]
	refusals map[diagnose.Subject]*refusal
}

// attempt is a client that tries to connect to a target, and is refused.
type attempt struct {
	run       // of connects that were refused with an error of the rule
	i         *track.Import
	isNew     bool // the client was not connected before
	server    lnet.NID
	status    int32
	absent    bool // the server did not have the target
	connected track.Point
	readOnly  bool // it was connected with fewer rights
	late      bool // the server accepted a connect that the client had given up
	unsure    bool // messages are missing that may have shown that it was connected
	blind     bool // only the log of the server has it, which does not name the target
	evicted   bool // the refusal ended the connection: that is reported as an eviction
	reported  bool
}

// refusal is what the attempts that one finding is about have in common.
type refusal struct {
	run
	subject   diagnose.Subject
	status    int32
	connected track.Point // of the attempt that took longest
	clients   []lnet.NID
	targets   []string
	longest   int64 // nanoseconds from the first refusal until connected
	open      int   // attempts that are not connected
	readOnly  bool
	late      bool
	until     int64 // when the last client was connected
	episode   int   // of those with the same subject
	unsure    bool
	blind     bool
	repeated  bool // a client was refused again when it tried again
	elsewhere bool // a client was connected to another server
}

// The bounds of what is remembered.
const (
	maxAttempts = 1 << 12
	maxRefusals = 1 << 10
	maxNames    = 64 // of clients or targets, in a finding
	maxEpisodes = 16 // between which all were connected
)

// has reports whether the rule is about an error.
func (c *connectRule) has(status int32) bool {
	if c.errors != nil {
		return slices.Contains(c.errors, status)
	}
	return !slices.ContainsFunc(connectRules, func(o *connectRule) bool { return slices.Contains(o.errors, status) })
}

// changed takes a change of a connection.
func (k *refusedConnects) changed(i *track.Import, p track.Point) {
	for n := len(i.Events) - 1; n >= 0 && i.Events[n].Time >= p.Time; n-- {
		e := &i.Events[n]
		if e.Point != p {
			continue
		}
		switch e.Kind {
		case track.EventEvicted:
			k.attempt(i).evicted = true
		case track.EventLateReply:
			if a, ok := fifo.Get(k.attempts, i.Connection); ok && e.Status == 0 {
				a.late = true
			}
		case track.EventRefused:
			k.refused(i, e.Status, p)
		case track.EventConnected:
			k.connected(i, e.OpFlags&opRecovering != 0, p)
		}
	}
	if i.FromLog && i.Before == track.StateConnecting && i.Since() == p && i.IsUp() {
		k.connected(i, i.State != track.StateFull && i.State != track.StateRecover, p)
	}
}

// attempt returns the attempt of a client that is not connected.
func (k *refusedConnects) attempt(i *track.Import) *attempt {
	return fifo.GetOrMake(k.attempts, i.Connection, func() *attempt { return &attempt{i: i, isNew: !isSet(i.LastServed) && i.Asked.Instance == 0} })
}

func (k *refusedConnects) refused(i *track.Import, status int32, p track.Point) {
	a := k.attempt(i)
	k.refusedBy(a, i.Server, status, p)
}

func (k *refusedConnects) refusedBy(a *attempt, server lnet.NID, status int32, p track.Point) {
	a.absent = a.absent || status == opcodes.ENODEV
	if a.evicted || !k.has(status) || a.i.Client == server { // what a server connects to on itself, others connect to as well
		return
	}
	a.run.add(p)
	a.status, a.server = status, server
}

// logged takes a connect of a log, where that has no lines about the connections of the client.
func (k *refusedConnects) logged(r *track.RPC) {
	if !opcodes.IsConnect(r.Opcode) || !r.HasReply || r.Log.NotOnWire != debuglog.Nothing {
		return
	}
	if r.Log.HasClient && slices.ContainsFunc(k.report.Imports(), func(i *track.Import) bool { return i.FromLog && i.Client == r.Client }) {
		return
	}
	i := &track.Import{Connection: r.Connection, FromLog: true}
	if r.Status < 0 {
		a := fifo.GetOrMake(k.attempts, r.Connection, func() *attempt { return &attempt{i: i, isNew: true, blind: !r.Log.HasClient} })
		k.refusedBy(a, r.Server, r.Status, r.Replied())
	} else if r.Connection.Target != "" {
		i.State = track.StateFull
		k.connected(i, false, r.Replied())
	}
}

func (k *refusedConnects) connected(i *track.Import, recovering bool, p track.Point) {
	a, ok := fifo.Delete(k.attempts, i.Connection)
	if !ok {
		return
	}
	restarted := a.absent || recovering || i.Asked.Instance != 0 && i.Asked.Instance != i.Granted.Instance
	switch {
	case a.count == 0, k.restart && restarted && !a.isNew, i.FromLog && k.restart && i.State != track.StateFull: // it was connected before
		return
	case a.absent && p.Time-a.first.Time < connectSoon.Nanoseconds():
		return // found on another server
	}
	a.connected, a.readOnly = p, i.Asked.Flags&flagReadOnly != 0
	k.add(a)
}

var (
	opRecovering = uint32(opcodes.MsgConnectFlags.Bit("RECOVERING"))
	flagReadOnly = opcodes.ObdConnectFlags.Bit("RDONLY")
)

// tick reports the attempts that go on.
func (k *refusedConnects) tick(now int64) {
	for _, a := range fifo.All(k.attempts) {
		if a.count > 1 && now-a.first.Time >= openLong {
			k.add(a)
		}
	}
}

// openLong is after how many nanoseconds a client that is still refused is reported
// before the capture ends.
const openLong = int64(60e9)

func (k *refusedConnects) end() {
	for _, a := range fifo.All(k.attempts) {
		if a.count > 0 {
			k.add(a)
		}
	}
}

// add adds an attempt to the finding that it belongs to.
func (k *refusedConnects) add(a *attempt) {
	a.unsure = k.known.LacksSince(a.i.Client, a.first.Time-inFlight) &&
		(isTransient(a.status) || k.known.LacksSince(a.server, a.first.Time-inFlight)) // else the client tries no other server
	s := diagnose.Subject{Target: a.i.Target, Server: a.server, Client: a.i.Client, Detail: errorName(a.status)}
	if k.ofNode {
		s.Target = ""
	} else {
		s.Client = lnet.NID{}
	}
	v := k.refusals[s]
	isOver := v != nil && v.open == 0 && v.until != 0 && a.first.Time > v.until+connectSoon.Nanoseconds()
	if v == nil && len(k.refusals) >= maxRefusals {
		return
	}
	if v == nil || isOver && v.episode < maxEpisodes {
		next := &refusal{subject: s, status: a.status, run: run{first: a.first}}
		if v != nil {
			next.episode = v.episode + 1
		}
		v, k.refusals[s] = next, next
	}
	v.add(a)
	k.report.Report(k.finding(v))
}

func (v *refusal) add(a *attempt) {
	if a.reported {
		v.open--
	} else {
		v.count += a.count
	}
	a.reported = true
	if a.first.Time < v.first.Time {
		v.first = a.first
	}
	if a.last.Time > v.last.Time {
		v.last = a.last
	}
	v.clients = withNew(v.clients, a.i.Client, maxNames)
	v.targets = withNew(v.targets, a.i.Target, maxNames)
	v.repeated = v.repeated || a.count > 1
	v.readOnly, v.late, v.unsure, v.blind = v.readOnly || a.readOnly, a.late, v.unsure || a.unsure, v.blind || a.blind
	switch {
	case !isSet(a.connected):
		v.open++
		return
	case a.connected.Time-a.first.Time >= v.longest:
		v.longest, v.connected = a.connected.Time-a.first.Time, a.connected
	}
	v.until, v.elsewhere = max(v.until, a.connected.Time), v.elsewhere || a.i.Server != a.server
}

// isTransient reports whether a client that is refused with an error tries on.
func isTransient(status int32) bool {
	return slices.Contains([]int32{opcodes.ENODEV, opcodes.EAGAIN, opcodes.EBUSY, opcodes.EALREADY}, status)
}

// severity returns how bad a refusal is.
func (v *refusal) severity() diagnose.Severity {
	transient := isTransient(v.status)
	switch {
	case v.open > 0 && (v.unsure || v.blind && transient):
		return diagnose.Note
	case v.open > 0 && v.blind:
		return diagnose.Warning
	case v.open > 0 && (v.repeated || !transient):
		return diagnose.Error
	case v.open > 0 && !v.late || v.readOnly || v.longest >= connectSoon.Nanoseconds():
		return diagnose.Warning
	}
	return diagnose.Note
}

func (k *refusedConnects) finding(v *refusal) diagnose.Finding {
	s := v.subject
	s.Target, s.Client = only(v.targets), only(v.clients)
	f := v.run.finding(s, "the first connect that is refused with "+errorName(v.status), "the last one")
	f.Key, f.Severity = fmt.Sprint(v.subject, v.episode), v.severity()
	who := s.Server.String()
	if s.Target != "" {
		who = namedTarget(s.Target, "", s.Server).String() + " on " + who
	}
	f.Text = who + " refused " + atLeast(v.first.IsLog()) + plural(v.count, "connect") + " of " + nodes(v.clients)
	if len(v.targets) > 1 {
		f.Text += " to " + words(v.targets)
	}
	f.Text += " with " + errorName(v.status)
	if d := v.last.Time - v.first.Time; v.count > 1 && d > 0 {
		f.Text += " in " + duration(d)
	}
	f.Text += ": " + errnoText(v.status) + "." + k.outcome(v)
	f.Prove(v.connected, "a connect is accepted")
	if isSet(v.connected) && v.open == 0 && !v.readOnly {
		f.CompareTime(connectSoon, v.longest)
	}
	f.Suspects = k.suspects(s.Target, s.Client, s.Server)
	if at := slices.IndexFunc(f.Suspects, func(p diagnose.Place) bool { return p.Kind == diagnose.AtConfig }); at >= 0 && k.restart && v.open == 0 && !v.elsewhere {
		exclude(&f, f.Suspects[at], v.connected, "the client is connected to the same server")
	}
	return f
}

// ofTarget suspects the state of the target, or whoever stopped it, ofConfig what the server was told of the client.
func ofTarget(target string, _, server lnet.NID) []diagnose.Place {
	return []diagnose.Place{atTarget(target, server), byAdmin}
}

func ofConfig(_ string, client, _ lnet.NID) []diagnose.Place {
	return []diagnose.Place{atConfig(client)}
}

// outcome returns a sentence about how it ended, with a space before it.
func (k *refusedConnects) outcome(v *refusal) string {
	switch {
	case v.open > 0 && v.blind:
		return " Whether it succeeded later is not in the log of the server, which does not name the target."
	case v.open > 0 && v.unsure:
		return " Whether it succeeded later is not known, as the capture lacks messages."
	case v.open > 0 && len(v.clients) > 1:
		return " " + plural(v.open, "connection") + " " + was(v.open) + " still not made when the capture ended."
	case v.open > 0 && v.late:
		return " The server has answered the earlier connect since."
	case v.open > 0:
		return " The client was not connected when the capture ended."
	case v.readOnly && k.ofNode:
		return " The client is connected read-only."
	}
	if len(v.clients) > 1 {
		return " Each was connected at most " + roundedUp(v.longest) + " after its first refusal."
	}
	return " Connected " + atMostTime(v.unsure, v.longest) + " after the first refusal."
}

var _ = addConnect(&connectRule{errors: []int32{opcodes.ENODEV}, restart: true, suspects: func(target string, _, server lnet.NID) []diagnose.Place {
	return []diagnose.Place{atTarget(target, server), byAdmin, atConfig(lnet.NID{})}
}}, diagnose.Rule{
	Code:    "connect.not_up",
	Summary: "A target is not on the server that a client tries, or not started.",
	Meaning: "A server that does not have a target, or is still starting or already stopping it, refuses connects to it with ENODEV. A " +
		"client with several server nodes for a target then tries the next one. The rule reports targets that no server of the client had for " +
		"longer than one retry. That a target was restarted, and the clients it had came back, is reported by rules about restarts.",
	Limits: "A target that runs on a server which the client does not know looks the same.",
	Next: "Is the target mounted (mount -t lustre on its servers), and on which node? Does the client know that node: lctl get_param " +
		"*.*.import shows failover_nids; the log of the MGS may lack a --servicenode.",
})

var _ = addConnect(&connectRule{errors: []int32{opcodes.EAGAIN}, restart: true, suspects: ofTarget}, diagnose.Rule{
	Code:    "connect.starting",
	Summary: "A target that is being started does not take connects yet.",
	Meaning: "A target refuses connects with EAGAIN while it is being set up, for example because it waits for its configuration or for " +
		"another target. Clients try again by themselves.",
	Next:    "If it lasts, look at the console log of the server for what the target waits for.",
	Samples: []string{"connect_refused.pcap.zst"},
})

var _ = addConnect(&connectRule{errors: []int32{opcodes.EBUSY}, restart: true, suspects: ofTarget}, diagnose.Rule{
	Code:    "connect.recovering",
	Summary: "A target in recovery does not take new clients.",
	Meaning: "After a restart, a target first waits for the clients that it had. Until that is over, it refuses those that it does not " +
		"know with EBUSY; a mount waits. Old servers also refuse a client with EBUSY while they are at work on its earlier requests.",
	Limits: "How long the recovery takes is only known where the capture shows its end.",
	Next: "lshark recovery shows whom the target waits for; lctl get_param *.*.recovery_status on the server, too. A client that will " +
		"not come back can be left out with lctl --device TARGET abort_recovery.",
})

var _ = addConnect(&connectRule{errors: []int32{opcodes.EALREADY}, suspects: func(target string, client, server lnet.NID) []diagnose.Place {
	return []diagnose.Place{atTarget(target, server), atThread(server), onPath(client, server), inLNet(client, server)}
}}, diagnose.Rule{
	Code:    "connect.in_progress",
	Summary: "A server refuses a client that connects while an earlier connect is in progress.",
	Meaning: "A server refuses a connect with EALREADY while it is at work on one that the client has given up, or when it gets two at " +
		"once. After an interruption of the network that happens once and does no harm; if it lasts, the server is slow, or both ends " +
		"disagree about whether they are connected.",
	Next:    "If it lasts, look at the server's load and console log, and whether another client uses the same UUID.",
	Samples: []string{"connect_refused.pcap.zst", "no_answer.pcap.zst"},
})

var _ = addConnect(&connectRule{errors: []int32{opcodes.EROFS}, ofNode: true, suspects: func(target string, client, server lnet.NID) []diagnose.Place {
	return []diagnose.Place{atConfig(client), atTarget(target, server), byAdmin}
}}, diagnose.Rule{
	Code:    "connect.read_only",
	Summary: "A server lets a client mount read-only at most.",
	Meaning: "A server refuses a connect that may write with EROFS where the nodemap of the client has readonly_mount, or the target is " +
		"read-only. The client tries once more without the right to write, so that the mount succeeds, but writing fails.",
	Limits: "Why it is read-only is not in the capture.",
	Next: "lctl get_param nodemap.*.readonly_mount on the MGS, and whether the target is mounted read-only; mount the client with -o ro " +
		"if that is what you want.",
})

var _ = addConnect(&connectRule{errors: []int32{opcodes.EACCES, opcodes.EPERM}, ofNode: true, suspects: ofConfig}, diagnose.Rule{
	Code:    "connect.denied",
	Summary: "A server does not admit a client.",
	Meaning: "EACCES and EPERM in reply to a connect: the client does not use the security flavor that the server expects, or its nodemap " +
		"does not admit it.",
	Limits: "The reply does not show which of these it is; the server's log does.",
	Next: "Compare the flavors: lctl get_param *.*.srpc_info on the client with srpc.flavor of the file system (lctl get_param " +
		"mgs.MGS.live.* on the MGS). Look at lctl get_param nodemap.* for the client's NID.",
	Samples: []string{"connect_denied.pcap.zst"},
})

var _ = addConnect(&connectRule{errors: []int32{opcodes.EPROTO}, ofNode: true, suspects: ofConfig}, diagnose.Rule{
	Code:    "connect.version",
	Summary: "Client and server have no common version of the protocol.",
	Meaning: "A server refuses a connect with EPROTO when the client is too old or too new for it, or does not support what the server requires.",
	Next: "lshark imports shows the versions and flags that the client asked for; compare lfs --version on both sides with the list of " +
		"releases that work together.",
})

var _ = addConnect(&connectRule{suspects: func(target string, client, server lnet.NID) []diagnose.Place {
	return []diagnose.Place{atConfig(client), atTarget(target, server), atNode(server)}
}}, diagnose.Rule{
	Code:    "connect.refused",
	Summary: "A server refused connects with an error that has no rule of its own.",
	Meaning: "The rule reports connects that were refused with an error other than ENODEV, EAGAIN, EBUSY, EALREADY, EROFS, EACCES, EPERM and EPROTO.",
	Limits:  "The reply does not show the reason; the server's log may.",
	Next:    "Look at the console log of the server at that time.",
})
