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

type subcommand struct {
	name  string
	make  func() *cobra.Command
	group string // its title in help
}

const (
	lookGroup      = "Look at messages and RPCs"
	troubleGroup   = "Explain trouble"
	sumGroup       = "Sum up"
	referenceGroup = "Reference"
	exportGroup    = "Export and service"
	moreGroup      = "More"
)

// subcommands returns all commands of lshark but help, which cobra adds.
func subcommands(sys *scan.System) []subcommand {
	of := func(name string, newCommand func(*scan.System) *cobra.Command) subcommand {
		return subcommand{name: name, make: func() *cobra.Command { return newCommand(sys) }}
	}
	ofReference := func(name string, newCommand func(*iostreams.IO) *cobra.Command) subcommand {
		return subcommand{name: name, make: func() *cobra.Command { return newCommand(sys.IO) }}
	}
	var list []subcommand
	add := func(group string, commands ...subcommand) {
		for _, c := range commands {
			c.group = group
			list = append(list, c)
		}
	}
	add(lookGroup, of("rpcs", newRPCs), of("trace", newTrace), of("ladder", newLadder), of("config", newConfig),
		of("tui", newTUI))
	add(troubleGroup, of("diagnose", newDiagnose), of("recovery", newRecovery), of("imports", newImports), of("locks", newLocks),
		of("diff", newDiff))
	add(sumGroup, of("stats", newStats), of("files", newFiles), of("report", newReport),
		subcommand{name: "sql", make: func() *cobra.Command { return sql.New(sys, execute) }})
	add(referenceGroup, ofReference("explain", reference.NewExplain), ofReference("decode", reference.NewDecode),
		ofReference("fields", reference.NewFields))
	add(exportGroup, of("anonymize", newAnonymize), subcommand{name: "monitor", make: func() *cobra.Command { return monitor.New(sys, execute) }})
	add(moreGroup, of("show", newShow), ofReference("schema", reference.NewSchema), ofReference("version", newVersion),
		ofReference("completion", newCompletion), subcommand{name: "extcap", make: func() *cobra.Command { return extcap.New(sys, flags.Version()) }})
	return list
}

// program is the command lshark with those of its subcommands that are needed: to
// define the flags of all would double the time of a short command.
type program struct {
	root    *cobra.Command
	missing []subcommand
	names   []string // of all subcommands
	args    []string // the command line
}

// newProgram returns lshark without subcommands.
func newProgram(sys *scan.System) *program {
	p := &program{missing: subcommands(sys)}
	for _, s := range p.missing {
		p.names = append(p.names, s.name)
	}
	p.root = newMessages(sys, p.names)
	p.root.SilenceErrors, p.root.SilenceUsage = true, true
	p.root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exit.UsageError{Err: p.flagError(cmd, err)} })
	for _, title := range []string{lookGroup, troubleGroup, sumGroup, referenceGroup, exportGroup, moreGroup} {
		p.root.AddGroup(&cobra.Group{ID: title, Title: title})
	}
	p.root.CompletionOptions.DisableDefaultCmd = true
	p.root.ValidArgsFunction = completeFiles
	addVersionFlag(p.root, sys.IO)
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
		cmd.GroupID = s.group
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
	p.args = args
	if len(args) > 0 && (args[0] == "help" || args[0] == "completion" || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)) {
		p.addAll()
		return
	}
	p.add(func(name string) bool { return slices.Contains(args, name) })
}

// flagError returns the error of an unknown flag with those that may be meant, of this command
// or of others, that of a mistyped command in front of its flags, and the error of a flag that needs a number in words: the one of pflag has
// that of package strconv in it.
func (p *program) flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if cmd == p.root && errors.As(err, &unknown) && !strings.HasPrefix(p.args[0], "-") {
		if mistyped := mistypedCommand(p.names, p.args); mistyped != nil {
			return mistyped
		}
	}
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		if near := p.nearFlags(cmd, unknown.GetSpecifiedName()); len(near) > 0 {
			return fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, ", "))
		}
		return err
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
func (p *program) nearFlags(cmd *cobra.Command, name string) []string {
	const most = 3
	var own, others []string
	commands := make(map[string][]string) // with a flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) { own = append(own, f.Name) })
	p.addAll()
	for _, g := range p.root.Groups() {
		for _, c := range p.root.Commands() {
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
