package targets

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/config"
	"github.com/lshark/lshark/opcodes"
)

// Names is what a file says about the nodes of a network: their names, and which
// targets they serve. It may also have the targets of connections.
type Names struct {
	handles   map[uint64]string // UUIDs of targets, by the server's handle of a connection
	nodes     map[lnet.NID]string
	addresses map[netip.Addr]string // on any LNet network
	servers   map[lnet.NID][]listed
}

// listed is a target in a list of imports.
type listed struct {
	system string
	target
}

// maxNamesLine is the longest line in bytes.
const maxNamesLine = 1 << 20

// NamesError is an error in a file with names.
type NamesError struct {
	File  string
	Line  int
	Cause string
}

func (e *NamesError) Error() string { return fmt.Sprintf("%s: line %d: %s", e.File, e.Line, e.Cause) }

// NewNames returns a Names without any.
func NewNames() *Names {
	return &Names{handles: make(map[uint64]string), nodes: make(map[lnet.NID]string), addresses: make(map[netip.Addr]string), servers: make(map[lnet.NID][]listed)}
}

// Read adds what `lctl get_param '*.*.import'` prints, of any number of nodes, lines of a NID
// or IP address and a name, as in /etc/hosts, and lines of the handle of a connection and the
// UUID of its target, as AppendConnections writes them. All other lines are ignored. An error
// in the file is a NamesError.
func (n *Names) Read(r io.Reader, file string) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxNamesLine)
	var in importBlock
	number, imports := 0, 0
	before := n.len()
	for lines.Scan() {
		number++
		cause, began := n.line(&in, lines.Text())
		if cause != "" {
			return &NamesError{file, number, cause}
		}
		if began {
			imports++
		}
	}
	n.add(&in)
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return &NamesError{file, number + 1, fmt.Sprintf("longer than %d bytes", maxNamesLine)}
	case err != nil:
		return err
	case imports == 0 && n.len() == before:
		return &NamesError{file, number, "the file ends without an import, or a NID with a name"}
	}
	return nil
}

func (n *Names) len() int { return len(n.nodes) + len(n.addresses) + len(n.handles) }

// Clone returns a copy that can be added to; that of nil has no names.
func (n *Names) Clone() *Names {
	if n == nil {
		return NewNames()
	}
	c := &Names{handles: maps.Clone(n.handles), nodes: maps.Clone(n.nodes), addresses: maps.Clone(n.addresses),
		servers: make(map[lnet.NID][]listed)}
	for nid, list := range n.servers {
		c.servers[nid] = slices.Clone(list)
	}
	return c
}

// CommentTitle begins the comment of a capture file that has names, in lines that Read reads.
const CommentTitle = "# Names for lshark --names\n"

// AppendConnections appends the targets of connections, as far as they are known, as lines
// that Read reads.
func AppendConnections(dst []byte, list []*track.Import) []byte {
	for _, i := range list {
		if i.Handle != 0 && isTargetUUID(i.TargetUUID) {
			dst = fmt.Appendf(dst, "%#x %s\n", i.Handle, i.TargetUUID)
		}
	}
	return dst
}

func isTargetUUID(uuid string) bool {
	_, _, ok := parseTarget(strings.TrimSuffix(uuid, "_UUID"))
	return uuid == mgs || ok && isHostName(uuid)
}

// mgs is the UUID of the MGS.
const mgs = "MGS"

// importBlock is the import that is being read.
type importBlock struct {
	open   bool
	target listed // without a system: the MGS, or not read yet
	nids   []lnet.NID
}

// line reads a line. It returns what is wrong with it, and whether an import begins.
func (n *Names) line(in *importBlock, text string) (cause string, began bool) {
	text, _, _ = strings.Cut(text, "#")
	trimmed := strings.TrimSpace(text)
	key, value, _ := strings.Cut(trimmed, ":")
	switch {
	case trimmed == "import:", strings.HasSuffix(trimmed, ".import="):
		n.add(in)
		in.open = true
		return "", trimmed == "import:"
	case trimmed != "" && trimmed[0] == text[0]: // not indented: the import has ended
		n.add(in)
		n.nodeLine(strings.Fields(text))
	case in.open && key == "target":
		uuid, ok := strings.Trim(value, ` "`), false
		if in.target.system, in.target.target, ok = parseTarget(strings.TrimSuffix(uuid, "_UUID")); !ok && uuid != mgs {
			return fmt.Sprintf("target %q: must be a name such as lustre-OST0001_UUID, or MGS", uuid), false
		}
	case in.open && (key == "current_connection" || key == "failover_nids"):
		return in.addNIDs(value), false
	case !in.open:
		n.nodeLine(strings.Fields(text))
	}
	return "", false
}

