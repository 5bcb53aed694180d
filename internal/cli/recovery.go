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
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// recoveryOptions are the flags of the command that shows targets that clients lost, and how they came
// back to them.
type recoveryOptions struct {
	flags.Records[*recovery.Recovery]
	target string
	all    bool
}

func newRecovery(sys *scan.System) *cobra.Command {
	c := &recoveryOptions{Records: flags.NewRecords(sys, &records.Recoveries, "table", "json", "fields", flags.ParquetForm)}
	cmd := &cobra.Command{
		Use:   "recovery [flags] [FILE…|-]",
		Short: "Show targets that went away: when each was gone and back, and who recovered",
		Long: "recovery shows one row or record for each time that a target was gone: by which sign and when, when it was back, " +
			"how long its recovery took, which clients came back, what they replayed, who was evicted, and what applications saw. " +
			"Servers that are clients of the target count as clients.\n\n" +
			"A target was started again when a server in recovery does not know a client's connection, when it grants another instance than before, " +
			"or when it has a target that it did not have before. Where only connections were lost, or the server evicted a client, " +
			"the target ran on: --all shows those, too.\n\n" +
			"Column clients is how many clients recovered, of how many; the latter is known where the capture was made at the server. " +
			"What is not in the capture is unknown: a client's capture has no other clients. Clients on the server's own node are never in a " +
			"capture.\n\n" +
			"With -v the table is followed by the steps of each recovery, with their frames.",
		Example: `  # which targets were gone, and for how long
  lshark recovery server.pcap

  # step by step
  lshark recovery -v --target MDT0000 server.pcap

  # how it ended for each client, as JSON
  lshark recovery -T json server.pcap | jq '.clients[] | {client, outcome, late}'

  # recoveries that took longer than a second
  lshark recovery -Y 'recovery.window > 1s' server.pcap`,
	}
	cmd.RunE = flags.RunE(c, (*recoveryOptions).run)
	c.Register(cmd, flags.Help{
		Display: "only recoveries that match the display filter `EXPR` over their keys, such as 'recovery.evicted > 0'",
		Time:    flags.TimeHelp("row"),
		Selection: func(f *pflag.FlagSet) {
			f.StringVar(&c.target, "target", "", "only targets with `NAME` in their name, such as OST0001")
			f.BoolVar(&c.all, "all", false, "also connections that were lost, or clients that were evicted, while the target ran on")
		},
	})
	cmd.Flags().Lookup("verbose").Usage = "the steps of each recovery; more notes about the capture: frames, retransmissions, gaps"
	return cmd
}

func (c *recoveryOptions) selects(r *recovery.Recovery) bool {
	return (c.all || r.Kind.IsOutage()) && strings.Contains(r.Target, c.target) && c.Filter.Match(r)
}

// maxRecoveryRows is the number of recoveries that are kept.
const maxRecoveryRows = 1 << 14

func (c *recoveryOptions) run() error {
	x, err := c.Start(c.Check, scan.Options{Logs: scan.LogUse{Flag: "ha",
		Unknown: "replies, what was replayed and which requests waited or failed are not known"}})
	if err != nil {
		return err
	}
	var list []*recovery.Recovery
	dropped := 0
	x.Follow(follow.Hooks{Recovery: func(r *recovery.Recovery) {
		switch {
		case !c.selects(r):
		case len(list) == maxRecoveryRows:
			dropped++
		default:
			list = append(list, r)
		}
	}})
	return x.Run(func() error {
		if dropped > 0 {
			x.Note("%d further recoveries are not shown", dropped)
		}
		slices.SortStableFunc(list, func(a, b *recovery.Recovery) int { return cmp.Compare(a.Begin(), b.Begin()) })
		return x.WriteAll(list, func(list []*recovery.Recovery) []byte {
			buf := flags.Table(x, &tables.Recoveries)(list)
			if c.Input.Verbose {
				s := tables.NewRecoveryStory(x.Options(), x.First())
				for _, r := range list {
					buf = s.Append(buf, r)
				}
			}
			return buf
		})
	})
}
