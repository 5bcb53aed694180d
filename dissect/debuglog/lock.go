package debuglog

import (
	"bytes"
	"strconv"

	"github.com/lshark/lshark/opcodes"
)

// lockForms are the beginnings of lines about locks, which have the mask dlmtrace. What
// follows the lock's namespace (ns) is the same in all of them.
var lockForms = []struct {
	kind  Kind
	words string
}{
	{LockAsked, "client-side enqueue START"},
	{LockAborted, "client-side enqueue END ("},
	{LockEnqueued, "client-side enqueue END ns"},
	{LockBlocked, "client-side enqueue returned a blocked lock"},
	{LockBlockingAST, "blocking ast "},
	{LockCompletionAST, "client completion callback handler START"},
	{LockGlimpseAST, "client glimpse AST callback handler"},
	{LockASTHandled, "client blocking callback handler END"},
	{LockConverts, "client lock convert START"},
	{LockTaken, "client-side cancel"},
	{LockPacked, "packing ns"},
	{LockReplayed, "replaying lock"},
	{LockCreated, "server-side enqueue handler, new lock created"},
	{LockReplied, "server-side enqueue handler, sending reply"},
	{LockConflict, "lock incompatible; sending blocking AST"},
	{LockAsksBack, "server preparing blocking AST"},
	{LockCompletes, "server preparing completion AST"},
	{LockCancel, "server-side cancel handler START"},
	{LockCanceled, "server-side cancel handler END"},
	{LockFreed, "final lock_put on destroyed lock"},
}

// Lock is what a line says about a lock.
type Lock struct {
	Handle   uint64 // of the node of the log
	Remote   uint64 // that of the other node; 0 if the lock has none there or the line does not know it
	OnClient bool   // the node has asked a server for the lock
	Intent   bool   // of LockAsked: the lock is asked for along with other work
	Desc     opcodes.LockDesc
	Dropped  uint64 // bits of an inode lock that are given back
}

// readLock reads a line about a lock:
//
//	### TEXT ns: NAMESPACE lock: ADDRESS/0xHANDLE lrc: 3/1,0 mode: --/PW res: [0x280000401:0x2:0x0].0x0 rrc: 4
//	type: EXT [0->4095] (req 0->0) gid 0 flags: 0x0 nid: 192.0.2.4@tcp remote: 0xHANDLE expref: 14 pid: 531 timeout: 0 lvb_type: 0
func (e *Event) readLock(b []byte, names *names) bool {
	for i := range lockForms {
		if f := &lockForms[i]; bytes.HasPrefix(b, []byte(f.words)) {
			e.Kind = f.kind
			break
		}
	}
	switch e.Kind {
	case 0:
		return false
	case LockCancel, LockCanceled:
		return true
	case LockReplied:
		_, after, _ := bytes.Cut(b, []byte("(err="))
		status, _, _ := bytes.Cut(after, []byte(","))
		n, ok := signed(status)
		if e.Status = int32(n); !ok {
			return false
		}
	case LockAsked:
		_, after, _ := bytes.Cut(b, []byte("flags 0x"))
		flags, _, _ := bytes.Cut(after, []byte(" "))
		n, _ := strconv.ParseUint(string(flags), 16, 64)
		e.Lock.Intent = n&hasIntent != 0
	}
	at := bytes.Index(b, []byte(" ns: "))
	return at >= 0 && e.readLockParts(b[at+len(" ns: "):], names)
}

var hasIntent = opcodes.LdlmFlags.Bit("HAS_INTENT")

