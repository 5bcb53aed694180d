package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "quota.exceeded",
	Noun:     "use of all of a quota",
	Logs:     true,
	Severity: diagnose.Error,
	Summary:  "A write or a create failed with EDQUOT, because a quota is used up.",
	Meaning: "Each target holds a part of the quota of a user, group or project, and asks the quota master on MDT0000 for more when it " +
		"needs it. When the hard limit is reached, or the soft limit for longer than the grace time, writes and creates fail with EDQUOT. " +
		"The rule looks for replies with this error. Whose quota it is stands in the flags of the reply to a write; for creates and opens " +
		"only the user who asked is known.",
	Limits: "Limits are named when a command that reads or sets them is in the capture. The requests between targets and the quota master " +
		"are not counted, as no application waits for their errors.",
	Next: "lfs quota -u USER (or -g GROUP, -p PROJECT) -v shows limits and usage on each target. If the usage is far below the limit, " +
		"targets hold quota that others need: compare the granted amounts.",
	Samples: []string{"edquot.pcap.zst", "full_ost.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		q := &exceededQuotas{report: r, refused: fifo.NewMap[quotaKey, *exceededQuota](maxTargets),
			limits: fifo.NewMap[quotaID, opcodes.QuotaLimits](maxTargets)}
		return diagnose.Hooks{Answered: q.answered, Unseen: func(rpc *track.RPC) {
			isQuota := rpc.Opcode == opcodes.LDLM_ENQUEUE && rpc.Status == opcodes.EDQUOT // locks of quota are refused with it, too
			if rpc.Log.NotOnWire == debuglog.Nothing && rpc.HasReply && !isQuota {
				q.answered(rpc, nil)
			}
		}}
	},
})

// exceededQuotas are the quotas that are used up.
type exceededQuotas struct {
	report  *diagnose.Reporter
	refused *fifo.Map[quotaKey, *exceededQuota]
	limits  *fifo.Map[quotaID, opcodes.QuotaLimits]
}

// quotaID is a user, group or project.
type quotaID struct {
	kind uint64 // of opcodes.QuotaType
	id   uint32
}

// quotaKey is who is out of quota: an id, or anyone on a target where that is unknown.
type quotaKey struct {
	target targetKey
	quotaID
}

// exceededQuota counts what was refused for want of quota.
type exceededQuota struct {
	tally
	targets  []*quotaTarget
	users    []string // that sent what was refused
	data     bool     // writes were refused
	metadata bool     // creates, opens and others on an MDT were refused
}

// quotaTarget counts what a target refused.
type quotaTarget struct {
	targetKey
	known bool // it is the quota of this id
	tally
}

// The kinds of quota, and their names in sentences.
const (
	userQuota = iota
	groupQuota
	projectQuota
)

var quotaKinds = [...]string{userQuota: "user", groupQuota: "group", projectQuota: "project"}

func (q *exceededQuotas) answered(r *track.RPC, m *dissect.Message) {
	if r.Opcode == opcodes.MDS_QUOTACTL && m != nil && m.Msg != nil {
		if l, ok := opcodes.QuotaLimitsOf(m.Msg); ok {
			fifo.Put(q.limits, quotaID{l.Kind, l.ID}, l)
		}
	}
	if hasError(r, opcodes.EDQUOT) == 0 || r.Does(opcodes.AcquiresQuota) {
		return
	}
	var key quotaKey
	id, known := overQuota(r, m)
	if key.quotaID = id; !known && (!r.HasUser || r.Opcode == opcodes.OST_WRITE) { // the owner of the file may be another one
		key = quotaKey{target: targetOf(r)}
	}
	x := fifo.GetOrNew(q.refused, key)
	at := r.Replied()
	x.add(r, at)
	x.target(targetOf(r), known).add(r, at)
	x.prove(r.Requested(), "%s sends the request", r.Client)
	x.prove(at, "the reply says EDQUOT")
	if r.HasUser {
		x.users = withNew(x.users, strconv.Itoa(int(r.UID)), maxTallied)
	}
	if r.Opcode == opcodes.OST_WRITE {
		x.data = true
	} else {
		x.metadata = true
	}
	q.report.Report(q.finding(key, x))
}

