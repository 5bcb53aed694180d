package values

import (
	"math"
	"strconv"
)

// ID returns the replacement of the ID of a user, group or project. It has the same
// number of decimal digits, as names of jobs may have the ID in them. 0, 65534, 65535 and
// the last two numbers of 32 and 64 bits stay.
func (p *Addresses) ID(id uint64) uint64 {
	if keptID(id) {
		return id
	}
	return replace(p.ids, id, func(id uint64) uint64 { return p.decimal("id", id) })
}

// Numbers among IDs that stand for no user: nobody, and none.
const (
	nobody    = 65534
	none16    = 65535
	nobody32  = math.MaxUint32 - 1
	none32    = math.MaxUint32
	nobody64  = math.MaxUint64 - 1
	none64    = math.MaxUint64
	firstOf64 = math.MaxUint32 + 1
)

func keptID(id uint64) bool {
	switch id {
	case 0, nobody, none16, nobody32, none32, nobody64, none64:
		return true
	}
	return false
}

// decimal replaces a number by one with as many decimal digits. A number that fits into 32
// bits is replaced by one that fits, too. Numbers that are kept as IDs stay.
func (p *Addresses) decimal(label string, x uint64) uint64 {
	if keptID(x) {
		return x
	}
	first, last := uint64(1), uint64(9)
	for x > last {
		first *= 10
		if last > math.MaxUint64/10-1 {
			last = math.MaxUint64
			break
		}
		last = last*10 + 9
	}
	if x <= none32 {
		last = min(last, none32)
	} else {
		first = max(first, firstOf64)
	}
	return p.keyed.numberIn(label, strconv.AppendUint(nil, first, 10), x, first, last, nobody, none16, nobody32, none32, nobody64, none64)
}
