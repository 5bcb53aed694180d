package ladder

import (
	"slices"
	"time"
)

// gaps returns for each event how many lines the gap before it takes, the time since the
// previous event: 0 for most. A gap is drawn if it is at least a twentieth of the whole
// diagram's time and three times the median gap, or at least a second and a hundredth of
// the whole time. It takes one line, two from a tenth of the whole time on, and three from
// a third on.
func gaps(events []*Event) []int {
	lines := make([]int, len(events))
	if len(events) < 2 {
		return lines
	}
	all := make([]int64, 0, len(events)-1)
	for i := 1; i < len(events); i++ {
		all = append(all, events[i].Time-events[i-1].Time)
	}
	slices.Sort(all)
	median := all[(len(all)-1)/2]
	whole := events[len(events)-1].Time - events[0].Time
	for i := 1; i < len(events); i++ {
		gap := events[i].Time - events[i-1].Time
		relative := gap >= max(whole/20, 1) && gap >= 3*median
		if !relative && (gap < int64(time.Second) || gap < whole/100) {
			continue
		}
		switch {
		case gap >= whole/3:
			lines[i] = 3
		case gap >= whole/10:
			lines[i] = 2
		default:
			lines[i] = 1
		}
	}
	return lines
}
