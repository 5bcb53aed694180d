package ib

import "fmt"

// CMReason is why the connection manager rejected a connection.
type CMReason uint16

// ConsumerReject is the reason of a REJ that the listening program sent, with a
// reason of its own in the private data.
const ConsumerReject CMReason = 28

var cmReasons = [...]string{
	1:              "no queue pair available",
	2:              "no end-to-end context available",
	3:              "no resources available",
	4:              "timeout",
	5:              "unsupported request",
	6:              "invalid communication id",
	7:              "invalid communication instance",
	8:              "invalid service id",
	9:              "invalid transport service type",
	10:             "stale connection",
	11:             "no such reliable datagram channel",
	12:             "primary remote GID rejected",
	13:             "primary remote LID rejected",
	14:             "invalid primary service level",
	15:             "invalid primary traffic class",
	16:             "invalid primary hop limit",
	17:             "invalid primary packet rate",
	18:             "alternate remote GID rejected",
	19:             "alternate remote LID rejected",
	20:             "invalid alternate service level",
	21:             "invalid alternate traffic class",
	22:             "invalid alternate hop limit",
	23:             "invalid alternate packet rate",
	24:             "redirected to another port and connection manager",
	25:             "redirected to another port",
	26:             "invalid path MTU",
	27:             "insufficient responder resources",
	ConsumerReject: "rejected by the listening program",
	29:             "RNR retry count rejected",
	30:             "duplicate local communication id",
	31:             "invalid class version",
	32:             "invalid primary flow label",
	33:             "invalid alternate flow label",
	35:             "vendor option not supported",
}

// String returns the reason in words.
func (r CMReason) String() string {
	if int(r) < len(cmReasons) && cmReasons[r] != "" {
		return cmReasons[r]
	}
	return fmt.Sprintf("reason %d", uint16(r))
}
