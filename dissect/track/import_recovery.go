package track

// uncommitted are the transactions that a server loses when it crashes: those
// whose replies were seen and which are not on disk. Clients replay them.
type uncommitted struct {
	transnos  []uint64 // in the order of the replies
	replaying bool
}

const maxUncommitted = 4096

// add adds the transno of a reply.
func (u *uncommitted) add(transno, lastCommitted uint64) {
	if u.replaying {
		return
	}
	if len(u.transnos) == maxUncommitted || len(u.transnos) > 0 && u.transnos[0] <= lastCommitted {
		u.commit(lastCommitted)
	}
	if len(u.transnos) == maxUncommitted {
		u.transnos = append(u.transnos[:0], u.transnos[maxUncommitted/2:]...)
	}
	if transno > lastCommitted {
		u.transnos = append(u.transnos, transno)
	}
}

// commit removes the transactions that are on disk.
func (u *uncommitted) commit(lastCommitted uint64) {
	keep := u.transnos[:0]
	for _, t := range u.transnos {
		if t > lastCommitted {
			keep = append(keep, t)
		}
	}
	u.transnos = keep
}

// startReplay begins to compare what is replayed with what should be.
func (u *uncommitted) startReplay() { u.replaying = true }

// replayed removes a transaction that is replayed.
func (u *uncommitted) replayed(transno uint64) {
	for k, t := range u.transnos {
		if t == transno {
			u.transnos = append(u.transnos[:k], u.transnos[k+1:]...)
			return
		}
	}
}

// endReplay returns how many transactions should have been replayed and were
// not, the lowest and the highest of them.
func (u *uncommitted) endReplay(lastCommitted uint64) (missing int, from, to uint64) {
	if !u.replaying {
		return 0, 0, 0
	}
	u.commit(lastCommitted)
	for _, t := range u.transnos {
		if missing == 0 || t < from {
			from = t
		}
		to = max(to, t)
		missing++
	}
	u.transnos, u.replaying = u.transnos[:0], false
	return missing, from, to
}

// endReplay notes which requests should have been replayed and were not.
func (i *Import) endReplay(p Point) {
	if n, from, to := i.transactions.endReplay(i.LastCommitted); n > 0 {
		e := i.add(Event{Point: p, Kind: EventNotReplayed, From: from, To: to})
		e.Count = n
	}
}
