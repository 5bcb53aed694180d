package extcap

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/render/records"
)

// TestLuaFields checks the names of fields: Wireshark accepts letters, digits, dots, dashes and underscores, and one
// field for each name.
func TestLuaFields(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range luaFields() {
		names := []string{f.name}
		if f.names != nil && f.names.Flags {
			for _, v := range f.names.Values {
				if !v.Alias {
					names = append(names, f.name+"."+v.Name)
				}
			}
		}
		for _, name := range names {
			name = strings.ToLower(name)
			if seen[name] || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" || strings.HasPrefix(name, "-") {
				t.Errorf("%s: not a name, or there are two", name)
			}
			seen[name] = true
		}
		if strings.ContainsAny(f.doc, "\n]") && strings.Contains(f.doc, "]==]") || strings.Contains(f.doc, "\n") {
			t.Errorf("%s: %q does not fit on a line", f.name, f.doc)
		}
	}
	for _, name := range []string{"pb_opc", "ocd_connect_flags.grant", "latency", "target", "request_frame", "reply_frame", "bytes", "wire.bytes", "notes.code", "fid"} {
		assert.That(t, seen[name], "no field %s", name)
	}
	codes := make(map[string]bool)
	for _, e := range records.All() {
		codes[e.Name] = codes[e.Name] || e.Of == "note"
	}
	for code := range noteSeverities {
		assert.That(t, codes[code], "%s: no code of a note", code)
	}
}

// packetFields is the values of the fields of a packet, by name.
type packetFields map[string][]string

// luaExpected makes the fields of messages from their JSON.
type luaExpected struct {
	fields  map[string]luaField
	packets map[string]string // by frame and xid
	number  int
	fids    []string
}

func newLuaExpected() *luaExpected {
	x := &luaExpected{fields: make(map[string]luaField), packets: make(map[string]string)}
	for _, f := range luaFields() {
		x.fields[f.name] = f
	}
	return x
}

// message returns the fields of the next message.
func (x *luaExpected) message(t *testing.T, text []byte) packetFields {
	t.Helper()
	var m struct {
		Frame, Request_frame, Reply_frame int
		Kind, XID                         string
	}
	must.NoError(t, json.Unmarshal(text, &m))
	x.number++
	out := make(packetFields)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	x.fids = nil
	x.value(t, d, out, luaField{}, "")
	if x.fids != nil {
		out["fid"] = x.fids
	}
	delete(out, "request_frame")
	delete(out, "reply_frame")
	key := func(frame int) string { return fmt.Sprint(frame, " ", m.XID) }
	if p := x.packets[key(m.Request_frame)]; p != "" {
		out["request_frame"] = []string{p}
	}
	if p := x.packets[key(m.Reply_frame)]; p != "" {
		out["reply_frame"] = []string{p}
	}
	if m.XID != "" && (m.Kind == "request" || m.Kind == "reply") {
		x.packets[key(m.Frame)] = strconv.Itoa(x.number)
	}
	return out
}

// value adds the next value of d, of a field. Names inside it may have a path.
func (x *luaExpected) value(t *testing.T, d *json.Decoder, out packetFields, f luaField, path string) {
	t.Helper()
	token, err := d.Token()
	must.NoError(t, err)
	switch token {
	case json.Delim('{'):
		if f.kind == luaNone {
			out[f.name] = append(out[f.name], "")
		}
		for d.More() {
			key := must.Value(d.Token())(t)
			name := key.(string)
			inner, ok := x.fields[strings.TrimPrefix(path+"."+name, ".")]
			if !ok && path != "" {
				inner, ok = x.fields[luaWire+name]
			}
			if !ok {
				if inner, ok = x.fields[name]; !ok {
					t.Errorf("no field %s", name)
				}
			}
			x.value(t, d, out, inner, strings.TrimPrefix(path+"."+name, "."))
		}
	case json.Delim('['):
		isWord := f.names != nil && f.names.Flags
		if d.More() || !isWord {
			var word uint64
			before := len(out[f.name])
			for d.More() {
				x.value(t, d, out, f, path)
			}
			if !isWord {
				break
			}
			for _, v := range out[f.name][before:] {
				n := must.Value(strconv.ParseUint(v, 10, 64))(t)
				word += n
			}
			out[f.name] = append(out[f.name][:before], strconv.FormatUint(word, 10))
		} else {
			out[f.name] = append(out[f.name], "0")
		}
	default:
		text := fmt.Sprint(token)
		if strings.HasPrefix(text, "[0x") && strings.HasSuffix(text, "]") && strings.Count(text, ":") == 2 && text != "[0x0:0x0:0x0]" {
			x.fids = append(x.fids, text)
		}
		if f.names != nil {
			for _, v := range f.names.Values {
				if v.Name == text {
					if f.names.Flags && !v.Alias {
						out[f.name+"."+text] = append(out[f.name+"."+text], "1")
					}
					text = strconv.FormatUint(v.Value, 10)
					break
				}
			}
		}
		if f.kind != luaNone {
			out[f.name] = append(out[f.name], canonical(f.kind, text))
		}
		return
	}
	_, err = d.Token() // the end
	must.NoError(t, err)
}

