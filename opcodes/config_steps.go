package opcodes

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	. "github.com/lshark/lshark/opcodes/schema"
)

// ConfigStep is a record of a configuration log: a command with its arguments.
type ConfigStep struct {
	Event     string // name of the command, as `lctl llog_print` shows it
	Arguments []ConfigArgument
	Marker    *ConfigMarker // of event "marker"
	nid       uint64        // of add_uuid and del_uuid, when it has the 8-byte form
}

// ConfigArgument is an argument of a configuration command.
type ConfigArgument struct{ Name, Value string }

// ConfigMarker begins or ends a section of a configuration log.
type ConfigMarker struct {
	Step      uint32
	Flags     uint64 // CfgMarkerFlags
	Version   uint32 // release of the server that wrote it
	Created   int64  // seconds since the epoch
	Cancelled int64  // likewise; 0: never
	Target    string
	Comment   string
	Text      string // all of it in one line
}

// IsStart reports whether the marker begins a section.
func (m *ConfigMarker) IsStart() bool { return m.Flags&CfgMarkerFlags.Bit("START") != 0 }

// IsEnd reports whether the marker ends a section.
func (m *ConfigMarker) IsEnd() bool { return m.Flags&CfgMarkerFlags.Bit("END") != 0 }

// IsSkipped reports whether readers of the log ignore the section.
func (m *ConfigMarker) IsSkipped() bool {
	return m.Flags&CfgMarkerFlags.Bit("SKIP", "EXCLUDE") != 0
}

// configEvent is how `lctl llog_print` shows a command: its name, and the names of
// its arguments by their position. Arguments without a name are not shown.
type configEvent struct {
	name      string
	arguments []string
}

var configEvents = sync.OnceValue(func() map[uint64]configEvent {
	events := make(map[uint64]configEvent)
	for command, e := range map[string]configEvent{
		"ATTACH":       {"attach", []string{"device", "type", "UUID"}},
		"DETACH":       {"detach", []string{"device"}},
		"SETUP":        {"setup", []string{"device", "UUID", "node", "options", "failout"}},
		"CLEANUP":      {"cleanup", []string{"device", "options"}},
		"ADD_UUID":     {"add_uuid", []string{"device", "node"}},
		"DEL_UUID":     {"del_uuid", []string{"device", "node"}},
		"MOUNTOPT":     {"new_profile", []string{"", "name", "lov", "lmv"}},
		"DEL_MOUNTOPT": {"del_profile", []string{"", "name"}},
		"SET_TIMEOUT":  {"set_timeout", []string{"device", "parameter"}},
		"ADD_CONN":     {"add_conn", []string{"device", "node"}},
		"DEL_CONN":     {"del_conn", []string{"device", "node"}},
		"LOV_ADD_OBD":  {"add_osc", []string{"device", "ost", "index", "gen"}},
		"LOV_ADD_INA":  {"add_osc_inactive", []string{"device", "ost", "index", "gen"}},
		"LOV_DEL_OBD":  {"del_osc", []string{"device", "ost", "index", "gen"}},
		"ADD_MDC":      {"add_mdc", []string{"device", "mdt", "index", "gen", "UUID"}},
		"DEL_MDC":      {"del_mdc", []string{"device", "mdt", "index", "gen", "UUID"}},
		"PARAM":        {"conf_param", []string{"device"}},
		"SET_PARAM":    {"set_param", []string{"device"}},
		"SPTLRPC_CONF": {"sptlrpc_conf", []string{"fsname"}},
		"POOL_NEW":     {"new_pool", []string{"device", "fsname", "pool"}},
		"POOL_ADD":     {"add_pool", []string{"device", "fsname", "pool", "ost"}},
		"POOL_REM":     {"remove_pool", []string{"device", "fsname", "pool", "ost"}},
		"POOL_DEL":     {"del_pool", []string{"device", "fsname", "pool"}},
		"MARKER":       {"marker", []string{"device"}},

		"SET_LDLM_TIMEOUT": {"set_ldlm_timeout", []string{"device", "parameter"}},
	} {
		events[LcfgCommand.Number(command)] = e
	}
	return events
})

// Commands whose arguments are not all text.
var lcfgSptlrpcConf = LcfgCommand.Number("SPTLRPC_CONF")

