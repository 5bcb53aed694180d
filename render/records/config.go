package records

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/config"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// configEntry is a part of the configuration.
type configEntry = *config.Entry

// Configuration are the keys of entries of the configuration: which ones an entry has
// depends on its kind.
var Configuration = Table[configEntry]{Record: "config entry", Prefix: "config.", InFilters: true, Keys: []Key[configEntry]{
	{Name: "kind", Type: Text, Doc: "what the entry is: log, record (of a log), device, target, pool, parameter, nodemaps (whether they are in use), nodemap, " +
		"instance (where a target runs, for imperative recovery), registration (of a target that started) or set_info (a parameter that a node sent to the MGS); " +
		"all but records are the final picture", Get: func(e configEntry, v *Value) bool {
		v.SetString(e.Kind.String())
		return true
	}},
	configText("log", "log or table that it is from, such as lustre-client; the id of a log that was opened before the capture", configEntry.Name),
	{Name: "mgs", Type: NID, Doc: "node of the MGS", Get: func(e configEntry, v *Value) bool {
		v.NID = e.MGS
		return true
	}},
	{Name: "file", Type: Text, JSON: Omit, Doc: fileDoc, Get: func(e configEntry, v *Value) bool { return v.setFile(e.At.File) }},
	{Name: "frame", JSON: Omit, Doc: frameDoc, Get: func(e configEntry, v *Value) bool { return e.At.Frame != 0 && v.setFrame(e.At) }},
	{Name: "time", Type: Time, JSON: Omit, Doc: timeDoc, Get: func(e configEntry, v *Value) bool { return v.setTime(e.At) }},

	configNumber("index", "of a record: its number in the log; of parts of the picture: that of the record that made them or changed them last", configIndex),
	configText("event", "of a record: its command, in the words of lctl llog_print", func(e configEntry) string {
		if e.Step == nil {
			return ""
		}
		return e.Step.Event
	}),
	configText("state", "of a record: in_force, skipped (its section is marked so), cancelled (the header of the log does not list it) or unproven (the markers of its section were not captured)", func(e configEntry) string {
		if e.Step == nil {
			return ""
		}
		return e.Step.State.String()
	}),
	configText("text", "of a record: as lctl llog_print shows it; of a marker: in a comment", func(e configEntry) string {
		if e.Step == nil {
			return ""
		}
		return string(e.Step.AppendText(nil, e.Step.Index))
	}),
	{Name: "arguments", Type: Object, JSON: Omit, Doc: "arguments of a record, in the words of lctl llog_print", Len: func(e configEntry) int {
		if e.Step == nil {
			return 0
		}
		return len(e.Step.Arguments)
	}, Parts: configPairs(func(e configEntry) []opcodes.ConfigArgument { return e.Step.Arguments })},
	{Name: "marker", Type: Object, JSON: Omit, Doc: "marker that begins or ends a section of a log", Get: func(e configEntry, _ *Value) bool { return configMarker(e) != nil }, Parts: markerKeys},
	{Name: "section", Type: Text, JSON: Omit, Doc: "of a record: what the section does that it is in, by the comment of its markers", Get: func(e configEntry, v *Value) bool {
		if e.Step == nil || e.Step.Section == nil {
			return false
		}
		v.SetString(e.Step.Section.Comment)
		return true
	}},
	{Name: "earlier", Type: Object, JSON: Omit, Doc: "what a record was before the MGS changed it", Len: func(e configEntry) int {
		if e.Step == nil {
			return 0
		}
		return len(e.Step.Earlier)
	}, Parts: append([]Key[configEntry]{{Name: "text", Type: Text, Doc: "the record as lctl llog_print shows it", At: func(e configEntry, i int, v *Value) bool {
		v.SetString(string(e.Step.Earlier[i].AppendText(nil, e.Step.Index)))
		return true
	}}}, pointAt(func(e configEntry, i int) track.Point { return e.Step.Earlier[i].At })...)},

	configText("device", "name of an OBD device, without what a client appends to it; of a record or parameter: the device that it is about", configDevice),
	configText("type", "type of a device", func(e configEntry) string {
		if e.Device == nil {
			return ""
		}
		return e.Device.Type
	}),
	configText("status", "of a device: UP (set up), AT (attached only) or IN (deactivated by a parameter), as the log leaves it", func(e configEntry) string {
		if e.Device == nil {
			return ""
		}
		return e.Device.Status.String()
	}),
	configText("uuid", "of a device: that of the client, where a single one is captured that mounted with the log, else as the log has it; of a target: its uuid", configUUID),
	configText("target", "target that a device uses, that the entry is about", configTarget),
	{Name: "target_index", JSON: Omit, Doc: "index of the target", Get: func(e configEntry, v *Value) (ok bool) {
		v.U, ok = configTargetIndex(e)
		return ok
	}},
	configBool("inactive", "the target is not used: a parameter or the record that adds it deactivates it", func(e configEntry) bool { return e.Target != nil && !e.Target.Active }),
	{Name: "nodes", Type: Object, JSON: Omit, Doc: "nodes that serve the target of a device, in the order of preference: the second and those behind it are failover partners", Len: func(e configEntry) int { return len(configNodes(e)) },
		Parts: []Key[configEntry]{
			{Name: "node", Type: Text, Doc: "name of the node", At: func(e configEntry, i int, v *Value) bool {
				v.SetString(configNodes(e)[i].Name)
				return true
			}},
			{Name: "nids", Type: Strings, Doc: "its NIDs", At: func(e configEntry, i int, v *Value) bool {
				v.Strings = configNodes(e)[i].NIDs
				return true
			}},
		}},
	configStrings("nids", "NIDs of the server of the target", configNIDs),
	configText("pool", "name of a pool", func(e configEntry) string {
		if e.Pool == nil {
			return ""
		}
		return e.Pool.FSName + "." + e.Pool.Name
	}),
	configStrings("members", "uuids of the OSTs in a pool", func(e configEntry) []string {
		if e.Pool == nil {
			return nil
		}
		return e.Pool.Members
	}),
	configText("parameter", "name of a parameter", func(e configEntry) string { name, _ := configParameter(e); return name }),
	configText("value", "its value", func(e configEntry) string { _, value := configParameter(e); return value }),

	configText("nodemap", "name of a nodemap", func(e configEntry) string {
		if e.Nodemap == nil {
			return ""
		}
		return e.Nodemap.Name
	}),
	{Name: "nodemap_id", JSON: Omit, Doc: "number of a nodemap", Get: func(e configEntry, v *Value) bool {
		if e.Nodemap == nil {
			return false
		}
		v.U = uint64(e.Nodemap.ID)
		return true
	}},
	{Name: "active", JSON: Omit, Doc: "whether nodemaps are in use: 1 or 0", Get: func(e configEntry, v *Value) bool {
		if e.Active == nil {
			return false
		}
		if v.U = 0; *e.Active {
			v.U = 1
		}
		return true
	}},
	{Name: "properties", Type: Object, JSON: Omit, Doc: "properties of a nodemap, in the words of lctl get_param nodemap.*", Len: func(e configEntry) int {
		if e.Nodemap == nil {
			return 0
		}
		return len(e.Nodemap.Properties)
	}, Parts: configPairs(func(e configEntry) []opcodes.ConfigArgument { return e.Nodemap.Properties })},
	{Name: "ranges", Type: Object, JSON: Omit, Doc: "clients that a nodemap is for", Len: func(e configEntry) int {
		if e.Nodemap == nil {
			return 0
		}
		return len(e.Nodemap.Ranges)
	}, Parts: []Key[configEntry]{
		{Name: "id", Doc: "number of the range", At: func(e configEntry, i int, v *Value) bool {
			v.U = uint64(e.Nodemap.Ranges[i].ID)
			return true
		}},
		{Name: "start_nid", Type: Text, Doc: "first NID, or a NID and the number of bits that count", At: func(e configEntry, i int, v *Value) bool {
			v.SetString(e.Nodemap.Ranges[i].Start)
			return true
		}},
		{Name: "end_nid", Type: Text, JSON: Omit, Doc: "last NID", At: func(e configEntry, i int, v *Value) bool {
			v.SetString(e.Nodemap.Ranges[i].End)
			return len(v.Text) > 0
		}},
	}},
	{Name: "idmaps", Type: Object, JSON: Omit, Doc: "ids that a nodemap maps", Len: func(e configEntry) int {
		if e.Nodemap == nil {
			return 0
		}
		return len(e.Nodemap.IDMaps)
	}, Parts: []Key[configEntry]{
		{Name: "idtype", Type: Text, Doc: "uid, gid or projid", At: func(e configEntry, i int, v *Value) bool {
			v.SetString(e.Nodemap.IDMaps[i].Type)
			return true
		}},
		{Name: "client_id", Doc: "the id on the client", At: func(e configEntry, i int, v *Value) bool {
			v.U = uint64(e.Nodemap.IDMaps[i].Client)
			return true
		}},
		{Name: "fs_id", Doc: "the id in the file system", At: func(e configEntry, i int, v *Value) bool {
			v.U = uint64(e.Nodemap.IDMaps[i].File)
			return true
		}},
	}},
	{Name: "filesets", Type: Object, JSON: Omit, Doc: "directories that clients of a nodemap are confined to", Len: func(e configEntry) int {
		if e.Nodemap == nil {
			return 0
		}
		return len(e.Nodemap.Filesets)
	}, Parts: []Key[configEntry]{
		{Name: "path", Type: Text, Doc: "the directory", At: func(e configEntry, i int, v *Value) bool {
			v.SetString(e.Nodemap.Filesets[i].Path)
			return true
		}},
		{Name: "readonly", Type: Bool, JSON: Omit, Doc: "it is read-only", At: func(e configEntry, i int, _ *Value) bool { return e.Nodemap.Filesets[i].ReadOnly }},
	}},
	configBool("partial", "the log or table that the entry is from was not captured as a whole", configEntry.IsPartial),

	{Name: "instance", JSON: Omit, Doc: "number of the start of the target", Get: func(e configEntry, v *Value) bool {
		switch {
		case e.RunningTarget != nil:
			v.U = uint64(e.RunningTarget.Instance)
		case e.Registration != nil:
			v.U = uint64(e.Registration.Instance)
		}
		return v.U != 0 && (e.RunningTarget != nil || e.Registration != nil)
	}},
	{Name: "version", JSON: Omit, Doc: "of an instance: version of the table with this entry", Get: func(e configEntry, v *Value) bool {
		if e.RunningTarget == nil {
			return false
		}
		v.U = e.RunningTarget.Version
		return true
	}},
	{Name: "restarts", Type: Object, JSON: Omit, Doc: "earlier starts of the target that the table had", Len: func(e configEntry) int {
		if e.RunningTarget == nil {
			return 0
		}
		return len(e.RunningTarget.Restarts)
	}, Parts: append([]Key[configEntry]{
		{Name: "instance", Doc: "number of the start", At: func(e configEntry, i int, v *Value) bool {
			v.U = uint64(e.RunningTarget.Restarts[i].Instance)
			return true
		}},
		{Name: "nids", Type: Strings, Doc: "NIDs of the server", At: func(e configEntry, i int, v *Value) bool {
			v.Strings = e.RunningTarget.Restarts[i].NIDs
			return true
		}},
	}, pointAt(func(e configEntry, i int) track.Point { return e.RunningTarget.Restarts[i].At })...)},

	{Name: "client", Type: NID, JSON: Omit, Doc: "of a registration or set_info: node that sent it, also when it is a server; of a device: the client that mounted with the log", Get: func(e configEntry, v *Value) bool {
		switch {
		case e.Registration != nil:
			v.NID = e.Registration.Server
		case e.SentParameter != nil:
			v.NID = e.SentParameter.Client
		case e.Mount != nil:
			v.NID = e.Mount.Client
		default:
			return false
		}
		return true
	}},
	configText("release", "of a registration: release of the server", func(e configEntry) string {
		if e.Registration == nil {
			return ""
		}
		return string(schema.AppendVersion(nil, e.Registration.Version))
	}),
	{Name: "flags", Type: Flags, Names: opcodes.MtiFlags, JSON: Omit, Doc: "of a registration: kind and state of the target", Get: func(e configEntry, v *Value) bool {
		if e.Registration == nil {
			return false
		}
		v.U = e.Registration.Flags
		return true
	}},
	configStrings("parameters", "of a registration: parameters from the disk of the target", func(e configEntry) []string {
		if e.Registration == nil {
			return nil
		}
		return strings.Fields(e.Registration.Parameters)
	}),
	{Name: "error", Type: Text, JSON: Omit, Doc: "error with which the MGS refused a request; of a log: with which it was last opened", Get: func(e configEntry, v *Value) bool {
		status := configStatus(e)
		v.SetErrno(status)
		return status < 0
	}},

	configText("id", "of a log: the object that holds it", func(e configEntry) string {
		if e.Kind != config.KindLog || e.Log.ID == (opcodes.LogID{}) {
			return ""
		}
		return string(e.Log.ID.Append(nil))
	}),
	{Name: "created", Type: Seconds, JSON: Omit, Doc: "of a log: when it was made, in seconds since the epoch", Get: func(e configEntry, v *Value) bool {
		if e.Kind != config.KindLog || e.Log.Created == 0 {
			return false
		}
		v.U = uint64(e.Log.Created)
		return true
	}},
	{Name: "last", JSON: Omit, Doc: "of a log: number of its last record", Get: func(e configEntry, v *Value) bool {
		if e.Kind != config.KindLog || e.Log.Last == 0 {
			return false
		}
		v.U = uint64(e.Log.Last)
		return true
	}},
	{Name: "missing", Type: Object, JSON: Omit, Doc: "of a log: records that were not captured", Len: func(e configEntry) int { return len(configMissing(e)) }, Parts: []Key[configEntry]{
		{Name: "first", Doc: "number of the first record", At: func(e configEntry, i int, v *Value) bool {
			v.U = uint64(configMissing(e)[i].First)
			return true
		}},
		{Name: "last", Doc: "number of the last record", At: func(e configEntry, i int, v *Value) bool {
			v.U = uint64(configMissing(e)[i].Last)
			return true
		}},
	}},
	{Name: "readers", Type: NID, JSON: Omit, Doc: "of a log: nodes that read it", Len: func(e configEntry) int {
		if e.Kind != config.KindLog {
			return 0
		}
		return len(e.Log.Readers)
	}, At: func(e configEntry, i int, v *Value) bool {
		v.NID = e.Log.Readers[i]
		return true
	}},
	configBool("replaced", "the MGS has another log of that name now", func(e configEntry) bool { return e.Kind == config.KindLog && e.Log.Replaced }),
}}

