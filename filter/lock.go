package filter

import (
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/track/locks"
)

// LockFilter is a compiled filter over locks. It is not safe for concurrent use.
type LockFilter struct {
	match   func(*subject) bool
	subject subject
}

// Match reports whether the filter holds for a lock. It does for all when f is nil.
func (f *LockFilter) Match(l *locks.Lock) bool {
	if f == nil {
		return true
	}
	f.subject.lock = l
	return f.match(&f.subject)
}

// CompileLock compiles a filter over locks, by keys of locks with or without their
// prefix. The error is an *Error.
func CompileLock(text string) (*LockFilter, error) {
	e, err := parse(text)
	if err != nil {
		return nil, err
	}
	c := &compiler{text: text, ofLocks: true}
	match, err := c.expr(e)
	if err != nil {
		return nil, err
	}
	return &LockFilter{match: match}, nil
}

func lockOf(s *subject) *locks.Lock { return s.lock }

// resolveLock finds a key of locks, or a value of one: NAME.VALUE.
func (c *compiler) resolveLock(t token) (*field, error) {
	if p, ok := records.Locks.Find(strings.TrimPrefix(t.text, records.Locks.Prefix)); ok {
		return keyField(t.text, p, lockOf), nil
	}
	if i := strings.LastIndexByte(t.text, '.'); i > 0 {
		if p, ok := records.Locks.Find(strings.TrimPrefix(t.text[:i], records.Locks.Prefix)); ok && p.Key.Names != nil {
			return c.bit(keyField(t.text[:i], p, lockOf), t, t.text[i+1:])
		}
	}
	return nil, c.fail(t, "unknown key of locks "+t.text, DidYouMean(schema.Nearest(t.text, LockNames(), 3)))
}

// LockNames lists the names that filters over locks know.
func LockNames() (names []string) {
	for _, e := range records.Locks.Entries() {
		names = append(names, e.Name)
	}
	return names
}
