package cli

import (
	"bytes"
	_ "embed"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

// shells lists the shells with completion scripts.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(sys *scan.System) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script for bash, zsh, fish or powershell",
		Long: "completion prints a script that lets a shell complete commands, flags, field names and more. " +
			"SHELL is bash, zsh, fish or powershell.",
		Example: `  # this bash session
  source <(lshark completion bash)

  # all later bash sessions
  lshark completion bash > ~/.local/share/bash-completion/completions/lshark

  # zsh, with ~/.zfunc in fpath
  lshark completion zsh > ~/.zfunc/_lshark

  # fish
  lshark completion fish > ~/.config/fish/completions/lshark.fish`,
		ValidArgsFunction: flags.OneOf(shells...),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("completion needs the name of one shell: bash, zsh, fish or powershell")
			}
			return writeCompletion(cmd.Root(), args[0], sys.Out)
		},
	}
}

func writeCompletion(root *cobra.Command, shell string, w io.Writer) (err error) {
	var b bytes.Buffer
	own := strings.NewReplacer()
	switch shell {
	case "bash":
		own, err = ownBash, root.GenBashCompletionV2(&b, true)
	case "zsh":
		own, err = ownZsh, root.GenZshCompletion(&b)
	case "fish":
		own, err = ownFish, root.GenFishCompletion(&b, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(&b)
	default:
		return exit.UnknownName("shell", shell, shells)
	}
	if err == nil {
		_, err = own.WriteString(w, b.String())
	}
	return err
}

// wordsBash finds the words of the command line without the package bash-completion.
//
//go:embed words.bash
var wordsBash string

// ownBash changes cobra's script for bash, which gets the words of the command line from the package
// bash-completion, and knows no words in quotes. In ours, words end at spaces outside quotes, the
// last one is closed for eval, and a word in quotes is completed as it is, as a whole.
var ownBash = strings.NewReplacer(
	`__lshark_handle_special_char "$cur"`, `[[ -n $quote ]] || __lshark_handle_special_char "$cur"`,
	`if (( ${#COMPREPLY[@]} == 1 )); then`, `if (( ${#COMPREPLY[@]} == 1 )) && [[ -z $quote ]]; then`,
	`    if declare -F _init_completion >/dev/null 2>&1; then
        _init_completion -n =: || return
    else
        __lshark_init_completion -n =: || return
    fi
`, wordsBash)

// ownZsh changes cobra's script for zsh, which splits words in quotes at their spaces.
var ownZsh = strings.NewReplacer(
	`words=("${=words[1,CURRENT]}")`, `local MATCH MBEGIN MEND match mbegin mend BASH_REMATCH # what =~ sets
    words=("${(@)words[1,CURRENT]}")
    words[-1]+=${compstate[quote]}
    # zsh names the open quote of a whole word only, not that of the value in --flag='value.
    [[ ${words[-1]} =~ "^-[^='\"]*=(['\"])[^'\"]*$" ]] && words[-1]+=${match[1]}
    words[2,-1]=("${(@Q)words[2,-1]}")`,
	`'-.*='`, `'^-[^=]*='`,
	`requestComp="${words[1]} __complete ${words[2,-1]}"
    if [ "${lastChar}" = "" ]; then
        # If the last parameter is complete (there is a space following it)
        # We add an extra empty parameter so we can indicate this to the go completion code.
        __lshark_debug "Adding extra empty parameter"
        requestComp="${requestComp} \"\""
    fi
`, `requestComp="${words[1]} __complete ${(@qq)words[2,-1]}"
`)

// ownFish does the same for fish.
var ownFish = strings.NewReplacer(
	`set -l args (commandline -opc)`, `set -l args (string escape -- (commandline -opc))`,
	`(string escape -- (commandline -ct))`, `(string escape -- (commandline -ct | string replace -r '^[\'"]' ''))`,
	`(commandline -t | string escape --style=regex)`, `(commandline -t | string replace -r '^[\'"]' '' | string escape --style=regex)`)

// completeFlags registers the completions of flag values for a command and its
// subcommands. Values of other flags are completed as files.
func completeFlags(cmd *cobra.Command) {
	known := map[string]flags.Completion{
		"time":      flags.OneOf("r\trelative", "a\tlocal", "u\tUTC", "d\tsince the one before"),
		"field":     completeField,
		"display":   completeFilter,
		"interface": completeInterface,
		"autostop":  flags.OneOf("duration:"),
		"by":        flags.LastOf(append(slices.Clone(track.DimensionNames()), byPath)...),
		"only":      flags.LastOf(diagnose.Codes(rules.All())...),
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		c := known[f.Name]
		if list, ok := f.Value.(*flags.Choice); ok && (c == nil || f.Name == "by") {
			c = flags.OneOf(list.Words...)
		}
		switch f.Value.Type() {
		case "int", "duration", "uintSlice":
			c = cobra.NoFileCompletions
		}
		if c != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, c) // it has none yet
		}
	})
	for _, sub := range cmd.Commands() {
		completeFlags(sub)
	}
}

// shownBy returns the records that a command shows; for others messages.
func shownBy(cmd *cobra.Command) *records.Table[any] {
	kinds := records.Kinds()
	if i := slices.IndexFunc(kinds, func(t *records.Table[any]) bool { return t.Command == cmd.Name() }); i >= 0 {
		return kinds[i]
	}
	return kinds[0]
}

// completeFiles completes the first argument of lshark, which is a command or a file: where
// a command begins with the word, shells do not complete files themselves.
func completeFiles(cmd *cobra.Command, args []string, start string) (names []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 || cmd.Flags().NFlag() > 0 || len(flags.WithPrefix(commandNames(cmd), start)) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, e := range entries {
		name := e.Name()
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			name += "/"
		}
		if strings.HasPrefix(name, start) && name[0] != '.' {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

func completeField(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	t := shownBy(cmd)
	names := render.KeyNames(t)
	if t.Record == records.Messages.Record {
		names = render.FieldNames()
	}
	return flags.WithPrefix(names, start), cobra.ShellCompDirectiveNoFileComp
}

func completeFilter(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	ofRPCs := cmd.HasParent() && !slices.Contains([]string{"show", "imports"}, cmd.Name()) // these three choose messages
	at, field := filter.LastWord(start)
	var words []string
	switch t := shownBy(cmd); {
	case field != "":
		words = filter.ValueNames(field, ofRPCs)
	case t.Prefix != "" && t.Prefix != records.RPCs.Prefix:
		words = filter.RecordNames(t)
	default:
		words = filter.Names(ofRPCs)
	}
	return flags.CompleteAt(words, start, at)
}

func completeInterface(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	list, err := capture.Interfaces()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names := []string{"any"}
	for _, i := range list {
		names = append(names, i.Name)
	}
	return flags.WithPrefix(names, start), cobra.ShellCompDirectiveNoFileComp
}
