package trouble

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/outdir"
)

// maxFolders is how many folders are written of a capture that is read again. Their files are open at
// the same time.
const maxFolders = 100

// cut is a folder of a capture that is read again.
type cut struct {
	content
	from, until int64
	comments    map[track.Point]string
	folder      folder
}

// Write writes a folder for each story with a finding for which selects returns true. The
// findings are in the order of diagnose.Engine.Findings; read reads the frames of the capture
// again. It returns the paths of the folders.
func Write(o Options, findings []*diagnose.Finding, selects func(*diagnose.Finding) bool, names []byte,
	read func(do func(*capture.Frame) error) error) (paths []string, err error) {
	cuts := cutsOf(&o, findings, selects)
	if n := len(cuts) - maxFolders; n > 0 {
		o.Log("%d troubles have no folder: there are too many", n)
		cuts = cuts[:maxFolders]
	}
	if len(cuts) == 0 {
		return nil, nil
	}
	dir := outdir.Dir{Path: o.Dir, Prefix: folderPrefix, Folders: true, Log: o.Log}
	if err := dir.Open(o.Host); err != nil {
		return nil, err
	}
	for _, c := range cuts {
		c.folder = folder{opt: &o, dir: &dir, names: names}
	}
	err = read(func(f *capture.Frame) error {
		for _, c := range cuts {
			if f.Time < c.from || f.Time > c.until {
				continue
			}
			if err := c.folder.write(f, c.comments[pointOf(f)]); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range cuts {
		if c.folder.frames == 0 {
			continue
		}
		path := ""
		if err == nil {
			path, err = c.folder.finish(&c.content)
		}
		if err != nil {
			c.folder.discard()
			continue
		}
		paths = append(paths, path)
	}
	return paths, errors.Join(err, dir.Close())
}

// cutsOf returns what folders are to be written, in the order of their first frames.
func cutsOf(o *Options, findings []*diagnose.Finding, selects func(*diagnose.Finding) bool) (cuts []*cut) {
	for _, s := range diagnose.Stories(findings) {
		list := append([]*diagnose.Finding{s.Root}, s.Followed...)
		c := &cut{}
		last := int64(0)
		for _, f := range list {
			if t := begin(f); selects(f) && t != 0 {
				c.begun = min(cmp.Or(c.begun, t), t)
				last = max(last, end(f))
			}
		}
		if c.begun == 0 {
			continue
		}
		if t := begin(s.Root); t != 0 {
			c.begun = min(c.begun, t)
		}
		c.code, c.findings, c.comments = s.Root.Rule.Code, diagnose.Clones(list), commentsOf(list)
		c.from, c.until = c.begun-int64(o.Before), last+int64(o.After)
		c.notes = []string{o.asked(c.from, c.until)}
		cuts = append(cuts, c)
	}
	slices.SortStableFunc(cuts, func(a, b *cut) int { return cmp.Compare(a.from, b.from) })
	return cuts
}