// markerKeys are the keys of a marker.
var markerKeys = []Key[configEntry]{
	{Name: "step", Doc: "number of the section, which both its markers have", Get: func(e configEntry, v *Value) bool {
		m := configMarker(e)
		if m == nil {
			return false
		}
		v.U = uint64(m.Step)
		return true
	}},
	{Name: "flags", Type: Flags, Names: opcodes.CfgMarkerFlags, Doc: "whether it begins or ends the section, and whether that is skipped", Get: func(e configEntry, v *Value) bool {
		m := configMarker(e)
		if m == nil {
			return false
		}
		v.U = m.Flags
		return true
	}},
	configText("release", "release of the server that wrote it", func(e configEntry) string {
		if m := configMarker(e); m != nil {
			return string(schema.AppendVersion(nil, m.Version))
		}
		return ""
	}),
	configSeconds("created", "when it was written, in seconds since the epoch", func(m *opcodes.ConfigMarker) int64 { return m.Created }),
	configSeconds("cancelled", "when the section was cancelled, likewise", func(m *opcodes.ConfigMarker) int64 { return m.Cancelled }),
	configText("target", "what the section is about", func(e configEntry) string {
		if m := configMarker(e); m != nil {
			return m.Target
		}
		return ""
	}),
	configText("comment", "what the section does", func(e configEntry) string {
		if m := configMarker(e); m != nil {
			return m.Comment
		}
		return ""
	}),
}

