// Package store keeps the messages and RPCs of a capture, so that they can be shown in any
// order and again and again.
//
//	s := store.New(store.Options{…})
//	// In one goroutine, for each message, and for each RPC that has ended:
//	err := s.AddMessage(m, r)
//	err = s.AddRPC(r)
//	// In another one, the rows that match a query:
//	v, err := s.NewView(store.Query{…})
//	for v.Advance() {
//	}
//	ids, version := v.IDs()
//	rows := s.NewReader()
//	row, err := rows.Read(store.RPCs, ids[0])
//
// # Where rows are kept
//
// Three ways were considered. The place of a message in its file would cost least, but a
// message continues over frames, and to find its beginning takes the state of the
// connection; compressed files, pipes and live captures have no such place. Reading the
// file again for each view takes as long as the first time, and works for files only.
// So messages and RPCs are encoded in about as many bytes as on the wire, and kept in a
// spool: the first 64 MiB (Options.Memory) in memory, the rest in a temporary file that has no
// name. In memory there are 16 bytes for each message and each RPC. This works for all
// kinds of input, and what is shown is what was dissected. Of bulk
// data only the part is kept that the dissector had in memory.
//
// Messages are dissected when they are shown: Reader.Read returns one as a dissector
// does, and dissect.Tree builds its tree.
//
// A live capture has no end: with Options.Most the oldest rows are dropped. Its frames cannot
// be read again; with Options.Frames they are kept in a second spool with the same limits.
package store
