package logs

import (
	"fmt"
	"io"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

// Subject is an RPC that lines may be about.
type Subject struct {
	XID            uint64
	Opcode         uint32
	HasOpcode      bool
	Client, Server lnet.NID // Client sent the request
}

// maxMentions lines that only name an xid are held for each log.
const maxMentions = 1 << 14

// ReadLines reads all logs again, and passes on the lines about RPCs, also those that only
// name the xid. The Node of a line is the end of the RPC that wrote it.
func (x *Logs) ReadLines(subjects []Subject, take func(*track.LogLine)) error {
	byXID := map[uint64][]*Subject{}
	for i := range subjects {
		s := &subjects[i]
		byXID[s.XID] = append(byXID[s.XID], s)
	}
	for _, l := range x.logs {
		if err := l.readLines(byXID, take); err != nil {
			return fmt.Errorf("%s: %w", l.Path, err)
		}
	}
	return nil
}

func (l *log) readLines(byXID map[uint64][]*Subject, take func(*track.LogLine)) error {
	r, err := debuglog.Open(l.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	r.Mentions = true
	var mentions []debuglog.Event
	others := map[uint64]bool{} // xids that other RPCs have, too
	var e debuglog.Event
	for err = r.Next(&e); err == nil; err = r.Next(&e) {
		list := byXID[e.XID]
		switch {
		case e.Kind > debuglog.Note || len(list) == 0:
		case isMention(&e):
			if len(mentions) < maxMentions {
				mentions = append(mentions, e)
			}
		default:
			if node, ok := l.writer(&e, list); ok {
				line := l.line(&e, node)
				take(&line)
			} else {
				others[e.XID] = true
			}
		}
	}
	for i := range mentions {
		m := &mentions[i]
		if node, ok := l.writer(m, byXID[m.XID]); ok && !others[m.XID] {
			line := l.line(m, node)
			take(&line)
		}
	}
	if err == io.EOF || l.failed {
		return nil // what failed was reported before
	}
	return err
}

// isMention reports whether an event says of its RPC nothing but the xid.
func isMention(e *debuglog.Event) bool {
	return e.Opcode == debuglog.NoOpcode || e.Peer == (lnet.NID{})
}

// line returns an event as a line by the common clock.
func (l *log) line(e *debuglog.Event, node lnet.NID) track.LogLine {
	line := track.LogLine{Event: *e, Log: l.number, File: l.Name, Node: node}
	line.Time += l.offset
	return line
}

// writer returns the end of the RPC that wrote a line about it, of RPCs with the xid of the
// line. A line that only names the xid is about the only one of which the node is an end.
func (l *log) writer(e *debuglog.Event, list []*Subject) (node lnet.NID, ok bool) {
	// Nodes that have started in the same second give the same xids.
	known := l.compared || l.given || l.serves
	if !isMention(e) {
		served := e.Kind == debuglog.Handling || e.Kind == debuglog.Handled || e.Served
		for _, s := range list {
			if !l.isAbout(served, e.Peer, e.Opcode, s) || !served && !(known && l.self.has(s.Client)) {
				continue
			}
			if node = s.Client; served {
				l.serves, node = true, s.Server
				l.self.add(node)
			}
			return node, true
		}
		return node, false
	}
	for _, s := range list {
		if !known {
			break
		}
		client, server := l.self.has(s.Client), l.self.has(s.Server)
		end := s.Client
		if server {
			end = s.Server
		}
		switch {
		case client && server, ok && (client || server) && end != node:
			return node, false
		case client, server:
			node, ok = end, true
		}
	}
	return node, ok
}