// configMarker returns the marker that an entry is, nil for others.
func configMarker(e configEntry) *opcodes.ConfigMarker {
	if e.Step == nil {
		return nil
	}
	return e.Step.Marker
}

// configText makes a key that entries have for which get returns some text.
func configText(name, doc string, get func(e configEntry) string) Key[configEntry] {
	return Key[configEntry]{Name: name, Type: Text, JSON: Omit, Doc: doc, Get: func(e configEntry, v *Value) bool {
		v.SetString(get(e))
		return len(v.Text) > 0
	}}
}

// configNumber makes a key that entries have for which get does not return 0.
func configNumber(name, doc string, get func(e configEntry) uint64) Key[configEntry] {
	return Key[configEntry]{Name: name, JSON: Omit, Doc: doc, Get: func(e configEntry, v *Value) bool {
		v.U = get(e)
		return v.U != 0
	}}
}

func configSeconds(name, doc string, get func(m *opcodes.ConfigMarker) int64) Key[configEntry] {
	return Key[configEntry]{Name: name, Type: Seconds, JSON: Omit, Doc: doc, Get: func(e configEntry, v *Value) bool {
		m := configMarker(e)
		if m == nil || get(m) == 0 {
			return false
		}
		v.U = uint64(get(m))
		return true
	}}
}

