package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/cli/iostreams"
)

// lustreReleases are those whose messages the tables describe.
const lustreReleases = "2.12 to 2.18"

func newVersion(sys *iostreams.IO) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(sys.Out, "lshark %s\nLustre %s\n%s %s/%s\n", version(), lustreReleases,
				runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// version is that of the module, and the commit it was built from.
func version() string {
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
