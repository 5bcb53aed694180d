package lnet

// idleCarriers is how many entries the list of an idle stream may have room
// for: a bulk of 1 MiB takes 725 segments of Ethernet.
const idleCarriers = 1024

// carry notes the frame whose bytes are framed next, when somebody asks which
// frames carried a message. When too much is held the first ones and the last
// one are told.
func (st *stream) carry(frame int64) {
	st.carrier = frame
	if !st.s.opt.Frames || st.lost {
		return
	}
	n := len(st.carriers)
	switch {
	case st.msg.have == 0 || n == 0:
		st.carriers = append(st.carriers[:0], frame)
	case n > 1 && st.s.full():
		st.carriers[n-1] = frame
	default:
		st.carriers = append(st.carriers, frame)
		st.s.pool.lent += carrierSize
	}
}

// carryOn leaves the last frame, in which the next message may begin.
func (st *stream) carryOn() {
	n := len(st.carriers)
	if n <= 1 {
		return
	}
	st.s.pool.lent -= (n - 1) * carrierSize
	last := st.carriers[n-1]
	if cap(st.carriers) > idleCarriers {
		st.carriers = nil
	}
	st.carriers = append(st.carriers[:0], last)
}
