package scan

import (
	"time"

	"github.com/lshark/lshark/dissect/track"
)

// LiveLinger is how long a complete RPC is held in a live capture, for messages
// that arrive late.
const LiveLinger = 200 * time.Millisecond

// liveLockWait is how long an RPC of a live capture is kept back for its lock to
// be granted.
const liveLockWait = 5 * time.Second

// LiveOptions returns for how long RPCs of a live capture are held.
func LiveOptions() track.Options {
	return track.Options{Linger: int64(LiveLinger), LockWait: int64(liveLockWait)}
}

// TrackOptions returns for how long RPCs are held, and for how long what a tracker
// follows: in a live capture shorter than in files.
func (in *Input) TrackOptions() (o track.Options, linger int64) {
	if in.Live() {
		o = LiveOptions()
		linger = 2 * o.Linger
	}
	return o, linger
}
