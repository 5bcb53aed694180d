package comparison

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/lshark/lshark/dissect/track"
)

// Connection is what the connects to a target negotiated, in two captures or for two
// clients.
type Connection struct {
	Target        string
	Kind          string // as track.Import.Kind
	Before, After *Negotiated
	Changed       []Part
}

// Negotiated is what connects asked for and were granted: all flags that at
// least one of them has.
type Negotiated struct {
	Connections    int
	Evictions      int // that clients learned of
	Asked, Granted Flags
	HasAsked       bool     // a request was captured
	HasGranted     bool     // a reply was captured
	Clients        []uint32 // releases, in ascending order
	Servers        []uint32
}

// Flags are the two words of connect flags.
type Flags struct{ Flags, Flags2 uint64 }

// Without returns the flags that others do not have.
func (f Flags) Without(others Flags) Flags {
	return Flags{f.Flags &^ others.Flags, f.Flags2 &^ others.Flags2}
}

// Both returns the flags that others have, too.
func (f Flags) Both(others Flags) Flags {
	return Flags{f.Flags & others.Flags, f.Flags2 & others.Flags2}
}

// Count returns the number of flags.
func (f Flags) Count() int { return bits.OnesCount64(f.Flags) + bits.OnesCount64(f.Flags2) }

// Part is a part of what was negotiated.
type Part uint8

// The parts.
const (
	Asked Part = iota
	Granted
	ClientVersion
	ServerVersion
	Evictions
	parts
)

// partFacts are the names of parts, whether a side has one, and whether two sides have the same.
var partFacts = [parts]struct {
	name  string
	has   func(*Negotiated) bool
	equal func(b, a *Negotiated) bool
}{
	Asked:   {"asked", func(n *Negotiated) bool { return n.HasAsked }, func(b, a *Negotiated) bool { return b.Asked == a.Asked }},
	Granted: {"granted", func(n *Negotiated) bool { return n.HasGranted }, func(b, a *Negotiated) bool { return b.Granted == a.Granted }},
	ClientVersion: {"client_version", func(n *Negotiated) bool { return len(n.Clients) > 0 },
		func(b, a *Negotiated) bool { return slices.Equal(b.Clients, a.Clients) }},
	ServerVersion: {"server_version", func(n *Negotiated) bool { return len(n.Servers) > 0 },
		func(b, a *Negotiated) bool { return slices.Equal(b.Servers, a.Servers) }},
	Evictions: {"evictions", func(*Negotiated) bool { return true }, func(b, a *Negotiated) bool { return b.Evictions > 0 == (a.Evictions > 0) }},
}

// String returns the name of the part.
func (p Part) String() string { return partFacts[p].name }

// Connections compares connections by target and kind; those of which no connect was
// captured are left out, unless it was an eviction that was.
func Connections(before, after []*track.Import) []*Connection {
	type key struct{ target, kind string }
	all := make(map[key]*Connection)
	add := func(list []*track.Import, side func(*Connection) **Negotiated) {
		for _, i := range list {
			if i.Target == "" || !i.HasAsked && !i.HasGranted && i.Evictions == 0 {
				continue
			}
			k := key{i.Target, i.Kind()}
			if all[k] == nil {
				all[k] = &Connection{Target: k.target, Kind: k.kind}
			}
			n := side(all[k])
			if *n == nil {
				*n = &Negotiated{}
			}
			(*n).add(&i.ConnectParameters)
			(*n).Evictions += i.Evictions
		}
	}
	add(before, func(c *Connection) **Negotiated { return &c.Before })
	add(after, func(c *Connection) **Negotiated { return &c.After })
	for _, c := range all {
		// What is known of one side only has not changed.
		b, a := cmp.Or(c.Before, &Negotiated{}), cmp.Or(c.After, &Negotiated{})
		for p := range parts {
			if f := &partFacts[p]; f.has(b) && f.has(a) && !f.equal(b, a) {
				c.Changed = append(c.Changed, p)
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *Connection) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Kind, b.Kind))
	})
}

func (n *Negotiated) add(p *track.ConnectParameters) {
	n.Connections++
	if p.HasAsked {
		n.HasAsked = true
		n.Asked.add(&p.Asked)
		n.Clients = addVersion(n.Clients, p.Asked.Version)
	}
	if p.HasGranted {
		n.HasGranted = true
		n.Granted.add(&p.Granted)
		n.Servers = addVersion(n.Servers, p.Granted.Version)
	}
}

func (f *Flags) add(d *track.ConnectData) {
	f.Flags |= d.Flags
	f.Flags2 |= d.Flags2
}

// addVersion adds a release, unless it is unknown or in the list.
func addVersion(list []uint32, v uint32) []uint32 {
	at, found := slices.BinarySearch(list, v)
	if v == 0 || found {
		return list
	}
	return slices.Insert(list, at, v)
}

// Has reports whether what was captured has a part.
func (n *Negotiated) Has(p Part) bool { return partFacts[p].has(n) }
