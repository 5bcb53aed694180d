package rules

import (
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
	Code:     "mount.failed",
	Logs:     true,
	Noun:     "failed mount",
	Severity: diagnose.Error,
	Summary:  "A client could not mount a file system.",
	Meaning: "A client that mounts connects to the MGS, reads the configuration log of the file system, sets up security contexts where " +
		"the file system has them, connects to the MDTs and OSTs, " +
		"and asks for the root directory and its attributes. If that fails, it disconnects from all. The rule reports the step that failed, " +
		"with the error: " +
		"a log that does not exist, a root directory that the server does not hand out, or a client that disconnects from the MGS before it " +
		"has the root.",
	Limits: "What fails on the client itself, such as a key that it does not have, is only seen as a client that gives up. A further mount " +
		"on a node that has mounted something else already is followed only from its log and its root directory on. " +
		"Under GSS privacy the steps cannot be read. A client that gives up without an error is not reported where a part of the capture is missing.",
	Next: "The console log of the client has the error that mount printed, and the step: dmesg | grep -i lustre. The finding about the " +
		"refused connect or security context, if there is one, tells more about the cause.",
	Thresholds: []*diagnose.Threshold{
		mountLong,
	},
	Samples: []string{"mount_failed.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		m := &mounts{report: r, nodes: fifo.NewMap[lnet.NID, *mount](maxMounts), reading: fifo.NewMap[lnet.NID, *mount](maxMounts)}
		return diagnose.Hooks{
			Opcodes: []uint32{opcodes.MGS_CONNECT, opcodes.MGS_DISCONNECT, opcodes.LLOG_ORIGIN_HANDLE_CREATE, opcodes.SEC_CTX_INIT,
				opcodes.MDS_CONNECT, opcodes.MDS_GET_ROOT, opcodes.MDS_GETATTR, opcodes.MDS_REINT, opcodes.MDS_CLOSE},
			Sent: m.sent, Answered: m.answered, Unseen: m.logged, Lost: func(*lnet.Loss) { m.lossy = true }, End: m.end,
		}
	},
})

// mountLong is how long a mount may take.
var mountLong = &diagnose.Threshold{Name: "mount in progress at the end", Value: 10, Unit: "s",
	Reason: "A mount takes a second or two; clients try a refused connect again after five."}

// mounts are the mounts that nodes have begun.
type mounts struct {
	report *diagnose.Reporter
	nodes  *fifo.Map[lnet.NID, *mount]
	lossy  bool

	reading *fifo.Map[lnet.NID, *mount] // those that have connected to the MGS, by logs
}

const maxMounts = 1 << 12

// mount is a node's connection to the MGS, and the first mount over it.
type mount struct {
	client, server lnet.NID // server: the MGS
	begun, mgs     track.Point
	mgsRefused     step
	fs             string
	log            track.Point // the configuration log was opened
	ready          bool        // a security context was set up
	context        step
	tried          track.Point // the first connect to an MDT
	connected      int         // MDTs
	refused        step        // the last connect to an MDT that was, unless that is connected since
	root           track.Point
	rootError      step // of the root directory or its attributes
	done           bool // mounted, or reported
}

// step is a step of a mount that failed.
type step struct {
	target string
	server lnet.NID
	status int32
	at     track.Point
}

func (m *mounts) sent(r *track.RPC, msg *dissect.Message) {
	switch r.Opcode {
	case opcodes.MGS_CONNECT:
		if old, ok := fifo.Get(m.nodes, r.Client); r.Sends == 1 && r.ConnCnt <= 1 && (!ok || isSet(old.mgs)) {
			fifo.Put(m.nodes, r.Client, &mount{client: r.Client, server: r.Server, begun: track.PointOf(msg)})
		}
	case opcodes.MGS_DISCONNECT:
		if x, ok := fifo.Delete(m.nodes, r.Client); ok {
			m.gaveUp(x, track.PointOf(msg))
		}
	case opcodes.MDS_CONNECT:
		if x, ok := fifo.Get(m.nodes, r.Client); ok && !isSet(x.tried) {
			x.tried = track.PointOf(msg)
		}
	}
}

