package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var (
	deniedRequests = &diagnose.Threshold{Name: "denied requests", Value: 5, Unit: "requests",
		Reason: "a user without the right to a directory tries once or twice"}
	deniedShare = &diagnose.Threshold{Name: "share of the requests of the client meanwhile", Value: 80, Unit: "%",
		Reason: "else its users have the right to other files: that is a matter of permissions"}
)

var _ = add(diagnose.Rule{
	Code:     "metadata.denied",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "denied request",
	Summary:  "An MDT denies everything to all users of one client.",
	Meaning: "Permissions of files deny some files to some users. Where an MDT answers nearly all requests of a client with EACCES or EPERM, whoever " +
		"sends them, also root, it is the client that it does not trust: its nodemap has deny_unknown or does not map these users, or the " +
		"server does not find their groups (identity_upcall). The rule counts such replies to requests for names and attributes, and to opens.",
	Limits: "That other clients get the same files is only known where their requests are in the capture. Logs have the user at the end of the name of " +
		"the job only, as in cp.1001.",
	Next: "On the MGS: lctl nodemap_test_nid NID of the client, lctl get_param nodemap.*.{deny_unknown,admin_nodemap,trusted_nodemap,idmap}, and what was " +
		"changed before the first denied request. On the MDS: lctl get_param mdt.*.identity_upcall.",
	Thresholds: []*diagnose.Threshold{deniedRequests, deniedShare},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		d := &denials{r, fifo.NewMap[targetClient, *denied](maxDenied)}
		operations := []uint32{opcodes.LDLM_ENQUEUE, opcodes.MDS_GETATTR, opcodes.MDS_REINT}
		return diagnose.Hooks{Opcodes: operations, Answered: func(r *track.RPC, _ *dissect.Message) {
			if r.HasRequest && (r.Opcode != opcodes.LDLM_ENQUEUE || r.Does(opcodes.Opens|opcodes.Creates|opcodes.Stats)) {
				d.answered(r, targetOf(r))
			}
		}, Unseen: onlyLogged(operations, func(r *track.RPC) { // an MDT denies a lock with these errors only along with what it is asked for
			isServer := strings.HasSuffix(r.Connection.ClientUUID, "_UUID")
			if strings.HasPrefix(r.Log.Server.Process, "mdt") && !isServer {
				d.answered(r, targetKey{server: r.Server}) // which has the name only of some requests
			}
		})}
	},
})

// denials are the requests for files that MDTs denied to clients.
type denials struct {
	report  *diagnose.Reporter
	clients *fifo.Map[targetClient, *denied]
}

// denied counts what a client was denied, and what it was not since the first of these.
type denied struct {
	tally
	server  lnet.NID
	errno   int32
	users   []uint32
	granted int64
	share   float64 // of the requests up to the last one that was denied, in percent
	told    bool
	other   lnet.NID // that was served meanwhile
	at      track.Point
}

func (d *denials) answered(r *track.RPC, target targetKey) {
	key, at := targetClient{r.Client, target}, r.Replied()
	errno := hasError(r, opcodes.EACCES, opcodes.EPERM)
	if errno == 0 {
		if r.Failed() {
			return
		}
		for k, x := range fifo.All(d.clients) {
			switch {
			case k == key:
				x.granted++
			case (k.target == key.target || x.server == r.Server && !(k.target.isKnown() && key.target.isKnown())) && at.Time > x.first && at.Time < x.last+inFlight:
				isNew := x.other.Len == 0
				if x.other, x.at = r.Client, at; isNew && x.told { // what logs have comes behind the capture
					d.tell(k, x)
				}
			}
		}
		return
	}
	x := fifo.GetOrNew(d.clients, key)
	x.server = r.Server
	x.add(r, at)
	x.prove(at, "a request of %s is denied with %s", r.Client, errorName(errno))
	if uid, ok := userOf(r); ok {
		x.users = withNew(x.users, uid, maxTallied)
	}
	x.errno = errno
	if x.share = 100 * float64(x.count) / float64(x.count+x.granted); float64(x.count) >= deniedRequests.Value && x.share >= deniedShare.Value && len(x.users) > 1 {
		d.tell(key, x)
	}
}

func (d *denials) tell(key targetClient, x *denied) {
	x.told = true
	f := x.finding(key.target.subject())
	f.Client = key.client
	f.Text = fmt.Sprintf("%s denied %s of %s with %s, those of all %d users there.", key.target, x.operationsText(), x.senders(), errorName(x.errno), len(x.users))
	f.Compare(deniedRequests, float64(x.count))
	f.Compare(deniedShare, x.share)
	suspect(&f, atConfig(key.client), byAdmin, byApplication)
	if x.other.Len > 0 {
		exclude(&f, byApplication, x.at, x.other.String()+" was served meanwhile")
		f.Text += " It served " + x.other.String() + " meanwhile."
	}
	f.Brief = f.Text + " Look at the nodemap of this client on the MGS, not at the files or the servers."
	d.report.Report(f)
}

// maxDenied is how many clients are followed that were denied something.
const maxDenied = 64

// userOf returns the user of a request. Servers do not log it, but by default it is at the end of the name of the job.
func userOf(r *track.RPC) (uid uint32, ok bool) {
	if r.HasUser {
		return r.UID, true
	}
	job := string(r.Job())
	n, err := strconv.ParseUint(job[strings.LastIndexByte(job, '.')+1:], 10, 32)
	return uint32(n), err == nil && r.Connection.IsLog() && strings.Contains(job, ".")
}
