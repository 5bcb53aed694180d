package reference

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/explain"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// prose holds the flags of commands that print text for reading.
type prose struct {
	sys   *scan.System
	form  flags.Choice
	color flags.Choice
}

func newProse(sys *scan.System) *prose {
	return &prose{sys: sys, form: flags.FormChoice("text", "json"), color: flags.ColorChoice()}
}

func (p *prose) flags(cmd *cobra.Command) {
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		flags.RegisterForm(f, &p.form)
		flags.RegisterColor(f, &p.color)
	})
}

func NewExplain(sys *scan.System) *cobra.Command {
	p := newProse(sys)
	cmd := &cobra.Command{
		Use:   "explain [flags] [NAME…]",
		Short: "Explain a struct, field, flag, opcode or constant, with its place on the wire",
		Long: "explain prints what lshark knows about a name of the protocol, a key, a column of a table or a code; it needs no capture. Where a name " +
			"is not unique, write STRUCT.FIELD or GROUP.VALUE. A number stands for everything that has it as its value; flags can be combined " +
			"with |. Without NAME, explain shows how many names of each kind there are.",
		Example: `  # offsets and types, and when each field is valid
  lshark explain obd_connect_data

  # a flag and an error
  lshark explain OBD_CONNECT_GRANT ENOSPC

  # the buffers of request and reply
  lshark explain LDLM_ENQUEUE

  # a flag word, and one of its flags
  lshark explain mbo_valid mbo_valid.FLSIZE

  # a number, and flags together
  lshark explain 0xbd00bd3 'IT_OPEN|IT_CREAT'`,
		RunE: func(_ *cobra.Command, args []string) error {
			return p.explain(args)
		},
		ValidArgsFunction: completeTopics,
	}
	p.flags(cmd)
	return cmd
}

// explain prints all topics. Unknown names are reported after them.
func (p *prose) explain(names []string) error {
	index := opcodes.FieldIndex()
	if len(names) == 0 {
		return p.overview(index)
	}
	e := &explanation{prose: p, index: index, own: ownEntries(), shown: make(map[string]bool)}
	var unknown []error
	for _, q := range questions(names, index.IsPhrase) {
		unknown = append(unknown, e.answer(q))
	}
	if err := p.write(&e.out); err != nil {
		return err
	}
	return errors.Join(unknown...)
}

// question is a name to explain, as a struct or group only if kind is set.
type question struct{ kind, name string }

// questions puts struct and enum, as in C, together with the names that follow them, and words
// that are one phrase.
func questions(args []string, isPhrase func(string) bool) (list []question) {
	if all := strings.Join(args, " "); isPhrase(all) {
		return []question{{name: all}}
	}
	for i, arg := range args {
		if isPhrase(arg) {
			list = append(questions(args[:i], isPhrase), question{name: arg})
			return append(list, questions(args[i+1:], isPhrase)...)
		}
	}
	kind := ""
	for _, name := range strings.Fields(strings.ReplaceAll(strings.Join(args, " "), "|", " | ")) {
		switch last := len(list) - 1; {
		case name == "struct" || name == "enum":
			kind = name
		case last >= 0 && (name == "|" || strings.HasSuffix(list[last].name, "|")):
			list[last].name += name
		default:
			list = append(list, question{kind, name})
			kind = ""
		}
	}
	if kind != "" {
		list = append(list, question{name: kind})
	}
	return list
}

type explanation struct {
	*prose
	index *schema.Index
	own   []records.Entry
	out   schema.Marked
	shown map[string]bool // pages
}

// answer adds the pages about a name. The error is that it is unknown.
func (e *explanation) answer(q question) error {
	if names := strings.FieldsFunc(q.name, func(r rune) bool { return r == '|' }); len(names) > 1 {
		return e.together(names)
	}
	topics := e.index.Topics(q.name)
	var keys []records.Entry
	switch q.kind {
	case "struct":
		topics = slices.DeleteFunc(topics, func(t schema.Topic) bool { return t.Struct == nil })
	case "enum":
		topics = slices.DeleteFunc(topics, func(t schema.Topic) bool { return t.Group == nil || t.Value != nil })
	default:
		keys = records.Named(e.own, q.name)
	}
	if isRule := e.rules(q); len(keys) == 0 && len(topics) == 0 && !isRule {
		return e.unknown(q)
	}
	for i := range keys {
		e.add(explain.Key(&keys[i]))
	}
	e.pages(topics)
	return nil
}

