package trouble

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/outdir"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// folderPrefix begins the names of folders.
const folderPrefix = "lshark-trouble-"

// The files of a folder.
const (
	captureName  = "capture"
	captureEnd   = ".pcapng"
	findingsJSON = "finding.json"
	findingsText = "finding.txt"
	rpcsJSON     = "rpc.json"
	rpcsText     = "rpc.txt"
	pageName     = "report.html"
	namesName    = "names.txt"
)

const fileMode = 0o640

// content is what a folder is about.
type content struct {
	code        string // of the first finding, or "rpc"
	begun       int64  // time of the first evidence, which is in its name
	from, until int64  // of the frames
	findings    []*diagnose.Finding
	rpcs        []*track.RPC
	others      int      // RPCs that are not in the list, as there are too many
	notes       []string // about the folder
}

// folder is a folder that is being written. It is made for the first frame.
type folder struct {
	opt      *Options
	dir      *outdir.Dir
	path     string // its temporary one; empty: it is not made
	failed   bool
	names    []byte // of targets, for those who read the capture
	captures []*captureFile
	runs     map[string][]run // of frames, by the name of the file that they were read from
	first    int64            // time of the first frame, 0 before that
	last     int64
	frames   int64
}

// captureFile is the frames of a capture point.
type captureFile struct {
	source int
	name   string
	file   *os.File
	to     *capture.Writer
	frames int64
}

// run is a run of frames whose numbers follow each other, where they were read and in a file of the folder.
type run struct {
	from, to, n int64
	in          *captureFile
}

// goesOn reports whether a frame that has been added to a file of the folder belongs to the run.
func (r *run) goesOn(number int64, in *captureFile) bool {
	return in == r.in && number == r.from+r.n && in.frames == r.to+r.n
}

func newFolder(o *Options, dir *outdir.Dir, names []byte) *folder {
	return &folder{opt: o, dir: dir, names: names, runs: make(map[string][]run)}
}

// create makes the folder, if the disk has room.
func (w *folder) create() (err error) {
	if err := outdir.CheckFree(w.opt.Dir, w.opt.Free); err != nil {
		return err
	}
	if w.path, err = w.dir.CreateFolder(w.dir.Base(time.Now(), "")); err != nil {
		return err
	}
	// A file system without permissions, such as FAT, refuses them: those of CreateFolder stay.
	_ = os.Chmod(w.path, 0o750)
	return nil
}

// write adds a frame.
func (w *folder) write(f *capture.Frame, comment string) error {
	if w.path == "" {
		if err := w.create(); err != nil {
			return err
		}
	}
	c, err := w.capture(f)
	if err != nil {
		return err
	}
	c.frames++
	number, runs := cmp.Or(f.FileNumber, f.Number), w.runs[f.File]
	if last := len(runs) - 1; last >= 0 && runs[last].goesOn(number, c) {
		runs[last].n++
	} else {
		w.runs[f.File] = append(runs, run{number, c.frames, 1, c})
	}
	if w.frames == 0 {
		w.first = f.Time
	}
	w.last = max(w.last, f.Time)
	w.frames++
	return c.to.Write(f, comment)
}

