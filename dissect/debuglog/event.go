package debuglog

import (
	"bytes"

	"github.com/lshark/lshark/dissect/lnet"
)

// Kind is what an Event is about.
type Kind uint8

// The kinds. A node logs Sent and Completed for its own requests, Handling and Handled for
// the requests that it serves.
const (
	Sent      Kind = iota + 1 // a request goes to LNet for the first time
	Completed                 // the RPC is over for the node that sent it
	Handling                  // a thread begins with a request
	Handled                   // the thread is ready with it
	Note                      // anything else about a request, in words
)

// The kinds of lines about connections. Those of the client's node come first, and have
// the Name of the import except where the line has none.
const (
	ImportState   Kind = iota + Note + 1 // an import changes its State
	Connecting                           // an import connects to a server
	ConnectFailed                        // with a Status; of no Name, after the ImportState of the same thread
	Instance                             // of the target that accepted a connect: Number
	Lost                                 // the connection was lost
	Restored                             // it can be used again
	WasEvicted                           // the server has evicted the client
	Idle                                 // the client disconnects for want of work

	Connected     // a client connects
	Reconnected   // a client connects that the server still knows
	Refused       // a connect is refused because the target is not there, or stops
	Evicting      // a client is evicted, for a Reason
	Stopped       // a target was unmounted
	RecoveryBegin // a target waits for a Number of clients that it had
	RecoveryEnd   // it waits no longer: of a Number of clients, so many are Recovered

	BadChecksum // the data of a read or write changed between the nodes; of the client or the server
	ThreadStuck // a service thread, of which Number is the process id, works for a request for long: Service
	ThreadOver  // it is ready with it
)

// The kinds of other lines of the console.
const (
	RequestFailed  Kind = iota + ThreadOver + 1 // a server answered a request with an error: Opcode, Peer, Status
	HandleChanged                               // the server of an import does not know the client any more
	TransnoBack                                 // the server of an import has lost what it said was committed
	Deactivated                                 // an administrator has deactivated an import
	ReplayFailed                                // of an import, for a version that does not fit
	VersionDiffers                              // client and server are of very different versions
	Unregistering                               // a Number of RPCs of an import wait for LNet to let them go
	PagesDiscarded                              // data that was not yet written is thrown away, with a Status

	Denied         // a connect is denied, for a Reason
	Replaced       // a client connects anew, and its former connection is removed
	CallbackFailed // a client is evicted since a lock callback (State: blocking, completion or glimpse) failed: Peer, Status
	StaleClients   // a Number of clients are evicted, for a Reason
	CookieUnknown  // a client sends a request of a connection that is gone
	LockTimedOut   // a lock was not granted for Service
	SecurityFailed // of GSS, with a Status
	IdentityFailed // the groups of a user could not be found out, with a Status

	RecoveryWaits    // a recovery has not begun, since no client came
	RecoveryTimedOut // a recovery takes longer than it may
	RecoveryAborted

	Loaded // the modules of Lustre were loaded
	Mounted
	Unmounted
	MountFailed  // of a client or target, with a Status where the line has one
	ConfigFailed // the configuration could not be read from the MGS
	Started      // a target was mounted
	FailingOver  // a target begins to stop
	UnmountStuck // a target or client cannot stop, since a Number of locks or connections are in use

	StackOf     // the stack of a thread follows: Process, Number is its id
	StackFrame  // a function of a stack, Text
	ServiceSlow // a service does not keep up with its requests: Process
	TaskHung    // a thread did not run for Service: Process, Number is its id
	CPUStuck

	BulkFailed // data were not transferred
	GrantWrong // a client claims more grant than it has (Number)
	StorageError
	StorageSlow // something took Service
	NoSpace
	QuotaError
	PrecreateFailed // an OST makes no objects for an MDT, or slowly
	ObjectIDsDiffer // the MDT and the OST do not agree which objects there are
	ScrubStarted    // the object index does not fit the objects
	LFSCKFailed

	NetStarted // LNet has a network interface, Peer
	NetStopped
	NetError        // a message to or from a Peer failed, or a connection, for a Reason
	NetDropped      // LNet drops a message to a Peer
	NetRecovering   // a Number of interfaces of peers or the node itself are not healthy
	NetDeviceFailed // of the interface Peer
	NetDeviceBack

	Booted
	ShuttingDown
	Bug   // Lustre or ZFS found that a condition does not hold
	Panic // of the kernel
	OutOfMemory
	MemoryError // of the hardware
	LinkDown
	LinkUp
	DiskError   // a Device could not read or write
	DiskTimeout // it did not answer in time
	RaidFailed  // it was taken out of its array
	PathFailed  // of several paths to it
	PathBack
	FilesystemError // the file system on it is damaged, or read-only

	Injected // a fault that a test wants
	Marker   // a test or an administrator has written Text
	Skipped  // the line before was written a Number of times more
)

