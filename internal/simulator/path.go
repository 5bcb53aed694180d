package simulator

// path is the way of frames from one host to another. Faults lie on the sender's or on the
// receiver's side of the switch.
type path struct {
	*cluster
	from, to *host
	delay    int64 // from host to host
	last     int64 // when the last frame arrived

	cut       bool
	loss      float64 // share of frames that are lost
	maxLength int     // of frames that pass; 0: all
	extra     int64   // more delay
	jitter    int64   // more delay at random
	reorders  bool    // frames overtake one another with jitter
	atSender  bool    // where frames are lost
	rate      int64   // bytes that pass in a second; 0: as many as come
	free      int64   // when the last of these will have passed
}

// longestQueue is what a queue before a slow line holds.
const longestQueue = 300 * millisecond

// transmission is a frame on its way, and when it was where; 0: it did not get there.
type transmission struct {
	frame                  []byte
	from, to               *host
	sent, switched, arrive int64
}

// carry takes a frame to the other host, which then does something with it.
func (p *path) carry(frame []byte, arrived func()) {
	t := transmission{frame: frame, from: p.from, to: p.to, sent: p.now}
	lost := p.cut || p.loss > 0 && p.random.Float64() < p.loss || p.maxLength > 0 && len(frame) > p.maxLength
	queued := int64(0)
	if p.rate > 0 {
		p.free = max(p.free, p.now) + int64(len(frame))*second/p.rate
		if queued = p.free - p.now; queued > longestQueue {
			p.free -= int64(len(frame)) * second / p.rate
			lost = true
		}
	}
	half := p.delay / 2
	if !lost || !p.atSender {
		t.switched = p.now + half
	}
	if !lost {
		delay := p.delay + p.extra + queued + p.random.Int64N(p.delay/4+1)
		if p.jitter > 0 {
			delay += p.random.Int64N(p.jitter)
		}
		t.arrive = p.now + delay
		if !p.reorders {
			t.arrive = max(t.arrive, p.last+microsecond)
		}
		p.last = max(p.last, t.arrive)
		p.at(t.arrive, func() { p.to.run(arrived) })
	}
	p.transmissions = append(p.transmissions, t)
}
