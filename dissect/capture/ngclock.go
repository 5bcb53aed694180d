package capture

import "math/bits"

// ngClock converts the time stamps of a pcapng interface into nanoseconds since
// the epoch.
type ngClock struct {
	mul, div uint64 // nanoseconds = ticks * mul / div
	shift    uint   // with a binary resolution: ticks of 2^-shift seconds
	offset   int64  // nanoseconds to add
}

// newNgClock returns the clock for if_tsresol (a negative power of ten, or of two
// if the top bit is set) and if_tsoffset in seconds.
func newNgClock(resolution byte, offset int64) ngClock {
	c := ngClock{mul: 1, div: 1, offset: offset * 1e9}
	n := resolution & 0x7f
	switch {
	case resolution&0x80 != 0:
		c.mul, c.shift = 1e9, uint(n)
	case n <= 9:
		for ; n < 9; n++ {
			c.mul *= 10
		}
	default:
		for ; n > 9 && c.div < 1e18; n-- {
			c.div *= 10
		}
	}
	return c
}

func (c *ngClock) time(ticks uint64) int64 {
	if c.shift == 0 {
		ns := ticks * c.mul
		if c.div != 1 {
			ns /= c.div
		}
		return int64(ns) + c.offset
	}
	hi, lo := bits.Mul64(ticks, c.mul)
	if c.shift >= 64 {
		return int64(hi>>(c.shift-64)) + c.offset
	}
	return int64(hi<<(64-c.shift)|lo>>c.shift) + c.offset
}