// The kinds of lines about locks, of a Reader that is asked for Locks. Those of the node
// that asks a server for a lock come first.
const (
	LockAsked         Kind = iota + Skipped + 1
	LockEnqueued           // the reply has the lock, and it was granted
	LockAborted            // there is no lock, or an error
	LockBlocked            // the reply says that the lock has to wait
	LockBlockingAST        // a blocking callback came
	LockCompletionAST      // a completion callback came
	LockGlimpseAST         // a glimpse callback came
	LockASTHandled         // the node has done what a blocking callback wants, or what it wants itself
	LockConverts           // the node gives some bits of the lock back
	LockTaken              // the node takes the lock back from those that use it
	LockPacked             // the lock goes into a request that gives it back
	LockReplayed           // the lock is given back to a restarted server

	LockCreated   // for a request that asks for a lock
	LockReplied   // the reply goes out: with a Status
	LockConflict  // the lock keeps the one waiting that the thread asks for
	LockAsksBack  // a blocking callback is made
	LockCompletes // a completion callback is made
	LockCancel    // a thread takes locks back, up to LockCanceled
	LockCanceled
	LockFreed // the last reference to a lock that was given back; of both sides
)

// Event is what a line says about an RPC or a connection.
type Event struct {
	Kind    Kind
	Line    int64  // number of the line in the log
	Time    int64  // nanoseconds since the epoch, by the clock of the node
	Console bool   // a line of the console
	Host    string // that wrote it; empty: the log does not say
	PID     uint32 // of the thread that wrote the line
	XID     uint64
	Opcode  uint32
	Peer    lnet.NID // the other node; the zero NID: unknown
	Process string   // the thread of a server, or the process that sends
	UUID    string   // of the client
	Refs    int32    // references to the export, of Handling and Handled
	Job     string
	User    User
	Target  string // by the name of the import or device
	Name    string // of an import, as in lustre-OST0000-osc-ff1100000cfff000
	Served  bool   // of a Note: the node serves the request, else it sends it

	Lock Lock // of lines about locks

	Import    uint64 // address of the import, of ImportState and Connecting
	Before    string // state, of ImportState
	State     string // the new one
	Reason    Reason // of Evicting, StaleClients, Denied, NetError and Notes
	Device    string // of a disk, file system or link
	Number    uint32
	Recovered uint32

	// Of Handled.
	Service     int64 // nanoseconds from Handling on; of lines about threads, too, and of requests that were given up, from when they were sent
	Total       int64 // nanoseconds from the arrival of the request on
	Transno     uint64
	Status      int32 // of the request
	ReplyStatus int32 // of the reply, NoReply where none was made

	Text string // of a Note, in front of what the request is; else of a line about a connection
}

// User is who a request is for, as far as the log says so.
type User struct {
	UID, GID uint32
	Known    bool
}

// Reason is why something happened.
type Reason uint8

// The reasons of Evicting and StaleClients.
const (
	NoReason       Reason = iota
	ByLockCallback        // it did not give back a lock in time
	BySilence             // nothing was heard from it
	ByAdmin               // an administrator wanted it
	ByRecovery            // it did not come back in the recovery
	ByReplay              // what it replays does not fit
)

// The reasons of Denied.
const (
	InRecovery  Reason = iota + ByReplay + 1 // the target waits for a Number of others, of which so many are Recovered
	StillBusy                                // the target works for the client still
	OtherClient                              // another client has the same UUID, or the client has changed
	ByNodemap
	ByVersion
)

