package trouble

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/outdir"
)

// maxNewest is how many folders Stats names.
const maxNewest = 16

// writer writes folders, in goroutines one after the other. What they have to do waits, and needs
// no bound of its own: what is large in it is in chunks.
type writer struct {
	opt *Options
	dir outdir.Dir

	mu    sync.Mutex    // guards all below
	idle  chan struct{} // is closed when all is done that was enqueued
	stats Stats
}

// start opens the directory.
func (w *writer) start(o *Options) error {
	w.opt, w.idle = o, make(chan struct{})
	close(w.idle)
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
	before, done := w.idle, make(chan struct{})
	w.idle = done
	go func() {
		<-before
		do()
		close(done)
	}()
}

// close waits until all is done, and unlocks the directory.
func (w *writer) close() error {
	<-w.idle
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
	w.mu.Lock()
	w.stats.Folders[c.code]++
	w.stats.Bytes += d.bytes
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
