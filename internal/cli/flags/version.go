package flags

import "runtime/debug"

// Version returns the version of the module, and the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	if text == "" || text == "(devel)" {
		text = "devel"
	}
	for _, s := range info.Settings {
		const shown = 12 // letters of the commit
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= shown:
			text += " " + s.Value[:shown]
		case s.Key == "vcs.modified" && s.Value == "true":
			text += " modified"
		}
	}
	return text
}
