package otlp

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// TraceID identifies a trace: one RPC, as all sensors see it.
type TraceID [16]byte

// SpanID identifies a span: one RPC, as one side sees it.
type SpanID [8]byte

func (t TraceID) String() string { return hex.EncodeToString(t[:]) }
func (s SpanID) String() string  { return hex.EncodeToString(s[:]) }

// TraceOf returns the trace id of an RPC: the first 16 bytes of the SHA-256 of the
// client's address, a space, and the xid in decimal. Every sensor that knows these
// two computes the same id.
func TraceOf(client string, xid uint64) TraceID {
	var text [128]byte
	sum := sha256.Sum256(appendRPC(text[:0], client, xid))
	return TraceID(sum[:16])
}

// SpanOf returns the id of the span of one side of an RPC: the first 8 bytes of
// the SHA-256 of the text that TraceOf hashes, a space, "client" or "server", a
// space, and the attempt in decimal. So the sensor of a server can name the
// client's span as the parent of its own.
func SpanOf(client string, xid uint64, side Kind, attempt uint32) SpanID {
	var text [160]byte
	b := appendRPC(text[:0], client, xid)
	if side == Client {
		b = append(b, " client "...)
	} else {
		b = append(b, " server "...)
	}
	sum := sha256.Sum256(strconv.AppendUint(b, uint64(attempt), 10))
	return SpanID(sum[:8])
}

func appendRPC(b []byte, client string, xid uint64) []byte {
	b = append(append(b, client...), ' ')
	return strconv.AppendUint(b, xid, 10)
}

// Sampled reports whether a trace is one of those to keep if one of n is kept.
// It depends on the id only, by the rule of OpenTelemetry (the last 56 bits are
// the random value), so all sensors keep the same traces, and one that keeps
// fewer has a part of what the others keep. All are kept if n is 0 or 1.
func (t TraceID) Sampled(n uint64) bool {
	const values = 1 << 56
	random := binary.BigEndian.Uint64(t[8:]) & (values - 1)
	return n <= 1 || random >= values-values/n
}
