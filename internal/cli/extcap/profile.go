package extcap

import _ "embed"

// profileName is the name of the profile, and of its folder.
const profileName = "Lustre"

// colorFilters are the colouring rules. The first one that matches applies: dark text on light grounds, so that rows are
// readable, and light text on red for what ends the work of an application. Comments are those of both frames and
// messages, other fields those of messages.
//
//go:embed Lustre/colorfilters
var colorFilters string

// preferences has the columns of the list of packets. Those of lshark.* are empty without the plugin.
//
//go:embed Lustre/preferences
var preferences string

// recent has the widths of the columns in pixels. The last column takes the rest of the window: a comment says what a message is.
//
//go:embed Lustre/recent
var recent string

// recentFile is what Wireshark remembers of a profile.
const recentFile = "recent"

type textFile struct{ name, text string }

var profileFiles = []textFile{{"colorfilters", colorFilters}, {"preferences", preferences}, {recentFile, recent}}
