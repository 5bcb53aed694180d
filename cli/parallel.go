package cli

import (
	"errors"
	"runtime"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
)

// Messages are rendered in batches: the reader copies them into one, a worker
// renders it, the writer writes the batches in the order of the reader. All
// batches and their text together should fit into a processor's cache.
const (
	batchMessages = 96
	batchBytes    = 96 << 10
	maxWorkers    = 4
)

type batch struct {
	msgs dissect.Arena
	at   []render.Moment
	out  []byte
	done chan struct{} // one element once out is ready
}

// pool is the batches and those who work on them.
type pool struct {
	w      *writer
	free   chan *batch
	work   chan *batch // to the workers
	order  chan *batch // to the writer
	failed chan struct{}
	err    error // set before failed is closed
	ended  chan struct{}
	fill   *batch
}

// showParallel renders on all processors.
func showParallel(in *input, out *output, w *writer) error {
	p := &pool{w: w, failed: make(chan struct{}), ended: make(chan struct{})}
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	n := 2*workers + 1
	p.free, p.work, p.order = make(chan *batch, n), make(chan *batch, n), make(chan *batch, n)
	for range n {
		p.free <- &batch{done: make(chan struct{}, 1)}
	}
	for range workers {
		r, err := out.renderer()
		if err != nil {
			return err
		}
		go p.render(r)
	}
	go p.write()
	var at render.Moment
	err := in.run(func(m *dissect.Message, first int64) error {
		at.First = first
		err := p.add(m, at)
		at.Before = m.Time
		return err
	}, func() error { return nil })
	if p.fill != nil {
		p.submit()
	}
	close(p.work)
	close(p.order)
	<-p.ended
	if errors.Is(err, errWrite) {
		return errors.Join(err, w.close())
	}
	return errors.Join(err, p.err, w.close())
}

// add puts a message into the batch that is being filled.
func (p *pool) add(m *dissect.Message, at render.Moment) error {
	if p.fill == nil {
		select {
		case p.fill = <-p.free:
		case <-p.failed:
			return p.err
		}
	}
	b := p.fill
	b.msgs.Add(m)
	b.at = append(b.at, at)
	if b.msgs.Len() >= batchMessages || b.msgs.Size() >= batchBytes {
		p.submit()
	}
	return nil
}

func (p *pool) submit() {
	p.work <- p.fill
	p.order <- p.fill
	p.fill = nil
}

func (p *pool) render(r render.Renderer) {
	for b := range p.work {
		b.out = b.out[:0]
		for i := range b.msgs.Len() {
			b.out = r.Append(b.out, b.msgs.At(i), b.at[i])
		}
		b.done <- struct{}{}
	}
}

// write writes the batches in order. After an error it goes on taking them, so
// that nobody waits for ever.
func (p *pool) write() {
	defer close(p.ended)
	for b := range p.order {
		<-b.done
		if p.err == nil {
			if p.err = p.w.write(b.out); p.err != nil {
				close(p.failed)
			}
		}
		b.msgs.Reset()
		b.at = b.at[:0]
		p.free <- b
	}
}