// overQuota returns whose quota is used up, by the reply to a write. For other
// operations it is the user who asked: ok is false, as it may be another quota.
func overQuota(r *track.RPC, m *dissect.Message) (id quotaID, ok bool) {
	if m != nil && m.Msg != nil && r.Opcode == opcodes.OST_WRITE {
		user, group, project := opcodes.OverQuota(m.Msg)
		if owner, ok := opcodes.OwnerOf(m.Msg); ok {
			switch {
			case user:
				return quotaID{userQuota, owner.User}, true
			case group:
				return quotaID{groupQuota, owner.Group}, true
			case project && owner.HasProject:
				return quotaID{projectQuota, owner.Project}, true
			}
		}
	}
	return quotaID{userQuota, r.UID}, false
}

func (x *exceededQuota) target(k targetKey, known bool) *quotaTarget {
	for _, t := range x.targets {
		if t.targetKey == k && t.known == known || len(x.targets) == maxQuotaTargets {
			return t
		}
	}
	t := &quotaTarget{targetKey: k, known: known}
	x.targets = append(x.targets, t)
	return t
}

// maxQuotaTargets is how many targets are told apart where a quota is used up.
const maxQuotaTargets = 64

// finding describes who is out of quota.
func (q *exceededQuotas) finding(key quotaKey, x *exceededQuota) diagnose.Finding {
	f := x.finding(key.target.subject())
	if len(x.targets) == 1 {
		f.Subject = x.targets[0].subject()
	}
	who, anyone := fmt.Sprintf("%s %d", quotaKinds[key.kind], key.id), key.target != targetKey{}
	if anyone {
		who = "a user"
	}
	f.Key = key.target.String() + who
	var sure, unsure []string
	for _, t := range x.targets {
		text := t.targetKey.String() + " refused " + t.operationsText()
		if t.known {
			sure = append(sure, text)
		} else {
			unsure = append(unsure, text)
		}
	}
	var b strings.Builder
	if len(sure) > 0 {
		fmt.Fprintf(&b, "%s of %s with EDQUOT: %s is over quota.", words(sure), x.senders(), who)
	}
	if len(unsure) > 0 {
		of := " of " + x.senders()
		if len(sure) > 0 {
			b.WriteString(" ")
			of = ""
			if strings.HasPrefix(unsure[0], "a ") { // a target without a name
				unsure[0] = sentence(unsure[0])[1:]
			}
		}
		if anyone {
			fmt.Fprintf(&b, "%s%s with EDQUOT: whose quota is used up is not known.", words(unsure), of)
			if len(x.users) > 0 {
				fmt.Fprintf(&b, " They were sent for user %s.", words(x.users))
			}
		} else {
			fmt.Fprintf(&b, "%s%s by %s with EDQUOT: that user, its group, or the project of the directory is over quota.", words(unsure), of, who)
		}
	}
	if l, ok := fifo.Get(q.limits, key.quotaID); ok && !anyone {
		b.WriteString(limitsText(who, &l, x))
	}
	f.Text = b.String()
	suspect(&f, byApplication, atConfig(lnet.NID{}))
	return f
}

// limitsText describes the limits of an id as far as they matter.
func limitsText(who string, l *opcodes.QuotaLimits, x *exceededQuota) string {
	var words []string
	if x.data && l.HasSpace && l.SpaceSoft|l.SpaceHard != 0 {
		words = append(words, limitText(l.SpaceSoft, l.SpaceHard, binarySize))
	}
	if x.metadata && l.HasObjects && l.ObjectsSoft|l.ObjectsHard != 0 {
		words = append(words, limitText(l.ObjectsSoft, l.ObjectsHard, func(n uint64) string { return fmt.Sprintf("%d files", n) }))
	}
	if len(words) == 0 {
		return ""
	}
	return " The limits of " + who + " in this capture: " + strings.Join(words, "; ") + "."
}

func limitText(soft, hard uint64, text func(uint64) string) string {
	switch {
	case hard == 0:
		return text(soft) + " (soft)"
	case soft == 0:
		return text(hard) + " (hard)"
	}
	return text(soft) + " (soft) and " + text(hard) + " (hard)"
}
