package otlp

import (
	"cmp"
	"slices"
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
	Attributes map[string]string // of labels of any family
}

// Family has the name under which a family of metrics is exported, or those of
// its series that have one value of a label.
type Family struct {
	From         string // name of the family in the snapshot
	Label, Value string // only the series in which Label is Value; all if Label is empty
	To           string
	Unit         string // as UCUM writes it: s, By, {call}; empty: none
	Sum          bool   // of a gauge: the values of several series can be added up
	Constant     []Attribute
}

// units are those of families, as UCUM writes them.
var units = map[string]string{"seconds": "s", "bytes": "By"}

// family returns how a point of a family is exported.
func (n *Names) family(f *metrics.FamilySnapshot, p *metrics.Series) Family {
	for _, x := range n.Families {
		if x.From == f.Name && (x.Label == "" || p.Values[slices.IndexFunc(f.Labels, func(l metrics.Label) bool { return l.Name == x.Label })] == x.Value) {
			return x
		}
	}
	name := strings.TrimSuffix(f.Name, "_"+f.Unit)
	return Family{To: strings.Replace(name, "_", ".", 2), Unit: units[f.Unit]}
}

// attribute returns a label with its value as an attribute. The value
// metrics.Other is _OTHER where the conventions require that.
func (n *Names) attribute(label, value string) Attribute {
	name := cmp.Or(n.Attributes[label], label)
	if value == metrics.Other && (name == "rpc.method" || name == "error.type") {
		value = "_OTHER"
	}
	return String(name, value)
}
