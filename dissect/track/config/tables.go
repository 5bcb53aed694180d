package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Kinds of tables of the MGS.
const (
	runningTable = "RECOVER"
	nodemapTable = "NODEMAP"
)

// RunningTarget is where a target runs, by a table of imperative recovery.
type RunningTarget struct {
	opcodes.RunningTarget
	MGS   lnet.NID
	Table string // lustre-cliir for clients, lustre-mdtir for MDTs
	From  uint64 // first version of the table that was read; entries of earlier versions are unknown
	At    track.Point

	Restarts []Restart // earlier starts that the table had, up to maxEarlier
}

// Restart is an earlier start of a target.
type Restart struct {
	Instance uint32
	NIDs     []string
	At       track.Point // when the table was seen
}

// Target returns the name of the target, empty when its kind is unknown.
func (r *RunningTarget) Target() string {
	end := strings.LastIndexByte(r.Table, '-')
	if end <= 0 || r.Kind == "" {
		return ""
	}
	return fmt.Sprintf("%s-%s%04x", r.Table[:end], r.Kind, r.Index)
}

// runningKey identifies an entry of a table of imperative recovery.
type runningKey struct {
	mgs   lnet.NID
	table string
	kind  string
	index uint32
}

// tableKey identifies a table of imperative recovery.
type tableKey struct {
	mgs   lnet.NID
	table string
}

// run takes a part of a table of imperative recovery. A reader asks for what has changed
// since the version that it knows: the newest entry of a target counts.
func (t *Tracker) run(r request, m *dissect.Message) {
	from := tableKey{m.Req.Server, r.table.Name}
	if first, ok := fifo.Get(t.tables, from); !ok || r.table.From < first {
		fifo.Put(t.tables, from, r.table.From)
	}
	opcodes.RunningTargets(m.Content, m.Req.Big, func(e opcodes.RunningTarget) {
		k := runningKey{m.Req.Server, r.table.Name, e.Kind, e.Index}
		old := fifo.GetOrMake(t.running, k, func() *RunningTarget {
			return &RunningTarget{RunningTarget: e, MGS: k.mgs, Table: k.table, At: track.PointOf(m)}
		})
		if e.Version <= old.Version {
			return
		}
		if e.Instance != old.Instance {
			if len(old.Restarts) == maxEarlier {
				old.Restarts = slices.Delete(old.Restarts, 0, 1)
			}
			old.Restarts = append(old.Restarts, Restart{old.Instance, old.NIDs, old.At})
		}
		old.RunningTarget, old.At = e, track.PointOf(m)
	})
}

// nodemapTables are the nodemaps of an MGS, as its servers read them.
type nodemapTables struct {
	mgs     lnet.NID
	readers map[lnet.NID]*nodemapIndex // what a server has read so far
	last    *nodemapIndex              // the last one that was read to its end
}

type nodemapIndex struct {
	entries  map[uint64]opcodes.NodemapEntry
	at       track.Point
	complete bool
}

// readNodemaps takes pages of the index of nodemaps. An index is read in several steps.
func (t *Tracker) readNodemaps(r request, m *dissect.Message) {
	tables := fifo.GetOrMake(t.nodemaps, m.Req.Server, func() *nodemapTables {
		return &nodemapTables{mgs: m.Req.Server, readers: make(map[lnet.NID]*nodemapIndex)}
	})
	index := tables.readers[m.Req.Client]
	if index == nil || r.table.From == 0 && r.table.Pass == 0 {
		if index == nil && len(tables.readers) == maxTables {
			t.Dropped++
			return
		}
		index = &nodemapIndex{entries: make(map[uint64]opcodes.NodemapEntry)}
		tables.readers[m.Req.Client] = index
	}
	index.at = track.PointOf(m)
	opcodes.NodemapEntries(m.Content, func(e opcodes.NodemapEntry) {
		if _, known := index.entries[e.Key]; !known && len(index.entries) == maxEntries {
			t.Dropped++
			return
		}
		index.entries[e.Key] = e
	})
}

