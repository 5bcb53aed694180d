package values

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/bits"
)

// keyed derives pseudorandom bytes and permutations from a key. All of them depend on the
// label, which keeps the kinds of values apart.
type keyed struct {
	mac  hash.Hash
	text []byte
	out  []byte
}

func newKeyed(key []byte) *keyed { return &keyed{mac: hmac.New(sha256.New, key)} }

// bytes returns at least n pseudorandom bytes that depend on the label, a number and a
// text. They are valid until the next call.
func (k *keyed) bytes(n int, label string, number uint64, text []byte) []byte {
	k.out = k.out[:0]
	for block := uint32(0); len(k.out) < n; block++ {
		k.text = binary.BigEndian.AppendUint32(k.text[:0], block)
		k.text = binary.BigEndian.AppendUint64(k.text, number)
		k.text = append(append(append(k.text, label...), 0), text...)
		k.mac.Reset()
		k.mac.Write(k.text)
		k.out = k.mac.Sum(k.out)
	}
	return k.out
}

// rounds of the Feistel networks below.
const rounds = 8

// cycle is a secret permutation of the texts of one length over an alphabet: a Feistel
// network whose halves are added digit by digit. It has no fixed points: all texts of a
// length form one cycle, and a text is replaced by the next one in it.
type cycle struct {
	keyed *keyed
	label string
	radix int
}

// next replaces the digits, which are numbers below the radix.
func (c *cycle) next(digits []byte) {
	if len(digits) == 1 {
		c.nextDigit(digits)
		return
	}
	for r := range rounds {
		c.round(digits, r, 1)
	}
	c.increment(digits)
	for r := rounds - 1; r >= 0; r-- {
		c.round(digits, r, c.radix-1)
	}
}

// round adds pseudorandom digits that depend on one half to the other half, sign times.
func (c *cycle) round(digits []byte, r, sign int) {
	half := len(digits) / 2
	to, from := digits[:half], digits[half:]
	if r%2 == 1 {
		to, from = from, to
	}
	random := c.keyed.bytes(2*len(to), c.label, uint64(len(digits))<<8|uint64(r), from)
	for i := range to {
		add := int(binary.BigEndian.Uint16(random[2*i:])) % c.radix
		to[i] = byte((int(to[i]) + sign*add) % c.radix)
	}
}

// increment adds 1 to the number that the digits stand for, the first one the lowest.
func (c *cycle) increment(digits []byte) {
	for i := range digits {
		if digits[i]++; int(digits[i]) < c.radix {
			return
		}
		digits[i] = 0
	}
}

func (c *cycle) nextDigit(digits []byte) {
	order := c.shuffled()
	for i, d := range order {
		if d == digits[0] {
			digits[0] = order[(i+1)%len(order)]
			return
		}
	}
}

func (c *cycle) shuffled() []byte {
	order := make([]byte, c.radix)
	for i := range order {
		order[i] = byte(i)
	}
	random := c.keyed.bytes(2*c.radix, c.label, 1<<8, nil)
	for i := c.radix - 1; i > 0; i-- {
		j := int(binary.BigEndian.Uint16(random[2*i:])) % (i + 1)
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// number replaces x, which is below n, by another number below n. For each label and
// text it is a secret permutation without fixed points.
func (k *keyed) number(label string, text []byte, x, n uint64) uint64 {
	if n < 2 {
		return x
	}
	half := max(1, (bits.Len64(n-1)+1)/2)
	for x = k.feistel(label, text, x, half, false); x >= n; {
		x = k.feistel(label, text, x, half, false)
	}
	x = (x + 1) % n
	for x = k.feistel(label, text, x, half, true); x >= n; {
		x = k.feistel(label, text, x, half, true)
	}
	return x
}

// feistel permutes the numbers of two halves of half bits each.
func (k *keyed) feistel(label string, text []byte, x uint64, half int, inverse bool) uint64 {
	mask := uint64(1)<<half - 1
	left, right := x>>half, x&mask
	if !inverse {
		for r := range rounds {
			left, right = right, left^k.half(label, text, right, half, r)&mask
		}
	} else {
		for r := rounds - 1; r >= 0; r-- {
			left, right = right^k.half(label, text, left, half, r)&mask, left
		}
	}
	return left<<half | right
}

// half returns the pseudorandom bits of a round.
func (k *keyed) half(label string, text []byte, from uint64, half, r int) uint64 {
	number := from<<16 ^ uint64(half)<<8 ^ uint64(r)
	return binary.BigEndian.Uint64(k.bytes(8, label, number, text))
}

// numberIn replaces a number of a range, first to last inclusive, by another one of it.
// The kept numbers, in ascending order, stay, and no other becomes one of them.
func (k *keyed) numberIn(label string, text []byte, x, first, last uint64, kept ...uint64) uint64 {
	n, i := last-first+1, x-first
	for _, v := range kept {
		switch {
		case v == x:
			return x
		case v < first || v > last:
			continue
		case v < x:
			i--
		}
		n--
	}
	y := first + k.number(label, text, i, n)
	for _, v := range kept {
		if v >= first && v <= y {
			y++
		}
	}
	return y
}
