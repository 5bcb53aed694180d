// Package explain writes what is declared of the protocol, and what single
// values mean: the answers of lshark explain, lshark decode and lshark fields.
package explain