// capture returns the file for the frames of a capture point. Several ones have a file each, as
// messages that two of them have seen must not be taken for messages that were sent twice.
func (w *folder) capture(f *capture.Frame) (*captureFile, error) {
	for _, c := range w.captures {
		if c.source == f.Source {
			return c, nil
		}
	}
	name := captureName
	if n := len(w.captures); n > 0 {
		name += fmt.Sprintf("-%d", n+1)
	}
	c := &captureFile{source: f.Source, name: name + captureEnd}
	var err error
	if c.file, err = os.OpenFile(filepath.Join(w.path, c.name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode); err != nil {
		return nil, err
	}
	w.captures = append(w.captures, c)
	c.to = capture.NewWriter(c.file)
	if len(w.names) > 0 {
		c.to.SetComment(w.names)
	}
	return c, nil
}

// place returns where a frame is in the folder; ok is false if it is not there.
func (w *folder) place(p track.Point) (place track.Point, ok bool) {
	for _, r := range w.runs[p.File] {
		if p.Frame < r.from || p.Frame >= r.from+r.n {
			continue
		}
		p.Frame, p.File = r.to+p.Frame-r.from, ""
		if len(w.captures) > 1 {
			p.File = r.in.name
		}
		return p, true
	}
	return p, false
}

// discard removes the folder.
func (w *folder) discard() {
	for _, c := range w.captures {
		c.file.Close() // it may be closed already
	}
	w.failed = true
	if w.path != "" {
		w.dir.Remove(w.path)
	}
}

// finish writes what the folder is about, and gives it its name.
func (w *folder) finish(c *content) (path string, err error) {
	for _, x := range w.captures {
		if err := errors.Join(x.to.Flush(), x.file.Sync(), x.file.Close()); err != nil {
			return "", err
		}
	}
	if err := w.writeContent(c); err != nil {
		return "", err
	}
	if w.opt.Report != nil {
		var paths []string
		for _, x := range w.captures {
			paths = append(paths, filepath.Join(w.path, x.name))
		}
		page := filepath.Join(w.path, pageName)
		if err := w.opt.Report(paths, page); err != nil {
			w.dir.Log("%s: %v", pageName, err)
			if err := os.Remove(page); err != nil && !errors.Is(err, os.ErrNotExist) {
				return "", err
			}
		}
	}
	if err := syncDir(w.path); err != nil {
		return "", err
	}
	if path, err = w.dir.Publish(w.path, w.dir.Base(time.Unix(0, c.begun), c.code)); err != nil {
		return "", err
	}
	return path, syncDir(w.dir.Path)
}

// writeContent writes the findings and RPCs as JSON and text, and the names of targets.
func (w *folder) writeContent(c *content) error {
	opt := render.SummaryOptions{}
	if len(w.captures) > 1 {
		for _, x := range w.captures {
			opt.Files = append(opt.Files, x.name)
		}
	}
	var notes []byte
	for _, note := range c.notes {
		notes = append(append(notes, note...), '\n')
	}
	if err := errors.Join(w.writeFindings(c, opt, notes), w.writeRPCs(c, opt, notes)); err != nil || len(w.names) == 0 {
		return err
	}
	return w.file(namesName, w.names)
}

func (w *folder) writeFindings(c *content, opt render.SummaryOptions, notes []byte) error {
	if len(c.findings) == 0 {
		return nil
	}
	lacking := 0
	for _, f := range c.findings {
		lacking += w.renumber(f)
	}
	shown := begun(notes, "frames of the evidence that were not in memory any more", lacking)
	tables.NewFindingsText(opt, w.first, true).AppendAll(shown, c.findings)
	json := render.NewRecordJSON(&records.Findings).AppendLines(nil, c.findings)
	return errors.Join(w.file(findingsText, shown.Text), w.file(findingsJSON, json))
}

func (w *folder) writeRPCs(c *content, opt render.SummaryOptions, notes []byte) error {
	if len(c.rpcs) == 0 {
		return nil
	}
	shown := begun(notes, "further RPCs that match", c.others)
	line := render.NewRPCSummary(opt)
	for _, r := range c.rpcs {
		for i := range r.Seen {
			w.renumberPoint(&r.Seen[i].Request)
			w.renumberPoint(&r.Seen[i].Reply)
		}
		line.AppendRPC(shown, r, render.Moment{First: w.first})
	}
	json := render.NewRecordJSON(&records.RPCs).AppendLines(nil, c.rpcs)
	return errors.Join(w.file(rpcsText, shown.Text), w.file(rpcsJSON, json))
}

// begun begins a text with notes and a number of what is missing.
func begun(notes []byte, missing string, n int) *schema.Marked {
	text := slices.Clone(notes)
	if n > 0 {
		text = fmt.Appendf(text, "%s: %d\n", missing, n)
	}
	return &schema.Marked{Text: append(text, '\n')}
}

// renumber sets the frames of a finding to their numbers in the folder, and removes evidence that
// is not there. It returns how much that is.
func (w *folder) renumber(f *diagnose.Finding) (lacking int) {
	kept := f.Evidence[:0]
	for _, e := range f.Evidence {
		if !e.IsLog() {
			ok := false
			if e.Point, ok = w.place(e.Point); !ok {
				lacking++
				continue
			}
		}
		kept = append(kept, e)
	}
	f.Evidence = kept
	for i := range f.Cleared {
		w.renumberPoint(&f.Cleared[i].Point)
	}
	return lacking
}

// renumberPoint sets the frame of a message to its number in the folder, 0 if it is not there.
func (w *folder) renumberPoint(p *track.Point) {
	if p.Frame <= 0 {
		return
	}
	if place, ok := w.place(*p); ok {
		*p = place
	} else {
		p.Frame = 0
	}
}

// file writes a file.
func (w *folder) file(name string, b []byte) error {
	f, err := os.OpenFile(filepath.Join(w.path, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir lets the names in a folder survive a crash of the system.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