func configBool(name, doc string, get func(e configEntry) bool) Key[configEntry] {
	return Key[configEntry]{Name: name, Type: Bool, JSON: Omit, Doc: doc, Get: func(e configEntry, _ *Value) bool { return get(e) }}
}

func configStrings(name, doc string, get func(e configEntry) []string) Key[configEntry] {
	return Key[configEntry]{Name: name, Type: Strings, JSON: Omit, Doc: doc, Get: func(e configEntry, v *Value) bool {
		v.Strings = get(e)
		return len(v.Strings) > 0
	}}
}

// configPairs makes the keys of a list of names and values.
func configPairs(get func(e configEntry) []opcodes.ConfigArgument) []Key[configEntry] {
	return []Key[configEntry]{
		{Name: "name", Type: Text, Doc: "name", At: func(e configEntry, i int, v *Value) bool {
			v.SetString(get(e)[i].Name)
			return true
		}},
		{Name: "value", Type: Text, Doc: "value, null when it is empty", At: func(e configEntry, i int, v *Value) bool {
			v.SetString(get(e)[i].Value)
			return len(v.Text) > 0
		}},
	}
}

func configIndex(e configEntry) uint64 {
	switch {
	case e.Step != nil:
		return uint64(e.Step.Index)
	case e.Device != nil:
		return uint64(e.Device.Index)
	case e.Target != nil:
		return uint64(e.Target.Index)
	case e.Pool != nil:
		return uint64(e.Pool.Index)
	case e.Parameter != nil:
		return uint64(e.Parameter.Index)
	}
	return 0
}

