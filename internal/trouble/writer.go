package trouble

import (
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/outdir"
)

// maxNewest is how many folders Stats names.
const maxNewest = 16

// writer writes folders, in a goroutine of its own. What it has to do waits in a queue, which
// needs no bound of its own: what is large in it is in chunks.
type writer struct {
	opt    *Options
	chunks *chunks
	dir    outdir.Dir

	ended bool // nothing more will be enqueued
	done  chan struct{}
	mu    sync.Mutex // guards all below
	wake  *sync.Cond
	queue []func()
	stats Stats
}

// start opens the directory and starts the goroutine.
func (w *writer) start(o *Options, c *chunks) error {
	w.opt, w.chunks = o, c
	w.wake, w.done = sync.NewCond(&w.mu), make(chan struct{})
	w.stats.Folders, w.stats.Skipped = make(map[string]int64), make(map[string]int64)
	w.dir = outdir.Dir{Path: o.Dir, Prefix: folderPrefix, Folders: true, Log: w.log}
	if err := w.dir.Open(o.Host); err != nil {
		return err
	}
	w.prune()
	go w.run()
	return nil
}

func (w *writer) log(format string, args ...any) { w.opt.Log("trouble: "+format, args...) }

// enqueue lets the goroutine do something after all that was enqueued before.
func (w *writer) enqueue(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, do)
	w.wake.Signal()
}

func (w *writer) run() {
	defer close(w.done)
	for !w.ended {
		w.mu.Lock()
		for len(w.queue) == 0 {
			w.wake.Wait()
		}
		list := w.queue
		w.queue = nil
		w.mu.Unlock()
		for _, do := range list {
			do()
		}
	}
}

// close waits until all is done, and unlocks the directory.
func (w *writer) close() error {
	w.enqueue(func() { w.ended = true })
	<-w.done
	return w.dir.Close()
}

// write adds frames to a folder, and releases them.
func (w *writer) write(to *folder, p piece, selected func(*capture.Frame) bool, comments map[track.Point]string) {
	defer w.chunks.release(p.of)
	if to.failed {
		return
	}
	var err error
	p.each(func(f *capture.Frame) bool {
		if selected(f) {
			err = to.write(f, comments[pointOf(f)])
		}
		return err == nil
	})
	if err != nil {
		w.fail(to, err)
	}
}

// fail gives up a folder.
func (w *writer) fail(f *folder, err error) {
	w.log("%v; the folder is given up, the capture goes on", err)
	w.skip(SkippedDisk)
	f.discard()
}

// finish completes a folder.
func (w *writer) finish(f *folder, c *content) {
	switch {
	case f.failed:
		return
	case f.frames == 0:
		w.skip(SkippedLate)
		return
	}
	c.notes = append(c.notes, fmt.Sprintf("frames: %d, from %s to %s", f.frames, clock(f.first), clock(f.last)))
	path, err := f.finish(c)
	if err != nil {
		w.fail(f, err)
		return
	}
	w.log("%s", path)
	w.mu.Lock()
	w.stats.Folders[c.code]++
	w.stats.Bytes += outdir.FolderSize(path)
	w.stats.Newest = append(w.stats.Newest, Folder{filepath.Base(path), c.code, time.Now()})
	w.stats.Newest = w.stats.Newest[max(0, len(w.stats.Newest)-maxNewest):]
	w.mu.Unlock()
	w.prune()
}

func (w *writer) retain(t Retention) {
	w.opt.Retention = t
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

// read returns a copy of the counts.
func (w *writer) read() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.stats
	s.Folders, s.Skipped = maps.Clone(s.Folders), maps.Clone(s.Skipped)
	s.Newest = append([]Folder(nil), s.Newest...)
	return s
}
