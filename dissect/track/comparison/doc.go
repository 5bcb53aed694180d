// Package comparison finds what differs between two captures beyond noise: in the
// statistics of RPCs, and in the connect flags and releases of connections.
//
// A Stats measures the RPCs of one capture: pass its methods Sent, Answered and
// Done as hooks in track.Options. Rows compares two of them.
//
// tests.go has the statistical tests, clusters.go estimates by how much RPCs of a
// capture resemble those at about the same time, stats.go counts and measures,
// rows.go decides what has changed, and connections.go compares the flags.
package comparison
