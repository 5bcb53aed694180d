package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// recoveryOptions are the flags of the command that shows targets that clients lost, and how they came
// back to them.
type recoveryOptions struct {
	flags.Job
	filter *filter.RecordFilter[*recovery.Recovery]
	target string
	all    bool
}

func newRecovery(sys *scan.System) *cobra.Command {
	c := &recoveryOptions{Job: flags.NewJob(sys, flags.RecordForms("table")...)}
	cmd := flags.Command(&cobra.Command{
		Use:   "recovery [flags] [FILE…|-]",
		Short: "Show targets that went away: when each was gone and back, and who recovered",
		Long: "recovery shows one row or record for each time that a target was gone: by which sign and when, when it was back, " +
			"how long its recovery took, which clients came back, what they replayed, who was evicted, and what applications saw. " +
			"Servers that are clients of the target count as clients. With -v the steps of each recovery follow, with their frames.",
		Example: `  # which targets were gone, and for how long
  lshark recovery server.pcap

  # step by step
  lshark recovery -v --target MDT0000 server.pcap

  # how it ended for each client, as JSON
  lshark recovery -T json server.pcap |
    jq '.clients[] | {client, outcome, late}'

  # recoveries that took longer than a second
  lshark recovery -Y 'recovery.window > 1s' server.pcap`,
	}, c, flags.Help{
		Display: "only recoveries that match the display filter `EXPR` over their keys, such as 'recovery.evicted > 0'",
		Counted: "messages",
		Time:    "row",
		Logs:    true,
		Selection: func(f *pflag.FlagSet) {
			f.StringVar(&c.target, "target", "", "only targets with `NAME` in their name, such as OST0001")
			f.BoolVar(&c.all, "all", false, "also connections that were lost, or clients that were evicted, while the target ran on")
		},
	}, (*recoveryOptions).check, (*recoveryOptions).run)
	cmd.Flags().Lookup("verbose").Usage = "the steps of each recovery; more notes about the capture: frames, retransmissions, gaps"
	return cmd
}

func (c *recoveryOptions) selects(r *recovery.Recovery) bool {
	return (c.all || r.Kind.IsOutage()) && strings.Contains(r.Target, c.target) && c.filter.Match(r)
}

func (c *recoveryOptions) check() (err error) {
	c.filter, err = flags.Filter(c.Display, &records.Recoveries)
	return err
}

func (c *recoveryOptions) run() error {
	x := flags.Open(&c.Job, &records.Recoveries, scan.Options{Limit: c.Count, Concurrent: true, Logs: scan.LogUse{Beside: true, Elsewhere: true, Flag: "ha",
		Unknown: "replies, what was replayed and which requests waited or failed are not known"}})
	x.List = func(dst *schema.Marked, list []*recovery.Recovery) {
		flags.Table(x.Reading, &tables.Recoveries)(dst, list)
		if c.Input.Verbose {
			s := tables.NewRecoveryStory(x.Options(), x.First())
			for _, r := range list {
				s.Append(dst, r)
			}
		}
	}
	var list []*recovery.Recovery
	x.Follow(follow.Hooks{Recovery: func(r *recovery.Recovery) {
		if c.selects(r) {
			list = append(list, r)
		}
	}})
	return x.Run(func() {
		slices.SortStableFunc(list, func(a, b *recovery.Recovery) int { return cmp.Compare(a.Begin(), b.Begin()) })
		x.Emit(list...)
	})
}
