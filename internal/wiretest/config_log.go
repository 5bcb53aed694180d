package wiretest

import "fmt"

// The commands of configuration records that tests use.
const (
	ConfigAttach  = 0xcf001
	ConfigDetach  = 0xcf002
	ConfigSetup   = 0xcf003
	ConfigAddUUID = 0xcf005
	ConfigAddConn = 0xcf00b
	ConfigAddOSC  = 0xcf00d
	ConfigDelOSC  = 0xcf00e
	ConfigParam   = 0xcf00f
	ConfigAddMDC  = 0xcf014
	ConfigNewPool = 0xce020
	ConfigAddPool = 0xce021
	ConfigRemPool = 0xce022
	ConfigDelPool = 0xce023
)

func words(v ...uint32) []byte { return pack(le, v) }

// LogBody returns a struct llogd_body of a configuration log; object 0: none is named.
func LogBody(object uint64) []byte {
	group := uint64(0)
	if object != 0 {
		group = 10
	}
	return pack(le, object, group, make([]byte, 32))
}

// LogHeader returns the header of a log that was made at a time, in seconds since the
// epoch, with these records in use.
func LogHeader(created uint64, indices ...uint32) []byte {
	const size, bitmap = 8192, 88
	b := make([]byte, size)
	put := func(at int, v uint32) { le.PutUint32(b[at:], v) }
	put(0, size)
	put(8, 0x10645539)
	le.PutUint64(b[16:], created)
	put(28, bitmap)
	var last uint32
	for _, i := range indices {
		b[bitmap+i/8] |= 1 << (i % 8)
		last = max(last, i)
	}
	put(size-8, size)
	put(size-4, last)
	return b
}

// LogRecord returns a record of a log: a body with header and tail.
func LogRecord(index, kind uint32, body []byte) []byte {
	body = pad8(body)
	n := uint32(len(body) + 24)
	return Join(words(n, index, kind, 0), body, words(n, index))
}

// ConfigRecord returns a record of a configuration log. Arguments get the NUL that ends
// them, except those that are empty.
func ConfigRecord(index, command uint32, args ...string) []byte {
	sizes := words(0x1cf60001, command, 0, 0, 0, 0, 0, uint32(len(args)))
	var texts []byte
	for _, a := range args {
		if a != "" {
			a += "\x00"
		}
		sizes = append(sizes, words(uint32(len(a)))...)
		texts = pad8(append(texts, a...))
	}
	b := append(pad8(sizes), texts...)
	return LogRecord(index, 0x10620000, b)
}

// ConfigMarker returns a marker of a configuration log; of its flags, 1 begins a section,
// 2 ends it, 4 skips it.
func ConfigMarker(index, step, flags uint32) []byte {
	b := fmt.Appendf(pack(le, step, flags, uint64(0x02110000), uint64(1795248343), uint64(0)), "%-64s%-63s", "target\x00", "comment\x00")
	return ConfigRecord(index, 0xcf010, "", string(b))
}

// ConfigSection returns records with markers around them; skip is 4 to skip it.
func ConfigSection(index, step, skip uint32, records ...func(index uint32) []byte) []byte {
	b := ConfigMarker(index, step, 1|skip)
	for _, r := range records {
		index++
		b = append(b, r(index)...)
	}
	return append(b, ConfigMarker(index+1, step, 2|skip)...)
}

// Config returns what makes a record of ConfigSection.
func Config(command uint32, args ...string) func(index uint32) []byte {
	return func(index uint32) []byte { return ConfigRecord(index, command, args...) }
}