func (e *Event) readLockParts(b []byte, names *names) bool {
	l := &e.Lock
	space, b, _ := bytes.Cut(b, []byte(" lock: "))
	_, b, _ = bytes.Cut(b, []byte("/0x"))
	handle, b, _ := bytes.Cut(b, []byte(" "))
	_, b, _ = bytes.Cut(b, []byte(" mode: "))
	mode, b, found := bytes.Cut(b, []byte(" res: ["))
	l.Handle, _ = strconv.ParseUint(string(handle), 16, 64)
	if !found || l.Handle == 0 {
		return false
	}
	target := targetOf(space)
	if l.OnClient = len(target) != len(space); !l.OnClient {
		target = bytes.TrimPrefix(bytes.TrimPrefix(space, []byte("mdt-")), []byte("filter-"))
	}
	e.Target, e.Name = names.text(bytes.TrimSuffix(target, []byte("_UUID"))), names.text(space)
	granted, requested, _ := bytes.Cut(mode, []byte("/"))
	l.Desc.Granted, l.Desc.Requested = lockMode(granted), lockMode(requested)

	words, b, _ := bytes.Cut(b, []byte(" "))
	for i := range l.Desc.Name {
		word := bytes.TrimPrefix(words, []byte("0x"))
		n := 0
		for n < len(word) && isHex(word[n]) {
			n++
		}
		var err error
		if l.Desc.Name[i], err = strconv.ParseUint(string(word[:n]), 16, 64); err != nil {
			return false
		}
		words = bytes.TrimLeft(word[n:], ":].")
	}
	if bits, ok := bytes.CutPrefix(b, []byte("bits 0x")); ok {
		bits, dropped, _ := bytes.Cut(bits, []byte("/0x"))
		l.Desc.Bits, _ = strconv.ParseUint(string(bits), 16, 64)
		l.Dropped, _ = strconv.ParseUint(string(word(dropped)), 16, 64)
	}
	_, b, _ = bytes.Cut(b, []byte("type: "))
	kind, b, _ := bytes.Cut(b, []byte(" "))
	if !l.readPolicy(kind, b) {
		return false
	}
	if nid, rest, ok := bytes.Cut(after(b, " nid: "), []byte(" ")); ok && string(nid) != "local" {
		e.Peer, b = names.nid(nid), rest
	}
	remote, _, _ := bytes.Cut(after(b, "remote: 0x"), []byte(" "))
	l.Remote, _ = strconv.ParseUint(string(remote), 16, 64)
	return true
}

// readPolicy reads what follows the kind of the lock.
func (l *Lock) readPolicy(kind, b []byte) bool {
	d := &l.Desc
	switch string(kind) {
	case "PLN":
		d.Kind = plainLock
		return true
	case "IBT":
		d.Kind = opcodes.InodeLock
		return true
	case "EXT":
		d.Kind = opcodes.ExtentLock
		d.Group, _ = unsigned(word(after(b, " gid ")))
	case "FLK":
		d.Kind = opcodes.FlockLock
		pid, _ := unsigned(word(after(b, "pid: ")))
		d.PID = uint32(pid)
	default:
		return false
	}
	begin, end, _ := bytes.Cut(after(b, "["), []byte("->"))
	end, _, _ = bytes.Cut(end, []byte("]"))
	var err1, err2 error
	d.Start, err1 = strconv.ParseUint(string(begin), 10, 64)
	d.End, err2 = strconv.ParseUint(string(end), 10, 64)
	return err1 == nil && err2 == nil
}

var plainLock = opcodes.LdlmType.Number("PLAIN")

// lockMode returns a mode by its name, 0 for none (--).
func lockMode(b []byte) uint64 {
	for i := range opcodes.LdlmMode.Values {
		if v := &opcodes.LdlmMode.Values[i]; !v.Alias && v.Name == string(b) {
			return v.Value
		}
	}
	return 0
}

func isHex(c byte) bool { return c-'0' <= 9 || c-'a' <= 5 }

// after returns what follows words, nothing where they are missing.
func after(b []byte, words string) []byte {
	_, b, _ = bytes.Cut(b, []byte(words))
	return b
}

// word returns the text in front of the next space.
func word(b []byte) []byte {
	w, _, _ := bytes.Cut(b, []byte(" "))
	return w
}