// ReadConfigStep reads a record of a configuration log; ok is false for other records,
// and for one that is incomplete.
func ReadConfigStep(record []byte, big bool) (s ConfigStep, ok bool) {
	if len(record) < llogRecHdr.Size+lustreCfgFixed+llogTail {
		return s, false
	}
	b := record[llogRecHdr.Size : len(record)-llogTail]
	big = lustreCfg.Big(b, big)
	if lustreCfg.Field("lcfg_version").Uint(b, big) != lustreCfgMagic {
		return s, false
	}
	command := lcfgCommand.Uint(b, big)
	e, listed := configEvents()[command]
	s.Event = e.name
	if !listed {
		s.Event = string(appendVerb(nil, command))
	}
	if command == lcfgAddUUID || command == lcfgDelUUID {
		s.addNID(b, big)
	}
	for i := range int(min(lcfgBufcount.Uint(b, big), maxArguments)) {
		off, size := argument(b, i, big)
		if off == 0 || off+size > len(b) {
			return s, false
		}
		switch text := string(argumentText(b, i, big)); {
		case command == lcfgMarker && i == 1:
			if s.Marker = readMarker(b[off:off+size], big); s.Marker != nil {
				s.Marker.Text = string(markerText(b, big, nil))
			}
		case i > 0 && (command == LcfgCommand.Number("PARAM") || command == lcfgSptlrpcConf || command == LcfgCommand.Number("SET_PARAM") && i == 1):
			key, value, ok := strings.Cut(text, "=")
			if text != "" {
				s.add("parameter", key)
			}
			if ok {
				s.add("value", value)
			}
		case i < len(e.arguments):
			if e.arguments[i] != "" && (text != "" || command == lcfgSetup && i == 1) {
				s.add(e.arguments[i], text)
			}
		case !listed && text != "":
			s.add(strconv.Itoa(i), text)
		}
	}
	if command == lcfgSetTimeout || command == lcfgSetLdlmTimeout {
		s.add("num", strconv.FormatUint(lcfgNum.Uint(b, big), 10))
	}
	return s, s.Event != "marker" || s.Marker != nil
}

func (s *ConfigStep) add(name, value string) {
	s.Arguments = append(s.Arguments, ConfigArgument{name, value})
}

