package debuglog

import (
	"bytes"
	"strconv"
	"sync"
	"unicode"
)

// connectionForms are lines about connections: text with parts of these names in braces
// between. Names of imports, targets and uuids have no spaces.
var connectionForms = []struct {
	kind   Kind
	reason Reason
	form   string
}{
	{ImportState, 0, "{import} {target}: changing import state from {before} to {state}"},
	{Connecting, 0, "{name}: import {import} using connection {nid}/{}"},
	{ConnectFailed, 0, "recovery of {target} on {nid} failed ({status})"},
	{Instance, 0, "{name}: connect to target with instance {number}"},
	{Lost, 0, "{name}: Connection to {} (at {nid}) was lost; {}"},
	{Restored, 0, "{name}: Connection restored to {} (at {nid})"},
	{WasEvicted, 0, "{name}: This client was evicted by {}; {}"},
	{Idle, 0, "{name}: disconnect after {} idle"},
	{Connected, 0, "{target}: connection from {uuid}@{nid} {}"},
	{Reconnected, 0, "{target}: Client {uuid} (at {nid}) reconnecting{}"},
	{Refused, 0, "{target}: Not available for connect from {nid} ({})"},
	{Refused, 0, "{target}: not available for connect from {nid} ({}"},
	{Evicting, BySilence, "{target}: haven't heard from client {uuid} (at {nid}) in {}"},
	{Evicting, ByLockCallback, "### lock callback timer expired after {}: evicting client at {nid}  ns: {namespace} {}"},
	{Evicting, ByLockCallback, "### client (nid {nid}) {} blocking AST ({}), evict it ns: {namespace} {}"},
	{Evicting, ByAdmin, "{target}: evicting {uuid} (at {nid}) by administrative request"},
	{Evicting, ByAdmin, "{target}: evicting {uuid} at adminstrative request"},
	{Evicting, ByRecovery, "{target}: disconnect stale client {uuid}@{nid}"},
	{Stopped, 0, "server umount {target} complete"},
	{RecoveryBegin, 0, "{target}: Will be in recovery for at least {}, or until {number} client{} reconnect{}"},
	{BadChecksum, 0, "{name}: BAD {} CHECKSUM: {}from {nid} inode {}"},
	{ThreadStuck, 0, "{process}: service thread pid {number} was inactive for {seconds} seconds.{}"},
	{ThreadStuck, 0, "Service thread pid {number} was inactive for {seconds}s.{}"}, // up to 2.13
	{ThreadOver, 0, "{process}: service thread pid {number} completed after {seconds}s.{}"},
	{ThreadOver, 0, "Service thread pid {number} completed after {seconds}s.{}"},
	{RecoveryEnd, 0, "{target}: Recovery over after {}, of {number} clients {recovered} recovered and {} evicted."},
}

// form is a form of lines: words and the parts that follow each.
type form struct {
	kind   Kind
	reason Reason
	words  [][]byte
	parts  []string
	key    []byte // the longest of the words, which tells most lines apart
}

var connections = sync.OnceValue(func() (list []form) {
	for _, c := range connectionForms {
		f := form{kind: c.kind, reason: c.reason}
		for rest := []byte(c.form); ; {
			words, after, more := bytes.Cut(rest, []byte("{"))
			f.words = append(f.words, words)
			if len(words) > len(f.key) {
				f.key = words
			}
			if !more {
				break
			}
			var part []byte
			part, rest, _ = bytes.Cut(after, []byte("}"))
			f.parts = append(f.parts, string(part))
		}
		list = append(list, f)
	}
	return list
})

// readConnection reads a line about a connection.
func (e *Event) readConnection(b []byte, names *names) bool {
	b = bytes.TrimRight(b, " \r")
	forms := connections()
	for i := range forms {
		f := &forms[i]
		if bytes.Contains(b, f.key) && bytes.HasPrefix(b, f.words[0]) && e.readParts(f, b, names) {
			e.Kind, e.Reason, e.Text = f.kind, f.reason, names.text(b)
			return true
		}
	}
	return false
}

const maxThreadTime = 1e9 // seconds

// readParts reads the parts of a line of a form.
func (e *Event) readParts(f *form, b []byte, names *names) bool {
	rest := b[len(f.words[0]):]
	for i, part := range f.parts {
		end := f.words[i+1]
		n := len(rest)
		if len(end) > 0 {
			if n = bytes.Index(rest, end); n < 0 {
				return false
			}
		} else if i < len(f.parts)-1 {
			return false
		}
		if !e.setPart(part, rest[:n], names) {
			return false
		}
		rest = rest[min(len(rest), n+len(end)):]
	}
	return len(rest) == 0
}

// setPart sets a part of a line by its name.
func (e *Event) setPart(part string, b []byte, names *names) bool {
	switch part {
	case "":
		return true
	case "import":
		n, err := strconv.ParseUint(string(b), 16, 64)
		e.Import = n
		return err == nil
	case "status":
		n, ok := signed(b)
		e.Status = int32(n)
		return ok
	case "number", "recovered":
		n, ok := unsigned(b)
		if part == "number" {
			e.Number = uint32(n)
		} else {
			e.Recovered = uint32(n)
		}
		return ok
	case "seconds":
		s, err := strconv.ParseFloat(string(b), 64)
		e.Service = int64(s * 1e9)
		return err == nil && s >= 0 && s < maxThreadTime
	case "nid":
		e.Peer = names.nid(b)
		return true // it may be <unknown>
	}
	if len(b) == 0 || bytes.ContainsFunc(b, func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }) {
		return false // the imports of servers to clients have no target: what is printed there is not set
	}
	switch part {
	case "process":
		e.Process = names.text(b)
	case "name":
		e.setName(b, names)
	case "target":
		e.Target = names.text(bytes.TrimSuffix(b, []byte("_UUID")))
	case "uuid":
		e.UUID = names.text(b)
	case "before":
		e.Before = names.text(b)
	case "state":
		e.State = names.text(b)
	case "namespace":
		b = bytes.TrimPrefix(bytes.TrimPrefix(b, []byte("filter-")), []byte("mdt-"))
		e.Target = names.text(bytes.TrimSuffix(b, []byte("_UUID")))
	}
	return true
}

// setName sets the name of an import, and the target that it has.
func (e *Event) setName(b []byte, names *names) {
	e.Name, e.Target = names.text(b), names.text(targetOf(b))
}
