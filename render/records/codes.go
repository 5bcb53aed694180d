package records

import "github.com/lshark/lshark/dissect/track"

// code is the code of a note, with its meaning.
type code struct{ name, doc string }

var noteCodes = []code{
	{"checksum", "the checksum of the transport is wrong"},
	{"encrypted", "the message is encrypted; only what wraps it can be read"},
	{"foreign", "a message of another network driver of LNet, which is not decoded"},
	{"gap", "bytes are missing because a segment is not in the capture"},
	{"guess", "the layout is guessed: the request is missing or truncated"},
	{"rdma_failed", "the RDMA transfer of the payload was refused or failed"},
	{"replay", "a request that is replayed after recovery"},
	{"resent", "a request that was sent before"},
	{"retransmitted", "a TCP segment or InfiniBand packet with bytes of the message was sent again"},
	{"short", "a buffer is shorter than its length field or its struct"},
	{"tail", "there are bytes after the last known field"},
	{"truncated", "bytes are missing because frames were captured in part or the capture ends"},
	{"unknown", "the bytes match no known layout"},
}

var eventCodes = [...]string{
	track.EventConnect:        "the client sent a connect request",
	track.EventConnected:      "the server accepted the connect",
	track.EventRefused:        "the server refused the connect",
	track.EventLateReply:      "a reply to a connect came after the client had given it up",
	track.EventNotConnected:   "the server does not know the client, or the target is not there",
	track.EventEvicted:        "the server evicted the client",
	track.EventCallback:       "a lock callback was pending when the server evicted the client",
	track.EventReplay:         "the client replayed requests",
	track.EventNotReplayed:    "requests that should have been replayed were not",
	track.EventLockReplay:     "the client replayed locks",
	track.EventPing:           "the client sent pings",
	track.EventPingUnanswered: "pings had no reply",
	track.EventDisconnect:     "the client sent a disconnect request",
	track.EventContextSetup:   "the client asked for a security context",
	track.EventContextReady:   "the security context was set up",
	track.EventContextFailed:  "the server refused the security context",
}

func codes() (list []Entry) {
	for _, c := range noteCodes {
		list = append(list, Entry{Kind: CodeEntry, Name: c.name, Path: c.name, Of: "note", Doc: c.doc})
	}
	for kind, doc := range eventCodes {
		name := track.EventKind(kind).String()
		list = append(list, Entry{Kind: CodeEntry, Name: name, Path: name, Of: "event", Doc: doc})
	}
	return list
}
