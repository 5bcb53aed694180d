package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// askIntent is the line of an intent: what the operation inside it tells, and
// the locks that the client gives back with it.
func askIntent(inner func(m *Msg, l *Line)) func(m *Msg, l *Line) {
	return func(m *Msg, l *Line) {
		inner(m, l)
		sayEarlyCancels(m.Buf(1), m.Big, l)
	}
}

const enoent = 2

var (
	laiOpc   = layoutIntent.Field("lai_opc")
	dispNeg  = Disposition.Bit("LOOKUP_NEG")
	dispMade = Disposition.Bit("OPEN_CREATE")
)

func askLayout(m *Msg, l *Line) {
	requestLock(m.Buf(1), m.Big).resource(l)
	if b := m.Buf(3); len(b) >= layoutIntent.Size {
		l.Key("")
		l.Value(Flag, LayoutIntent, laiOpc.Uint(b, m.Big))
	}
}

func answerLayout(m *Msg, l *Line) {
	sayGranted(m, l)
	addLayout(l, m.Buf(2), false)
}

// intentError is how the operation of an intent failed. That a name is not
// there is an answer.
func intentError(m *Msg) int32 {
	rep := m.Buf(1)
	rc := int32(lockRes2.Uint(rep, m.Big))
	if rc > 0 || rc == -enoent && lockRes1.Uint(rep, m.Big)&dispNeg != 0 {
		return 0
	}
	return rc
}

// answerIntent says what the intent found, how it ended and which lock came
// with it.
func answerIntent(m *Msg, l *Line) {
	rep := m.Buf(1)
	if len(rep) < ldlmReply.Size {
		return
	}
	disp := lockRes1.Uint(rep, m.Big)
	rc := intentError(m)
	switch {
	case disp&dispNeg != 0 && disp&dispMade == 0:
		l.Add(Flag, "no such name")
	case disp&dispMade != 0 && rc == 0:
		l.Add(Good, "created")
	}
	if rc != 0 && rc != m.Status {
		l.Key("")
		l.Errno(rc)
	}
	answerAttrs(m, l)
	sayGranted(m, l)
}

// sayGranted appends mode and bits of the lock that came with an intent.
func sayGranted(m *Msg, l *Line) {
	k := requestLock(m.Buf(1), m.Big)
	if k.granted() == 0 {
		return
	}
	l.Key("lock ")
	l.Value(Flag, LdlmMode, k.granted())
	k.policy(l)
}
