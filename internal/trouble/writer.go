package trouble

import (
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/lshark/lshark/dissect/capture"
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

	done  chan struct{}
	mu    sync.Mutex // guards all below
	wake  *sync.Cond
	queue []func()
	ended bool // nothing more will be enqueued
	stats Stats
}

// job is a folder that is being written. Only the goroutine of the writer looks into it.
type job struct {
	names  []byte
	folder *folder // nil: there is none yet, or it has failed
	failed bool
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
	for ended := false; !ended; {
		w.mu.Lock()
		for len(w.queue) == 0 {
			w.wake.Wait()
		}
		list := w.queue
		w.queue, ended = nil, w.ended
		w.mu.Unlock()
		for _, do := range list {
			do()
		}
	}
}

// close waits until all is done, and unlocks the directory.
func (w *writer) close() error {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.enqueue(func() {})
	<-w.done
	return w.dir.Close()
}

// write adds frames to a folder, and releases them.
func (w *writer) write(j *job, p piece, selected func(*capture.Frame) bool, comments map[point]string) {
	defer w.chunks.release(p.of)
	if j.failed {
		return
	}
	if j.folder == nil {
		err := outdir.CheckFree(w.opt.Dir, w.opt.Free)
		if err == nil {
			j.folder, err = newFolder(&w.dir, time.Now(), j.names)
		}
		if err != nil {
			w.fail(j, err)
			return
		}
	}
	var err error
	p.each(func(f *capture.Frame) bool {
		if selected(f) {
			err = j.folder.write(f, comments[pointOf(f)])
		}
		return err == nil
	})
	if err != nil {
		w.fail(j, err)
	}
}

// fail gives up a folder.
func (w *writer) fail(j *job, err error) {
	w.log("%v; the folder is given up, the capture goes on", err)
	w.skip(SkippedDisk)
	w.discard(j)
}

func (w *writer) discard(j *job) {
	if j.folder != nil {
		j.folder.discard()
	}
	j.failed, j.folder = true, nil
}

// finish completes a folder.
func (w *writer) finish(j *job, c *content) {
	switch {
	case j.failed:
		return
	case j.folder.frames == 0:
		w.skip(SkippedLate)
		w.discard(j)
		return
	}
	c.notes = append(c.notes, fmt.Sprintf("frames: %d, from %s to %s", j.folder.frames, clock(j.folder.first), clock(j.folder.last)))
	path, err := j.folder.finish(c, w.opt.Report, w.log)
	if err != nil {
		w.fail(j, err)
		return
	}
	w.log("%s", path)
	w.mu.Lock()
	w.stats.Folders[c.code]++
	w.stats.Bytes += j.folder.bytes
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