func (m *mounts) answered(r *track.RPC, msg *dissect.Message) {
	p := track.PointOf(msg)
	failed := step{r.Target(), r.Server, r.Status, p}
	x, ok := fifo.Get(m.nodes, r.Client)
	if !ok {
		x = &mount{client: r.Client, begun: p} // one over an older connection to the MGS
	}
	switch r.Opcode {
	case opcodes.MGS_CONNECT:
		if r.Status == 0 {
			x.mgs = p
		} else {
			x.mgsRefused = failed
		}
	case opcodes.LLOG_ORIGIN_HANDLE_CREATE:
		m.openedLog(x, r, p)
	case opcodes.SEC_CTX_INIT:
		if x.context = (step{r.Target(), r.Server, msg.RPC.GSS.Errno(), p}); x.context.status == 0 {
			x.ready = true
		}
	case opcodes.MDS_CONNECT:
		x.connect(failed)
	case opcodes.MDS_GET_ROOT:
		if x.root = p; r.Status < 0 {
			m.fail(x, "the server does not hand out the root directory: "+rootErrorText(r.Status), failed)
		}
	case opcodes.MDS_GETATTR:
		if r.Status < 0 && isSet(x.root) {
			x.rootError = failed
			return
		}
		x.done = true
	default:
		x.done = x.done || r.Status >= 0
	}
}

// logged takes an RPC of a log: the root directory and its attributes are the last steps of a mount.
func (m *mounts) logged(r *track.RPC) {
	if !r.HasReply || r.Log.NotOnWire != debuglog.Nothing || r.Client.Len == 0 {
		return
	}
	m.readLog(r)
	why := ": " + rootErrorText(r.Status)
	x, ok := fifo.Get(m.nodes, r.Client)
	switch {
	case r.Opcode == opcodes.MDS_GET_ROOT:
		x = &mount{client: r.Client, begun: r.Requested()}
		fifo.Put(m.nodes, r.Client, x)
		why = "the server does not hand out the root directory" + why
	case r.Opcode == opcodes.MDS_GETATTR && ok && !x.done:
		why = "the server does not hand out the attributes of the root directory" + why
		x.done = r.Status >= 0
	default:
		return
	}
	if r.Status < 0 {
		m.fail(x, why, step{r.Target(), r.Server, r.Status, r.Replied()})
	}
}

// readLog takes an RPC of a log between a connect to the MGS and the disconnect: who gets none of the configuration logs that it asks for
// wants to mount a file system that does not exist.
func (m *mounts) readLog(r *track.RPC) {
	x, ok := fifo.Get(m.reading, r.Client)
	switch {
	case r.Opcode == opcodes.MGS_CONNECT && r.Status == 0:
		fifo.Put(m.reading, r.Client, &mount{client: r.Client, begun: r.Requested(), mgs: r.Replied()})
	case r.Opcode == opcodes.LLOG_ORIGIN_HANDLE_CREATE && ok:
		x.mgsRefused = step{"", r.Server, r.Status, r.Replied()}
		x.done = x.done || r.Status != opcodes.ENOENT
	case r.Opcode == opcodes.MGS_DISCONNECT && ok && isSet(x.mgsRefused.at):
		m.fail(x, "the MGS does not have the configuration log that the client asked for (ENOENT): there is no file system of this name", x.mgsRefused)
	}
}

// openedLog takes the reply to the opening of a configuration log.
func (m *mounts) openedLog(x *mount, r *track.RPC, p track.Point) {
	fs, isClient := strings.CutSuffix(string(r.Name()), "-client")
	switch {
	case !isClient:
	case r.Status == opcodes.ENOENT:
		x.fs = fs
		m.fail(x, "the MGS does not know a file system of this name: it has no configuration log "+string(r.Name())+" (ENOENT)",
			step{"", r.Server, r.Status, p})
	case r.Status < 0:
		x.fs = fs
		m.fail(x, "the MGS refused to open the configuration log "+string(r.Name())+" with "+errorName(r.Status), step{"", r.Server, r.Status, p})
	case x.fs == "":
		x.fs, x.log = fs, p
	}
}

// connect takes the reply to a connect to an MDT.
func (x *mount) connect(s step) {
	if s.status != 0 {
		x.refused = s
		return
	}
	x.connected++
	if x.refused.target == s.target {
		x.refused = step{}
	}
}

// refusal returns what was refused to a client that did not get on: a connect to an MDT, or a
// security context.
func (x *mount) refusal() (why string, refused step) {
	switch {
	case isSet(x.refused.at):
		return namedTarget(x.refused.target, "", x.refused.server).String() + " refused the connect with " + errorName(x.refused.status), x.refused
	case x.context.status != 0 && !x.ready:
		return "no security context could be set up (" + errorName(x.context.status) + ")", x.context
	}
	return "", refused
}

func rootErrorText(status int32) string {
	switch status {
	case opcodes.ENOENT:
		return "ENOENT, as the subdirectory that is to be mounted does not exist"
	case opcodes.EPERM:
		return "EPERM, which is what the nodemap property deny_mount does"
	case opcodes.EACCES:
		return "EACCES, which is what the nodemap property deny_unknown does to users that it does not map"
	}
	return errorName(status)
}

