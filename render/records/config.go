package records

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/config"
	"github.com/lshark/lshark/opcodes"
)

// Configuration are the keys of entries of the configuration: which ones an entry has
// depends on its kind.
var Configuration = Table[*config.Entry]{Record: "config entry", Command: "config", Name: "config", Prefix: "config.", InFilters: true, Keys: sync.OnceValue(func() []*Key[*config.Entry] {
	type entry = config.Entry
	log := func(e *entry) *config.Log {
		if e.Kind != config.KindLog {
			return nil
		}
		return e.Log
	}
	return slices.Concat([]*Key[*entry]{
		anyText("kind", "what the entry is: log, record (of a log), device, target, pool, parameter, nodemaps (whether they are in use), nodemap, "+
			"instance (where a target runs, for imperative recovery), registration (of a target that started) or set_info (a parameter that "+
			"a node sent to the MGS); all but records are the final picture", func(e *entry) string { return e.Kind.String() }),
		TextKey("log", "log or table that it is from, such as lustre-client; the id of a log that was opened before the capture",
			(*entry).Name).omit(),
		NIDKey("mgs", "node of the MGS", func(e *entry) lnet.NID { return e.MGS }),
	}, allOmit(pointKeys(func(e *entry) track.Point { return e.At })), []*Key[*entry]{
		NumberKey("index", "of a record: its number in the log; of parts of the picture: that of the record that made them or changed them last",
			func(e *entry) uint32 { return aboutEntry(e).index }).nonzero(),
	}, inside(func(e *entry) *config.Step { return e.Step }, stepKeys()...), []*Key[*entry]{
		TextKey("device", "name of an OBD device, without what a client appends to it; of a record or parameter: the device that it is about",
			func(e *entry) string { return aboutEntry(e).device }).omit(),
	}, inside(func(e *entry) *config.Device { return e.Device },
		TextKey("type", "type of a device", func(d *config.Device) string { return d.Type }).omit(),
		TextKey("status", "of a device: UP (set up), AT (attached only) or IN (deactivated by a parameter), as the log leaves it",
			func(d *config.Device) string { return d.Status.String() }).omit(),
	), []*Key[*entry]{
		TextKey("uuid", "of a device: that of the client, where a single one is captured that mounted with the log, else as the log has it; of a "+
			"target: its uuid",
			func(e *entry) string { return aboutEntry(e).uuid }).omit(),
		TextKey("target", "target that a device uses, that the entry is about", func(e *entry) string { return aboutEntry(e).target }).omit(),
		NumberKey("target_index", "index of the target", func(e *entry) uint32 { return aboutEntry(e).targetIndex }).omit().
			when(func(e *entry) bool { return aboutEntry(e).hasIndex }),
		boolean("inactive", "the target is not used: a parameter or the record that adds it deactivates it",
			func(e *entry) bool { return e.Target != nil && !e.Target.Active }),
		list("nodes", "nodes that serve the target of a device, in the order of preference: the second and those behind it are failover partners",
			func(e *entry) []config.Node { return aboutEntry(e).nodes },
			anyText("node", "name of the node", func(n *config.Node) string { return n.Name }),
			texts("nids", "its NIDs", func(n *config.Node) []string { return n.NIDs })).omit(),
		textsIf("nids", "NIDs of the server of the target", func(e *entry) []string { return aboutEntry(e).nids }),
	}, inside(func(e *entry) *config.Pool { return e.Pool },
		TextKey("pool", "name of a pool", func(p *config.Pool) string { return p.FSName + "." + p.Name }).omit(),
		textsIf("members", "uuids of the OSTs in a pool", func(p *config.Pool) []string { return p.Members }),
	), []*Key[*entry]{
		TextKey("parameter", "name of a parameter", func(e *entry) string { return aboutEntry(e).parameter }).omit(),
		TextKey("value", "its value", func(e *entry) string { return aboutEntry(e).value }).omit(),
	}, inside(func(e *entry) *config.Nodemap { return e.Nodemap },
		TextKey("nodemap", "name of a nodemap", func(n *config.Nodemap) string { return n.Name }).omit(),
		NumberKey("nodemap_id", "number of a nodemap", func(n *config.Nodemap) uint32 { return n.ID }).omit(),
	), inside(func(e *entry) *bool { return e.Active },
		NumberKey("active", "whether nodemaps are in use: 1 or 0", func(active *bool) int {
			if *active {
				return 1
			}
			return 0
		}).omit(),
	), inside(func(e *entry) *config.Nodemap { return e.Nodemap }, nodemapKeys()...), []*Key[*entry]{
		boolean("partial", "the log or table that the entry is from was not captured as a whole", (*entry).IsPartial),
		NumberKey("instance", "number of the start of the target", func(e *entry) uint32 { return aboutEntry(e).instance }).nonzero(),
	}, inside(func(e *entry) *config.RunningTarget { return e.RunningTarget },
		NumberKey("version", "of an instance: version of the table with this entry",
			func(r *config.RunningTarget) uint64 { return r.Version }).omit(),
		list("restarts", "earlier starts of the target that the table had", func(r *config.RunningTarget) []config.Restart { return r.Restarts },
			append([]*Key[*config.Restart]{
				NumberKey("instance", "number of the start", func(r *config.Restart) uint32 { return r.Instance }),
				texts("nids", "NIDs of the server", func(r *config.Restart) []string { return r.NIDs }),
			}, pointKeys(func(r *config.Restart) track.Point { return r.At })...)...).omit(),
	), []*Key[*entry]{
		NIDKey("client", "of a registration or set_info: node that sent it, also when it is a server; "+
			"of a device: the client that mounted with the log", func(e *entry) lnet.NID { return aboutEntry(e).client }).nonzero(),
	}, inside(func(e *entry) *config.Registration { return e.Registration },
		release("release", "of a registration: release of the server", func(r *config.Registration) uint32 { return r.Version }).omit(),
		flags("flags", opcodes.MtiFlags, "of a registration: kind and state of the target",
			func(r *config.Registration) uint64 { return r.Flags }).omit(),
		textsIf("parameters", "of a registration: parameters from the disk of the target", func(r *config.Registration) []string {
			return strings.Fields(r.Parameters)
		}),
	), []*Key[*entry]{
		errno("error", "error with which the MGS refused a request; of a log: with which it was last opened",
			func(e *entry) int32 { return aboutEntry(e).status }).omit(),
	}, inside(log,
		anyText("id", "of a log: the object that holds it", func(l *config.Log) string { return string(l.ID.Append(nil)) }).omit().
			when(func(l *config.Log) bool { return l.ID != opcodes.LogID{} }),
		NumberKey("created", "of a log: when it was made, in seconds since the epoch",
			func(l *config.Log) int64 { return l.Created }).as(Seconds).nonzero(),
		NumberKey("last", "of a log: number of its last record", func(l *config.Log) uint32 { return l.Last }).nonzero(),
		list("missing", "of a log: records that were not captured", func(l *config.Log) []config.Range {
			if l.Status < 0 {
				return nil
			}
			return l.Missing
		},
			NumberKey("first", "number of the first record", func(r *config.Range) uint32 { return r.First }),
			NumberKey("last", "number of the last record", func(r *config.Range) uint32 { return r.Last })).omit(),
		nids("readers", "of a log: nodes that read it", func(l *config.Log) []lnet.NID { return l.Readers }).omit(),
		boolean("replaced", "the MGS has another log of that name now", func(l *config.Log) bool { return l.Replaced })))
})}