func configDevice(e configEntry) string {
	switch {
	case e.Step != nil:
		return e.Step.Argument("device")
	case e.Device != nil:
		return e.Device.Name
	case e.Target != nil && e.Target.Device != nil:
		return e.Target.Device.Name
	case e.Parameter != nil:
		return e.Parameter.Device
	}
	return ""
}

func configUUID(e configEntry) string {
	switch {
	case e.Device != nil:
		return e.DeviceUUID()
	case e.Target != nil:
		return e.Target.UUID
	case e.Registration != nil:
		return e.Registration.UUID
	}
	return ""
}

func configTarget(e configEntry) string {
	switch {
	case e.Step != nil:
		return strings.TrimSuffix(cmp.Or(e.Step.Argument("ost"), e.Step.Argument("mdt")), "_UUID")
	case e.Device != nil:
		return strings.TrimSuffix(e.Device.Target, "_UUID")
	case e.Target != nil:
		return e.Target.Name()
	case e.RunningTarget != nil:
		return e.RunningTarget.Target()
	case e.Registration != nil:
		return e.Registration.Name
	}
	return ""
}

func configTargetIndex(e configEntry) (index uint64, ok bool) {
	switch {
	case e.Target != nil:
		index, err := strconv.ParseUint(e.Target.Number, 10, 32)
		return index, err == nil
	case e.RunningTarget != nil:
		return uint64(e.RunningTarget.Index), true
	case e.Registration != nil && e.Registration.Name != "":
		return uint64(e.Registration.Index), true
	}
	return 0, false
}

// configNodes returns the nodes that serve the target of an entry.
func configNodes(e configEntry) []config.Node {
	switch {
	case e.Device != nil:
		return e.Device.Nodes
	case e.Target != nil && e.Target.Device != nil:
		return e.Target.Device.Nodes
	}
	return nil
}

func configNIDs(e configEntry) []string {
	switch {
	case e.RunningTarget != nil:
		return e.RunningTarget.NIDs
	case e.Registration != nil:
		return e.Registration.NIDs
	}
	return nil
}

func configParameter(e configEntry) (name, value string) {
	switch {
	case e.Parameter != nil:
		return e.Parameter.Name, e.Parameter.Value
	case e.Step != nil:
		return e.Step.Argument("parameter"), e.Step.Argument("value")
	case e.SentParameter != nil:
		name, value, _ = strings.Cut(e.SentParameter.Parameter, "=")
	}
	return name, value
}

func configStatus(e configEntry) int32 {
	switch {
	case e.Kind == config.KindLog:
		return e.Log.Status
	case e.Registration != nil:
		return e.Registration.Status
	case e.SentParameter != nil:
		return e.SentParameter.Status
	}
	return 0
}

func configMissing(e configEntry) []config.Range {
	if e.Kind != config.KindLog || e.Log.Status < 0 {
		return nil
	}
	return e.Log.Missing
}
