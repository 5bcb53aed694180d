package explain

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// LogPart is a part of a line of a debug log, and what it means.
type LogPart struct {
	Name  string   `json:"name"`
	Text  string   `json:"text"` // as in the line
	About []string `json:"about"`
}

// ErrLogLine is the error for text that is no line of a log, and no part of one.
var ErrLogLine = errors.New("neither a line of a log of the kernel nor a part of one, such as fl Rpc:RSQU/600/0 rc -107/-107")

// logForms are the parts of messages, each found by its form.
var logForms = []struct {
	form  string
	names []string // of the groups in the form
	about func(p []string) []string
}{
	{`\bxid:nid:opc\S* .*?:x?(\d{6,}):(?:\d+-)?([0-9a-fA-F.:]+@\S+?):(\d+)`, []string{"xid", "peer", "opcode"}, func(p []string) []string {
		return []string{"", "the other node", opcodes.Opcodes.Name(logNumber(p[2]))}
	}},
	{`\bRequest processed in (\d+us) \((\d+us) total\) trans (\d+)`, []string{"service", "total", "transno"}, func([]string) []string {
		return []string{"a thread worked that long for it", "from its arrival on: the rest it waited for the thread"}
	}},
	{`\bx(\d+)/t(\d+)\((\d+)\)`, []string{"xid", "transno", "transno to replay"}, nil},
	{`\bo(\d+)->(\S+)@(\S+?@\w+):(\d+)/(\d+)`, []string{"opcode", "name", "peer", "portal", "reply portal"}, func(p []string) []string {
		whose := "import by which the node sends it"
		if p[4] == "0" {
			whose = "uuid of the client: the node serves the request"
			p[3], p[4] = "", ""
		}
		return []string{opcodes.Opcodes.Name(logNumber(p[0])), whose, "the other node", "of the request", "of the reply"}
	}},
	{`\blens (\d+)/(\d+)`, []string{"request", "reply"}, func([]string) []string { return []string{"bytes", "bytes, or room for as many"} }},
	{` e (\d+)\b`, []string{"e"}, func([]string) []string { return []string{"early replies so far"} }},
	{` to (\d+)\b`, []string{"to"}, func(p []string) []string {
		return []string{map[string]string{"0": "has not timed out", "1": "has timed out"}[p[0]]}
	}},
	{` dl (\d+)\b`, []string{"dl"}, func(p []string) []string {
		if p[0] == "0" {
			return []string{"no deadline: not sent yet"}
		}
		return []string{"deadline, " + time.Unix(int64(logNumber(p[0])), 0).UTC().Format("2006-01-02 15:04:05 UTC")}
	}},
	{` ref (-?\d+)\b`, []string{"ref"}, func([]string) []string { return []string{"references to the request"} }},
	{`\bfl ([A-Za-z?]*):([A-Za-z]*)/([0-9a-f]+)/([0-9a-f]+)`, []string{"phase", "flags", "pb_flags", "pb_flags of the reply"}, func(p []string) []string {
		return []string{phases[p[0]], strings.Join(flagLetters(p[1]), "; "), logBits(p[2]), logBits(p[3])}
	}},
	{`(/ffffffff )?\brc (-?\d+)/(-?\d+)`, []string{"", "status", "status of the reply"}, func(p []string) []string {
		if p[0] != "" && p[2] == "-1" || p[2] == strconv.Itoa(debuglog.NoReply) {
			return []string{"", logStatus(p[1]), noReply}
		}
		return []string{"", logStatus(p[1]), logStatus(p[2])}
	}},
	{`\bjob:'(.*?)'`, []string{"job"}, nil},
	{`\buid:(\d+)\b`, []string{"uid"}, nil},
	{`\bgid:(\d+)\b`, []string{"gid"}, nil},
	{`\bns: (\S+)`, []string{"namespace"}, nil},
	{`\block: \S+?/(0x[0-9a-f]+)`, []string{"handle"}, func([]string) []string { return []string{"of the lock at the node of the log"} }},
	{`\bremote: (0x[0-9a-f]+)`, []string{"remote"}, func([]string) []string { return []string{"handle of the lock at the other node, 0x0 for none"} }},
	{`\blrc: (\d+)/(\d+),(\d+)`, []string{"lrc", "readers", "writers"}, func([]string) []string {
		return []string{"references to the lock", "who use it to read", "who use it to write"}
	}},
	{`\bmode: (\S\S)/(\S\S)`, []string{"granted", "requested"}, func(p []string) []string {
		if p[0] == "--" {
			return []string{"not yet", ""}
		}
		return nil
	}},
	{`\bres: (\[\S+?\](?:\.0x[0-9a-f]+)?)`, []string{"resource"}, nil},
	{`\btype: (\w{3})\b`, []string{"type"}, func(p []string) []string {
		return []string{map[string]string{"EXT": "extent", "IBT": "inode bits", "PLN": "plain", "FLK": "flock"}[p[0]]}
	}},
	{`\bbits (0x[0-9a-f]+)`, []string{"bits"}, func(p []string) []string { return []string{logNames(opcodes.LdlmInodebits, p[0][2:])} }},
	{` flags: (0x[0-9a-f]+)`, []string{"lock flags"}, func(p []string) []string { return []string{logNames(opcodes.LdlmFlags, p[0][2:])} }},
	{`\bnid: (\S+)`, []string{"nid"}, func([]string) []string { return []string{"the client of the lock; local: this node"} }},
}

