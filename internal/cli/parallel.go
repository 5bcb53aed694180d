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

// pool is the batches, and what renders them.
type pool struct {
	*flags.Reading
	options   *messagesOptions
	renderers chan render.Renderer // as many as work at a time
	free      chan *batch
	order     chan *batch // to the writer
	ended     chan error  // of the writer
	fill      *batch      // being filled
	before    int64       // time of the message before
}

// addParallel adds a consumer that renders on several processors.
func (c *messagesOptions) addParallel(x *flags.Reading) {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	n := 2*workers + 1
	p := &pool{Reading: x, options: c, renderers: make(chan render.Renderer, workers), free: make(chan *batch, n), order: make(chan *batch, n),
		ended: make(chan error, 1)}
	x.Add(scan.Consumer{Message: p.add, End: p.end, Begin: func() error {
		for range workers {
			p.renderers <- c.renderer(x)
		}
		for range n {
			p.free <- &batch{done: make(chan struct{}, 1)}
		}
		go p.write()
		return nil
	}})
}

func (p *pool) add(m *dissect.Message) error {
	if p.fill == nil {
		p.fill = <-p.free
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
	close(p.order)
	return <-p.ended
}

func (p *pool) submit() {
	go p.render(p.fill)
	p.order <- p.fill
	p.fill = nil
}

func (p *pool) render(b *batch) {
	r := <-p.renderers
	b.out = b.out[:0]
	for i := range b.msgs.Len() {
		b.out = r.Append(b.out, b.msgs.At(i), b.at[i])
	}
	p.renderers <- r
	b.done <- struct{}{}
}

// write writes the batches in order. An error ends the pass.
func (p *pool) write() {
	var err error
	for b := range p.order {
		<-b.done
		if err == nil {
			if err = p.Out.Write(b.out); err != nil {
				p.Stop()
			}
		}
		b.msgs.Reset()
		b.at = b.at[:0]
		p.free <- b
	}
	p.ended <- err
}
