package parquet

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTextBounds checks the bounds of strings that are about as long as bounds are,
// added to one page or merged from several.
func TestTextBounds(t *testing.T) {
	ends := []string{"", "a", "b", "ü", "€", "\ud7ff", "\U0010ffff"}
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		var all, page bounds
		var texts []string
		for range 1 + r.IntN(6) {
			text := strings.Repeat("\U0010ffff", r.IntN(2)*15)
			text += strings.Repeat("a", max(0, maxBound-4-len(text)))
			for range r.IntN(6) {
				text += ends[r.IntN(len(ends))]
			}
			texts = append(texts, text)
			page.text([]byte(text))
			if r.IntN(3) == 0 {
				all.merge(String, &page)
				page.reset()
			}
		}
		all.merge(String, &page)
		low, high := all.limits(String)
		least, greatest := slices.Min(texts), slices.Max(texts)
		switch {
		case !low.ok, string(low.plain) > least, low.exact && string(low.plain) != least, !utf8.Valid(low.plain), len(low.plain) > maxBound:
			t.Fatalf("seed %d: least %q, want %q", seed, low.plain, least)
		case !high.ok && greatest < strings.Repeat("\U0010ffff", maxBound/4):
			t.Fatalf("seed %d: no greatest of %q", seed, texts)
		case !high.ok:
		case string(high.plain) < greatest, high.exact && string(high.plain) != greatest, !utf8.Valid(high.plain), len(high.plain) > maxBound+1:
			t.Fatalf("seed %d: greatest %q, want %q", seed, high.plain, greatest)
		}
		if !slices.ContainsFunc(texts, func(text string) bool { return len(text) > maxBound }) && !(low.exact && high.exact) {
			t.Fatalf("seed %d: bounds of %q are not exact", seed, texts)
		}
	}
	var b bounds
	b.text([]byte(strings.Repeat("\U0010ffff", 100)))
	if low, high := b.limits(String); high.ok || !low.ok {
		t.Errorf("bounds %v, %v of the greatest string", low, high)
	}
}
