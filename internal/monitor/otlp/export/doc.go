// Package export sends metrics and spans to an OTLP receiver, over HTTP with
// protobuf.
//
//	e, err := export.New(export.Config{Service: "lshark", Release: "1.2.3", Host: "oss1", Getenv: os.Getenv})
//	e.Span(&span)        // of each RPC of interest
//	e.Metrics(&snapshot) // once a minute
//	err = e.Shutdown(ctx)
//
// # An unavailable receiver
//
// There is a stream of spans and one of metrics, each with a goroutine, a connection
// and a queue (stream.go). A request that fails in transport, or with status 429, 502,
// 503 or 504, is repeated after a time that doubles from one second to 30, or that the
// receiver chooses. Any other status but success means that the batch is refused. Spans
// wait in a queue of bounded size, which drops the oldest; of metrics only the newest
// snapshot waits. Each item is counted as sent, refused, dropped or waiting.
package export
