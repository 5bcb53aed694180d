package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// perConnection has a value for each connection.
type perConnection[T any] struct {
	values *fifo.Map[*track.Connection, *T]
	last   *track.Connection
	value  *T // of last
}

const maxConnections = 1 << 13

func newPerConnection[T any]() perConnection[T] {
	return perConnection[T]{values: fifo.NewMap[*track.Connection, *T](maxConnections)}
}

func (p *perConnection[T]) of(c *track.Connection) *T {
	if c == p.last && p.value != nil {
		return p.value
	}
	v := fifo.GetOrNew(p.values, c)
	p.last, p.value = c, v
	return v
}

// subjectAt returns the target, and its server, as what a finding is about.
func (k targetKey) subjectAt(server lnet.NID) diagnose.Subject {
	s := k.subject()
	s.Server = server
	return s
}

// operationCounts counts RPCs by operation.
type operationCounts map[uint32]int64

// rpcSum sums up RPCs that have something in common.
type rpcSum struct {
	n           int64
	first, last int64 // times
	operations  operationCounts
}

// count counts an RPC between two times.
func (s *rpcSum) count(opcode uint32, from, to int64) {
	if s.n == 0 {
		s.first, s.operations = from, make(operationCounts)
	}
	s.n++
	s.operations[opcode]++
	s.last = max(s.last, to)
}

// text returns the operations as in "OST_WRITE 8, OST_SYNC 4", the most frequent first, or
// the name of the only one.
func (c operationCounts) text(name func(opcode uint32) string) string {
	const shown = 4
	var list []uint32
	for op := range c {
		list = append(list, op)
	}
	slices.SortFunc(list, func(a, b uint32) int {
		if c[a] != c[b] {
			return int(c[b] - c[a])
		}
		return int(int64(a) - int64(b))
	})
	if len(list) == 1 {
		return name(list[0])
	}
	var words []string
	for _, op := range list[:min(len(list), shown)] {
		words = append(words, fmt.Sprintf("%s %d", name(op), c[op]))
	}
	if len(list) > shown {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// operationText returns the name of an operation.
func operationText(opcode uint32) string {
	if op := opcodes.ByOpcode(opcode); op != nil {
		return op.Name
	}
	return fmt.Sprintf("operation %d", opcode)
}
