package config

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/internal/fifo"
)

// Picture is what the records of a log that are in force make together.
type Picture struct {
	Devices    []*Device
	Targets    []*Target
	Pools      []*Pool
	Parameters []*Parameter
}

// Device is an OBD device, as `lctl dl` lists it.
type Device struct {
	Name, Type, UUID string
	Status           Status
	Target           string // of a device that is a client: uuid of its target
	Nodes            []Node // likewise: nodes that serve the target, in the order of preference
	Index            uint32 // of the last record about it
}

// Status is the state of a device.
type Status uint8

// The states of a device.
const (
	Attached Status = iota
	Up
	Inactive
)

// String returns the state as `lctl dl` shows it.
func (s Status) String() string { return [...]string{"AT", "UP", "IN"}[s] }

// Node is a node that serves a target.
type Node struct {
	Name string
	NIDs []string
}

// Target is a target of a file system.
type Target struct {
	UUID   string
	Number string  // index of the target, as the record has it
	Device *Device // with which it is used; nil when the record was not captured
	Active bool
	Index  uint32 // of the record that adds it
}

// Name returns the name of a target.
func (t *Target) Name() string { return strings.TrimSuffix(t.UUID, "_UUID") }

// Pool is a pool of OSTs.
type Pool struct {
	FSName, Name string
	Members      []string // uuids of the OSTs
	Index        uint32   // of the last record about it
}

// Parameter is a parameter that is in force.
type Parameter struct {
	Device, Name, Value string
	Index               uint32 // of the record that sets it
}

// painter makes a Picture of records.
type painter struct {
	devices    *fifo.Map[string, *Device]
	targets    *fifo.Map[string, *Target] // by uuid
	pools      *fifo.Map[[2]string, *poolMembers]
	parameters *fifo.Map[[2]string, *Parameter] // by device and name
	nodes      map[string]*texts
}

// texts are different ones in the order in which they were added.
type texts = fifo.Map[string, string]

// poolMembers is a pool while records are applied.
type poolMembers struct {
	Pool
	members *texts
}

// NewPicture applies the records of a log that are in force.
func NewPicture(steps []*Step) *Picture {
	w := &painter{fifo.NewMap[string, *Device](maxRecords), fifo.NewMap[string, *Target](maxRecords),
		fifo.NewMap[[2]string, *poolMembers](maxRecords), fifo.NewMap[[2]string, *Parameter](maxRecords), make(map[string]*texts)}
	for _, s := range steps {
		if s.State == InForce && s.Marker == nil {
			w.apply(s)
		}
	}
	p := &Picture{Devices: fifo.Values(w.devices), Targets: fifo.Values(w.targets), Parameters: fifo.Values(w.parameters)}
	users := make(map[string]*Device) // by the uuid of their target
	for _, d := range p.Devices {
		for i := range d.Nodes {
			if nids := w.nodes[d.Nodes[i].Name]; nids != nil {
				d.Nodes[i].NIDs = fifo.Values(nids)
			}
		}
		if d.Target != "" {
			users[d.Target] = d
		}
	}
	for _, t := range p.Targets {
		t.Device = users[t.UUID]
		t.Active = t.Active && (t.Device == nil || t.Device.Status != Inactive)
	}
	for _, o := range fifo.All(w.pools) {
		o.Members = fifo.Values(o.members)
		p.Pools = append(p.Pools, &o.Pool)
	}
	return p
}

// apply applies a record.
func (w *painter) apply(s *Step) {
	switch s.Event {
	case "attach", "detach", "setup", "cleanup", "add_conn", "del_conn":
		w.applyDevice(s, s.Argument("device"))
	case "add_uuid":
		w.addNID(s.Argument("node"), s.Argument("nid"))
	case "del_uuid":
		delete(w.nodes, s.Argument("node"))
	case "add_osc", "add_osc_inactive":
		w.addTarget(s, s.Argument("ost"))
	case "add_mdc":
		w.addTarget(s, s.Argument("mdt"))
	case "del_osc":
		fifo.Delete(w.targets, s.Argument("ost"))
	case "del_mdc":
		fifo.Delete(w.targets, s.Argument("mdt"))
	case "new_pool", "add_pool", "remove_pool", "del_pool":
		w.applyPool(s)
	case "conf_param", "set_param", "set_timeout", "set_ldlm_timeout":
		w.applyParameters(s, s.Argument("device"))
	case "sptlrpc_conf":
		w.applyParameters(s, s.Argument("fsname"))
	}
}

