package monitor

import (
	"time"

	"github.com/lshark/lshark/dissect/track"
)

// The bounds of the queue of a Recorder.
const (
	batchBytes = 256 << 10 // of RPCs in a batch
	maxBatches = 64        // that wait to be written
	batchAge   = time.Second
)

// Recorder writes RPCs to files. A goroutine of its own does that: when it is slower than
// RPCs come, or the disk hangs, they are dropped and counted.
type Recorder struct {
	queue   chan *batch
	filling *batch
	done    chan struct{}
	dir     *recordDir
}

// batch is RPCs as bytes. Each batch has an archive of its own, because an archive keeps
// the names that occur in it for ever.
type batch struct {
	archive track.Archive
	bytes   []byte
	ends    []int     // of the RPCs in bytes
	now     time.Time // of the first
	rotate  *Rotation // not nil: settings for what comes after the batch
}

// NewRecorder returns a Recorder of files in a directory, which it locks, and removes what a
// process that was killed has left there.
func NewRecorder(o RecorderOptions) (*Recorder, error) {
	d, err := openRecordDir(o)
	if err != nil {
		return nil, err
	}
	r := &Recorder{queue: make(chan *batch, maxBatches), done: make(chan struct{}), dir: d, filling: &batch{}}
	go r.write()
	return r, nil
}

// Add takes an RPC that has ended. now is the time by which files are rotated.
func (r *Recorder) Add(rpc *track.RPC, now time.Time) {
	b := r.filling
	if len(b.ends) == 0 {
		b.now = now
	}
	b.bytes = b.archive.Append(b.bytes, rpc)
	b.ends = append(b.ends, len(b.bytes))
	if len(b.bytes) >= batchBytes {
		r.enqueue()
	}
}

// Flush passes on RPCs that have waited long enough.
func (r *Recorder) Flush(now time.Time) {
	waiting := len(r.filling.ends) > 0 && now.Sub(r.filling.now) >= batchAge
	if waiting || r.filling.rotate != nil { // settings wait if the queue was full in Set
		r.enqueue()
	}
}

// Set changes when files are rotated and removed, and what is said about their selection.
// The file that is open is completed.
func (r *Recorder) Set(o Rotation) {
	r.filling.rotate = &o
	r.enqueue()
}

// enqueue passes the batch that is being filled to the goroutine, and drops it when the
// queue is full.
func (r *Recorder) enqueue() {
	b := r.filling
	r.filling = &batch{}
	select {
	case r.queue <- b:
	default:
		r.dir.count(func(s *RecorderStats) { s.LostInQueue += int64(len(b.ends)) })
		r.filling.rotate = b.rotate // new settings must not be lost
	}
}

// write writes batches until the queue is closed.
func (r *Recorder) write() {
	defer close(r.done)
	idle := time.NewTicker(time.Second)
	defer idle.Stop()
	var rpc track.RPC
	for {
		select {
		case b, ok := <-r.queue:
			if !ok {
				r.dir.complete()
				return
			}
			begin := 0
			for _, end := range b.ends {
				if err := b.archive.Read(b.bytes[begin:end], &rpc); err != nil {
					r.dir.lose(1)
				} else {
					r.dir.add(&rpc, b.now)
				}
				begin = end
			}
			r.dir.checkSize()
			if b.rotate != nil {
				r.dir.set(*b.rotate)
			}
		case now := <-idle.C:
			r.dir.tick(now)
		}
	}
}

// Close writes what waits, and completes the file.
func (r *Recorder) Close() error {
	r.queue <- r.filling // the goroutine takes batches until the queue is closed
	close(r.queue)
	<-r.done
	return r.dir.dir.Close()
}

// RecorderStats are counts of records and files.
type RecorderStats struct {
	Written     int64 // records in complete files
	Files       int64
	LostInQueue int64
	LostOnDisk  int64
	Pruned      int64 // files
	DiskBytes   int64 // of complete files that are there now
}

// Stats returns the counts. Any goroutine may call it.
func (r *Recorder) Stats() RecorderStats {
	r.dir.mu.Lock()
	defer r.dir.mu.Unlock()
	return r.dir.stats
}
