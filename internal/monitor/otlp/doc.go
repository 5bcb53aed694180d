// Package otlp sends metrics and spans to an OTLP receiver, over HTTP with
// protobuf.
//
//	e, err := otlp.New(otlp.Config{Service: "lshark", Release: "1.2.3", Host: "oss1", Getenv: os.Getenv})
//	e.Span(&span)        // of each RPC of interest
//	e.Metrics(&snapshot) // once a minute
//	err = e.Shutdown(ctx)
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
//
// # An unavailable receiver
//
// There is a stream of spans and one of metrics, each with a goroutine, a connection
// and a queue (stream.go). A request that fails in transport, or with status 429, 502,
// 503 or 504, is repeated after a time that doubles from one second to 30, or that the
// receiver chooses. Any other status but success means that the batch is refused. Spans
// wait in a queue of bounded size, which drops the oldest; of metrics only the newest
// snapshot waits. Each item is counted as sent, refused, dropped or waiting.
package otlp