// escaped is a character as tshark escapes it.
var escaped = regexp.MustCompile(`\\(x[0-9a-f]{1,2}|[abtnvfr"\\])`)

// canonical returns a value of a kind in the form in which values are compared.
func canonical(kind, text string) string {
	switch {
	case kind == luaText:
		return escaped.ReplaceAllStringFunc(text, func(s string) string {
			if i := strings.IndexByte("abtnvfr", s[1]); i >= 0 {
				return string(rune('\a' + i))
			}
			n, err := strconv.ParseUint(s[2:], 16, 8)
			if err != nil {
				return s[1:]
			}
			return string([]byte{byte(n)})
		})
	case kind == luaTime:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 253402300799 || strings.HasSuffix(text, "UTC") && len(text) > len("Dec 31, 9999 23:59:59.999999999 UTC") {
			return "beyond the year 9999"
		}
		for _, layout := range []string{"Jan _2, 2006 15:04:05.999999999 UTC", time.RFC3339Nano} {
			if at, err := time.Parse(layout, text); err == nil {
				return fmt.Sprintf("%d.%09d", at.Unix(), at.Nanosecond())
			}
		}
		return text + ".000000000"
	case text == "EOF":
		return "18446744073709551615"
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return strconv.FormatUint(n, 10)
	}
	return text
}

var captures = flag.String("captures", "", "capture `files` for TestLuaInTshark, separated by spaces, in place of the samples")

// TestLuaInTshark checks that tshark shows the fields of samples as JSON has them: without
// packet details, where the plugin reads only what is referenced, and with them.
func TestLuaInTshark(t *testing.T) {
	home := t.TempDir()
	i := installation{install: true}
	dir := filepath.Join(home, ".local", "lib", "wireshark", "plugins")
	must.NoError(t, i.files(&iostreams.IO{Out: io.Discard, Err: io.Discard}, dir, dir, textFile{pluginName, luaPlugin()}))
	x := newLuaExpected()
	var want []packetFields
	var files []string
	samples := wiretest.Samples(t)
	switch {
	case *captures != "":
		samples = strings.Fields(*captures)
	case !wiretest.All:
		samples = []string{wiretest.Sample("io"), wiretest.Sample("locks"), wiretest.Sample("rdma_mount"), wiretest.Sample("quota")}
	}
	for _, sample := range samples {
		path, messages := save(t, sample, true)
		files = append(files, path)
		for _, text := range messages {
			want = append(want, x.message(t, text))
		}
	}
	file := joined(t, files...)
	names := make(map[string]bool)
	for _, p := range want {
		for name := range p {
			names[name] = true
		}
	}
	list := slices.Sorted(maps.Keys(names))
	compareFields(t, x, want, tsharkFields(t, home, file, list))
	compareFields(t, x, want, tsharkDetails(t, home, file))
}

const valueSeparator = "\x02"

// tsharkFields returns the fields of packets without their details.
func tsharkFields(t *testing.T, home, file string, names []string) (list []packetFields) {
	t.Helper()
	args := []string{"-r", file, "-T", "fields", "-E", "aggregator=" + valueSeparator}
	for _, name := range names {
		args = append(args, "-e", "lshark."+name)
	}
	for line := range strings.Lines(tshark(t, home, args...)) {
		p := make(packetFields)
		for i, column := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			if column != "" {
				p[names[i]] = strings.Split(column, valueSeparator)
			}
		}
		list = append(list, p)
	}
	return list
}

// tsharkDetails returns the fields of the details of packets.
func tsharkDetails(t *testing.T, home, file string) (list []packetFields) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(tshark(t, home, "-r", file, "-T", "pdml", "-J", "lshark")))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return list
		}
		must.NoError(t, err)
		e, ok := token.(xml.StartElement)
		if ok && e.Name.Local == "packet" {
			list = append(list, make(packetFields))
		}
		if !ok || e.Name.Local != "field" {
			continue
		}
		attr := make(map[string]string)
		for _, a := range e.Attr {
			attr[a.Name.Local] = a.Value
		}
		if name, ok := strings.CutPrefix(attr["name"], "lshark."); ok && !strings.HasPrefix(name, "note.") && name != "reply.error" {
			p := list[len(list)-1]
			p[name] = append(p[name], attr["show"])
		}
	}
}

func compareFields(t *testing.T, x *luaExpected, want, got []packetFields) {
	t.Helper()
	must.Equal(t, len(want), len(got), "packets")
	bad := 0
	for i := range want {
		for name, values := range got[i] {
			kind := x.fields[name].kind
			for k := range values {
				values[k] = canonical(kind, strings.ReplaceAll(values[k], "True", "1"))
			}
		}
		for name, values := range want[i] {
			if strings.Join(values, "") != "" && !slices.Equal(values, got[i][name]) {
				t.Errorf("packet %d: %s: %q, want %q", i+1, name, got[i][name], values)
				bad++
			}
		}
		for name, values := range got[i] {
			if want[i][name] == nil {
				t.Errorf("packet %d: %s: %q, want none", i+1, name, values)
				bad++
			}
		}
		if bad > 20 {
			t.FailNow()
		}
	}
}
