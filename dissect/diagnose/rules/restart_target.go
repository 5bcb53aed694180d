package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/recovery"
)

var _ = add(diagnose.Rule{
	Code:     "restart.target",
	Severity: diagnose.Warning,
	Noun:     "restarted target",
	Summary:  "A target was restarted, on the same server or on another one.",
	Meaning: "While a target is gone, requests to it wait. When it is back, its clients connect again and replay what the server may have lost, and the recovery ends when all have done so, or when its time is over. " +
		"The rule reports when a target was gone and back, what its clients met meanwhile, who came back, and how long requests had to wait. " +
		"That a target was restarted is proven by a server in recovery that does not know the connection of a client, by another instance number, or by a server that said that it does not have the target.",
	Limits:  "A client notices that a target is gone when it sends the next request, so that the target may have been gone for longer. How many clients the target has is only known in captures of its server.",
	Next:    "lshark recovery -v shows the steps of each client. Was the restart intended? If not, the console log of the server before it, and that of the HA software (pacemaker), have the reason.",
	Samples: []string{"crashed_server.pcap.zst", "no_answer.pcap.zst", "no_recovery.pcap.zst", "recovery.pcap.zst", "rolled_back.pcap.zst"},
	Start:   startRecoveries(describeRestart),
})

func describeRestart(v *recovery.Recovery, f *diagnose.Finding) bool {
	switch v.Kind {
	case recovery.Restart:
		f.Text = v.Target + " was restarted"
		if v.Server != (lnet.NID{}) {
			f.Text += " on " + v.Server.String()
		}
	case recovery.Failover:
		f.Text = v.Target + " moved from " + v.ServerBefore.String() + " to " + v.Server.String()
	default:
		return false
	}
	f.Text += instanceText(v.InstanceBefore, v.Instance)
	if down, ok := v.Downtime(); ok {
		f.Text += ": it was gone for " + duration(down)
	} else if down, ok := v.DowntimeLimit(); ok {
		f.Text += ": it was gone for less than " + duration(down)
	}
	if window, ok := v.Window(); ok {
		f.Text += ", and the first client had recovered " + duration(window) + " after it was back"
	}
	f.Text += "." + refusalsText(v) + clientsText(v)
	impact := v.Impact()
	f.Text += impactText(&impact)
	f.Brief = diagnose.Sentences(f.Text, 1) + impactText(&impact) + evictedText(v) + " Look who restarted it, or at the console of its server before it was gone."
	f.Prove(v.LastReply, "the last reply of the target before")
	f.Prove(v.Gone, "the first sign that it is gone: %s", signText(v.GoneBy))
	f.Prove(v.Starting, "it is being started")
	f.Prove(v.Back, "it accepts a connect again")
	f.Prove(v.Announced, "the MGS announces that it was restarted")
	f.Prove(v.Completed, "the first client has recovered")
	slices.SortStableFunc(f.Evidence, func(a, b diagnose.Evidence) int { return cmp.Compare(a.Time, b.Time) })
	return true
}

// signText returns what shows that a target is gone.
func signText(s recovery.Sign) string {
	switch s {
	case recovery.SignNotConnected:
		return "the server does not know the client any more"
	case recovery.SignRefused:
		return "the server does not have the target"
	case recovery.SignUnanswered:
		return "a request without a reply"
	case recovery.SignStopping:
		return "it disconnects from other targets, as it does when it is stopped"
	}
	return "a client connects again"
}

// refusalsText returns a sentence about the connects that were refused, with a space
// before it.
func refusalsText(v *recovery.Recovery) string {
	counts := make(map[int32]int64)
	unanswered := 0
	for _, c := range v.Clients {
		unanswered += c.Unanswered
		for status, n := range c.Refused() {
			counts[status] += n
		}
	}
	var total int64
	for _, n := range counts {
		total += n
	}
	text := ""
	if total > 0 {
		text = " Meanwhile " + plural(total, "connect") + " were refused with " + errorCounts(counts) + "."
		if len(counts) == 1 {
			text = " Meanwhile " + plural(total, "connect") + " were refused with " + errorName(sortedErrors(counts)[0]) + "."
		}
		if total == 1 {
			text = " Meanwhile a connect was refused with " + errorName(sortedErrors(counts)[0]) + "."
		}
	}
	if unanswered > 0 {
		text += " " + plural(unanswered, "connect") + " got no reply."
	}
	return text
}

// clientsText returns a sentence about the clients, with a space before it.
func clientsText(v *recovery.Recovery) (text string) {
	back := 0
	for _, c := range v.Clients {
		came := c.Outcome == recovery.ClientRecovered || c.Outcome == recovery.ClientRecovering || c.Outcome == recovery.ClientReconnected
		if came && c.Type != "lwp" && c.Type != "mgc" {
			back++
		}
	}
	switch n, ok := v.Known(); {
	case back == 0:
	case ok && n >= back:
		text = " " + strconv.Itoa(back) + " of " + plural(n, "client") + " came back"
	default:
		text = " " + plural(back, "client") + " came back"
	}
	if text != "" {
		var replayed []string
		requests, locks := v.Replayed()
		if requests.Count > 0 {
			replayed = append(replayed, plural(requests.Count, "request"))
		}
		if locks.Count > 0 {
			replayed = append(replayed, plural(locks.Count, "lock"))
		}
		if len(replayed) > 0 {
			text += ", and replayed " + words(replayed)
		}
		text += "."
	}
	text += evictedText(v)
	if missing := missingClients(v); len(missing) > 0 {
		text += " Not seen again: " + nodes(missing) + "."
	}
	return text
}

// evictedText returns a sentence about the clients that were evicted, and the servers among
// them, with a space before it.
func evictedText(v *recovery.Recovery) string {
	clients, servers := 0, 0
	for _, c := range v.Clients {
		switch {
		case c.Outcome != recovery.ClientEvicted:
		case c.Type == "client" || c.Type == "":
			clients++
		default:
			servers++
		}
	}
	var words []string
	if clients > 0 {
		words = append(words, plural(clients, "client"))
	}
	if servers > 0 {
		words = append(words, plural(servers, "connection")+" of servers")
	}
	if len(words) == 0 {
		return ""
	}
	return " Evicted: " + strings.Join(words, " and ") + "."
}

// missingClients returns the nodes of the clients that did not come back.
func missingClients(v *recovery.Recovery) []lnet.NID {
	var list []*recovery.Client
	for _, c := range v.Clients {
		if c.Outcome == recovery.ClientMissing {
			list = append(list, c)
		}
	}
	return clientNIDs(list)
}
