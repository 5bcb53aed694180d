package cli

import (
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// byPath is the key of --by for what hosts send to each other.
const byPath = "path"

// checkPaths checks the flags with --by path: those that are about RPCs do not apply.
func (c *statsOptions) checkPaths() error {
	for _, f := range []struct {
		isSet bool
		name  string
	}{
		{c.Display != "", "-Y"}, {c.Save != "", "-w"}, {c.interval != 0, "--interval"}, {c.window != 0, "--window"},
		{c.nested, "--nested"}, {c.histogram, "--histogram"},
	} {
		if f.isSet {
			return exit.Usagef("--by path cannot be combined with %s", f.name)
		}
	}
	if !tables.SortsPaths(c.sort.Value) {
		return exit.Usagef("--by path has no --sort %s", c.sort.Value)
	}
	return nil
}

// runPaths shows what hosts send to each other.
func (c *statsOptions) runPaths() error {
	x := flags.Open(&c.Job, &records.HostPaths, scan.Options{Limit: c.Count, Concurrent: true})
	x.List = flags.Table(x.Reading, &tables.Paths)
	if c.Form.Value == "tsv" {
		x.List = func(dst *schema.Marked, list []*records.HostPath) { dst.Text = tables.AppendPathsTSV(dst.Text, list) }
	}
	f := follow.New(follow.Options{Live: x.In.Live()})
	all := f.Paths()
	all.KeepTimes()
	x.Observe(f)
	return x.Run(func() { x.Emit(tables.PathRecords(all, c.sort.Value)...) })
}