// Argument returns the first argument of that name, empty when the command has none.
func (s *ConfigStep) Argument(name string) string {
	for _, a := range s.Arguments {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// addNID adds the NID of an ADD_UUID or DEL_UUID: text where it is a large one.
func (s *ConfigStep) addNID(b []byte, big bool) {
	if text := argumentText(b, 2, big); len(text) > 0 {
		s.add("nid", string(text))
	} else if s.nid = lcfgNid.Uint(b, big); s.nid != 0 {
		s.add("nid", string(AppendNID4(nil, s.nid)))
	}
}

// AppendText appends the record in a line as `lctl llog_print` shows it. A marker, which
// that leaves out, is a comment of YAML.
func (s *ConfigStep) AppendText(dst []byte, index uint32) []byte {
	if s.Marker != nil {
		return append(append(dst, "# "...), s.Marker.Text...)
	}
	dst = strconv.AppendUint(append(dst, "- { index: "...), uint64(index), 10)
	dst = append(append(dst, ", event: "...), s.Event...)
	for _, a := range s.Arguments {
		dst = append(append(append(append(dst, ", "...), a.Name...), ": "...), a.Value...)
		if a.Name == "nid" && s.nid != 0 {
			dst = append(AppendHex(append(dst, '('), s.nid), ')')
		}
	}
	return append(dst, " }"...)
}

// readMarker reads a struct cfg_marker, nil when its size is that of none.
func readMarker(b []byte, big bool) *ConfigMarker {
	s := cfgMarker
	switch {
	case len(b) == cfgMarker32.Size:
		s = cfgMarker32
	case len(b) < cfgMarker.Size:
		return nil
	}
	text := func(name string) string { return string(TrimNUL(s.Field(name).Bytes(b))) }
	return &ConfigMarker{
		Step:      uint32(s.Field("cm_step").Uint(b, big)),
		Flags:     s.Field("cm_flags").Uint(b, big),
		Version:   uint32(s.Field("cm_vers").Uint(b, big)),
		Created:   int64(s.Field("cm_createtime").Uint(b, big)),
		Cancelled: int64(s.Field("cm_canceltime").Uint(b, big)),
		Target:    text("cm_tgtname"),
		Comment:   text("cm_comment"),
	}
}

// LogID identifies a log: the object that holds it.
type LogID struct {
	Object, Sequence uint64
	Generation       uint32
}

// Append appends the id as sequence:object, in the form that lines show.
func (id LogID) Append(dst []byte) []byte {
	dst = AppendHex(dst, id.Sequence)
	return strconv.AppendUint(append(dst, ':'), id.Object, 10)
}

// NamedLog returns the log in a message of LLOG_ORIGIN_HANDLE_CREATE, NEXT_BLOCK,
// PREV_BLOCK or READ_HEADER: its id, and in a request that opens it by name also that
// name; config reports whether it is a configuration log. The id is zero in a request
// with a name.
func NamedLog(m *Msg) (id LogID, name []byte, config, ok bool) {
	b := m.Buf(1)
	if len(b) < llogdBody.Size {
		return id, nil, false, false
	}
	id = LogID{oiID.Uint(b, m.Big), oiSeq.Uint(b, m.Big), uint32(llogLogid.Field("lgl_ogen").Uint(b, m.Big))}
	if m.Opcode == LLOG_ORIGIN_HANDLE_CREATE && !m.Reply {
		name = TrimNUL(m.Buf(2))
	}
	return id, name, lgdCtxt.Uint(b, m.Big) == LlogCtxt.Number("CONFIG_ORIG_CTXT"), true
}

// LogHeader is the header of a log.
type LogHeader struct {
	Created int64  // seconds since the epoch
	Last    uint32 // index of the last record
	Bitmap  []byte // of the records in use
	Big     bool
}

// ReadLogHeader reads the header of a log in a reply to LLOG_ORIGIN_HANDLE_READ_HEADER;
// ok is false when it is incomplete.
func ReadLogHeader(m *Msg) (h LogHeader, ok bool) {
	b := m.Buf(1)
	if len(b) < llogLogHdr.Size {
		return h, false
	}
	h.Big = llogBig(b, m.Big)
	size := int(min(lrhLen.Uint(b, h.Big), maxLogRecord))
	if lrhType.Uint(b, h.Big) != llogHeaderMagic || size < llogLogHdr.Size+llogTail || len(b) < size {
		return h, false
	}
	b = b[:size]
	v := View{Struct: b, Rest: b, Big: h.Big}
	at := logHeader + beforeBitmap(&v)
	h.Bitmap = b[at : at+4*bitmapWords(&v)]
	h.Created = int64(llogLogHdr.Field("llh_timestamp").Uint(b, h.Big))
	h.Last = uint32(lrtIndex.Uint(b[size-llogTail:], h.Big))
	return h, int(h.Last) < 8*len(h.Bitmap)
}

// Uses reports whether a record is in use.
func (h *LogHeader) Uses(index uint32) bool {
	at := int(index/32) * 4
	return at+4 <= len(h.Bitmap) && ReadUint(h.Bitmap[at:at+4], h.Big)>>(index%32)&1 != 0
}

var lrtIndex = llogRecTail.Field("lrt_index")

// LogRecord is a record of a log.
type LogRecord struct {
	Index  uint32
	Config bool   // a step of a configuration
	Bytes  []byte // with header and tail
	Big    bool
}

// LogRecords calls f for the records in a reply to LLOG_ORIGIN_HANDLE_NEXT_BLOCK or
// PREV_BLOCK, up to the first one that is incomplete or damaged.
func LogRecords(m *Msg, f func(LogRecord)) {
	v := View{Rest: m.Buf(2), Big: m.Big}
	for {
		form, n := nextLogRecord(&v)
		if form == nil || n > len(v.Rest) {
			return
		}
		r := LogRecord{Bytes: v.Rest[:n], Big: llogBig(v.Rest, v.Big)}
		r.Index = uint32(llogRecHdr.Field("lrh_index").Uint(r.Bytes, r.Big))
		tail := r.Bytes[n-llogTail:]
		if r.Index == 0 || llogRecTail.Field("lrt_len").Uint(tail, r.Big) != uint64(n) || lrtIndex.Uint(tail, r.Big) != uint64(r.Index) {
			return
		}
		r.Config = lrhType.Uint(r.Bytes, r.Big) == LlogRecType.Number("OBD_CFG_REC")
		f(r)
		v.Rest = v.Rest[n:]
	}
}

// ReadTable is what a request of MGS_CONFIG_READ reads.
type ReadTable struct {
	Name string
	Kind string // of MgsCfgType
	From uint64 // first version of a table of imperative recovery, or hash in that of nodemaps
	Pass uint64 // of nodemaps: counts the passes over the table
}

// RequestedTable returns the table in a request of MGS_CONFIG_READ; ok is false when it
// is incomplete.
func RequestedTable(m *Msg) (t ReadTable, ok bool) {
	b := m.Buf(1)
	if len(b) < mgsConfigBody.Size {
		return t, false
	}
	return ReadTable{
		Name: string(TrimNUL(mcbName.Bytes(b))),
		Kind: MgsCfgType.Name(mcbType.Uint(b, m.Big)),
		From: mcbOffset.Uint(b, m.Big),
		Pass: mgsConfigBody.Field("mcb_nm_cur_pass").Uint(b, m.Big),
	}, true
}

// IsTableEnd reports whether a reply to MGS_CONFIG_READ ends the nodemaps.
func IsTableEnd(m *Msg) bool {
	b := m.Buf(1)
	return len(b) >= mgsConfigRes.Size && mcrOffset.Uint(b, m.Big) == dirHashEnd
}

// SentParameter returns the parameter, key=value, that an MGS_SET_INFO sets.
func SentParameter(m *Msg) (parameter []byte, ok bool) {
	parameter, _, ok = bytes.Cut(mgsSendParam.Field("mgs_param").Bytes(m.Buf(1)), []byte{0})
	return parameter, ok && len(parameter) > 0
}
