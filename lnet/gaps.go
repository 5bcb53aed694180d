package lnet

// gaps are the streams that hold segments behind a gap: a heap by the frame of
// the first of these, as every message asks for the earliest.
type gaps []*stream

// first is the frame of the earliest held segment, 0 when there is none.
func (g gaps) first() int64 {
	if len(g) == 0 {
		return 0
	}
	return g[0].since
}

// note puts a stream to its place, or takes it out, after its first held
// segment may have changed.
func (g *gaps) note(st *stream) {
	switch {
	case len(st.held) == 0 && st.place == 0:
		return
	case len(st.held) == 0:
		g.remove(st)
		return
	case st.place == 0:
		*g = append(*g, st)
		st.place = len(*g)
	case st.since == st.held[0].frame:
		return
	}
	st.since = st.held[0].frame
	g.move(st)
}

func (g *gaps) remove(st *stream) {
	last := (*g)[len(*g)-1]
	(*g)[len(*g)-1] = nil
	*g = (*g)[:len(*g)-1]
	if last != st {
		(*g)[st.place-1], last.place = last, st.place
		g.move(last)
	}
	st.place = 0
}

// move lets a stream rise or sink to where it belongs.
func (g gaps) move(st *stream) {
	i := st.place - 1
	for i > 0 && st.since < g[(i-1)/2].since {
		g.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	for {
		down := 2*i + 1
		if down+1 < len(g) && g[down+1].since < g[down].since {
			down++
		}
		if down >= len(g) || st.since <= g[down].since {
			return
		}
		g.swap(i, down)
		i = down
	}
}

func (g gaps) swap(i, j int) {
	g[i], g[j] = g[j], g[i]
	g[i].place, g[j].place = i+1, j+1
}
