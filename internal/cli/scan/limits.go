package scan

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/internal/cli/exit"
)

// limits are where a live capture stops (-a), or where a file of it ends (-b). A limit of 0 is
// none.
type limits struct {
	duration time.Duration
	bytes    int64 // of a file
	packets  int64
	files    int // with -b, how many are kept
}

// maxFiles is above the number of a file, which has five digits.
const maxFiles = 100000

func (l *limits) any() bool { return *l != limits{} }

// endsFile reports whether there is a limit of a file.
func (l *limits) endsFile() bool { return l.duration > 0 || l.bytes > 0 || l.packets > 0 }

// parseLimits parses the values of -a or -b. Of two for the same quantity the last counts, as in
// tshark.
func parseLimits(flag string, given []string) (limits, error) {
	const kilobyte = 1000
	var l limits
	for _, text := range given {
		what, value, _ := strings.Cut(text, ":")
		wrong := exit.Usagef("%s %s: must be duration:SECS, filesize:KB, packets:N or files:N", flag, text)
		if what == "duration" {
			var err error
			if l.duration, err = time.ParseDuration(value + "s"); err != nil || l.duration <= 0 {
				return limits{}, wrong
			}
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 {
			return limits{}, wrong
		}
		switch {
		case what == "filesize" && n <= math.MaxInt64/kilobyte:
			l.bytes = n * kilobyte
		case what == "packets":
			l.packets = n
		case what == "files" && n < maxFiles:
			l.files = int(n)
		default:
			return limits{}, wrong
		}
	}
	return l, nil
}