// phases are what the words for the phase of a request mean.
var phases = map[string]string{
	"New": "not sent yet, or not handled yet", "Rpc": "waits for the reply", "Bulk": "waits for bulk data",
	"Interpret": "the reply, or the request, is looked at", "Complete": "over",
	"UnregRPC": "over, once the network returns its buffers", "UnregBULK": "over, once the network returns its bulk data",
}

// letters are what the letters for the flags of a request mean.
var letters = map[rune]string{
	'I': "interrupted", 'R': "has its reply", 'E': "failed", 'e': "failed in the network", 'X': "timed out", 'S': "to be sent again",
	'T': "to be restarted", 'P': "kept for replay", 'N': "not to be sent again", 'W': "waits for the connection", 'C': "waits for a security context",
	'H': "of high priority", 'M': "committed", 'Q': "request buffer is free", 'U': "reply buffer is free", 'r': "reply is awaited or arrives",
}

func flagLetters(text string) (list []string) {
	for _, c := range text {
		list = append(list, string(c)+" "+cmp.Or(letters[c], "unknown"))
	}
	return list
}

func logNumber(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}

// logStatus returns the name of an error.
func logStatus(text string) string {
	n, _ := strconv.ParseInt(text, 10, 32)
	if n >= 0 {
		return ""
	}
	name := string(records.AppendErrno(nil, int32(n)))
	if v, ok := schema.Errnos.Find(name); ok && v.Doc != "" {
		name += ", " + v.Doc
	}
	return name
}

const noReply = "there is no reply"

// logBits returns the names of the flags of a message, in hexadecimal without 0x.
func logBits(text string) string {
	if text == "ffffffff" {
		return noReply
	}
	return logNames(opcodes.MsgFlags, text)
}

func logNames(names *schema.Names, text string) string {
	word, _ := strconv.ParseUint(text, 16, 64)
	if word == 0 {
		return ""
	}
	return string(schema.AppendFlags(nil, names, word, "|"))
}

