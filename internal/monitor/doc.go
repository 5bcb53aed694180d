// Package monitor counts RPCs, connections, lock waits, evictions and findings over a long
// capture as metrics, and selects RPCs that are written as records or sent as spans.
//
// A Monitor gets what a pass over the frames has: messages, marked TCP segments
// (retransmissions and others), runs of bytes that were not captured. It has an Engine of
// package diagnose, whose trackers and rules follow them, and adds hooks of its own that
// count (count.go) and select (selection.go). Which metrics there are is in families.go and, of
// those that are read from counts elsewhere, in collected.go; package metrics keeps and exposes them.
//
// A Recorder writes selected RPCs to Parquet files that it rotates and prunes, in a
// goroutine of its own. RPCs that do not fit its queue are dropped and counted.
//
// # Bounds
//
// The trackers have bounds of their own, and so has each family of metrics. What rules
// remember and find is bounded for one capture; of a live capture it is dropped once an
// hour, when the rules start again (Monitor.restart).
package monitor
