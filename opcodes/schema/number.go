package schema

import (
	"math/bits"
	"strconv"
	"strings"
)

// NamedNumber is a number with all names that it has as a value or as flags.
type NamedNumber struct {
	Text  string // as it was given
	Value uint64
	Uses  []NumberUse
}

// NumberUse is a group in which a number has a name: that of a value, of a flag, or
// of several flags together.
type NumberUse struct {
	Group  *Names
	Values []*Value
}

// Word returns the flags together.
func (u *NumberUse) Word() (word uint64) {
	for _, v := range u.Values {
		word |= v.Value
	}
	return word
}

// Combined reports whether the values are flags that make up the number together.
func (u *NumberUse) Combined() bool {
	return len(u.Values) > 1 && u.Values[0].Value != u.Values[1].Value
}

// numbered returns the operation, portal and error with a number, and a list of
// all other names that it has.
func (x *Index) numbered(text string) (list []Topic) {
	n, ok := parseNumber(text)
	if !ok {
		return nil
	}
	if r := x.reg.ByOpcode(uint32(n)); r != nil && n>>32 == 0 {
		list = append(list, Topic{RPC: r})
	}
	shown := make(map[*Names]bool)
	for _, g := range x.reg.NumberGroups {
		u := n
		if e, ok := errnoOf(n); ok && g == Errnos {
			u = e
		}
		if i, ok := g.place(u); ok {
			if g != x.reg.Opcodes || len(list) == 0 {
				list = append(list, Topic{Group: g, Value: &g.Values[i]})
			}
			shown[g] = true
		}
	}
	uses := x.uses(n, shown)
	hex := strings.HasPrefix(strings.ToLower(text), "0x")
	if certain := n >= leastMagic && len(list)+len(uses) > 0; hex && !certain {
		uses = append(uses, x.flagUses(n)...)
	}
	if len(uses) > 0 {
		list = append(list, Topic{Number: &NamedNumber{Text: text, Value: n, Uses: uses}})
	}
	return list
}

// leastMagic is the number from which on a value that fits, such as a magic, leaves no
// doubt. Smaller numbers may be flags as well.
const leastMagic = 1 << 16

// parseNumber reads a number of at most 64 bits, in decimal or with the prefix of
// another base. A negative one is in two's complement.
func parseNumber(text string) (uint64, bool) {
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return uint64(i), true
	}
	u, err := strconv.ParseUint(text, 0, 64)
	return u, err == nil
}

// errnoOf returns the errno of which n is the negative, in 32 or 64 bits.
func errnoOf(n uint64) (errno uint64, ok bool) {
	const maxErrno = 4095
	if i := int64(n); i < 0 && i >= -maxErrno {
		return uint64(-i), true
	}
	if i := int32(n); n>>32 == 0 && i < 0 && i >= -maxErrno {
		return uint64(-i), true
	}
	return 0, false
}

// uses returns the groups in which a number is a value or a flag, but for those in
// skip.
func (x *Index) uses(n uint64, skip map[*Names]bool) (list []NumberUse) {
	for _, g := range x.reg.Groups() {
		if skip[g] {
			continue
		}
		u := NumberUse{Group: g}
		for i := range g.Values {
			if v := &g.Values[i]; v.Value == n && (!g.Flags || v.Bits() == n) {
				u.Values = append(u.Values, v)
			}
		}
		if u.Values != nil {
			list = append(list, u)
		}
	}
	return list
}

// flagUses returns the flag words in which all bits of a number have names.
func (x *Index) flagUses(n uint64) (list []NumberUse) {
	for _, g := range x.reg.Groups() {
		if !g.Flags || bits.OnesCount64(n) < 2 {
			continue
		}
		u := NumberUse{Group: g}
		if rest := g.Set(n, func(v *Value) { u.Values = append(u.Values, v) }); rest == 0 {
			list = append(list, u)
		}
	}
	return list
}

// Together returns the groups that have all the names as flags: the flags, and what
// they are together. Short names count when no group has all full ones. It returns nil when
// no group has them all.
func (x *Index) Together(names []string) (list []Topic) {
	for _, short := range [...]bool{false, true} {
		for _, g := range x.reg.Groups() {
			if u := flagSet(g, names, short); u != nil {
				for _, v := range u.Values {
					list = append(list, Topic{Group: g, Value: v})
				}
				list = append(list, Topic{Flags: u})
			}
		}
		if list != nil {
			break
		}
	}
	return list
}

func flagSet(g *Names, names []string, short bool) *NumberUse {
	u := &NumberUse{Group: g}
	for _, name := range names {
		v := g.value(strings.TrimSpace(name))
		if !g.Flags || v == nil || !short && !strings.EqualFold(g.Full(*v), strings.TrimSpace(name)) {
			return nil
		}
		u.Values = append(u.Values, v)
	}
	return u
}