// addNIDs adds the NIDs in a list such as [ "192.0.2.1@tcp", "192.0.2.2@tcp" ].
func (in *importBlock) addNIDs(list string) (cause string) {
	for _, text := range strings.FieldsFunc(list, func(c rune) bool { return strings.ContainsRune(` ,[]"`, c) }) {
		if text == "<none>" {
			continue // of an import that is not connected
		}
		nid, ok := lnet.ParseNID(text)
		if !ok {
			return fmt.Sprintf("%q: must be a NID such as 192.0.2.1@tcp", text)
		}
		if !slices.Contains(in.nids, nid) {
			in.nids = append(in.nids, nid)
		}
	}
	return ""
}

func (n *Names) add(in *importBlock) {
	for _, nid := range in.nids {
		if in.target.system != "" && !slices.Contains(n.servers[nid], in.target) {
			n.servers[nid] = append(n.servers[nid], in.target)
		}
	}
	*in = importBlock{nids: in.nids[:0]}
}

// AddServed adds a target that a node serves, by its NIDs. What is no name of a target is
// ignored.
func (n *Names) AddServed(name string, nids []lnet.NID) {
	in := importBlock{nids: nids}
	ok := false
	if in.target.system, in.target.target, ok = parseTarget(name); ok {
		n.add(&in)
	}
}

// addTarget adds a target of a configuration log.
func (n *Names) addTarget(t *config.Target) {
	if t.Device == nil {
		return
	}
	var nids []lnet.NID
	for _, node := range t.Device.Nodes {
		for _, text := range node.NIDs {
			if nid, ok := lnet.ParseNID(text); ok {
				nids = append(nids, nid)
			}
		}
	}
	n.AddServed(t.Name(), nids)
}

// nodeLine adds the name of a node, or the target of a connection. The first line for a NID,
// address or handle counts.
func (n *Names) nodeLine(fields []string) {
	if len(fields) < 2 || !isHostName(fields[1]) {
		return
	}
	if digits, ok := strings.CutPrefix(fields[0], "0x"); ok && isTargetUUID(fields[1]) {
		if handle, err := strconv.ParseUint(digits, 16, 64); err == nil && n.handles[handle] == "" {
			n.handles[handle] = fields[1]
		}
		return
	}
	if nid, ok := lnet.ParseNID(fields[0]); ok {
		n.nodes[nid] = cmp.Or(n.nodes[nid], fields[1])
		return
	}
	if addr, err := netip.ParseAddr(fields[0]); err == nil && n.addresses[addr] == "" {
		n.addresses[addr] = fields[1]
	}
}

func isHostName(s string) bool {
	for i, c := range s {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && (c == '-' || c == '.' || c == '_'):
		default:
			return false
		}
	}
	return s != ""
}

// Node returns the name of a node, empty when it has none.
func (n *Names) Node(nid lnet.NID) string {
	if n == nil {
		return ""
	}
	if name := n.nodes[nid]; name != "" || len(n.addresses) == 0 {
		return name
	}
	addr, _ := netip.AddrFromSlice(nid.Addr[:min(int(nid.Len), len(nid.Addr))])
	return n.addresses[addr]
}

// NID returns the NID of a node by its name; ok is false if the name is not known, or not that
// of one NID.
func (n *Names) NID(name string) (nid lnet.NID, ok bool) {
	if n == nil {
		return nid, false
	}
	found := 0
	for at, of := range n.nodes {
		if of == name {
			nid = at
			found++
		}
	}
	return nid, found == 1
}

// system returns the file system of all targets that a server may have by its NID,
// empty when it is unknown or not the only one.
func (n *Names) system(nid lnet.NID) (name string) {
	if n == nil {
		return ""
	}
	for _, l := range n.servers[nid] {
		if name != "" && name != l.system {
			return ""
		}
		name = l.system
	}
	return name
}

// only returns the target of a kind that a server may have by its NID; ok is false
// when there is none, or several.
func (n *Names) only(nid lnet.NID, kind opcodes.TargetKind) (only listed, ok bool) {
	if n == nil {
		return only, false
	}
	for _, l := range n.servers[nid] {
		if l.kind != kind {
			continue
		}
		if ok {
			return only, false
		}
		only, ok = l, true
	}
	return only, ok
}
