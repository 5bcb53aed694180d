package rules

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

var _ = add(diagnose.Rule{
	Code:     "version.features",
	Severity: diagnose.Note,
	Summary:  "A client has to do without features that matter, because it or its servers are too old, or because they are disabled.",
	Meaning: "Client and server agree on features with flags when the client connects: the client asks, and the server grants what it can " +
		"do, too. The rule reports clients that were not granted a feature whose lack costs speed or keeps applications from something: " +
		"either the client did not ask, because its release does not have the feature, or the server refused.",
	Limits: "A client that did not ask is reported only where the server's release is newer and has the feature. Whether the feature would " +
		"help the applications at hand is not examined.",
	Next: "lshark imports -T flags shows all flags that were asked for and granted. Update the older side when that is possible.",

	Samples: []string{"old_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		clients := fifo.NewMap[lnet.NID, *featureClient](maxMounts)
		return diagnose.Hooks{Import: func(i *track.Import, p track.Point) {
			n := len(i.Events) - 1
			if n < 0 || i.Events[n].Kind != track.EventConnected || i.Events[n].Point != p || i.Kind() != "client" ||
				!i.HasGranted || i.Asked.Version == 0 || i.Granted.Version == 0 {
				return
			}
			c := fifo.GetOrMake(clients, i.Client, func() *featureClient {
				return &featureClient{connected: p, version: i.Asked.Version, of: i.Granted.Version}
			})
			found := false
			for k := range features {
				found = c.compare(i, &features[k]) || found
			}
			if found {
				r.Report(c.finding(i))
			}
		}}
	},
})

// feature is a connect flag, and what its lack costs.
type feature struct {
	name string
	flag uint64 // in ocd_connect_flags, or with second in ocd_connect_flags2
	side string // of which targets: "MDT", "OST", or empty for both
	cost string

	second bool
	since  uint32 // first release of servers and clients that have it
}

// features are the flags that matter, with the releases in which both sides have them.
var features = []feature{
	{name: "MULTIMODRPCS", side: "MDT", since: release(2, 8), flag: opcodes.ObdConnectFlags.Bit("MULTIMODRPCS"),
		cost: "it sends creates, renames and removals to an MDT one at a time"},
	{name: "SHORTIO", since: release(2, 11), flag: opcodes.ObdConnectFlags.Bit("SHORTIO"), cost: "small reads and writes take a bulk " +
		"transfer of their own"},
	{name: "DIR_STRIPE", side: "MDT", since: release(2, 8), flag: opcodes.ObdConnectFlags.Bit("DIR_STRIPE"),
		cost: "it cannot use striped directories"},
	{name: "FLR", side: "MDT", second: true, since: release(2, 11), flag: opcodes.ObdConnectFlags2.Bit("FLR"),
		cost: "it cannot read or write mirrored files"},
	{name: "OVERSTRIPING", side: "MDT", second: true, since: release(2, 13), flag: opcodes.ObdConnectFlags2.Bit("OVERSTRIPING"),
		cost: "it cannot use files with several stripes on an OST"},
	{name: "LOCK_CONVERT", side: "MDT", second: true, since: release(2, 12), flag: opcodes.ObdConnectFlags2.Bit("LOCK_CONVERT"),
		cost: "it gives back whole locks of files where it could keep a part"},
	{name: "CRUSH", side: "MDT", second: true, since: release(2, 14), flag: opcodes.ObdConnectFlags2.Bit("CRUSH"),
		cost: "it cannot use directories that place names by the CRUSH hash"},
	{name: "BATCH_RPC", side: "MDT", second: true, since: release(2, 16), flag: opcodes.ObdConnectFlags2.Bit("BATCH_RPC"),
		cost: "it asks for the attributes of many files with a request for each, not in batches"},
	{name: "UNALIGNED_DIO", side: "OST", second: true, since: release(2, 16), flag: opcodes.ObdConnectFlags2.Bit("UNALIGNED_DIO"),
		cost: "direct I/O must begin and end on a page"},
}

func release(major, minor uint32) uint32 { return major<<24 | minor<<16 }

// featureClient is what a client lacks.
type featureClient struct {
	connected         track.Point // the first reply that does not grant a feature
	version, of       uint32      // of the client, and of a server
	unasked, unwanted []*feature  // the client did not ask; the server refused
}

// compare adds a feature that a connection lacks. It returns whether the finding has
// changed.
func (c *featureClient) compare(i *track.Import, f *feature) bool {
	asked, granted := i.Asked.Flags, i.Granted.Flags
	if f.second {
		asked, granted = i.Asked.Flags2, i.Granted.Flags2
	}
	list := &c.unasked
	switch {
	case f.side != "" && !strings.Contains(i.Target, "-"+f.side), granted&f.flag != 0:
		return false
	case asked&f.flag != 0:
		list = &c.unwanted
	case i.Asked.Version >= f.since || i.Granted.Version < f.since:
		return false
	}
	if slices.Contains(*list, f) {
		return false
	}
	*list = append(*list, f)
	return true
}

func (c *featureClient) finding(i *track.Import) diagnose.Finding {
	f := diagnose.Finding{Subject: diagnose.Subject{Client: i.Client}, First: c.connected.Time}
	f.Text = i.Client.String() + " runs release " + releaseName(c.version) + ", its servers " + releaseName(c.of) + "."
	if len(c.unasked) > 0 {
		f.Text += " The client's release does not have " + featureText(c.unasked) + "."
	}
	if len(c.unwanted) > 0 {
		f.Text += " Servers do not grant " + featureText(c.unwanted) + "."
	}
	f.Prove(c.connected, "a server accepts the client's connect without it")
	return f
}

// featureText returns features as in "FLR (it cannot read …) and CRUSH (…)".
func featureText(list []*feature) string {
	var names []string
	for _, f := range list {
		names = append(names, f.name+" ("+f.cost+")")
	}
	return words(names)
}

// releaseName returns a release as in "2.15.8".
func releaseName(version uint32) string {
	return strings.TrimSuffix(string(schema.AppendVersion(nil, version)), ".0")
}

var _ = addLines(diagnose.Rule{
	Code:     "version.replay_failed",
	Severity: diagnose.Error,
	Noun:     "logged failure of a replay",
	Summary:  "Requests that a client replays to a restarted target fail.",
	Meaning: "The target has lost transactions that it had reported as committed, or other clients that changed the same objects did not come " +
		"back.",
	Next: "The storage of the target: write caches, snapshots and rollbacks.",
}, lines{
	kinds:   []debuglog.Kind{debuglog.TransnoBack, debuglog.ReplayFailed, debuglog.Note},
	reasons: []debuglog.Reason{debuglog.NoReason, debuglog.ReplayMismatch, debuglog.ReplayTimeout},
	where: func(l *track.LogLine) []diagnose.Place {
		if l.Kind == debuglog.Note && l.Reason == debuglog.NoReason {
			return nil
		}
		server := l.Peer
		if l.Served {
			server = l.Node
		}
		return []diagnose.Place{atTarget(l.Target, server), atStorage(l.Target, server), byAdmin}
	},
})
