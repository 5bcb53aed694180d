package cli

import (
	"errors"

	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render"
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
		{c.selection.Display != "", "-Y"}, {c.selection.Save != "", "-w"}, {c.interval != 0, "--interval"}, {c.window != 0, "--window"},
		{c.nested, "--nested"}, {c.histogram, "--histogram"},
	} {
		if f.isSet {
			return exit.Usagef("--by path cannot be combined with %s", f.name)
		}
	}
	if err := errors.Join(c.selection.Check(), c.view.Check(), c.sort.Check()); err != nil {
		return err
	}
	if !tables.SortsPaths(c.sort.Value) {
		return exit.Usagef("--by path has no --sort %s", c.sort.Value)
	}
	return nil
}

// runPaths shows what hosts send to each other.
func (c *statsOptions) runPaths(args []string) error {
	in, err := c.input.Check(args, c.sys.InTTY)
	if err := errors.Join(err, c.checkPaths()); err != nil {
		return err
	}
	c.view.NodeName = in.NodeNames()
	p := scan.New(c.sys, in, scan.Options{Limit: c.selection.Count, Concurrent: true})
	w := c.sys.NewWriter(in.FlushPolicy())
	f := follow.New(follow.Options{Live: in.Live()})
	all := f.Paths()
	all.KeepTimes()
	p.Observe(f)
	p.Add(scan.Consumer{End: func() error {
		list := tables.PathRecords(all, c.sort.Value)
		switch c.view.Form.Value {
		case "json":
			return w.Write(render.NewRecordJSON(records.HostPaths.Keys(), true).AppendLines(nil, list))
		case "tsv":
			return w.Write(tables.AppendPathsTSV(nil, list))
		}
		t := tables.Paths.New(c.view.Options(c.sys.IO), p.First())
		err := w.Write(t.Append(nil, list))
		p.NoteHidden(t.Omitted.String())
		return err
	}})
	return errors.Join(p.Run(), w.Close())
}
