package scan

import (
	"github.com/lshark/lshark/dissect/track/follow"
)

// Observe sets what takes all that the pass finds. It ends before the End funcs of
// consumers are called.
func (p *Pass) Observe(o Observer) { p.observer = o }

// Follow returns a Follower of what the pass finds, which calls hooks.
func (p *Pass) Follow(hooks ...follow.Hooks) *follow.Follower {
	f := follow.New(p.FollowOptions(), hooks...)
	p.Observe(f)
	return f
}
