package cli

import (
	"runtime"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render"
)

// Messages are rendered in batches: the reader copies messages into a batch, a
// worker renders it, and the writer writes the batches in the order of the
// reader. All batches and their text together should fit into a processor's cache.
const (
	batchMessages = 96
	batchBytes    = 96 << 10
	maxWorkers    = 4
)

type batch struct {
	msgs dissect.Arena
	at   []render.Moment
	out  []byte
	done chan struct{} // receives one element when out is ready
}

// pool is the batches and the goroutines that work on them.
type pool struct {
	*flags.Reading
	options *messagesOptions
	free    chan *batch
	work    chan *batch // to the workers
	order   chan *batch // to the writer
	failed  chan struct{}
	err     error // of the writer, set before failed is closed
	ended   chan struct{}
	fill    *batch // being filled
	before  int64  // time of the message before
}

// addParallel adds a consumer that renders on several processors.
func (c *messagesOptions) addParallel(x *flags.Reading) {
	p := &pool{Reading: x, options: c, failed: make(chan struct{}), ended: make(chan struct{})}
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	n := 2*workers + 1
	p.free, p.work, p.order = make(chan *batch, n), make(chan *batch, n), make(chan *batch, n)
	x.Add(scan.Consumer{Message: p.add, End: p.end, Begin: func() error {
		go p.write()
		for range n {
			p.free <- &batch{done: make(chan struct{}, 1)}
		}
		for range workers {
			go p.render(c.renderer(x))
		}
		return nil
	}})
}

func (p *pool) add(m *dissect.Message) error {
	if p.fill == nil {
		select {
		case p.fill = <-p.free:
		case <-p.failed:
			return p.err
		}
	}
	b := p.fill
	b.msgs.Add(m)
	b.at = append(b.at, render.Moment{First: p.First(), Before: p.before, Log: p.options.logLines(m)})
	p.before = m.Time
	if b.msgs.Len() >= batchMessages || b.msgs.Size() >= batchBytes {
		p.submit()
	}
	return nil
}

// end waits until everything is written.
func (p *pool) end() error {
	if p.fill != nil {
		p.submit()
	}
	close(p.work)
	close(p.order)
	<-p.ended
	return p.err
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

// write writes the batches in order. After an error it still receives them, so
// that no other goroutine blocks.
func (p *pool) write() {
	defer close(p.ended)
	for b := range p.order {
		<-b.done
		if p.err == nil {
			if p.err = p.Out.Write(b.out); p.err != nil {
				close(p.failed)
			}
		}
		b.msgs.Reset()
		b.at = b.at[:0]
		p.free <- b
	}
}
