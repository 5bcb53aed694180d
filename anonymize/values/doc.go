// Package values replaces the values of messages that tell about a site: names,
// addresses and identities. Data are removed.
//
//	p := values.New(key)
//	d := dissect.New(dissect.Options{Data: true, Join: true, Handle: func(m *dissect.Message) {
//		dst := make([]byte, m.Size)
//		p.Message(dst, m)
//	}})
//
// What is not known to be harmless is removed: bytes that no declaration covers,
// encrypted and truncated ones are zero in the result.
package values
