package extcap

import (
	"fmt"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
)

// profileName is the name of the profile, and of its folder.
const profileName = "Lustre"

// rgb is a colour, of 16 bits each as in files of Wireshark.
type rgb [3]uint16

// The colours: dark text on light grounds, so that the rows are readable, and light
// text on red for what ends the work of an application.
var (
	black  = rgb{0x1000, 0x1000, 0x1000}
	white  = rgb{0xffff, 0xffff, 0xffff}
	gray   = rgb{0x6800, 0x6800, 0x6800}
	red    = rgb{0xa400, 0x0000, 0x0000}
	rose   = rgb{0xff00, 0xc800, 0xc800}
	amber  = rgb{0xff00, 0xb000, 0x3000}
	orange = rgb{0xff00, 0xd800, 0xa000}
	yellow = rgb{0xff00, 0xf4b0, 0xb000}
	violet = rgb{0xe400, 0xd800, 0xff00}
	blue   = rgb{0xd000, 0xe4b0, 0xff00}
	green  = rgb{0xd800, 0xf000, 0xd800}
	paper  = rgb{0xf400, 0xf400, 0xf400}
)

// colorRule is a colouring rule: packets that match the filter have these colours.
type colorRule struct {
	name, filter           string
	background, foreground rgb
}

// colorRules are the colouring rules. The first one that matches applies. Comments are
// those of both frames and messages, other fields those of messages.
var colorRules = []colorRule{
	{"Lustre: finding, an error", comment("^error [a-z]+[.]"), red, white},
	{"Lustre: finding, a warning", comment("^warning [a-z]+[.]"), amber, black},
	{"Lustre: connection unknown to the server, or client evicted", comment(lnet.Reply.String() + " (ENOTCONN|ESHUTDOWN)"), red, white},
	{"Lustre: error", comment(lnet.Reply.String()+" E[A-Z0-9]+ ") + ` || json.path == "/error"`, rose, black},
	{"Lustre: sent again", member("/ptlrpc_body/pb_flags/[]", "RESENT") + " || " + member("/ptlrpc_body/pb_flags/[]", "REPLAY"), orange,
		black},
	{"Lustre: incomplete or unusual", `json.path == "/notes/[]/code"`, orange, black},
	{"Lustre: early reply", comment(lnet.EarlyReply.String() + " "), yellow, black},
	{"Lustre: lock callback", comment("LDLM_(BL|CP|GL)_CALLBACK "), violet, black},
	{"Lustre: connect or disconnect", comment("_(DIS)?CONNECT "), blue, black},
	{"Lustre: bulk data", comment(" " + lnet.Bulk.String() + " "), green, black},
	{"Lustre: ping", comment("OBD_PING "), white, gray},
	{"Lustre", "frame.comment", paper, black},
}

func comment(pattern string) string { return `frame.comment matches "(?-i)` + pattern + `"` }

func member(path, value string) string {
	return `json.path_with_value == "` + path + ":" + value + `"`
}

// column is a column of the list of packets. That of a field is empty without the plugin.
type column struct {
	title, format string
	width         int // in pixels, -1: Wireshark chooses it
}

// columns are the columns. The last one takes the rest of the window: a comment says what a message is.
var columns = []column{{"No.", "%m", 60}, {"Time", "%t", 110}, {"Source", "%s", 110}, {"Destination", "%d", 110},
	{"Opcode", "%Cus:lshark.opcode:0:R", 150}, {"Target", "%Cus:lshark.target:0:R", 130}, {"Latency", "%Cus:lshark.latency:0:R", 100},
	{"Status", "%Cus:lshark.error:0:R", 100}, {"Lustre", "%Cus:frame.comment:0:R", -1}}

// recentFile is what Wireshark remembers of a profile.
const recentFile = "recent"

type textFile struct{ name, text string }

func profileFiles() []textFile {
	var colors, prefs, recent strings.Builder
	colors.WriteString("# Colouring rules of lshark for Wireshark.\n")
	for _, r := range colorRules {
		fmt.Fprintf(&colors, "@%s@%s@%s%s\n", r.name, r.filter, r.background, r.foreground)
	}
	prefs.WriteString("# Columns of lshark for Wireshark. \"Lustre\" shows the comment of the packet.\ngui.column.format: \n")
	recent.WriteString("# Widths of the columns of lshark for Wireshark. Wireshark writes this file itself when it ends.\ncolumn.width:\n")
	for i, c := range columns {
		end := ",\n"
		if i == len(columns)-1 {
			end = "\n"
		}
		fmt.Fprintf(&prefs, "\t%q, %q%s", c.title, c.format, end)
		fmt.Fprintf(&recent, "\t%q, %d%s", strings.TrimSuffix(c.format, ":0:R"), c.width, end)
	}
	prefs.WriteString("# The JSON of a message as lines of \"name: value\".\njson.compact_form: TRUE\n")
	return []textFile{{"colorfilters", colors.String()}, {"preferences", prefs.String()}, {recentFile, recent.String()}}
}

func (c rgb) String() string { return fmt.Sprintf("[%d,%d,%d]", c[0], c[1], c[2]) }