// allOmit leaves keys out of JSON where they have no value.
func allOmit[R any](keys []*Key[R]) []*Key[R] {
	for _, k := range keys {
		k.omit()
	}
	return keys
}

func stepKeys() []*Key[*config.Step] {
	type step = config.Step
	llogText := func(s *opcodes.ConfigStep, index uint32) string { return string(s.AppendText(nil, index)) }
	return append([]*Key[*step]{
		TextKey("event", "of a record: its command, in the words of lctl llog_print", func(s *step) string { return s.Event }).omit(),
		TextKey("state", "of a record: in_force, skipped (its section is marked so), cancelled (the header of the log does not list it) "+
			"or unproven (the markers of its section were not captured)", func(s *step) string { return s.State.String() }).omit(),
		TextKey("text", "of a record: as lctl llog_print shows it; of a marker: in a comment",
			func(s *step) string { return llogText(&s.ConfigStep, s.Index) }).omit(),
		argumentList("arguments", "arguments of a record, in the words of lctl llog_print",
			func(s *step) []opcodes.ConfigArgument { return s.Arguments }),
		object("marker", "marker that begins or ends a section of a log",
			inside(func(s *step) *opcodes.ConfigMarker { return s.Marker }, markerKeys()...)...).
			omit().when(func(s *step) bool { return s.Marker != nil }),
	}, append(inside(func(s *step) *opcodes.ConfigMarker { return s.Section },
		anyText("section", "of a record: what the section does that it is in, by the comment of its markers",
			func(m *opcodes.ConfigMarker) string { return m.Comment }).
			omit()),
		listOf("earlier", "what a record was before the MGS changed it", func(s *step) int { return len(s.Earlier) },
			func(s *step, i int) earlierStep { return earlierStep{&s.Earlier[i], s} },
			append([]*Key[earlierStep]{
				anyText("text", "the record as lctl llog_print shows it", func(v earlierStep) string { return llogText(&v.ConfigStep, v.now.Index) }),
			}, pointKeys(func(v earlierStep) track.Point { return v.At })...)...).omit())...)
}

// earlierStep is a record of a log as it was, with what it is now.
type earlierStep struct {
	*config.Version
	now *config.Step
}

