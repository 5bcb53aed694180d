package values

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/fifo"
)

// Class is what a replaced value shows about a site.
type Class uint8

// The classes.
const (
	Name     Class = iota // of files, directories, jobs, hosts, file systems, pools
	Address               // NIDs, IP and hardware addresses
	Identity              // IDs of users, groups and projects, UUIDs
)

// String returns the name of the class.
func (c Class) String() string {
	return [...]string{"name", "address", "identity"}[c]
}

// MarshalText returns the name, for JSON.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Mapper replaces values, the same original by the same value each time. It is not for
// concurrent use. It keeps each value that it has replaced, for Each.
type Mapper struct {
	// Flat replaces the parts of an IP address a second time, by permutations that depend on
	// the parts behind them: addresses of a subnet then have nothing in common.
	Flat bool

	keyed      *keyed
	vocabulary vocabulary
	known      [numKinds]map[string]*replacement // by the original
	words      map[string]string                 // the words in names, and their replacements
	taken      map[string]bool                   // these replacements
	tree       dissect.Tree
	writer     writer // of the message that is being written
	transfers  *fifo.Map[transferKey, *transfer]
	zeros      []byte
	zeroSums   *fifo.Map[zeroKey, uint32]
	removed    Removed
}

// New returns a Mapper whose replacements depend on key alone: Mappers with the same key
// replace a value by the same one.
func New(key []byte) *Mapper {
	p := &Mapper{
		keyed:      newKeyed(key),
		vocabulary: newVocabulary(),
		words:      make(map[string]string),
		taken:      make(map[string]bool),
		transfers:  fifo.NewMap[transferKey, *transfer](maxTransfers),
		zeroSums:   fifo.NewMap[zeroKey, uint32](4096),
	}
	for k := range p.known {
		p.known[k] = make(map[string]*replacement)
	}
	return p
}

// kind is what a value is: those of different kinds have replacements of their own.
type kind int

const (
	fileNames kind = iota
	paths
	xattrNames
	devices
	plainWords
	jobs
	uuids
	ipv4s
	ipv6s
	macs
	guids
	lids
	ids
	numKinds
)

// kinds has, for each kind of value, its class and the func that formats it; nil: the value is its text.
var kinds = [numKinds]struct {
	class Class
	text  func(value string) string
}{
	fileNames: {Name, nil}, paths: {Name, nil}, xattrNames: {Name, nil}, devices: {Name, nil}, plainWords: {Name, nil}, jobs: {Name, nil},
	uuids: {Identity, nil}, ipv4s: {Address, ipText}, ipv6s: {Address, ipText},
	macs:  {Address, func(a string) string { return net.HardwareAddr(a).String() }},
	guids: {Address, func(a string) string { return hex.EncodeToString([]byte(a)) }},
	lids:  {Address, numberText}, ids: {Identity, numberText},
}

func ipText(a string) string {
	ip, _ := netip.AddrFromSlice([]byte(a))
	return ip.String()
}

func numberText(b string) string { return strconv.FormatUint(binary.BigEndian.Uint64([]byte(b)), 10) }

// replacement is what a value is replaced by, and how often that was done.
type replacement struct {
	by    string
	count int64
}

// replace returns the replacement of a value, which has as many bytes. newly makes that of a new one.
func (p *Mapper) replace(k kind, original []byte, newly func(p *Mapper, original []byte) string) string {
	r := p.known[k][string(original)]
	if r == nil {
		r = &replacement{by: newly(p, bytes.Clone(original))}
		p.known[k][string(original)] = r
	}
	r.count++
	return r.by
}

func (p *Mapper) replaceNumber(k kind, x uint64, newly func(p *Mapper, x uint64) uint64) uint64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], x)
	copy(b[:], p.replace(k, b[:], func(p *Mapper, b []byte) string {
		binary.BigEndian.PutUint64(b, newly(p, binary.BigEndian.Uint64(b)))
		return string(b)
	}))
	return binary.BigEndian.Uint64(b[:])
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
	for k, known := range p.known {
		for original, r := range known {
			if r.by == original { // all of its parts stay
				continue
			}
			m := &Mapping{kinds[k].class, original, r.by, r.count}
			if text := kinds[k].text; text != nil {
				m.Original, m.Replacement = text(original), text(r.by)
			}
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b *Mapping) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Original, b.Original), cmp.Compare(a.Replacement, b.Replacement),
			cmp.Compare(a.Count, b.Count))
	})
	for _, m := range list {
		f(m)
	}
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