// endNodemaps takes the reply to a read of nodemaps.
func (t *Tracker) endNodemaps(m *dissect.Message) {
	tables, _ := fifo.Get(t.nodemaps, m.Req.Server)
	if tables == nil || m.RPC.Status < 0 || !opcodes.IsTableEnd(m.Msg) {
		return
	}
	if index := tables.readers[m.Req.Client]; index != nil {
		index.complete = true
		tables.last = index
	}
}

// index returns the index that was read last: to its end, if one was.
func (n *nodemapTables) index() *nodemapIndex {
	if n.last != nil {
		return n.last
	}
	return slices.MaxFunc(slices.Collect(maps.Values(n.readers)), func(a, b *nodemapIndex) int {
		return cmp.Or(cmp.Compare(a.at.Time, b.at.Time), cmp.Compare(a.at.Frame, b.at.Frame))
	})
}

// Nodemap is a nodemap: which clients it is for, and what they may do.
type Nodemap struct {
	ID         uint32
	Name       string // empty when the record was not captured
	Properties []opcodes.ConfigArgument
	Ranges     []opcodes.NodemapRange
	IDMaps     []opcodes.NodemapIDMap
	Filesets   []opcodes.NodemapFileset
	At         track.Point
	Complete   bool // the table was read to its end
}

// nodemaps returns the nodemaps of an index in the order of their numbers, and whether
// nodemaps are in use, if that is known.
func (x *nodemapIndex) nodemaps() (list []*Nodemap, active *bool) {
	byID := make(map[uint32]*Nodemap)
	for _, key := range slices.Sorted(maps.Keys(x.entries)) { // pieces of filesets in their order
		e := x.entries[key]
		if e.Active != nil {
			active = e.Active
			continue
		}
		n := byID[e.Nodemap]
		if n == nil {
			n = &Nodemap{ID: e.Nodemap, At: x.at, Complete: x.complete}
			byID[e.Nodemap] = n
			list = append(list, n)
		}
		n.Name = cmp.Or(n.Name, e.Name)
		n.Properties = append(n.Properties, e.Properties...)
		switch {
		case e.Range != nil:
			n.Ranges = append(n.Ranges, *e.Range)
		case e.IDMap != nil:
			n.IDMaps = append(n.IDMaps, *e.IDMap)
		case e.Fileset != nil:
			last := len(n.Filesets) - 1
			if last < 0 || n.Filesets[last].Number != e.Fileset.Number {
				n.Filesets = append(n.Filesets, *e.Fileset)
				continue
			}
			n.Filesets[last].Path += e.Fileset.Path
		}
	}
	slices.SortFunc(list, func(a, b *Nodemap) int { return cmp.Compare(a.ID, b.ID) })
	for _, n := range list {
		slices.SortStableFunc(n.Properties, func(a, b opcodes.ConfigArgument) int { return cmp.Compare(a.Name, b.Name) })
	}
	return list, active
}

// Registration is a target that registered with the MGS.
type Registration struct {
	opcodes.Registration // of the last request; name, uuid and index as the MGS gave them
	MGS, Server          lnet.NID
	Sent, Answered       track.Point // the last request and its reply
	Status               int32
}

// registrationKey identifies a target that registers: by its name, or by its number
// while it has none.
type registrationKey struct {
	mgs, server lnet.NID
	name        string
	index       uint32
}

// register takes a request of a target that registers; nil when it is incomplete or
// there are too many.
func (t *Tracker) register(m *dissect.Message) *Registration {
	r, ok := opcodes.ReadRegistration(m.Msg)
	if !ok {
		return nil
	}
	k := registrationKey{m.Req.Server, m.Req.Client, cmp.Or(r.Name, r.FSName), r.Index}
	g := fifo.GetOrMake(t.targets, k, func() *Registration { return &Registration{MGS: k.mgs, Server: k.server} })
	uuid := g.UUID
	g.Registration = r
	g.UUID = cmp.Or(r.UUID, uuid)
	g.Sent, g.Answered, g.Status = track.PointOf(m), track.Point{}, 0
	return g
}
