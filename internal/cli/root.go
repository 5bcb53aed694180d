package cli

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/extcap"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/monitor"
	"github.com/lshark/lshark/internal/cli/reference"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/cli/sql"
	"github.com/lshark/lshark/opcodes/schema"
)

const (
	lookGroup      = "Look at messages and RPCs"
	troubleGroup   = "Explain trouble"
	sumGroup       = "Sum up"
	referenceGroup = "Reference"
	exportGroup    = "Export and service"
	moreGroup      = "More"
)

// subcommands are all commands of lshark but help, which cobra adds, with their titles in help.
func subcommands() []subcommand {
	return []subcommand{
		{"rpcs", lookGroup, newRPCs}, {"trace", lookGroup, newTrace}, {"ladder", lookGroup, newLadder}, {"config", lookGroup, newConfig},
		{"tui", lookGroup, newTUI},
		{"diagnose", troubleGroup, newDiagnose}, {"recovery", troubleGroup, newRecovery}, {"imports", troubleGroup, newImports},
		{"locks", troubleGroup, newLocks}, {"diff", troubleGroup, newDiff},
		{"stats", sumGroup, newStats}, {"files", sumGroup, newFiles}, {"report", sumGroup, newReport},
		{"sql", sumGroup, func(sys *scan.System) *cobra.Command { return sql.New(sys, execute) }},
		{"explain", referenceGroup, reference.NewExplain}, {"decode", referenceGroup, reference.NewDecode}, {"fields", referenceGroup, reference.NewFields},
		{"anonymize", exportGroup, newAnonymize},
		{"monitor", exportGroup, func(sys *scan.System) *cobra.Command { return monitor.New(sys, execute) }},
		{"show", moreGroup, newShow}, {"schema", moreGroup, reference.NewSchema}, {"version", moreGroup, newVersion}, {"completion", moreGroup, newCompletion},
		{"extcap", moreGroup, func(sys *scan.System) *cobra.Command { return extcap.New(sys, flags.Version()) }},
	}
}

type subcommand struct {
	name, group string
	make        func(*scan.System) *cobra.Command
}

// forHelp is a command line for which newRoot adds all subcommands.
var forHelp = []string{"help"}

// newRoot returns the command lshark for a command line, with the subcommands that it names, as defining
// the flags of all would take a tenth of the time of a short command. Help and completion need all.
func newRoot(sys *scan.System, args []string) *cobra.Command {
	root := newMessages(sys)
	root.SetArgs(args)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exit.UsageError{Err: flagError(sys, cmd, args, err)} })
	root.CompletionOptions.DisableDefaultCmd = true
	root.ValidArgsFunction = completeFiles
	addVersionFlag(root, sys.IO)
	addHelpFlag(root)
	all := len(args) > 0 && (args[0] == "help" || args[0] == "completion" || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd))
	for _, c := range subcommands() {
		if !root.ContainsGroup(c.group) {
			root.AddGroup(&cobra.Group{ID: c.group, Title: c.group})
		}
		if all || slices.Contains(args, c.name) {
			cmd := c.make(sys)
			addHelpFlag(cmd)
			cmd.GroupID = c.group
			root.AddCommand(cmd)
		}
	}
	setHelp(root, sys)
	return root
}

// Commands are listed in help in the order of subcommands.
func init() { cobra.EnableCommandSorting = false }

// execute runs a command line and returns its error.
func execute(sys *scan.System, args []string) error { return newRoot(sys, args).Execute() }

// flagError returns the error of an unknown flag with those that may be meant, of this command
// or of others, that of a mistyped command in front of its flags, and the error of a flag that needs a number in words: the one of pflag has
// that of package strconv in it.
func flagError(sys *scan.System, cmd *cobra.Command, args []string, err error) error {
	var unknown *pflag.NotExistError
	if cmd == cmd.Root() && errors.As(err, &unknown) && !strings.HasPrefix(args[0], "-") {
		if mistyped := mistypedCommand(nil, args); mistyped != nil {
			return mistyped
		}
	}
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		return fmt.Errorf("%w%s", err, exit.DidYouMean(nearFlags(newRoot(sys, forHelp), cmd, unknown.GetSpecifiedName())))
	}
	if usage := (exit.UsageError{}); errors.As(err, &usage) { // of a value that says what it must be
		return usage.Err
	}
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return err
	}
	if errors.Is(number, strconv.ErrRange) {
		return fmt.Errorf("--%s: %s is out of range", invalid.GetFlag().Name, invalid.GetValue())
	}
	return fmt.Errorf("--%s needs a number, not %q", invalid.GetFlag().Name, invalid.GetValue())
}

// nearFlags returns flags with a name of another command, else those of the command with
// similar names, else those of others.
func nearFlags(root, cmd *cobra.Command, name string) []string {
	const most = 3
	var own, others []string
	commands := make(map[string][]string) // with a flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) { own = append(own, f.Name) })
	for _, g := range root.Groups() {
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				c.LocalFlags().VisitAll(func(f *pflag.Flag) {
					others = append(others, f.Name)
					commands[f.Name] = append(commands[f.Name], c.CommandPath()+" --"+f.Name)
				})
			}
		}
	}
	near := schema.Nearest(name, own, most)
	if list := commands[name]; len(list) > 0 || len(near) == 0 {
		for _, other := range schema.Nearest(name, others, 1) {
			list = commands[other]
		}
		return list[:min(len(list), most)]
	}
	for i := range near {
		near[i] = "--" + near[i]
	}
	return near
}

// lustreReleases are the releases whose messages the tables describe.
const lustreReleases = "2.12 to 2.18"

func newVersion(sys *scan.System) *cobra.Command {
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

// addVersionFlag adds --version. Cobra's own flag prints more than a line by text/template only, and
// with that package the linker keeps all exported methods of the program.
func addVersionFlag(root *cobra.Command, s *iostreams.IO) {
	show, run := root.Flags().Bool("version", false, "print the version, same as lshark version"), root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *show {
			_, err := s.Out.Write(versionText())
			return err
		}
		return run(cmd, args)
	}
}

func versionText() []byte {
	return fmt.Appendf(nil, "lshark %s\nLustre %s\n%s %s/%s\n", flags.Version(), lustreReleases,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
