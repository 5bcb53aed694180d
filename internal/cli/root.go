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
)

type subcommand struct {
	name string
	make func() *cobra.Command
}

// subcommands returns all commands of lshark but help, which cobra adds.
func subcommands(sys *scan.System) []subcommand {
	of := func(name string, newCommand func(*scan.System) *cobra.Command) subcommand {
		return subcommand{name, func() *cobra.Command { return newCommand(sys) }}
	}
	ofReference := func(name string, newCommand func(*iostreams.IO) *cobra.Command) subcommand {
		return subcommand{name, func() *cobra.Command { return newCommand(sys.IO) }}
	}
	return []subcommand{
		of("show", newShow), of("rpcs", newRPCs), of("stats", newStats), of("imports", newImports), of("locks", newLocks), of("files", newFiles),
		of("recovery", newRecovery), of("config", newConfig), of("diff", newDiff), of("diagnose", newDiagnose),
		of("tui", newTUI), of("ladder", newLadder), of("trace", newTrace), of("report", newReport), of("anonymize", newAnonymize),
		of("monitor", monitor.New),
		{"sql", func() *cobra.Command { return sql.New(sys, execute) }},
		{"extcap", func() *cobra.Command { return extcap.New(sys, flags.Version()) }},
		ofReference("explain", reference.NewExplain), ofReference("decode", reference.NewDecode), ofReference("fields", reference.NewFields), ofReference("schema", reference.NewSchema),
		ofReference("version", newVersion), ofReference("completion", newCompletion),
	}
}

// program is the command lshark with those of its subcommands that are needed: to
// define the flags of all would double the time of a short command.
type program struct {
	root    *cobra.Command
	missing []subcommand
}

// newProgram returns lshark without subcommands.
func newProgram(sys *scan.System) *program {
	p := &program{missing: subcommands(sys)}
	var names []string
	for _, s := range p.missing {
		names = append(names, s.name)
	}
	p.root = newMessages(sys, names)
	p.root.SilenceErrors, p.root.SilenceUsage = true, true
	p.root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.UsageError{Err: flagError(err)} })
	p.root.SetHelpCommand(newHelp())
	p.root.CompletionOptions.DisableDefaultCmd = true
	setVersion(p.root)
	addHelpFlag(p.root)
	setHelp(p.root, sys.IO, p.addAll)
	return p
}

func (p *program) add(needed func(name string) bool) {
	p.missing = slices.DeleteFunc(p.missing, func(s subcommand) bool {
		if !needed(s.name) {
			return false
		}
		cmd := s.make()
		addHelpFlag(cmd)
		p.root.AddCommand(cmd)
		return true
	})
}

// execute runs a command line and returns its error.
func execute(sys *scan.System, args []string) error {
	p := newProgram(sys)
	p.addNamed(args)
	p.root.SetArgs(args)
	return p.root.Execute()
}

// addAll adds all subcommands, and help.
func (p *program) addAll() {
	p.add(all)
	p.root.InitDefaultHelpCmd()
}

func all(string) bool { return true }

// addNamed adds the subcommands that a command line names. Help and completion need
// all.
func (p *program) addNamed(args []string) {
	if len(args) > 0 && (args[0] == "help" || args[0] == "completion" || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)) {
		p.addAll()
		return
	}
	p.add(func(name string) bool { return slices.Contains(args, name) })
}

// flagError returns the error of a flag that needs a number in words: the one of
// pflag has that of package strconv in it.
func flagError(err error) error {
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
