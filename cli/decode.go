package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/iostreams"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/explain"
)

func newDecode(sys *iostreams.IO) *cobra.Command {
	p := newProse(sys)
	big := false
	cmd := &cobra.Command{
		Use:   "decode [flags] TYPE VALUE",
		Short: "Decode one value or hex string",
		Long: "decode shows VALUE as a value of TYPE: the name of a struct, a field, a group of flags or values, or " +
			wordList(explain.ScalarNames()) + ".\n\n" +
			"VALUE is a number, the hex bytes of the wire (white space and colons are ignored), or a name, which is " +
			"converted to its number.",
		Example: `  # flags by number and by name
  lshark decode obd_connect_flags 0xae7a5e7be344d2b8
  lshark decode obd_connect_flags 'VERSION|GRANT'

  # the bytes of a struct
  lshark decode lu_fid '01 04 00 00 02 00 00 00 01 00 00 00 00 00 00 00'

  # an error
  lshark decode errno -28

  # the time at which the client of an xid started
  lshark decode xid 1883108012032128`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exit.Usagef("decode needs a type and a value, as in: lshark decode errno -2")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := p.check(); err != nil {
				return err
			}
			return p.decode(args[0], strings.Join(args[1:], " "), big)
		},
		ValidArgsFunction: completeTypes,
	}
	p.flags(cmd)
	addFlags(cmd, inputFlags, func(f *pflag.FlagSet) {
		f.BoolVar(&big, "big", false, "the hex bytes come from a big-endian sender")
	})
	return cmd
}

func (p *prose) decode(kind, value string, big bool) error {
	index := opcodes.NewIndex()
	d := explain.NewDecoder(render.NewColors(p.sys.Colored(p.color.value)), p.sys.Width(), index)
	list, err := d.Parse(kind, value, big)
	switch {
	case errors.Is(err, explain.ErrType):
		return exit.UnknownName("type", kind, explain.TypeNames(index))
	case err != nil:
		return exit.UsageError{Err: err}
	}
	var out []byte
	for i, v := range list {
		if p.form.value == "json" {
			out = d.AppendJSON(out, v)
			continue
		}
		if i > 0 {
			out = append(out, '\n')
		}
		out = d.AppendText(out, v)
	}
	_, err = p.sys.Out.Write(out)
	return err
}

func completeTypes(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return withPrefix(explain.TypeNames(opcodes.NewIndex()), start), cobra.ShellCompDirectiveNoFileComp
}

// negativeNumbersLast lets negative numbers be arguments of decode and explain:
// it moves them to the end, behind a --, where they are not parsed as flags.
func negativeNumbersLast(args []string) []string {
	if len(args) == 0 || args[0] != "decode" && args[0] != "explain" {
		return args
	}
	var kept, numbers []string
	for _, a := range args {
		switch {
		case a == "--":
			return args
		case len(a) > 1 && a[0] == '-' && a[1] >= '0' && a[1] <= '9':
			numbers = append(numbers, a)
		default:
			kept = append(kept, a)
		}
	}
	if numbers == nil {
		return args
	}
	return append(append(kept, "--"), numbers...)
}
