package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// lustreReleases are the releases whose messages the tables describe.
const lustreReleases = "2.12 to 2.18"

func newVersion(sys *iostreams.IO) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "version prints the version of lshark, the Lustre releases that it knows, and the compiler and platform.",
		Example: `  lshark version
  lshark --version`,
		Args: flags.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := sys.Out.Write(versionText())
			return err
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

func setVersion(root *cobra.Command) {
	root.Version = flags.Version()
	root.SetVersionTemplate(string(versionText()))
	root.Flags().Bool("version", false, "print the version, same as lshark version")
}

func versionText() []byte {
	return fmt.Appendf(nil, "lshark %s\nLustre %s\n%s %s/%s\n", flags.Version(), lustreReleases,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