// The reasons of NetError.
const (
	NetTimeout Reason = iota + ByVersion + 1
	NetRefused
	NetReset
	NetUnreachable
	NetRouteless
	NetRace   // both nodes have connected at once
	NetStale  // the peer has restarted
	NetFailed // with a Status where the line has one
)

// The reasons that lines of the kind Note have; other Notes have NoReason.
const (
	SlowReply    Reason = iota + NetFailed + 1 // a request was sent, and no reply came in time
	SentDelay                                  // a request could not be sent in time
	NetworkError                               // a request could not be sent
	TookLong                                   // the server was late
	NoTimeAdded                                // the server could not ask the client to wait longer
	PastDeadline                               // the same, since it is too late
	DroppedLate                                // the server has thrown away a request that it got too late
	BulkTimeout                                // data did not come in time
	BulkUnsent                                 // data could not be transferred
	BulkError
	ReplayMismatch
	ReplayTimeout
	WrongFlavor  // of security
	ReplyDropped // a fault that a test wants
	IOFailed     // a read or write failed with EIO, and is tried again
)

// NoReply is the ReplyStatus of a request to which no reply was made.
const NoReply = -999

// kinds are the lines about RPCs, by their first words.
var kinds = []struct {
	words string
	kind  Kind
}{{"Sending RPC ", Sent}, {"Completed RPC ", Completed}, {"Handling RPC ", Handling}, {"Handled RPC ", Handled}}

// read makes an Event of a line. It returns false when the line is about nothing that
// has a Kind. Those about locks are read only where locks is set.
func (e *Event) read(l *Line, names *names, locks bool) bool {
	*e = Event{Time: l.Time, PID: l.PID}
	if names.only != nil {
		return l.Mask != MaskConsole && e.readForm(l.Message, names)
	}
	if l.Mask&MaskRPCTrace != 0 {
		for _, k := range kinds {
			if rest, ok := bytes.CutPrefix(l.Message, []byte(k.words)); ok {
				e.Kind = k.kind
				return e.readRPC(rest, names)
			}
		}
	}
	switch {
	case bytes.HasPrefix(l.Message, []byte("@@@ ")):
		e.Kind = Note
		return e.readNote(l.Message, names) && e.readRequest(l.Message, names)
	case l.Mask&MaskDLMTrace != 0:
		text, ok := bytes.CutPrefix(l.Message, []byte("### "))
		return ok && locks && e.readLock(text, names)
	}
	return l.Mask&(MaskHA|MaskError|MaskWarning|MaskConsole) != 0 && e.readForm(l.Message, names)
}

// readRPC reads what follows the first words of a line about an RPC. Up to 2.14 there is
// no address of the request, up to 2.12 no job:
//
//	req@0000000003e3e612 pname:cluuid+ref:pid:xid:nid:opc:job mdt00_000:fa7f…+11:183:x1882522806225664:12345-192.0.2.4@tcp:400:
func (e *Event) readRPC(b []byte, names *names) bool {
	if bytes.HasPrefix(b, []byte("req@")) {
		_, b, _ = bytes.Cut(b, []byte(" "))
	}
	form, b, ok := bytes.Cut(b, []byte(" "))
	if !ok || !bytes.HasPrefix(form, []byte("pname:cluuid")) {
		return false
	}
	if e.Kind == Handled {
		at := bytes.LastIndex(b, []byte(" Request processed in "))
		if at < 0 || !e.readTimes(b[at+len(" Request processed in "):]) {
			return false
		}
		b = b[:at]
	}
	return e.readIDs(b, names)
}

// readTimes reads the end of the line of a request that was handled:
//
//	256us (780us total) trans 0 rc 0/0
func (e *Event) readTimes(b []byte) bool {
	service, b, _ := bytes.Cut(b, []byte("us ("))
	total, b, _ := bytes.Cut(b, []byte("us total) trans "))
	transno, b, _ := bytes.Cut(b, []byte(" rc "))
	status, reply, _ := bytes.Cut(b, []byte("/"))
	us, ok1 := signed(service)
	all, ok2 := signed(total)
	rc, ok3 := signed(status)
	sent, ok4 := signed(bytes.TrimRight(reply, " \r"))
	number, ok5 := unsigned(transno)
	e.Service, e.Total, e.Transno, e.Status, e.ReplyStatus = us*1e3, all*1e3, number, int32(rc), int32(sent)
	return ok1 && ok2 && ok3 && ok4 && ok5
}

