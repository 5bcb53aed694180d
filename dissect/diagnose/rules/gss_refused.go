package rules

import (
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "gss.refused",
	Noun:     "refused security context",
	Logs:     true,
	Severity: diagnose.Error,
	Summary:  "A server refused to set up a security context.",
	Meaning: "Where a file system uses a GSS flavor (shared key or Kerberos), a client sets up a security context with each target before " +
		"it connects. The server's svcgssd checks what the client sends, and answers with a GSS error where it does not accept it. " +
		"The rule reports clients whose requests for a context are refused, with the error and what it usually means. Clients try again all " +
		"the time, so the count says little.",
	Limits: "The reply has no more than the GSS error. Errors of the client's own side, such as a key that it does not have, are not on " +
		"the network.",
	Next: "The syslog of the server has the reason (lsvcgssd, run it with -vvv), that of the client the other half (lgss_keyring). For a " +
		"shared key: lgss_sk --read KEYFILE on both sides, and keyctl show on the client; " +
		"the key, its prime, its file system and its nodemap must agree. For Kerberos: klist -k on both sides, and the clocks.",
	Thresholds: []*diagnose.Threshold{gssErrorAfter, gssAsked},
	Samples:    []string{"gss_failed.pcap.zst", "mount_failed.pcap.zst"},
	Start:      startGSSRefused,
})

var gssErrorAfter = &diagnose.Threshold{Name: "refused requests", Value: 3, Unit: "requests",
	Reason: "Below that it is a warning: a context that a restarted server does not know is refused once and made anew."}

// gssMeanings has what GSS errors usually mean.
var gssMeanings = map[string]string{
	"GSS_S_BAD_SIG":              "the signature is wrong: the two sides have different keys",
	"GSS_S_NO_CRED":              "the server has no credentials or key for this target",
	"GSS_S_NO_CONTEXT":           "the target is not there or not started, or the server does not know the context",
	"GSS_S_DEFECTIVE_TOKEN":      "the server cannot make sense of what the client sent: different mechanisms or versions of the tools",
	"GSS_S_DEFECTIVE_CREDENTIAL": "the credentials of the client are invalid",
	"GSS_S_CREDENTIALS_EXPIRED":  "the key or ticket of the client has expired, or the clocks differ",
	"GSS_S_CONTEXT_EXPIRED":      "the context has expired",
	"GSS_S_BAD_MECH":             "the server does not support the mechanism",
	"GSS_S_UNAUTHORIZED":         "the client is not authorized",
}

// failureMeanings has what GSS_S_FAILURE usually means, by mechanism.
var failureMeanings = map[string]string{
	"SK":   "which with a shared key means that the client's key is not the one of the server: another key, or one for another file system or nodemap",
	"KRB5": "which with Kerberos means that the server has no key table for this service, or that the clocks differ",
}

// gssRefusals are the requests for contexts of clients.
type gssRefusals struct {
	report     *diagnose.Reporter
	clients    *fifo.Map[gssKey, *gssClient]
	mechanisms *fifo.Map[lnet.NID, string] // by client
	logs       *fifo.Map[targetClient, *run]
}

type gssKey struct {
	client lnet.NID
	status int32
}

// gssClient is what was refused to a client with one error.
type gssClient struct {
	run
	error   string // with the minor status
	targets []string
	servers []lnet.NID
}

func startGSSRefused(r *diagnose.Reporter) diagnose.Hooks {
	g := &gssRefusals{report: r, clients: fifo.NewMap[gssKey, *gssClient](maxMounts), mechanisms: fifo.NewMap[lnet.NID, string](maxMounts),
		logs: fifo.NewMap[targetClient, *run](maxMounts)}
	return diagnose.Hooks{Opcodes: []uint32{opcodes.SEC_CTX_INIT, opcodes.SEC_CTX_INIT_CONT}, Sent: g.sent, Answered: g.answered,
		Unseen: onlyLogged(nil, g.logged)}
}

// logged takes an RPC of a log, which does not have the GSS error: a client that asks a target for contexts again and again, and for nothing else,
// got none.
func (g *gssRefusals) logged(r *track.RPC) {
	k := targetClient{r.Client, targetOf(r)}
	if k.target.Name == "" || r.Log.HasClient && !r.Log.Client.IsSent() { // as the connects that wait for a context
		return
	}
	if r.Opcode != opcodes.SEC_CTX_INIT {
		fifo.Delete(g.logs, k)
		return
	}
	c := fifo.GetOrNew(g.logs, k)
	if c.add(r.Replied()); float64(c.count) < gssAsked.Value {
		return
	}
	f := c.finding(k.target.subject(), "the first one", "the last one")
	f.Client, f.Server = r.Client, r.Server
	f.Key = r.Client.String() + k.target.Name
	f.Text = r.Client.String() + " asked " + k.target.Name + " " + strconv.FormatInt(c.count, 10) + " times for a security context, and did not connect: it got none."
	f.Compare(gssAsked, float64(c.count))
	suspect(&f, atConfig(k.client), atConfig(r.Server))
	g.report.Report(f)
}

var gssAsked = &diagnose.Threshold{Name: "requests for a context in logs", Value: 5, Unit: "requests", Reason: "a client asks once, and again after a restart of the server"}

// sent remembers the mechanism that a client uses.
func (g *gssRefusals) sent(r *track.RPC, m *dissect.Message) {
	if s := &m.RPC.GSS.Setup; len(s.Target) > 0 {
		fifo.Put(g.mechanisms, r.Client, s.Mechanism())
	}
}

func (g *gssRefusals) answered(r *track.RPC, m *dissect.Message) {
	status := m.RPC.GSS.Errno()
	if status == 0 {
		return
	}
	k := gssKey{r.Client, status}
	c := fifo.GetOrMake(g.clients, k, func() *gssClient {
		return &gssClient{error: string(m.RPC.GSS.AppendError(nil))}
	})
	c.add(track.PointOf(m))
	if target := r.Target(); target != "" {
		c.targets = withNew(c.targets, target, maxNames)
	}
	c.servers = withNew(c.servers, r.Server, maxNames)
	g.report.Report(g.finding(k, c))
}

func (g *gssRefusals) finding(k gssKey, c *gssClient) diagnose.Finding {
	f := c.run.finding(diagnose.Subject{Client: k.client, Target: only(c.targets), Server: only(c.servers)}, "the first refusal", "the last one")
	f.Key = k.client.String() + strconv.Itoa(int(k.status))
	name := errorName(k.status)
	if float64(c.count) < gssErrorAfter.Value || name == "GSS_S_NO_CONTEXT" {
		f.Severity = diagnose.Warning
	}
	if name != "GSS_S_NO_CONTEXT" {
		f.Compare(gssErrorAfter, float64(c.count))
	}
	f.Text = nodes(c.servers) + " refused " + plural(c.count, "request") + " of " + k.client.String() + " for a security context"
	if len(c.targets) > 0 {
		f.Text += " with " + words(c.targets)
	}
	f.Text += ": " + c.error
	meaning := gssMeanings[name]
	if name == "GSS_S_FAILURE" {
		mechanism, _ := fifo.Get(g.mechanisms, k.client)
		meaning = failureMeanings[mechanism]
	}
	if meaning != "" {
		f.Text += ", " + meaning
	}
	f.Text += "."
	suspect(&f, atConfig(k.client))
	if name == "GSS_S_NO_CONTEXT" {
		suspect(&f, atConfig(k.client), atTarget(f.Target, f.Server))
	}
	return f
}
