// Package otlp sends metrics and spans to an OTLP receiver, over HTTP with
// protobuf.
//
//	resource, err := otlp.NewResource("lshark", "1.2.3", "oss1", os.Getenv)
//	config := otlp.Config{Resource: resource}
//	err = config.ApplyEnvironment(os.Getenv)
//	e, err := otlp.New(config)
//	e.Start()
//	e.Span(&span)        // of each RPC of interest
//	e.Metrics(&snapshot) // once a minute
//	err = e.Shutdown(ctx)
//
// The package is independent of Lustre. The caller names spans, metrics and attributes.
//
// # Encoding
//
// Messages are encoded by hand (span.go, metric.go; package protobuf), directly into
// the body of the next request (batch.go). The length of a nested message is
// written after the message, which is then moved by a few bytes; the enclosing
// messages are written into room before the first item. Adding a span allocates
// nothing.
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
// There is a sender for spans and one for metrics, each with a goroutine, a
// connection and a queue (sender.go, queue.go). A request that fails in
// transport, or with status 429, 502, 503 or 504, is repeated after a time that
// doubles from one second to 30, or that the receiver chooses. Any other status
// but success means that the batch is refused. Spans wait in a queue of bounded
// size, which drops the oldest; of metrics only the newest snapshot waits. Each
// item is counted as sent, refused, dropped or waiting.
package otlp
