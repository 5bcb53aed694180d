package dissect

// carry notes the frame whose bytes are framed next, when somebody asks which
// frames carried a message.
func (st *stream) carry(frame int64) {
	st.carrier = frame
	if !st.s.opt.Frames || st.lost {
		return
	}
	if st.msg.have == 0 {
		st.carriers = st.carriers[:0]
	}
	st.carriers = append(st.carriers, frame)
}

// carryOn leaves the last frame, in which the next message may begin.
func (st *stream) carryOn() {
	if n := len(st.carriers); n > 1 {
		st.carriers[0] = st.carriers[n-1]
		st.carriers = st.carriers[:1]
	}
}
