package metrics

import (
	"slices"
	"strings"
	"time"
)

// A Snapshot is a copy of all values of a registry.
type Snapshot struct {
	Time     time.Time // when the copy was made
	Families []FamilySnapshot
}

// FamilySnapshot is a copy of the series of a family.
type FamilySnapshot struct {
	Desc
	Unit   string   // "seconds", "bytes" or empty
	Points []Series // sorted by label values
}

// Snapshot copies all values. Those of a family belong to the same time; between
// families observations may continue.
func (r *Registry) Snapshot() *Snapshot {
	s := &Snapshot{Time: time.Now()}
	r.mu.Lock()
	if r.collect != nil {
		r.collect()
	}
	families := r.families
	r.mu.Unlock()
	for _, f := range families {
		s.Families = append(s.Families, FamilySnapshot{Desc: f.Desc, Unit: f.unit(), Points: f.copySeries()})
	}
	return s
}

func (d *Desc) unit() string {
	for _, unit := range []string{"seconds", "bytes"} {
		if strings.HasSuffix(d.Name, "_"+unit) {
			return unit
		}
	}
	return ""
}

func (f *Family) copySeries() []Series {
	f.registry.mu.Lock()
	defer f.registry.mu.Unlock()
	list := make([]Series, len(f.order))
	for i, s := range f.order {
		list[i] = *s
		list[i].Classic, list[i].Native.Counts = slices.Clone(s.Classic), slices.Clone(s.Native.Counts)
	}
	return list
}
