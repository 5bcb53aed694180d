package filter

import (
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

const rpcHint = "use lshark rpcs or lshark stats"

var tsharkFields = map[string]string{
	"eth.addr":            nodeHint,
	"ip.addr":             nodeHint,
	"ip.host":             nodeHint,
	"ipv6.addr":           nodeHint,
	"ip.src":              "use src (IP address and port) or lnet.src_nid",
	"ipv6.src":            "use src (IP address and port) or lnet.src_nid",
	"ip.dst":              "use dst (IP address and port) or lnet.dest_nid",
	"ipv6.dst":            "use dst (IP address and port) or lnet.dest_nid",
	"tcp.port":            portHint,
	"tcp.srcport":         portHint,
	"tcp.dstport":         portHint,
	"tcp.stream":          "use conn, the number of the connection",
	"frame.number":        "use frame",
	"frame.time":          "use time",
	"frame.time_epoch":    "use time",
	"frame.time_relative": "use rel, the time since the first frame",
	"lustre":              "use lustre_msg_v2, or pb_opc for all RPCs",
	"tcp":                 "use src or dst, with a port: 192.0.2.1:988",
}

const (
	nodeHint = "use src or dst (IP address and port), lnet.src_nid or lnet.dest_nid"
	portHint = `use src or dst: src matches ":988$"; --port sets the TCP ports of LNet`
)

// frameHint returns a hint for a frame that is written as in the lines of several
// files, FILE:NUMBER. It is empty for other names and texts.
func frameHint(name, text string) string {
	at := strings.LastIndexByte(text, ':')
	around, isFrame := strings.CutSuffix(name, "frame")
	if !isFrame || at <= 0 || strings.Trim(text[at+1:], "0123456789") != "" {
		return ""
	}
	return "use " + around + "file == " + strconv.Quote(text[:at]) + " && " + name + " == " + text[at+1:]
}

// hint returns a hint for an unknown name, empty when no known name is near.
func (c *compiler) hint(name string) string {
	if _, ok := records.RPCs.Find(name); ok && c.rpc == nil {
		return records.RPCs.Prefix + name + " is a key of RPCs: " + rpcHint
	}
	for _, t := range records.Kinds() {
		if path, ok := strings.CutPrefix(name, t.Prefix); ok && t.Prefix != "" {
			if _, ok := t.Find(path); ok {
				return name + " is a key of " + t.Record + " records: use lshark " + t.Command
			}
		}
	}
	if hint, ok := tsharkFields[name]; ok {
		return hint
	}
	for _, protocol := range [...]string{"lustre.", "lnet.", "infiniband."} {
		path, ok := strings.CutPrefix(name, protocol)
		if !ok {
			continue
		}
		near := c.fromTshark(path)
		if len(near) == 0 {
			near = schema.Nearest(path[strings.LastIndexByte(path, '.')+1:], Names(c.rpc != nil), 3)
		}
		if len(near) == 0 {
			return "lshark fields lists the names"
		}
		return DidYouMean(near)
	}
	return DidYouMean(schema.Nearest(name, Names(c.rpc != nil), 3))
}

// fromTshark returns our names for the path of a field in tshark, which follows
// the name of the protocol. Its last part is our name, or ours without the prefix
// of the struct: mdt_body.fid1 is mbo_fid1.
func (c *compiler) fromTshark(path string) (near []string) {
	at := strings.LastIndexByte(path, '.')
	parent, last := path[:max(at, 0)], path[at+1:]
	for _, name := range [...]string{path, last} {
		try := &compiler{rpc: c.rpc}
		if try.resolve(token{text: name}); try.wrong == nil {
			return []string{name}
		}
	}
	parent = parent[strings.LastIndexByte(parent, '.')+1:]
	for _, name := range opcodes.FieldIndex().Names() {
		if !strings.HasSuffix(name, "_"+last) {
			continue
		}
		for _, p := range opcodes.FieldIndex().Find(name) {
			if p.In == parent {
				return []string{name}
			}
		}
	}
	return nil
}
