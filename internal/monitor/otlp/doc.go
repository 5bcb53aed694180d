// Package otlp writes metrics and spans as OTLP has them, as protobuf and spans also as
// JSON. Package export sends them.
//
// The package is independent of Lustre. The caller names spans, metrics and attributes.
//
// # Encoding
//
// Messages are encoded by hand (span.go, metric.go; package protobuf). The length of a
// nested message is written after the message, which is then moved by a few bytes. What
// encloses the spans or metrics of a request is added when it is sent (envelope.go).
//
// # Ids
//
// The ids of traces and spans are hashes of what every sensor sees of an RPC
// (ids.go). So sensors on a client and on a server describe the same trace, and
// choose the same traces if they keep one of n, without a connection between
// them.
package otlp
