package reference

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/explain"
)

func NewDecode(sys *scan.System) *cobra.Command {
	p := newProse(sys)
	big := false
	cmd := &cobra.Command{
		Use:   "decode [flags] [TYPE] VALUE | NAME=VALUE | log LINE | -",
		Short: "Decode one value, hex string or line of a debug log",
		Long: "decode shows VALUE as a value of TYPE: the name of a struct, a field, a group of flags or values, an extended attribute, or " +
			flags.WordList(explain.ScalarNames()) + ". VALUE is a number, the hex bytes of the wire, base64 with 0s before it, or a name. What " +
			"getfattr prints is read from standard input. LINE is a line of a debug log.",
		Example: `  # flags by number and by name
  lshark decode obd_connect_flags 0xae7a5e7be344d2b8
  lshark decode obd_connect_flags 'VERSION|GRANT'

  # the bytes of a struct
  lshark decode lu_fid '01 04 00 00 02 00 00 00 01 00 00 00 00 00 00 00'

  # an error
  lshark decode errno -28

  # the time at which the client of an xid started
  lshark decode x1883108012032128

  # flags by the prefix of their names
  lshark decode OBD_CONNECT 0x28

  # what a debug log says about a request
  lshark decode log 'fl Rpc:RSQU/600/0 rc -107/-107'

  # extended attributes of files
  lshark decode trusted.lma=0x000000000000000001040000020000000300000000000000`,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && sys.InTTY:
				return needsType("TYPE")
			case len(args) == 0 || args[0] == "-":
				return p.decodeInput(big)
			case explain.AreAttributes(args[0]):
				return p.decodeAttributes(strings.Join(args, "\n"), big)
			case len(args) == 1 && explain.TypeOf(args[0]) == "":
				return needsType(args[0])
			case args[0] == logType:
				return p.decodeLog(strings.Join(args[1:], " "))
			case len(args) == 1 && explain.TypeOf(args[0]) == logType:
				return p.decodeLog(args[0])
			case len(args) == 1:
				return p.decode(explain.TypeOf(args[0]), args[0], big)
			}
			return p.decode(args[0], strings.Join(args[1:], " "), big)
		},
		ValidArgsFunction: completeTypes,
	}
	p.flags(cmd)
	flags.Add(cmd, flags.InputGroup, func(f *pflag.FlagSet) {
		f.BoolVar(&big, "big", false, "the hex bytes come from a big-endian sender")
	})
	return cmd
}

func needsType(about string) error {
	return exit.Usagef("decode needs a type and a value, as in: lshark decode errno -2; lshark explain %s describes a type", about)
}

func (p *prose) decode(kind, value string, big bool) error {
	index := opcodes.FieldIndex()
	d := explain.NewDecoder(p.sys.Width(), index)
	list, err := d.Parse(kind, value, big)
	switch {
	case errors.Is(err, explain.ErrType):
		return exit.UnknownName("type", kind, explain.TypeNames(index))
	case err != nil:
		return exit.UsageError{Err: err}
	}
	return p.print(d, list)
}

// logType stands for a line of a debug log, in place of a type.
const logType = "log"

func (p *prose) decodeLog(line string) error {
	list, err := explain.LogLine(line)
	if err != nil {
		return exit.UsageError{Err: err}
	}
	var out schema.Marked
	if p.form.Value != "json" {
		explain.AppendLogText(&out, p.sys.Width(), list)
		return p.write(&out)
	}
	for _, part := range list {
		out.Text = appendJSON(out.Text, part)
	}
	return p.write(&out)
}

// decodeInput decodes extended attributes from standard input.
func (p *prose) decodeInput(big bool) error {
	text, err := io.ReadAll(os.Stdin)
	switch {
	case err != nil:
		return err
	case !explain.AreAttributes(string(text)):
		return exit.Usagef("standard input has no extended attributes as getfattr prints them")
	}
	return p.decodeAttributes(string(text), big)
}

// decodeAttributes decodes extended attributes. Lines that it cannot read are reported after
// the others.
func (p *prose) decodeAttributes(text string, big bool) error {
	attributes, errs := explain.ParseAttributes(text)
	d := explain.NewDecoder(p.sys.Width(), opcodes.FieldIndex())
	list := make([]explain.Decoded, len(attributes))
	for i, a := range attributes {
		list[i] = d.Attribute(a, big)
	}
	if err := p.print(d, list); err != nil {
		return err
	}
	for i := range errs {
		errs[i] = exit.UsageError{Err: errs[i]}
	}
	return errors.Join(errs...)
}

// print writes values one after the other.
func (p *prose) print(d *explain.Decoder, list []explain.Decoded) error {
	var out schema.Marked
	file := ""
	for i, v := range list {
		if p.form.Value == "json" {
			out.Text = d.AppendJSON(out.Text, v)
			continue
		}
		if i > 0 {
			out.Plain("\n")
		}
		if v.File != file {
			file = v.File
			out.Add(schema.Dim, "file ").AddBytes(schema.Heading, schema.AppendText(nil, []byte(file))).Plain("\n\n")
		}
		d.AppendText(&out, v)
	}
	return p.write(&out)
}

// write writes text in its colours.
func (p *prose) write(text *schema.Marked) error {
	_, err := p.sys.Out.Write(render.NewColors(p.sys.Colored(p.color.Value)).Paint(nil, text))
	return err
}

func completeTypes(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return flags.WithPrefix(append(explain.TypeNames(opcodes.FieldIndex()), logType), start), cobra.ShellCompDirectiveNoFileComp
}

// NegativeNumbersLast lets negative numbers be arguments of decode and explain:
// it moves them to the end, behind a --, where they are not parsed as flags.
func NegativeNumbersLast(args []string) []string {
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