// LogLine returns the parts of a line of a debug log, or of a part of one, that have a
// meaning.
func LogLine(text string) (list []LogPart, err error) {
	message := strings.TrimSpace(text)
	l, e, known := debuglog.Explain([]byte(message))
	switch {
	case !e.Console:
		at := time.Unix(0, l.Time).UTC()
		list = []LogPart{
			{"subsystem", fmt.Sprintf("%08x", l.Subsystem), []string{maskNames(debuglog.Subsystems[:], l.Subsystem)}},
			{"mask", fmt.Sprintf("%08x", l.Mask), []string{"lctl set_param debug=+" + maskNames(debuglog.Masks[:], l.Mask)}},
			{"cpu", strconv.Itoa(int(l.CPU)), []string{}},
			{"time", fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1e3), []string{at.Format("2006-01-02 15:04:05.000000 UTC")}},
			{"pid", strconv.Itoa(int(l.PID)), []string{"thread that wrote the line"}},
			{"source", fmt.Sprintf("%s:%d", l.File, l.Number), []string{string(l.Func)}},
		}
		message = string(l.Message)
	case known:
		list = consoleParts(&l, &e)
		message = string(l.Message)
	}
	words := len(list) > 0
	for _, f := range logForms {
		found := regexp.MustCompile(f.form).FindStringSubmatch(" " + message)
		if found == nil {
			continue
		}
		words = true
		var about []string
		if f.about != nil {
			about = f.about(found[1:])
		}
		for i, name := range f.names {
			part := LogPart{Name: name, Text: found[1+i], About: []string{}}
			if i < len(about) && about[i] != "" {
				part.About = strings.Split(about[i], "; ")
			}
			if name != "" && part.Text != "" {
				list = append(list, part)
			}
		}
	}
	if !words {
		return nil, ErrLogLine
	}
	return list, nil
}

// consoleParts returns what a line of the console says, where its message has a known form.
func consoleParts(l *debuglog.Line, e *debuglog.Event) (list []LogPart) {
	add := func(name, text, about string) {
		if text != "" {
			list = append(list, LogPart{name, text, []string{about}})
		}
	}
	add("host", e.Host, "node that wrote the line")
	if l.Time != 0 {
		at := time.Unix(0, l.Time).UTC()
		add("time", at.Format("2006-01-02 15:04:05.000000 UTC"), "without a zone in the line, that of this machine is taken")
	}
	if l.PID != 0 {
		add("pid", strconv.Itoa(int(l.PID)), "thread that wrote the line")
		add("source", fmt.Sprintf("%s:%d", l.File, l.Number), string(l.Func))
	}
	if e.Kind == debuglog.Note { // its parts have forms of their own
		return list
	}
	add("target", e.Target, "target that it is about")
	add("name", e.Name, "import, by which the node sends requests")
	add("peer", e.Peer.String(), "the other node")
	add("uuid", e.UUID, "of the client")
	add("device", e.Device, "device of the node")
	add("process", e.Process, "thread that it is about")
	if e.Kind == debuglog.RequestFailed {
		add("opcode", strconv.Itoa(int(e.Opcode)), opcodes.Opcodes.Name(uint64(e.Opcode)))
	}
	if e.Status != 0 {
		status := strconv.Itoa(int(e.Status))
		add("status", status, logStatus(status))
	}
	if e.Service != 0 {
		add("seconds", strconv.FormatFloat(float64(e.Service)/1e9, 'f', -1, 64), "how long it took")
	}
	return list
}

// maskNames returns the names of the bits of a word, with + between them.
func maskNames(names []string, word uint32) string {
	var list []string
	for ; word != 0; word &= word - 1 {
		list = append(list, names[bits.TrailingZeros32(word)])
	}
	return strings.Join(list, "+")
}

// AppendLogText appends the parts of a line for reading.
func AppendLogText(dst *schema.Marked, width int, list []LogPart) {
	p := newPage(dst, width)
	name, text := 0, 0
	for i := range list {
		part := &list[i]
		part.Text = string(schema.AppendText(nil, []byte(part.Text)))
		const longest = 24
		name, text = max(name, len(part.Name)), max(text, min(render.Width([]byte(part.Text)), longest))
	}
	for _, part := range list {
		p.Add(schema.Label, part.Name)
		p.pad(name + 2)
		p.Add(schema.Number, part.Text)
		for i, about := range part.About {
			if i == 0 {
				p.pad(name + 2 + text + 2)
			}
			p.words(name+2+text+2, schema.NoRole, about)
			if i < len(part.About)-1 {
				p.end()
			}
		}
		p.end()
	}
}
