package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/nested"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/monitor/spans"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// traceOptions are the flags of the command that shows an operation across nodes.
type traceOptions struct {
	flags.Job
	xid uint64
}

func newTrace(sys *scan.System) *cobra.Command {
	c := &traceOptions{Job: flags.NewJob(sys, "text", "json", "otlp", "fields", flags.ParquetForm)}
	cmd := flags.Command(&cobra.Command{
		Use:   "trace [flags] XID [FILE…|-]",
		Short: "Show an RPC with those that servers sent to other nodes because of it",
		Long: "trace shows the RPCs with an xid as trees: under each RPC those that its server sent to others because of it, between request " +
			"and reply, with the start after the first request, the latency, and what of it is its own. With captures of more nodes " +
			"the tree is complete. docs/usage.md says how an RPC is known to belong to the one above (link).",
		Example: `  # what the servers did for a slow mkdir
  lshark trace 1882522806458496 mds.pcap oss.pcap

  # the slowest RPC of a capture
  lshark trace $(lshark rpcs --slowest 1 -T fields -e xid mds.pcap) mds.pcap

  # as JSON: the operations on other nodes, and their links
  lshark trace -T json 1882522806458496 mds.pcap |
    jq '.children[] | {opcode, link}'

  # as spans with parents, for a backend that draws traces
  lshark trace -T otlp 1882522806458496 mds.pcap`,
	}, c, flags.Help{Time: "RPC", Logs: true}, nil, (*traceOptions).run)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return exit.Usagef("the number of an RPC is missing")
		}
		var err error
		if c.xid, err = strconv.ParseUint(strings.TrimPrefix(args[0], "x"), 10, 64); err != nil {
			return exit.Usagef("%s: must be the number of an RPC, such as 1882522806458496", args[0])
		}
		return run(cmd, args[1:])
	}
	return cmd
}

func (c *traceOptions) run() error {
	links := make(map[*track.RPC]*nested.Node)
	x := flags.Open(&c.Job, tracedKeys(links), scan.Options{Logs: scan.LogUse{Beside: true}})
	f := x.Follow()
	trees := nested.NewTrees(f.Nested(), 0, func(r *track.RPC) bool { return r.XID == c.xid })
	f.Add(follow.Hooks{Done: trees.Done})
	var roots []*nested.Node
	if form := c.Form.Value; form != "fields" && form != flags.ParquetForm {
		x.Own(func(dst *schema.Marked, _ []*track.RPC) {
			switch {
			case len(roots) == 0:
			case form == "json":
				dst.Text = render.AppendTraceJSON(dst.Text, roots)
			case form == "otlp":
				dst.Text = append(spans.AppendTraces(dst.Text, roots, x.Last(), flags.Version()), '\n')
			default:
				t := render.NewTrace(c.Options())
				for i, n := range roots {
					if i > 0 {
						dst.Plain("\n")
					}
					t.Append(dst, n, render.Moment{First: x.First()})
				}
			}
		})
	}
	return x.Run(func() {
		if roots = trees.Roots(); len(roots) == 0 {
			x.Note("no RPC has the xid %d", c.xid)
		}
		eachTraced(roots, func(n *nested.Node) {
			links[n.RPC] = n
			x.Emit(n.RPC)
		})
	})
}

// tracedKeys are the keys of RPCs, with how each belongs to the one above it in a trace. JSON has them
// nested in it.
func tracedKeys(nodes map[*track.RPC]*nested.Node) *records.Table[*track.RPC] {
	return records.RPCs.With(&records.Key[*track.RPC]{Name: "link", Type: records.Text, JSON: records.Omit,
		Doc: "how it is known that the RPC belongs to the one above: lock, fid, thread or time",
		Get: func(r *track.RPC, _ int, v *records.Value) bool {
			n := nodes[r]
			if n == nil || n.Link == nested.Unlinked {
				return false
			}
			v.SetString(n.Link.String())
			return true
		}})
}

// eachTraced calls do with the nodes of trees, each before those below it.
func eachTraced(list []*nested.Node, do func(*nested.Node)) {
	for _, n := range list {
		do(n)
		eachTraced(n.Children, do)
	}
}
