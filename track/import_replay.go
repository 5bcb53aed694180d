package track

// replayed follows the requests that a server may forget when it crashes:
// those that were answered and are not yet on disk.
type replayed struct {
	due     []uint64 // transnos, in the order of the replies
	running bool
}

const maxDue = 4096

// answered notes the transno of a reply.
func (d *replayed) answered(transno, committed uint64) {
	if d.running {
		return
	}
	if len(d.due) == maxDue || len(d.due) > 0 && d.due[0] <= committed {
		d.prune(committed)
	}
	if len(d.due) == maxDue {
		d.due = append(d.due[:0], d.due[maxDue/2:]...)
	}
	if transno > committed {
		d.due = append(d.due, transno)
	}
}

func (d *replayed) prune(committed uint64) {
	keep := d.due[:0]
	for _, t := range d.due {
		if t > committed {
			keep = append(keep, t)
		}
	}
	d.due = keep
}

// begin says that recovery has begun.
func (d *replayed) begin() { d.running = true }

// seen takes a request that is replayed.
func (d *replayed) seen(transno uint64) {
	for k, t := range d.due {
		if t == transno {
			d.due = append(d.due[:k], d.due[k+1:]...)
			return
		}
	}
}

// missing ends the replay of requests: it says how many were due and did not
// come.
func (d *replayed) missing(committed uint64) (n int, from, to uint64) {
	if !d.running {
		return 0, 0, 0
	}
	d.prune(committed)
	for _, t := range d.due {
		if n == 0 || t < from {
			from = t
		}
		to = max(to, t)
		n++
	}
	d.due, d.running = d.due[:0], false
	return n, from, to
}