// readIDs reads process, client, pid, xid, NID, opcode and job, with colons between them.
// Names of processes have colons, too (kworker/0:1), and so have IPv6 addresses and jobs.
func (e *Event) readIDs(b []byte, names *names) bool {
	for at := 0; ; {
		n := bytes.IndexByte(b[at:], ':')
		if n < 0 {
			return false
		}
		at += n + 1
		p := parser{b: b[at:]}
		uuid, pid, xid := p.word(':'), p.word(':'), bytes.TrimPrefix(p.word(':'), []byte("x"))
		if p.failed {
			return false
		}
		number, isNumber := unsigned(xid)
		if _, isPID := signed(pid); !isPID || !isNumber {
			continue
		}
		e.XID, e.Process = number, names.text(b[:at-1])
		if plus := bytes.LastIndexByte(uuid, '+'); plus >= 0 && (e.Kind == Handling || e.Kind == Handled) {
			refs, _ := signed(uuid[plus+1:])
			e.Refs, uuid = int32(refs), uuid[:plus]
		}
		e.UUID = names.text(uuid)
		return e.readPeer(p.b, names)
	}
}

// readPeer reads NID, opcode and job.
func (e *Event) readPeer(b []byte, names *names) bool {
	at := bytes.IndexByte(b, '@')
	if at < 0 {
		return false
	}
	end := at + bytes.IndexByte(b[at:], ':')
	if bytes.HasPrefix(b[at+1:], []byte("<")) { // a network without a name: 0@<0:0>
		end = at + bytes.IndexByte(b[at:], '>') + 1
	}
	if end <= at || end >= len(b) || b[end] != ':' {
		return false
	}
	e.Peer = names.nid(b[:end])
	opc, job, _ := bytes.Cut(b[end+1:], []byte(":"))
	number, ok := unsigned(bytes.TrimRight(opc, " \r"))
	e.Opcode, e.Job = uint32(number), names.text(bytes.TrimRight(job, "\r"))
	return ok
}

// readNote reads a line about a request in words, which ends with what the request is:
//
//	@@@ going to resend  req@0000000003e3e612 x1882453915800448/t0(0) o101->lustre-MDT0000-mdc-ff11@192.0.2.1@tcp:12/10 lens …
func (e *Event) readNote(b []byte, names *names) bool {
	at := bytes.LastIndex(b, []byte(" req@"))
	if at < 0 {
		return false
	}
	p := parser{b: b[at+1:]}
	p.word(' ')
	xid := bytes.TrimPrefix(p.word('/'), []byte("x"))
	p.word('o')
	opc := p.word('-')
	to := bytes.TrimPrefix(p.word(' '), []byte(">"))
	number, ok := unsigned(xid)
	opcode, hasOpcode := unsigned(opc)
	if p.failed || !ok || !hasOpcode {
		return false
	}
	e.XID, e.Opcode, e.Text = number, uint32(opcode), names.text(bytes.Trim(b[len("@@@"):at], " "))
	if f := e.match(bytes.TrimRight(b[:at], " "), names); f != nil {
		e.Kind, e.Reason = f.kind, f.reason
	}
	net := bytes.LastIndexByte(to, '@')
	if net < 0 {
		return true
	}
	name := to[:max(0, bytes.LastIndexByte(to[:net], '@'))]
	nid, portals, _ := bytes.Cut(to[net:], []byte(":"))
	e.Peer = names.nid(bytes.TrimPrefix(to[len(name):net+len(nid)], []byte("@")))
	if e.Served = bytes.HasSuffix(portals, []byte("/0")); !e.Served {
		e.setName(name, names)
	}
	return true
}

