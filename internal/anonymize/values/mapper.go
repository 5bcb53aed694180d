package values

import (
	"cmp"
	"encoding/hex"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/fifo"
)

// Mapper replaces values, the same original by the same value each time. It is not for
// concurrent use. It keeps each value that it has replaced, for Each.
type Mapper struct {
	Addresses
	names     *names
	fields    *fieldTable
	tree      dissect.Tree
	writer    writer // of the message that is being written
	transfers *fifo.Map[transferKey, *transfer]
	zeros     zeroSums
	removed   Removed
}

// New returns a Mapper whose replacements depend on key alone: Mappers with the same key
// replace a value by the same one.
func New(key []byte) *Mapper {
	k := newKeyed(key)
	p := &Mapper{
		Addresses: newAddresses(k),
		fields:    newFieldTable(),
		transfers: fifo.NewMap[transferKey, *transfer](maxTransfers),
	}
	p.names = newNames(k, &p.Addresses)
	return p
}

// replaced is the replacement of a value, and how often it was replaced.
type replaced[T any] struct {
	by    T
	count int64
}

// replace returns the replacement of a value, which newly makes when the value is new.
func replace[T comparable](known map[T]*replaced[T], value T, newly func(T) T) T {
	e := known[value]
	if e == nil {
		e = &replaced[T]{by: newly(value)}
		known[value] = e
	}
	e.count++
	return e.by
}

// Mapping is a value and its replacement, as text.
type Mapping struct {
	Class       Class
	Original    string
	Replacement string
	Count       int64 // how often it was replaced
}

// Each calls f for each replaced value, sorted by class and original. A text may occur
// twice, if it is the name of a file and of a job, for example.
func (p *Mapper) Each(f func(*Mapping)) {
	var list []*Mapping
	for kind, texts := range p.names.texts {
		list = appendMappings(list, textKind(kind).class(), texts, func(s string) string { return s })
	}
	list = appendMappings(list, Address, p.ipv4, func(a [4]byte) string { return netip.AddrFrom4(a).String() })
	list = appendMappings(list, Address, p.ipv6, func(a [16]byte) string { return netip.AddrFrom16(a).String() })
	list = appendMappings(list, Address, p.macs, func(a [6]byte) string { return net.HardwareAddr(a[:]).String() })
	list = appendMappings(list, Address, p.guids, func(a [8]byte) string { return hex.EncodeToString(a[:]) })
	list = appendMappings(list, Address, p.lids, func(lid uint16) string { return strconv.Itoa(int(lid)) })
	list = appendMappings(list, Identity, p.ids, func(id uint64) string { return strconv.FormatUint(id, 10) })
	slices.SortStableFunc(list, func(a, b *Mapping) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Original, b.Original), cmp.Compare(a.Replacement, b.Replacement),
			cmp.Compare(a.Count, b.Count))
	})
	for _, m := range list {
		f(m)
	}
}

func appendMappings[T comparable](list []*Mapping, c Class, known map[T]*replaced[T], text func(T) string) []*Mapping {
	for original, e := range known {
		if e.by == original { // all of its parts stay
			continue
		}
		list = append(list, &Mapping{c, text(original), text(e.by), e.count})
	}
	return list
}

// Removed are counts of bytes that were removed, by reason.
type Removed struct {
	Data      int64 // of files, keys and tokens
	Undecoded int64 // covered by no declaration
	Encrypted int64
	Truncated int64 // of fields that were not captured in full
}

// Removed returns the counts so far.
func (p *Mapper) Removed() Removed { return p.removed }
