package schema

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns the names that are most like a mistaken one, at most n, the
// best first; none when all are too different.
func Nearest(name string, among []string, n int) []string {
	type near struct {
		name  string
		score float64 // 1: equal
	}
	var list []*near
	w := newWords(name)
	for _, a := range among {
		if score := w.likeness(a); score >= leastLikeness {
			list = append(list, &near{a, score})
		}
	}
	slices.SortStableFunc(list, func(a, b *near) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name))
	})
	var names []string
	for i := 0; i < len(list) && len(names) < n && list[i].score >= list[0].score*almostBest; i++ {
		if !slices.Contains(names, list[i].name) {
			names = append(names, list[i].name)
		}
	}
	return names
}

// Names are suggested from leastLikeness on, and if they are not much less like than the
// best one: at least almostBest times as much.
const (
	leastLikeness = 0.6
	almostBest    = 0.8
)

// words are a name in lower case, the same without the separators, and its parts.
type words struct {
	name, joined string
	parts        []string
}

func newWords(name string) words {
	name = strings.ToLower(name)
	parts := strings.FieldsFunc(name, isSeparator)
	return words{name, strings.Join(parts, ""), parts}
}

func isSeparator(r rune) bool { return strings.ContainsRune("_.-:| ", r) }

// likeness returns how like a name is, from 0 to 1: by the letters to change, and by the
// words that both have.
func (w words) likeness(name string) float64 {
	o := newWords(name)
	score := w.shared(o)
	if longest := max(len(w.joined), len(o.joined)); longest > 0 {
		limit := mistakes(longest) + 1
		if d := distance(w.joined, o.joined, limit); d < limit {
			score = max(score, 1-float64(d)/float64(longest))
		}
	}
	if w.name != o.name { // equal but for the separators
		score = min(score, 0.99)
	}
	return score
}

// mistakes returns how many letters may be wrong in a name of n letters.
func mistakes(n int) int {
	const perMistake = 3
	if n < perMistake {
		return 0
	}
	return max(1, n/perMistake)
}

// shared returns the part of the letters of both names that lie in words which
// both have, or which differ in a letter.
func (w words) shared(o words) float64 {
	const longWord = 5
	common, all := 0, 0
	used := make([]bool, len(o.parts))
	for _, a := range w.parts {
		all += len(a)
		best := -1
		for i, b := range o.parts {
			switch {
			case used[i]:
			case a == b:
				best = i
			case best < 0 && min(len(a), len(b)) >= longWord && distance(a, b, 2) < 2:
				best = i
			}
		}
		if best >= 0 {
			used[best] = true
			common += len(a) + len(o.parts[best])
		}
	}
	for _, b := range o.parts {
		all += len(b)
	}
	if all == 0 {
		return 0
	}
	return float64(common) / float64(all)
}

// distance is the number of letters to change, add, drop or swap with the next
// one to make b of a; limit when it is that many or more.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
