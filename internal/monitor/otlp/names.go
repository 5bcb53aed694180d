package otlp

import (
	"strings"

	"github.com/lshark/lshark/internal/monitor/metrics"
)

// Names has the names under which metrics are exported. What it does not
// mention keeps its name, with dots in place of the first two underscores and
// without the unit at the end: lshark_lock_wait_seconds becomes
// lshark.lock.wait, in s. Receivers that turn names into those of Prometheus
// get the original back.
type Names struct {
	Families   []Family
	Attributes []Pair // labels of any family
}

// Family has the name under which a family of metrics is exported, or those of
// its series that have one value of a label.
type Family struct {
	From         string // name of the family in the snapshot
	Label, Value string // only the series in which Label is Value; all if Label is empty
	To           string
	Unit         string // as UCUM writes it: s, By, {call}; empty: that of the family
	Sum          bool   // of a gauge: the values of several series can be added up
	Constant     []Attribute
}

// Pair is the name of a label and that of the attribute it is exported as.
type Pair struct {
	From, To string
}

func (n *Family) match(f *metrics.FamilySnapshot, p *metrics.Point) bool {
	if n.Label == "" {
		return true
	}
	for i, label := range f.Labels {
		if label == n.Label {
			return p.Values[i] == n.Value
		}
	}
	return false
}

func metricName(f *metrics.FamilySnapshot) (name, unit string) {
	name, unit = f.Name, f.Unit
	if unit != "" {
		name = strings.TrimSuffix(name, "_"+unit)
	}
	switch unit {
	case "seconds":
		unit = "s"
	case "bytes":
		unit = "By"
	case "ratio":
		unit = "1"
	}
	return strings.Replace(name, "_", ".", 2), unit
}

// attributeNames appends to names the attribute for each label of a family,
// and an empty one for the label by which the entry selects.
func (n *Names) attributeNames(names []string, entry *Family, labels []string) []string {
	for _, label := range labels {
		name := label
		for _, p := range n.Attributes {
			if p.From == label {
				name = p.To
			}
		}
		if entry != nil && label == entry.Label {
			name = ""
		}
		names = append(names, name)
	}
	return names
}

// attributeValue maps metrics.Other to _OTHER, as the conventions require for
// rpc.method and error.type.
func attributeValue(name, value string) string {
	if value == metrics.Other && (name == "rpc.method" || name == "error.type") {
		return "_OTHER"
	}
	return value
}
