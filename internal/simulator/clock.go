package simulator

import (
	"cmp"
	"slices"
)

// Durations of virtual time, in nanoseconds.
const (
	microsecond = int64(1e3)
	millisecond = int64(1e6)
	second      = int64(1e9)
)

// clock is virtual time, with what will happen in it.
type clock struct {
	now     int64
	planned []event // the next one last
}

type event struct {
	at int64
	do func()
}

// at plans something for a time, at once if that has passed. What is due at the same time happens
// in the order in which it was planned.
func (c *clock) at(time int64, do func()) {
	e := event{max(time, c.now), do}
	i, _ := slices.BinarySearchFunc(c.planned, e.at, func(x event, at int64) int { return cmp.Compare(at, x.at) })
	c.planned = slices.Insert(c.planned, i, e)
}

// run lets time pass until the end.
func (c *clock) run(end int64) {
	for last := len(c.planned) - 1; last >= 0 && c.planned[last].at <= end; last = len(c.planned) - 1 {
		e := c.planned[last]
		c.planned = c.planned[:last]
		c.now = e.at
		e.do()
	}
	c.now = end
}
