package rules

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// minMessage is the number of bytes of the shortest message that socklnd sends. A
// shorter run of bytes, such as a keep-alive probe, contains no message.
const minMessage = 24

// maxDirections is how many directions between two hosts are remembered.
const maxDirections = 1 << 12

// direction is one way between two hosts.
type direction struct{ from, to netip.Addr }

func (d direction) String() string { return d.from.String() + " to " + d.to.String() }

// loss sums up the bytes of a direction that were not captured.
type loss struct {
	runs, bytes int64
	first, last int64 // time
}

func (l *loss) add(other *loss) {
	if l.runs == 0 || other.first < l.first {
		l.first = other.first
	}
	l.last = max(l.last, other.last)
	l.runs += other.runs
	l.bytes += other.bytes
}

// losses are the bytes that were not captured, by direction: those of directions of
// which other messages were captured, and those of which nothing was.
type losses struct {
	some, all *fifo.Map[direction, *loss]
}

func newLosses() losses {
	return losses{fifo.NewMap[direction, *loss](maxDirections), fifo.NewMap[direction, *loss](maxDirections)}
}

// lost takes a run of bytes.
func (l *losses) lost(x *lnet.Loss) {
	if x.Why != lnet.Lost || x.Bytes < minMessage {
		return
	}
	d := direction{x.Src.Addr(), x.Dst.Addr()}
	one := &loss{1, x.Bytes, x.From, x.To}
	if _, partly := l.some.Get(d); x.OneWay && !partly {
		addLoss(l.all, d, one)
		return
	}
	addLoss(l.some, d, one)
	l.captured(d)
}

func addLoss(m *fifo.Map[direction, *loss], d direction, one *loss) {
	if sum, ok := m.Get(d); ok {
		sum.add(one)
		return
	}
	m.Put(d, one)
}

// captured takes a direction of which something was captured.
func (l *losses) captured(d direction) {
	if sum, ok := l.all.Delete(d); ok {
		addLoss(l.some, d, sum)
	}
}

// message takes a message, which was captured.
func (l *losses) message(_ *track.RPC, m *dissect.Message) {
	if l.all.Len() > 0 {
		l.captured(direction{m.Src.Addr(), m.Dst.Addr()})
	}
}

// sum returns the sum over all directions, and the directions, most bytes first.
func sumOfLosses(m *fifo.Map[direction, *loss]) (sum loss, directions []direction) {
	bytes := make(map[direction]int64)
	m.All(func(d direction, one *loss) bool {
		sum.add(one)
		bytes[d] = one.bytes
		directions = append(directions, d)
		return true
	})
	slices.SortStableFunc(directions, func(a, b direction) int { return int(bytes[b] - bytes[a]) })
	return sum, directions
}

// directionsText lists directions as in "from A to B, from C to D and 3 others".
func directionsText(list []direction) string {
	const shown = 3
	var words []string
	for i, d := range list {
		if i == shown {
			words = append(words, fmt.Sprintf("and %d more", len(list)-shown))
			break
		}
		words = append(words, "from "+d.String())
	}
	return strings.Join(words, ", ")
}

// withNote returns a finding that is a note, whatever the severity of its rule.
func withNote(f diagnose.Finding) diagnose.Finding {
	f.Severity = diagnose.Note
	return f
}