// readRequest reads how long a node waited for a reply that it gave up, the job and the user:
//
//	@@@ Request sent has timed out for slow reply: [sent 1795315025/real 1795315025]  req@… dl 1795315198 ref 2 … job:'dd.0' uid:0 gid:0 projid:0
func (e *Event) readRequest(b []byte, names *names) bool {
	job, rest, _ := bytes.Cut(after(b, " job:'"), []byte("'"))
	e.Job = names.text(job)
	if uid, ok := unsigned(word(after(rest, " uid:"))); ok && uid != noID {
		gid, ok := unsigned(word(after(rest, " gid:")))
		e.User = User{uint32(uid), uint32(gid), ok}
	}
	sent, _, ok := bytes.Cut(after(b, "[sent "), []byte("/"))
	begin, ok2 := unsigned(sent)
	if !ok || !ok2 {
		return true
	}
	if ns := e.Time - int64(begin)*1e9; ns >= 0 && ns < maxWaited {
		e.Service = ns
	} else if end, ok := unsigned(word(after(b, " dl "))); ok && end > begin && int64(end-begin) < maxWaited/1e9 && e.GaveUp() == SlowReply {
		e.Service = int64(end-begin) * 1e9
	}
	return true
}

const maxWaited = int64(3600e9) // a longer one is by another clock

const noID = 1<<32 - 1 // of users and groups, where a request has none

// NoOpcode is the Opcode of a Note that has only an xid.
const NoOpcode = ^uint32(0)

// readMention reads a line that names an xid as x1882453915800448 anywhere.
func (e *Event) readMention(l *Line) bool {
	for b := l.Message; ; {
		at := bytes.IndexByte(b, 'x')
		if at < 0 {
			return false
		}
		start := len(l.Message) - len(b) + at
		b = b[at+1:]
		digits := b[:len(b)-len(bytes.TrimLeft(b, "0123456789"))]
		xid, ok := unsigned(digits)
		if !ok || len(digits) < minXIDDigits || start > 0 && isWord(l.Message[start-1]) || len(digits) < len(b) && isWord(b[len(digits)]) {
			continue
		}
		*e = Event{Kind: Note, Time: l.Time, PID: l.PID, XID: xid, Opcode: NoOpcode, Text: string(l.Message)}
		return true
	}
}

// minXIDDigits is fewer digits than an xid has, which begins with the time of day.
const minXIDDigits = 10

func isWord(c byte) bool { return c == '_' || c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'z' }

var mgs = []byte("MGS")

// targetOf returns the target that the name of an import has, as in
// lustre-OST0000-osc-ff1100000cfff000; callbacks have the name of the target itself.
func targetOf(name []byte) []byte {
	if bytes.HasPrefix(name, []byte("MGC")) {
		return mgs
	}
	for _, device := range []string{"-osc-", "-mdc-", "-osp-", "-lwp-"} {
		if at := bytes.Index(name, []byte(device)); at > 0 {
			return name[:at]
		}
	}
	return name
}

// names holds the texts and NIDs that lines repeat, so that an Event costs no memory.
type names struct {
	texts map[string]string
	nids  map[string]lnet.NID

	spaces []byte // of oneSpace
	only   *table // the forms that are read; nil: all, and what has no form
}

// maxNames texts or NIDs are held.
const maxNames = 1 << 14

func (n *names) text(b []byte) string {
	s, ok := n.texts[string(b)]
	if !ok {
		if s = string(b); n.texts == nil || len(n.texts) == maxNames {
			n.texts = map[string]string{}
		}
		n.texts[s] = s
	}
	return s
}

// nid returns a NID, which may have the process id of LNet in front: 12345-192.0.2.4@tcp.
func (n *names) nid(b []byte) lnet.NID {
	nid, ok := n.nids[string(b)]
	if !ok {
		text := b
		if pid, rest, found := bytes.Cut(b, []byte("-")); found {
			if _, isNumber := unsigned(pid); isNumber {
				text = rest
			}
		}
		nid, _ = lnet.ParseNID(string(text))
		n.hold(b, nid)
	}
	return nid
}

func (n *names) hold(b []byte, nid lnet.NID) {
	if n.nids == nil || len(n.nids) == maxNames {
		n.nids = map[string]lnet.NID{}
	}
	n.nids[string(b)] = nid
}

// address returns the NID of an IP address, which only the LND of TCP prints.
func (n *names) address(b []byte) lnet.NID {
	nid, ok := n.nids[string(b)]
	if !ok {
		nid, _ = lnet.ParseNID(string(b) + "@tcp")
		n.hold(b, nid)
	}
	return nid
}
