package extcap

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
)

// The names of the interfaces, as Wireshark passes them.
const (
	localInterface  = "lshark"
	remoteInterface = "lshark-ssh"
)

// argumentPrefix begins the names of the arguments by which Wireshark calls.
const argumentPrefix = "--extcap-"

// IsCall reports whether the arguments of the program are those of a call by
// Wireshark, which does not name the command.
func IsCall(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], "-") &&
		slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, argumentPrefix) })
}

type command struct {
	sys     *scan.System
	install installation
	query   query
	lua     bool
	capture bool
	fifo    string
	iface   string
	ports   string // as is snaplen, checked after the FIFO is open, see startCapture
	snaplen string
	display string
	content flags.Choice

	remoteHost, remoteCommand string // of a capture on another host
}

// query holds the flags of calls that only request information, and those that lshark
// accepts but does not use.
type query struct {
	interfaces, dlts, config, cleanup bool
	iface, reload, unused             string
}

// New returns the command. version is that of the program.
func New(sys *scan.System, version string) *cobra.Command {
	c := &command{sys: sys, content: flags.Choice{Value: contentMessages, Words: []string{contentMessages, contentFrames},
		Flag: "--content", Placeholder: "WHAT"}}
	cmd := &cobra.Command{
		Use:   "extcap [flags]",
		Short: "Capture Lustre in Wireshark",
		Long: "extcap connects lshark with Wireshark and tshark, by their interface for external capture programs. After " +
			"\"lshark extcap --install\" Wireshark lists the interfaces \"Lustre (lshark)\", which captures on this host, and \"Lustre remote (lshark " +
			"over ssh)\", which runs lshark on another host. Wireshark itself calls lshark with the flags that begin with --extcap-.",
		Example: `  # add the interfaces to Wireshark, and the profile
  lshark extcap --install --profile

  # the settings that Wireshark shows
  lshark --extcap-config --extcap-interface lshark-ssh

  # the plugin alone, for the plugin folder of another host
  lshark extcap --lua

  # remove what --install installed
  lshark extcap --uninstall --profile`,
		Args: flags.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.run(version) },
	}
	flags.Add(cmd, flags.InputGroup, func(f *pflag.FlagSet) {
		f.StringVar(&c.iface, "interface", "any", "capture from interface `IFACE`, any for all interfaces")
		f.StringVar(&c.ports, "port", "", "TCP `PORTS` that carry LNet, separated by commas (default 988)")
		f.StringVar(&c.snaplen, "snaplen", "0", "capture at most `BYTES` of a frame, 0 for all")
		f.Lookup("snaplen").DefValue = "" // as a number has it
		f.StringVar(&c.remoteHost, "remote-host", "", "`HOST`, or user@host, on which "+remoteInterface+" runs lshark by ssh")
		f.StringVar(&c.remoteCommand, "remote-command", "lshark", "`COMMAND` by which that host runs lshark, such as \"sudo -n lshark\"")
	})
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		f.Var(&c.content, "content", "what Wireshark gets: "+flags.WordList(c.content.Words))
		f.BoolVar(&c.install.install, "install", false, "put a link to lshark into the extcap folder of Wireshark, and the plugin with all "+
			"fields into its plugin folder")
		f.BoolVar(&c.install.uninstall, "uninstall", false, "remove both")
		f.BoolVar(&c.install.profile, "profile", false, "with --install or --uninstall, also the profile \""+profileName+"\"")
		f.StringVar(&c.install.dir, "dir", "", "extcap folder `DIR`, by default that of the user; without --profile nothing else is installed")
		f.BoolVar(&c.lua, "lua", false, "print the plugin")
	})
	flags.Add(cmd, flags.OtherGroup, func(f *pflag.FlagSet) {
		f.BoolVar(&c.query.interfaces, "extcap-interfaces", false, "list the interfaces")
		f.StringVar(&c.query.iface, "extcap-interface", "", "`INTERFACE` of the question or of the capture: "+localInterface+" or "+remoteInterface)
		f.BoolVar(&c.query.dlts, "extcap-dlts", false, "list the link types of the interface")
		f.BoolVar(&c.query.config, "extcap-config", false, "list the settings of the interface")
		f.StringVar(&c.query.reload, "extcap-reload-option", "", "with --extcap-config, list the values of the setting `NAME`")
		f.StringVar(&c.display, "extcap-capture-filter", "", "display filter `EXPR`; without --capture it is only checked")
		f.BoolVar(&c.capture, "capture", false, "capture, until a signal or until the FIFO is closed")
		f.StringVar(&c.fifo, "fifo", "", "write packets to `FIFO`, - for standard output")
		f.StringVar(&c.query.unused, "extcap-version", "", "`VERSION` of Wireshark, which is not used")
		f.StringVar(&c.query.unused, "extcap-control-in", "", "`FIFO` for a toolbar, which is not used")
		f.StringVar(&c.query.unused, "extcap-control-out", "", "`FIFO` for a toolbar, which is not used")
		f.BoolVar(&c.query.cleanup, "extcap-cleanup-postkill", false, "there is nothing to clean up after a capture")
	})
	return cmd
}

func (c *command) run(version string) error {
	if err := c.install.check(); err != nil {
		return err
	}
	q := &c.query
	switch {
	case c.install.isSet():
		return c.install.run(c.sys.IO)
	case c.lua:
		return c.answer(luaPlugin(), nil)
	case q.interfaces:
		return c.answer(interfaces(version), nil)
	case q.cleanup:
		return nil
	case q.iface == "":
		return exit.Usagef("extcap needs --install, --uninstall, --lua or the arguments that Wireshark passes; see lshark extcap --help")
	case q.iface != localInterface && q.iface != remoteInterface:
		return exit.UnknownName("interface", q.iface, []string{localInterface, remoteInterface})
	case q.dlts:
		return c.answer(linkTypes, nil)
	case q.config && q.reload != "":
		return c.answer(settingValues(q.iface, q.reload))
	case q.config:
		return c.answer(settings(q.iface))
	case c.capture:
		return c.startCapture()
	case c.display != "":
		return c.answer(filterProblem(c.display))
	}
	return exit.Usagef("--extcap-interface needs --extcap-dlts, --extcap-config, --extcap-capture-filter or --capture")
}

// answer writes the answer to a question of Wireshark.
func (c *command) answer(text string, err error) error {
	if err != nil {
		return err
	}
	_, err = c.sys.Out.Write([]byte(text))
	return err
}
