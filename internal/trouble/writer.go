package trouble

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/outdir"
)

// maxNewest is how many folders Stats names.
const maxNewest = 16

// writer writes folders, in a goroutine that runs while there is something to do. The queue needs
// no bound of its own: what is large in it is in chunks.
type writer struct {
	opt *Options
	dir outdir.Dir

	running sync.WaitGroup
	mu      sync.Mutex // guards all below
	queue   []func()   // the first is being done
	stats   Stats
}

// start opens the directory.
func (w *writer) start(o *Options) error {
	w.opt = o
	w.stats.Folders, w.stats.Skipped = make(map[string]int64), make(map[string]int64)
	w.dir = outdir.Dir{Path: o.Dir, Prefix: folderPrefix, Folders: true, Log: w.log}
	if err := w.dir.Open(o.Host); err != nil {
		return err
	}
	w.prune()
	return nil
}

func (w *writer) log(format string, args ...any) { w.opt.Log("trouble: "+format, args...) }

// enqueue lets something be done after all that was enqueued before.
func (w *writer) enqueue(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, do)
	if len(w.queue) == 1 {
		w.running.Go(w.run)
	}
}

// run does what is enqueued, until nothing is left.
func (w *writer) run() {
	for do := w.next(false); do != nil; do = w.next(true) {
		do()
	}
}

// next returns what is to be done first, nil for nothing. With done, what was first is done.
func (w *writer) next(done bool) func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if done {
		w.queue = slices.Delete(w.queue, 0, 1)
	}
	if len(w.queue) == 0 {
		return nil
	}
	return w.queue[0]
}

// close waits until all is done, and unlocks the directory.
func (w *writer) close() error {
	w.running.Wait()
	return w.dir.Close()
}

// write adds frames to a folder.
func (w *writer) write(d *folder, p piece, selected func(*capture.Frame) bool, comments map[point]string) {
	for f := range p.frames {
		if d.failed || !selected(f) {
			continue
		}
		if err := d.write(f, comments[pointOf(f)]); err != nil {
			w.fail(d, err)
		}
	}
}

// fail gives up a folder.
func (w *writer) fail(d *folder, err error) {
	w.log("%v; the folder is given up, the capture goes on", err)
	w.skip(SkippedDisk)
	d.discard()
}

// finish completes a folder.
func (w *writer) finish(d *folder, c *content) {
	switch {
	case d.failed:
		return
	case d.frames == 0:
		w.skip(SkippedLate)
		return
	}
	c.notes = append(c.notes, fmt.Sprintf("frames: %d, from %s to %s", d.frames, clock(d.first), clock(d.last)))
	path, err := d.finish(c)
	if err != nil {
		w.fail(d, err)
		return
	}
	w.log("%s", path)
	size := outdir.SizeOf(path)
	w.mu.Lock()
	w.stats.Folders[c.code]++
	w.stats.Bytes += size
	w.stats.Newest = append(w.stats.Newest, Folder{filepath.Base(path), c.code, time.Now()})
	w.stats.Newest = w.stats.Newest[max(0, len(w.stats.Newest)-maxNewest):]
	w.mu.Unlock()
	w.prune()
}

func (w *writer) prune() {
	removed, bytes := w.dir.Prune(time.Now(), w.opt.KeepTime, w.opt.KeepSize)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Pruned += removed
	w.stats.DiskBytes = bytes
}

func (w *writer) skip(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Skipped[reason]++
}
