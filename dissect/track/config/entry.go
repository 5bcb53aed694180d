package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// Kind is what an entry is about.
type Kind uint8

// The kinds of entries, in the order in which they are listed. All but KindStep are the
// final picture.
const (
	KindLog Kind = iota
	KindStep
	KindDevice
	KindTarget
	KindPool
	KindParameter
	KindNodemapState
	KindNodemap
	KindRunningTarget
	KindRegistration
	KindSentParameter
)

var kindNames = [...]string{KindLog: "log", KindStep: "record", KindDevice: "device", KindTarget: "target", KindPool: "pool",
	KindParameter: "parameter", KindNodemapState: "nodemaps", KindNodemap: "nodemap", KindRunningTarget: "instance",
	KindRegistration:  "registration",
	KindSentParameter: "set_info"}

// String returns the kind in a word.
func (k Kind) String() string { return kindNames[k] }

// Entry is a part of the configuration. Which pointer is set depends on Kind.
type Entry struct {
	Kind Kind
	MGS  lnet.NID
	Log  *Log        // of KindLog to KindParameter
	At   track.Point // when it was first seen; for tables, registrations and changed records, when it was last changed

	Step          *Step
	Device        *Device
	Mount         *Mount // of a device: the only client that mounted with the log, nil when there are several
	Target        *Target
	Pool          *Pool
	Parameter     *Parameter
	Active        *bool // whether nodemaps are in use
	Nodemap       *Nodemap
	RunningTarget *RunningTarget
	Registration  *Registration
	SentParameter *SentParameter
}

// Name returns the name of the log or table that an entry is from.
func (e *Entry) Name() string {
	switch {
	case e.Log != nil && e.Log.Name != "":
		return e.Log.Name
	case e.Log != nil:
		return string(e.Log.ID.Append(nil))
	case e.RunningTarget != nil:
		return e.RunningTarget.Table
	case e.Kind == KindNodemap || e.Kind == KindNodemapState:
		return "nodemap"
	}
	return ""
}

// Mount is a client that mounted a file system with a log.
type Mount struct {
	Client  lnet.NID
	UUID    string // of its connections to targets
	MGCUUID string // of its connection to the MGS, empty when it is not known
}

// Entries returns the configuration: logs in the order in which they were first seen,
// then the tables of each MGS.
func (t *Tracker) Entries(imports []*track.Import) []*Entry {
	var list []*Entry
	for _, l := range t.logs {
		list = append(list, l.entries(imports)...)
	}
	for _, tables := range fifo.All(t.nodemaps) {
		mgs, index := tables.mgs, tables.index()
		nodemaps, active := index.nodemaps()
		if active != nil {
			list = append(list, &Entry{Kind: KindNodemapState, MGS: mgs, At: index.at, Active: active})
		}
		for _, n := range nodemaps {
			list = append(list, &Entry{Kind: KindNodemap, MGS: mgs, At: n.At, Nodemap: n})
		}
	}
	running := fifo.Values(t.running)
	slices.SortStableFunc(running, func(a, b *RunningTarget) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Index, b.Index))
	})
	for _, r := range running {
		r.From, _ = fifo.Get(t.tables, tableKey{r.MGS, r.Table})
		list = append(list, &Entry{Kind: KindRunningTarget, MGS: r.MGS, At: r.At, RunningTarget: r})
	}
	for _, g := range fifo.All(t.targets) {
		list = append(list, &Entry{Kind: KindRegistration, MGS: g.MGS, At: g.Sent, Registration: g})
	}
	for _, s := range t.sent {
		list = append(list, &Entry{Kind: KindSentParameter, MGS: s.MGS, At: s.Sent, SentParameter: s})
	}
	return list
}

// IsPartial reports whether an entry is from a log or table that was not captured as a
// whole. A table of imperative recovery is partial when its readers requested only the
// entries since a version that they had already.
func (e *Entry) IsPartial() bool {
	switch {
	case e.Nodemap != nil:
		return !e.Nodemap.Complete
	case e.RunningTarget != nil:
		return e.RunningTarget.From > 1
	case e.Log == nil || e.Kind == KindStep:
		return false
	}
	return e.Log.isPartial
}

