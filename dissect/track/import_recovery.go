package track

import "slices"

// uncommitted are the transactions that a server loses when it crashes: those
// whose replies were seen and which are not on disk. Clients replay them.
type uncommitted struct {
	transnos  []uint64 // in the order of the replies
	replaying bool
}

const maxUncommitted = 4096

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
	u.transnos = slices.DeleteFunc(u.transnos, func(t uint64) bool { return t <= lastCommitted })
}

// startReplay begins to compare what is replayed with what should be.
func (u *uncommitted) startReplay() { u.replaying = true }

// replayed removes a transaction that is replayed.
func (u *uncommitted) replayed(transno uint64) {
	if k := slices.Index(u.transnos, transno); k >= 0 {
		u.transnos = slices.Delete(u.transnos, k, k+1)
	}
}

// endReplay returns how many transactions should have been replayed and were
// not, the lowest and the highest of them.
func (u *uncommitted) endReplay(lastCommitted uint64) (missing int, from, to uint64) {
	if !u.replaying {
		return 0, 0, 0
	}
	u.commit(lastCommitted)
	if missing = len(u.transnos); missing > 0 {
		from, to = slices.Min(u.transnos), slices.Max(u.transnos)
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