func (w *painter) addNID(node, nid string) {
	if nid == "" {
		return
	}
	if w.nodes[node] == nil {
		w.nodes[node] = fifo.NewMap[string, string](maxRecords)
	}
	fifo.Put(w.nodes[node], nid, nid)
}

// clientTypes are the types of devices that are clients of a target.
var clientTypes = []string{"mdc", "osc", "osp", "lwp", "mgc"}

func (w *painter) applyDevice(s *Step, name string) {
	if name == "" {
		return
	}
	if s.Event == "detach" {
		fifo.Delete(w.devices, name)
		return
	}
	// Where the record that attaches it was not captured, its type is unknown.
	d := fifo.GetOrMake(w.devices, name, func() *Device { return &Device{Name: name} })
	d.Index = s.Index
	node := s.Argument("node")
	switch s.Event {
	case "attach":
		*d = Device{Name: name, Type: s.Argument("type"), UUID: s.Argument("UUID"), Index: s.Index}
	case "setup":
		d.Status = Up
		if slices.Contains(clientTypes, d.Type) {
			d.Target = s.Argument("UUID")
			d.addNode(node)
		}
	case "cleanup":
		d.Status = Attached
	case "add_conn":
		d.addNode(node)
	case "del_conn":
		d.Nodes = slices.DeleteFunc(d.Nodes, func(n Node) bool { return n.Name == node })
	}
}

// maxNodes is the number of nodes that a device can have.
const maxNodes = 1 << 8

func (d *Device) addNode(name string) {
	if name != "" && len(d.Nodes) < maxNodes && !slices.ContainsFunc(d.Nodes, func(n Node) bool { return n.Name == name }) {
		d.Nodes = append(d.Nodes, Node{Name: name})
	}
}

func (w *painter) addTarget(s *Step, uuid string) {
	if uuid != "" {
		fifo.Delete(w.targets, uuid)
		fifo.Put(w.targets, uuid, &Target{UUID: uuid, Number: s.Argument("index"), Active: s.Event != "add_osc_inactive", Index: s.Index})
	}
}

// applyPool applies a record about a pool. A pool has the OSTs of which the records are
// captured.
func (w *painter) applyPool(s *Step) {
	k := [2]string{s.Argument("fsname"), s.Argument("pool")}
	ost := s.Argument("ost")
	o, ok := fifo.Get(w.pools, k)
	switch {
	case s.Event == "del_pool":
		fifo.Delete(w.pools, k)
		return
	case !ok && s.Event == "remove_pool":
		return
	case !ok:
		o = &poolMembers{Pool{FSName: k[0], Name: k[1]}, fifo.NewMap[string, string](maxRecords)}
		fifo.Put(w.pools, k, o)
	}
	o.Index = s.Index
	switch s.Event {
	case "add_pool":
		fifo.Put(o.members, ost, ost)
	case "remove_pool":
		fifo.Delete(o.members, ost)
	}
}

// applyParameters applies the parameters of a record. The last value counts.
func (w *painter) applyParameters(s *Step, device string) {
	name := ""
	for _, a := range s.Arguments {
		switch a.Name {
		case "parameter":
			name = a.Value
			w.set(s, device, name, "")
		case "value":
			w.set(s, device, name, a.Value)
		case "num":
			if name == "" {
				w.set(s, device, strings.TrimPrefix(s.Event, "set_"), a.Value)
			}
		}
	}
}

func (w *painter) set(s *Step, device, name, value string) {
	o := fifo.GetOrMake(w.parameters, [2]string{device, name}, func() *Parameter { return &Parameter{Device: device, Name: name} })
	o.Value, o.Index = value, s.Index
	if d, ok := fifo.Get(w.devices, device); ok && d.Status != Attached && s.Event == "conf_param" && strings.HasSuffix(name, ".active") {
		switch value {
		case "0":
			d.Status = Inactive
		case "1":
			d.Status = Up
		}
	}
}
