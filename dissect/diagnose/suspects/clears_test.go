package suspects

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
)

// TestTableNamesPlaces checks that each word of the table is a kind of place, and that a line excludes just those that it names.
func TestTableNamesPlaces(t *testing.T) {
	var kinds []string
	for k := diagnose.AtApplication; k <= diagnose.AtCapture; k++ {
		kinds = append(kinds, k.String())
	}
	for _, x := range slices.Concat(clears, decisive) {
		n := 0
		for _, word := range strings.Fields(x.excludes) {
			assert.That(t, word == "server" || slices.Contains(kinds, word), "%s: %q is no kind of place", x.fact, word)
			n++
			if word == "server" {
				n += len(strings.Fields(inServer)) - 1
			}
		}
		excluded := 0
		for k := diagnose.AtApplication; k <= diagnose.AtCapture; k++ {
			if x.has(k) {
				excluded++
			}
		}
		assert.Equal(t, excluded, n, x.fact)
	}
}

// TestTimesOfClears checks the waits that are just too short, or too long, to exclude a place, and those that are not.
func TestTimesOfClears(t *testing.T) {
	at := func(ms int64) facts.Point { return facts.Point{Frame: ms + 1, Time: ms * 1e6} }
	wait := func(length, resent, service int64) *facts.Wait { // in ms, and s; resent 0: it was sent once
		w := &facts.Wait{Span: facts.Span{To: at(length).Time}, Sends: []facts.Send{{Point: at(0)}}, Reply: at(length), Service: service}
		if resent > 0 {
			w.Sends = append(w.Sends, facts.Send{Point: at(resent)})
		}
		return w
	}
	early := func(length, early int64) *facts.Wait {
		w := wait(length, 0, -1)
		w.Open, w.Early = true, []facts.Point{at(early)}
		return w
	}
	for name, x := range map[string]struct {
		clears  func(*Judge, *facts.Wait) (diagnose.Evidence, bool)
		no, yes *facts.Wait
	}{
		"long service":                    {longService, wait(2500, 0, 2), wait(3500, 0, 3)},
		"short service of a short wait":   {shortService, wait(3990, 0, 0), wait(4000, 0, 0)},
		"service of a quarter":            {shortService, wait(7990, 0, 1), wait(8000, 0, 1)},
		"sent again soon":                 {resendAnswered, wait(4090, 3990, -1), wait(4100, 4000, -1)},
		"sent again, and not at once":     {resendAnswered, wait(5210, 5000, -1), wait(5200, 5000, -1)},
		"early reply, and then no answer": {earlyReply, early(18010, 10000), early(18000, 10000)},
	} {
		_, no := x.clears(&Judge{}, x.no)
		_, yes := x.clears(&Judge{}, x.yes)
		assert.That(t, !no && yes, "%s: %v and %v", name, no, yes)
	}
}

// TestHolderKept checks that a holder which was asked for its lock and gave it back late is to blame, but not for what it had to write back
// to a slow server.
func TestHolderKept(t *testing.T) {
	at := func(ms int64) facts.Point { return facts.Point{Frame: ms + 1, Time: ms * 1e6} }
	client, holder, server := messages.NID(3), messages.NID(4), messages.NID(2)
	for name, x := range map[string]struct {
		asked, answered, given int64
		busy                   *facts.Wait
		kept                   bool
	}{
		"late":             {100, 110, 3900, nil, true},
		"soon":             {2000, 2010, 3900, nil, false},
		"without a reply":  {100, 1000, 3900, nil, false},
		"writing it back":  {100, 110, 3900, &facts.Wait{Client: holder, Server: server, Span: facts.Span{From: at(200).Time, To: at(3800).Time}}, false},
		"of other clients": {100, 110, 3900, &facts.Wait{Client: client, Server: server, Span: facts.Span{From: at(200).Time, To: at(3800).Time}}, true},
	} {
		f := facts.New()
		f.Hooks().Lock(&locks.Lock{Client: holder, Server: server, Handle: 7, Callbacks: []locks.Callback{{Sent: at(x.asked), Answered: at(x.answered), Obeyed: at(x.given)}}})
		j := &Judge{Facts: f, takenAt: []netip.Addr{facts.HostOf(holder)}}
		if x.busy != nil {
			j.waits = append(j.waits, x.busy)
		}
		w := &facts.Wait{Client: client, Server: server, Span: facts.Span{To: at(4000).Time}, Blocked: []locks.Blocker{{Client: holder, Handle: 7}}}
		_, kept := holderKept(j, w)
		assert.Equal(t, kept, x.kept, name)
	}
}

// TestNodeServed checks that answers to other nodes show that a node and its link work, and answers to itself do not.
func TestNodeServed(t *testing.T) {
	client, server := messages.NID(3), messages.NID(2)
	for _, x := range []struct {
		from  lnet.NID
		works bool
	}{
		{messages.NID(4), true},
		{server, false},
	} {
		f := facts.New()
		for s := range int64(8) {
			r := &track.RPC{HasRequest: true, HasReply: true, Sends: 1, Seen: []track.Sighting{{
				Request: facts.Point{Frame: 1, Time: s * 1e9}, Reply: facts.Point{Frame: 2, Time: s*1e9 + 1e6}}}}
			r.Opcode, r.HasOpcode, r.Client, r.Server, r.Connection = opcodes.OBD_PING, true, x.from, server, &track.Connection{}
			f.Hooks().Answered(r, nil)
		}
		j := &Judge{Facts: f, during: slices.Collect(f.Streams)}
		_, works := nodeServed(j, &facts.Wait{Client: client, Server: server, Span: facts.Span{To: 8e9}, Sends: []facts.Send{{}}})
		assert.Equal(t, works, x.works, x.from.String())
	}
}
