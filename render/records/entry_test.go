package records_test

import (
	"regexp"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/render/records"
)

// TestKeys checks that keys have a name that a filter can read and no other key of the record has, and
// a text.
func TestKeys(t *testing.T) {
	name := regexp.MustCompile(`^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*$`)
	paths := make(map[string]bool)
	for _, e := range records.All() {
		if e.Kind != records.KeyEntry {
			continue
		}
		assert.That(t, !paths[e.Of+" "+e.Path], "%s: two keys are called %s", e.Of, e.Path)
		paths[e.Of+" "+e.Path] = true
		assert.That(t, name.MatchString(e.Path), "%s: the key %s: name it in lower case, with _ between words", e.Of, e.Path)
		assert.That(t, e.Doc != "", "%s: the key %s has no Doc: add what it is, for lshark explain and docs/keys.md", e.Of, e.Path)
	}
}