// rules appends the page of the rule of lshark diagnose with a code, or the list of
// those with the part before the dot. It reports whether there is any.
func (e *explanation) rules(q question) (found bool) {
	code := strings.ToLower(q.name)
	list, unknown := diagnose.Choose(rules.All(), []string{code})
	if unknown != "" || q.kind != "" {
		return false // it may be the name of something else
	}
	if e.form.Value != "json" && !strings.Contains(code, ".") {
		e.add(explain.Rules(code, list))
		return true
	}
	for _, r := range list {
		e.add(explain.Rule(r))
	}
	return true
}

// together appends the pages of flags and of the word in which they are all set. Names
// that are not flags of one word are explained one by one.
func (e *explanation) together(names []string) error {
	if topics := e.index.Together(names); topics != nil {
		e.pages(topics)
		return nil
	}
	var unknown []error
	for _, name := range names {
		unknown = append(unknown, e.answer(question{name: name}))
	}
	return errors.Join(unknown...)
}

func (e *explanation) unknown(q question) error {
	names := slices.Concat(e.index.TopicNames(true), ownNames(), diagnose.Codes(rules.All()))
	noun := "name"
	switch q.kind {
	case "struct":
		names, noun = nil, q.kind
		for _, s := range opcodes.Protocol.Structs() {
			names = append(names, s.Name)
		}
	case "enum":
		names, noun = nil, q.kind
		for _, g := range opcodes.Protocol.Groups() {
			names = append(names, g.Group)
		}
	default:
		if _, err := strconv.ParseInt(q.name, 0, 64); err == nil {
			return exit.Usagef("no operation, error, value or flag has the number %s", q.name)
		}
	}
	return exit.UnknownName(noun, q.name[strings.LastIndexByte(q.name, '.')+1:], names)
}

func (e *explanation) pages(topics []schema.Topic) {
	for i := range topics {
		e.add(explain.Topic(e.index, &topics[i]))
	}
}

// add appends a page, in the form that the flags choose, unless it is there already.
func (e *explanation) add(x *explain.Explanation) {
	var page schema.Marked
	asJSON := e.form.Value == "json"
	if asJSON {
		page.Text = x.AppendJSON(nil)
	} else {
		x.AppendText(&page, e.sys.Width())
	}
	if e.shown[string(page.Text)] {
		return
	}
	e.shown[string(page.Text)] = true
	if len(e.out.Text) > 0 && !asJSON {
		e.out.Plain("\n")
	}
	e.out.Append(&page)
}

// ownEntries lists keys, codes and columns, and the fields that filters read
// without a tree.
func ownEntries() []records.Entry {
	return slices.Concat(records.All(), tables.Columns(), filter.Probes())
}

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

// overview prints how many names of each kind can be explained.
func (p *prose) overview(index *schema.Index) error {
	flags, values, constants := 0, 0, 0
	for _, g := range opcodes.Protocol.Groups() {
		constants += len(g.Values)
		if g.Flags {
			flags++
		} else {
			values++
		}
	}
	text, json := "explain knows:\n", ""
	for _, k := range []struct {
		n             int
		kind, example string
	}{
		{len(opcodes.Protocol.RPCs()), "operations", "OST_WRITE"},
		{len(opcodes.Protocol.Structs()), "structs", "obd_connect_data"},
		{len(index.Names()), "fields", "mbo_valid"},
		{flags, "flag words", "obd_connect_flags"},
		{values, "enumerations", "ldlm_mode"},
		{constants, "constants", "OBD_CONNECT_GRANT"},
		{len(opcodes.Protocol.Texts), "text constants", "XATTR_NAME_LOV"},
		{len(opcodes.Protocol.FormatBuffers()) + len(opcodes.Protocol.Formats()), "names of layout.c", "RMF_DLM_REQ"},
		{len(opcodes.Protocol.Terms), "abbreviations", "LVB"},
		{len(ownEntries()), "keys", "xid"},
		{len(rules.All()), "findings", "evicted.lock_callback"},
	} {
		json += fmt.Sprintf(",%q:%d", strings.NewReplacer(" ", "_", ".", "_").Replace(k.kind), k.n)
		text += fmt.Sprintf("%8d  %-18s such as %s\n", k.n, k.kind, k.example)
	}
	if p.form.Value == "json" {
		text = "{" + json[1:] + "}\n"
	}
	_, err := io.WriteString(p.sys.Out, text)
	return err
}

func completeTopics(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	names := slices.Concat(opcodes.FieldIndex().TopicNames(false), ownNames(), diagnose.Codes(rules.All()))
	return flags.WithPrefix(names, start), cobra.ShellCompDirectiveNoFileComp
}
