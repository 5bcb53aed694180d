// Package values replaces the values in messages that show something about a site: names,
// addresses and identities. Data are removed.
//
//	p := values.New(key)
//	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
//		dst := make([]byte, len(m.Data))
//		p.Message(dst, m)
//	}})
//
// What happens to a field follows from the class in its declaration (schema.Class), for a few
// classes together with an earlier value of the message, such as the command for its arguments.
// Everything that no declaration covers, that is encrypted or was not captured in full is removed.
//
// Replacements depend on the key and the original alone, so that several captures can be
// anonymized with the same key and still agree. There are two exceptions, whose
// replacements also depend on the names before them: a name with characters other than
// letters and digits, if its first replacement is in use already, and a name whose
// replacement is equal to another original name.
//
// All replacements are as long as the originals, because the length of each text is fixed by
// its buffer. So parts of addresses and IDs keep their number of digits.
//
// Numbers stay: FIDs, transaction numbers, handles, sizes, times, and the hashes of names
// in directory pages and resources of locks. Somebody who knows the name of a file can find
// its hash.
//
// Checksums inside messages (sums.go) are computed anew where they were right.
//
// # Memory
//
// A Mapper keeps every value that it has replaced. That is what Each reports, and it
// makes sure that two names do not get the same replacement. So its memory grows with the
// number of different names, not with that of messages.
package values
