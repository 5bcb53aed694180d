package trouble

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/outdir"
)

const (
	maxFolders = 1000               // of a capture that is read again
	maxWriting = 32                 // folders at a time
	lateFrames = int64(time.Second) // by which frames of several files may be out of order
	freeEvery  = 64 << 10           // frames between two looks at the disk
)

// cut is a folder of a capture that is read again.
type cut struct {
	content
	comments map[point]string
	folder   *folder
}

// Write writes a folder for each story with a finding for which selects returns true. The
// findings are in the order of diagnose.Engine.Findings; read reads the frames of the capture
// again. It returns the paths of the folders, those until an error, too.
func Write(o Options, findings []*diagnose.Finding, selects func(*diagnose.Finding) bool, names []byte,
	read func(do func(*capture.Frame) error) error) (paths []string, err error) {
	cuts := cutsOf(&o, findings, selects)
	if len(cuts) == 0 {
		return nil, nil
	}
	w := cutter{opt: &o, names: names, dir: outdir.Dir{Path: o.Dir, Prefix: folderPrefix, Folders: true, Log: o.Log}}
	if err := w.dir.Open(o.Host); err != nil {
		return nil, err
	}
	w.skipped = max(0, len(cuts)-maxFolders)
	w.waiting = cuts[:len(cuts)-w.skipped]
	err = read(w.frame)
	for err == nil && len(w.writing) > 0 {
		err = w.finish(w.writing[0])
	}
	for _, c := range w.writing { // after an error
		c.folder.discard()
	}
	if w.skipped > 0 {
		o.Log("%d troubles have no folder: there are too many, or too many at a time", w.skipped)
	}
	return w.paths, errors.Join(err, w.dir.Close())
}

// cutsOf returns what folders are to be written, in the order of their first frames.
func cutsOf(o *Options, findings []*diagnose.Finding, selects func(*diagnose.Finding) bool) (cuts []*cut) {
	for _, s := range diagnose.Stories(findings) {
		list := append([]*diagnose.Finding{s.Root}, s.Followed...)
		c := &cut{}
		last := int64(0)
		for _, f := range list {
			if begun, end := times(f); selects(f) && begun != 0 {
				c.begun = min(cmp.Or(c.begun, begun), begun)
				last = max(last, end)
			}
		}
		if c.begun == 0 {
			continue
		}
		if begun, _ := times(s.Root); begun != 0 {
			c.begun = min(c.begun, begun)
		}
		c.code, c.findings, c.comments = s.Root.Rule.Code, diagnose.Clones(list), commentsOf(list)
		c.from, c.until = c.begun-int64(o.Before), last+int64(o.After)
		c.notes = []string{o.note(&c.content)}
		cuts = append(cuts, c)
	}
	slices.SortStableFunc(cuts, func(a, b *cut) int { return cmp.Compare(a.from, b.from) })
	return cuts
}

// cutter writes the folders of a capture that is read again.
type cutter struct {
	opt     *Options
	dir     outdir.Dir
	names   []byte
	waiting []*cut
	writing []*cut
	paths   []string
	skipped int
	frames  int64
}

// frame writes a frame to the folders that shall have it.
func (w *cutter) frame(f *capture.Frame) error {
	if w.frames++; w.frames%freeEvery == 0 && len(w.writing) > 0 {
		if err := outdir.CheckFree(w.opt.Dir, w.opt.Free); err != nil {
			return err
		}
	}
	for len(w.waiting) > 0 && w.waiting[0].from <= f.Time {
		c := w.waiting[0]
		w.waiting = w.waiting[1:]
		if len(w.writing) >= maxWriting {
			w.skipped++
			continue
		}
		c.folder = newFolder(w.opt, &w.dir, w.names)
		w.writing = append(w.writing, c)
	}
	for _, c := range slices.Clone(w.writing) {
		switch {
		case f.Time > c.until+lateFrames:
			if err := w.finish(c); err != nil {
				return err
			}
		case f.Time >= c.from && f.Time <= c.until:
			if err := c.folder.write(f, c.comments[pointOf(f)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish completes a folder.
func (w *cutter) finish(c *cut) error {
	w.writing = slices.DeleteFunc(w.writing, func(x *cut) bool { return x == c })
	if c.folder.frames == 0 {
		return nil
	}
	path, err := c.folder.finish(&c.content)
	if err != nil {
		c.folder.discard()
		return err
	}
	w.paths = append(w.paths, path)
	return nil
}
