package rules

import (
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Errors of replies.
const (
	eperm      = -1
	enoent     = -2
	eagain     = -11
	eacces     = -13
	ebusy      = -16
	enodev     = -19
	einval     = -22
	erofs      = -30
	eproto     = -71
	eoverflow  = -75
	enotconn   = -107
	eshutdown  = -108
	etimedout  = -110
	ealready   = -114
	einprogess = -115
)

// errorName returns the name of an error, such as ENODEV.
func errorName(status int32) string {
	if name := opcodes.GSSErrorName(status); name != "" {
		return name
	}
	return schema.Errnos.Name(uint64(-int64(status)))
}

// connectErrors has what the error of a refused connect means.
var connectErrors = map[int32]string{
	eperm:     "the nodemap of the server does not admit this client, or it is banned",
	eagain:    "the target does not take connects for now, as while it is being started",
	eacces:    "the server does not admit this client: the security flavor is not the one that it expects, or its nodemap forbids it",
	ebusy:     "the target is in recovery and does not take new clients until that is over, or it is still busy with requests of this client",
	enodev:    "the target is not on this server, or not started",
	einval:    "the server cannot make sense of the connect",
	erofs:     "the server lets this client mount read-only at most",
	eproto:    "client and server have no common protocol version",
	eshutdown: "the server is being stopped",
	ealready:  "the server is still at work on an earlier connect of this client, or thinks that it is connected",
}

// errnoText returns what the error of a refused connect means.
func errnoText(status int32) string {
	if text, ok := connectErrors[status]; ok {
		return text
	}
	return "for a reason that only its log has"
}

// opcodeName returns the name of an operation.
func opcodeName(opcode uint32) string { return opcodes.Opcodes.Name(uint64(opcode)) }