// ClientTargets calls f for each target of a file system by the log of its clients, when
// that was captured as a whole.
func (t *Tracker) ClientTargets(f func(*Target)) {
	for _, l := range t.logs {
		if !strings.HasSuffix(l.Name, clientLog) || l.Replaced || l.Status < 0 || l.Last == 0 || !l.isWhole() {
			continue
		}
		for _, target := range NewPicture(l.Steps()).Targets {
			f(target)
		}
	}
}

// clientLog ends the names of the logs of clients, such as lustre-client.
const clientLog = "-client"

// entries returns a log, its records and what they make.
func (l *Log) entries(imports []*track.Import) []*Entry {
	steps := l.Steps()
	p := NewPicture(steps)
	at := make(map[uint32]track.Point, len(steps))
	l.Missing = l.findMissing()
	l.isPartial = l.Status == 0 && !l.isWhole()
	list := []*Entry{{Kind: KindLog, MGS: l.MGS, Log: l, At: l.Seen[0]}}
	add := func(e Entry, index uint32) {
		e.MGS, e.Log, e.At = l.MGS, l, at[index]
		list = append(list, &e)
	}
	for _, s := range steps {
		at[s.Index] = s.At
		add(Entry{Kind: KindStep, Step: s}, s.Index)
	}
	mount := l.mount(p, imports)
	if mount != nil && len(p.Devices) > 0 {
		list = append(list, &Entry{Kind: KindDevice, MGS: l.MGS, Log: l, At: l.Seen[0], Device: l.mgc(mount), Mount: mount})
	}
	for _, d := range p.Devices {
		add(Entry{Kind: KindDevice, Device: d, Mount: mount}, d.Index)
	}
	for _, o := range p.Targets {
		add(Entry{Kind: KindTarget, Target: o}, o.Index)
	}
	for _, o := range p.Pools {
		add(Entry{Kind: KindPool, Pool: o}, o.Index)
	}
	for _, o := range p.Parameters {
		add(Entry{Kind: KindParameter, Parameter: o}, o.Index)
	}
	return list
}

// mount returns the client that mounted a file system with a log of clients, when a
// single node read the log and its connections to targets of the log are captured. Where
// the node mounted several times, the last one counts.
func (l *Log) mount(p *Picture, imports []*track.Import) *Mount {
	if !strings.HasSuffix(l.Name, clientLog) || len(l.Readers) != 1 {
		return nil
	}
	targets := make(map[string]bool)
	for _, t := range p.Targets {
		targets[t.UUID] = true
	}
	m := Mount{Client: l.Readers[0]}
	var last, lastMGC int64 // when the connections began
	for _, i := range imports {
		switch {
		case i.Client != m.Client || i.ClientUUID == "":
		case i.Kind() == "mgc" && i.Server == l.MGS && i.First.Time >= lastMGC:
			m.MGCUUID, lastMGC = i.ClientUUID, i.First.Time
		case i.Kind() == "client" && targets[i.TargetUUID] && i.First.Time >= last:
			m.UUID, last = i.ClientUUID, i.First.Time
		}
	}
	if m.UUID == "" {
		return nil
	}
	return &m
}

// mgc returns the device of a client that is connected to the MGS. It is named after the
// NID of the MGS.
func (l *Log) mgc(m *Mount) *Device {
	nid := l.MGS.String()
	return &Device{Name: "MGC" + nid, Type: "mgc", UUID: m.MGCUUID, Status: Up, Target: "MGS", Nodes: []Node{{nid, []string{nid}}}}
}

// DeviceUUID returns the uuid of a device on the client that mounted with its log, else
// as the log has it.
func (e *Entry) DeviceUUID() string {
	if e.Mount != nil && e.Device.Type != "mgc" {
		return e.Mount.UUID
	}
	return e.Device.UUID
}
