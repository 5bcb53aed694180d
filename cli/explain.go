package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/iostreams"
	"github.com/lshark/lshark/filter"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/explain"
)

// prose holds the flags of commands that print text for reading.
type prose struct {
	sys   *iostreams.IO
	form  choice
	color choice
}

func newProse(sys *iostreams.IO) *prose {
	return &prose{sys: sys, form: formChoice("text", "json"), color: colorChoice()}
}

func (p *prose) flags(cmd *cobra.Command) {
	addFlags(cmd, outputFlags, func(f *pflag.FlagSet) {
		registerForm(f, &p.form)
		registerColor(f, &p.color)
	})
}

func (p *prose) check() error { return errors.Join(p.form.check(), p.color.check()) }

func newExplain(sys *iostreams.IO) *cobra.Command {
	p := newProse(sys)
	cmd := &cobra.Command{
		Use:   "explain [flags] [NAME…]",
		Short: "Explain a struct, field, flag, opcode or constant, with its place on the wire",
		Long: "explain prints what lshark knows about a name of the protocol; it needs no capture. NAME is a struct, a " +
			"field, a group of flags or values, a flag or constant with or without its prefix, an operation, a key of " +
			"records and filters, a column of a table, or a code of notes and events. Where a name is not unique, " +
			"write STRUCT.FIELD or GROUP.VALUE. A number is an " +
			"operation, a portal or an error. Case does not matter. Without NAME, explain shows how many names of each kind there are.",
		Example: `  # offsets and types, and when each field is valid
  lshark explain obd_connect_data

  # a flag and an error
  lshark explain OBD_CONNECT_GRANT ENOSPC

  # the buffers of request and reply
  lshark explain LDLM_ENQUEUE

  # a flag word, and one of its flags
  lshark explain mbo_valid mbo_valid.FLSIZE`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := p.check(); err != nil {
				return err
			}
			return p.explain(args)
		},
		ValidArgsFunction: completeTopics,
	}
	p.flags(cmd)
	return cmd
}

// explain prints all topics. If a name is unknown it prints nothing and returns
// an error.
func (p *prose) explain(names []string) error {
	index, own := opcodes.NewIndex(), ownEntries()
	if len(names) == 0 {
		return p.overview(index)
	}
	r := explain.NewTopics(render.NewColors(p.sys.Colored(p.color.value)), p.sys.Width(), index)
	var out []byte
	for _, name := range names {
		keys, topics := records.Named(own, name), index.Topics(name)
		if keys == nil && topics == nil {
			return exit.UnknownName("name", name[strings.LastIndexByte(name, '.')+1:], append(index.TopicNames(true), ownNames()...))
		}
		var err error
		for i := range keys {
			if out, err = p.page(out, r, &keys[i], nil); err != nil {
				return err
			}
		}
		for i := range topics {
			if out, err = p.page(out, r, nil, &topics[i]); err != nil {
				return err
			}
		}
	}
	_, err := p.sys.Out.Write(out)
	return err
}

// ownEntries lists keys, codes and columns, and the fields that filters read
// without a tree.
func ownEntries() []records.Entry { return append(records.All(), filter.Probes()...) }

// ownNames lists the names of ownEntries, for keys inside others also their last
// parts.
func ownNames() (list []string) {
	for _, e := range ownEntries() {
		list = append(list, e.Name)
		if e.Path != e.Name {
			list = append(list, e.Path)
		}
		if i := strings.LastIndexByte(e.Path, '.'); i >= 0 {
			list = append(list, e.Path[i+1:])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// page appends the text about a key or a topic.
func (p *prose) page(out []byte, r *explain.Topics, key *records.Entry, topic *schema.Topic) ([]byte, error) {
	if p.form.value == "json" {
		if key != nil {
			return r.AppendKeyJSON(out, key)
		}
		return r.AppendTopicJSON(out, topic)
	}
	if len(out) > 0 {
		out = append(out, '\n')
	}
	if key != nil {
		return r.AppendKey(out, key), nil
	}
	return r.AppendTopic(out, topic), nil
}

// overview prints how many names of each kind can be explained.
func (p *prose) overview(index *schema.Index) error {
	flags, values, constants := 0, 0, 0
	for _, g := range opcodes.Protocol.Groups {
		constants += len(g.Values)
		if g.Flags {
			flags++
		} else {
			values++
		}
	}
	kinds := []struct {
		n             int
		kind, example string
	}{
		{len(opcodes.Protocol.RPCs), "operations", "OST_WRITE"},
		{len(opcodes.Protocol.Structs), "structs", "obd_connect_data"},
		{len(index.Names()), "fields", "mbo_valid"},
		{flags, "flag words", "obd_connect_flags"},
		{values, "enumerations", "ldlm_mode"},
		{constants, "constants", "OBD_CONNECT_GRANT"},
		{len(ownEntries()), "keys", "xid"},
	}
	if p.form.value == "json" {
		out := "{"
		for i, k := range kinds {
			if i > 0 {
				out += ","
			}
			out += fmt.Sprintf("%q:%d", strings.ReplaceAll(k.kind, " ", "_"), k.n)
		}
		_, err := fmt.Fprintln(p.sys.Out, out+"}")
		return err
	}
	out := "explain knows:\n"
	for _, k := range kinds {
		out += fmt.Sprintf("%8d  %-13s such as %s\n", k.n, k.kind, k.example)
	}
	_, err := fmt.Fprint(p.sys.Out, out)
	return err
}

func completeTopics(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	names := append(opcodes.NewIndex().TopicNames(false), ownNames()...)
	return withPrefix(names, start), cobra.ShellCompDirectiveNoFileComp
}

// withPrefix returns the names that begin with start, in upper or lower case.
func withPrefix(names []string, start string) (list []string) {
	for _, n := range names {
		if len(n) >= len(start) && strings.EqualFold(n[:len(start)], start) {
			list = append(list, n)
		}
	}
	return list
}