func markerKeys() []*Key[*opcodes.ConfigMarker] {
	type marker = opcodes.ConfigMarker
	return []*Key[*marker]{
		NumberKey("step", "number of the section, which both its markers have", func(m *marker) uint32 { return m.Step }),
		flags("flags", opcodes.CfgMarkerFlags, "whether it begins or ends the section, and whether that is skipped",
			func(m *marker) uint64 { return m.Flags }),
		release("release", "release of the server that wrote it", func(m *marker) uint32 { return m.Version }).omit(),
		NumberKey("created", "when it was written, in seconds since the epoch", func(m *marker) int64 { return m.Created }).as(Seconds).nonzero(),
		NumberKey("cancelled", "when the section was cancelled, likewise", func(m *marker) int64 { return m.Cancelled }).as(Seconds).nonzero(),
		TextKey("target", "what the section is about", func(m *marker) string { return m.Target }).omit(),
		TextKey("comment", "what the section does", func(m *marker) string { return m.Comment }).omit(),
	}
}

func nodemapKeys() []*Key[*config.Nodemap] {
	type nodemap = config.Nodemap
	return []*Key[*nodemap]{
		argumentList("properties", "properties of a nodemap, in the words of lctl get_param nodemap.*",
			func(n *nodemap) []opcodes.ConfigArgument { return n.Properties }),
		list("ranges", "clients that a nodemap is for", func(n *nodemap) []opcodes.NodemapRange { return n.Ranges },
			NumberKey("id", "number of the range", func(r *opcodes.NodemapRange) uint32 { return r.ID }),
			anyText("start_nid", "first NID, or a NID and the number of bits that count", func(r *opcodes.NodemapRange) string { return r.Start }),
			TextKey("end_nid", "last NID", func(r *opcodes.NodemapRange) string { return r.End }).omit()).omit(),
		list("idmaps", "ids that a nodemap maps", func(n *nodemap) []opcodes.NodemapIDMap { return n.IDMaps },
			anyText("idtype", "uid, gid or projid", func(m *opcodes.NodemapIDMap) string { return m.Type }),
			NumberKey("client_id", "the id on the client", func(m *opcodes.NodemapIDMap) uint32 { return m.Client }),
			NumberKey("fs_id", "the id in the file system", func(m *opcodes.NodemapIDMap) uint32 { return m.File })).omit(),
		list("filesets", "directories that clients of a nodemap are confined to", func(n *nodemap) []opcodes.NodemapFileset { return n.Filesets },
			anyText("path", "the directory", func(f *opcodes.NodemapFileset) string { return f.Path }),
			boolean("readonly", "it is read-only", func(f *opcodes.NodemapFileset) bool { return f.ReadOnly })).omit(),
	}
}

func argumentList[R any](name, doc string, get func(r R) []opcodes.ConfigArgument) *Key[R] {
	return list(name, doc, get,
		anyText("name", "name", func(a *opcodes.ConfigArgument) string { return a.Name }),
		TextKey("value", "value, null when it is empty", func(a *opcodes.ConfigArgument) string { return a.Value })).omit()
}

// about are the values that entries of several kinds have.
type about struct {
	index            uint32
	device, uuid     string
	target           string
	targetIndex      uint32
	hasIndex         bool // targetIndex is known
	nodes            []config.Node
	nids             []string
	parameter, value string
	status           int32
	instance         uint32
	client           lnet.NID
}

func aboutEntry(e *config.Entry) (a about) {
	name := func(uuid string) string { return strings.TrimSuffix(uuid, "_UUID") }
	switch e.Kind {
	case config.KindLog:
		a.status = e.Log.Status
	case config.KindStep:
		s := e.Step
		a.index, a.device, a.target = s.Index, s.Argument("device"), name(cmp.Or(s.Argument("ost"), s.Argument("mdt")))
		a.parameter, a.value = s.Argument("parameter"), s.Argument("value")
	case config.KindDevice:
		d := e.Device
		a.index, a.device, a.uuid, a.target, a.nodes = d.Index, d.Name, e.DeviceUUID(), name(d.Target), d.Nodes
		if e.Mount != nil {
			a.client = e.Mount.Client
		}
	case config.KindTarget:
		t := e.Target
		a.index, a.uuid, a.target = t.Index, t.UUID, t.Name()
		index, err := strconv.ParseUint(t.Number, 10, 32)
		a.targetIndex, a.hasIndex = uint32(index), err == nil
		if t.Device != nil {
			a.device, a.nodes = t.Device.Name, t.Device.Nodes
		}
	case config.KindPool:
		a.index = e.Pool.Index
	case config.KindParameter:
		p := e.Parameter
		a.index, a.device, a.parameter, a.value = p.Index, p.Device, p.Name, p.Value
	case config.KindRunningTarget:
		r := e.RunningTarget
		a.target, a.targetIndex, a.hasIndex, a.nids, a.instance = r.Target(), r.Index, true, r.NIDs, r.Instance
	case config.KindRegistration:
		r := e.Registration
		a.uuid, a.target, a.targetIndex, a.hasIndex = r.UUID, r.Name, r.Index, r.Name != ""
		a.nids, a.status, a.instance, a.client = r.NIDs, r.Status, r.Instance, r.Server
	case config.KindSentParameter:
		p := e.SentParameter
		a.parameter, a.value, _ = strings.Cut(p.Parameter, "=")
		a.status, a.client = p.Status, p.Client
	}
	return a
}