// gaveUp takes the disconnect from the MGS of a node, which has given up or
// unmounted.
func (m *mounts) gaveUp(x *mount, p track.Point) {
	at := step{"", x.server, 0, p}
	switch why, refused := x.refusal(); {
	case x.done:
	case isSet(x.rootError.at):
		m.fail(x, "the server does not hand out the attributes of the root directory: "+rootErrorText(x.rootError.status), x.rootError)
	case why != "":
		m.fail(x, why+", and the client gave up after "+duration(p.Time-x.begun.Time), refused)
	case m.lossy, x.ready, !isSet(x.mgs), !isSet(x.log), isSet(x.root):
	case !isSet(x.tried):
		m.fail(x, "the client had read the configuration log and gave up before it sent anything to an MDT. The cause is on the client, such "+
			"as a key for the security context that it does not have", at)
	case x.connected == 0:
		m.fail(x, "the client gave up "+duration(p.Time-x.tried.Time)+" after its first connect to an MDT, which none had answered", at)
	}
}

func (m *mounts) fail(x *mount, why string, s step) {
	if x.done {
		return
	}
	x.done = true
	m.report.Report(x.finding("failed: "+why+".", s))
}

func (x *mount) finding(what string, s step) diagnose.Finding {
	f := diagnose.Finding{
		Subject: diagnose.Subject{Client: x.client, Server: s.server, Target: s.target, Detail: x.begun.File +
			strconv.FormatInt(x.begun.Frame, 10)},
		First: x.begun.Time, Last: s.at.Time,
	}
	suspect(&f, atConfig(x.client))
	switch {
	case s.status == 0 && !isSet(x.tried): // the client gave up before it asked a server for anything
		suspect(&f, atConfig(x.client), atClient(x.client))
	case s.status == 0:
		suspect(&f, atConfig(x.client), atClient(x.client), atNode(s.server), onPath(x.client, s.server), atTarget(s.target, s.server))
	case s.status == opcodes.ENODEV || s.status == opcodes.EAGAIN || s.status == opcodes.EBUSY:
		suspect(&f, atTarget(s.target, s.server), byAdmin, atConfig(x.client))
	}
	f.Text = "The mount "
	if x.fs != "" {
		f.Text += "of " + x.fs + " "
	}
	f.Text += "on " + x.client.String() + " " + what
	f.Prove(x.mgs, "the MGS accepts the client's connect")
	f.Prove(x.log, "the client opens the configuration log of %s", x.fs)
	if s.status != 0 {
		f.Prove(s.at, "refused with %s", errorName(s.status))
	} else {
		f.Prove(s.at, "the client disconnects from the MGS")
	}
	return f
}

// end reports the mounts that are in progress when the capture ends.
func (m *mounts) end() {
	now := m.report.Now()
	for _, x := range fifo.All(m.nodes) {
		why, refused := x.refusal()
		if isSet(x.mgsRefused.at) && !isSet(x.mgs) {
			why, refused = "the MGS refused its connect with "+errorName(x.mgsRefused.status), x.mgsRefused
		}
		if took := now - x.begun.Time; !x.done && took >= mountLong.Nanoseconds() && why != "" {
			f := x.finding("had not succeeded "+duration(took)+" after it began, when the capture ended: "+why+".", refused)
			f.Severity = diagnose.Warning
			f.CompareTime(mountLong, took)
			m.report.Report(f)
		}
	}
}

var _ = addLines(diagnose.Rule{
	Code:     "mount.reported",
	Severity: diagnose.Error,
	Noun:     "logged mount error",
	Summary:  "A node reports that a mount failed, or that it got no configuration.",
	Meaning:  "The name of the file system, the address of the MGS, or what a server lets this node do is wrong, the MGS cannot be reached, or the device of a target fails.",
	Next:     "The line has the step that failed. lctl ping of the MGS; the names on the MGS: lctl --device MGS llog_catlist.",
}, lines{
	ofClient: true,
	apart:    true,
	ofThread: true,
	kinds:    []debuglog.Kind{debuglog.MountFailed, debuglog.ConfigFailed},
	where: func(l *track.LogLine) []diagnose.Place {
		places := []diagnose.Place{atConfig(l.Node), atTarget("MGS", l.Peer), byAdmin}
		if l.Device != "" {
			return []diagnose.Place{atStorage(l.Target, l.Node), atConfig(l.Node), byAdmin}
		}
		switch l.Status {
		case 0, opcodes.EIO, opcodes.ETIMEDOUT, opcodes.ENOTCONN, opcodes.ESHUTDOWN: // it may be no answer of the MGS
			places = append(places, atNode(l.Peer), diagnose.Between(diagnose.AtPath, l.Node, l.Peer), diagnose.Between(diagnose.AtLNet, l.Node, l.Peer))
		}
		return places
	},
})
