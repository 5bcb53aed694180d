package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: OUT_UPDATE, Name: "OUT_UPDATE",
	Doc: "What one MDT asks another to do to its objects, in small steps: create, set attributes, insert a name, write to a log, " +
		"or read such things. Operations over several MDTs are made of it.",
	Variants: []*Variant{
		{Name: "inline",
			Request: Bufs(bufPtlrpcBody, bufOutUpdateHeader, bufOutUpdateBuffer),
			Reply:   Bufs(bufPtlrpcBody, bufObjectUpdateReply),
			Ask:     askUpdates, Answer: answerUpdates, Inner: updateError, Subject: updateSubject,
		},
		{Name: "bulk",
			Request: Bufs(bufPtlrpcBody, bufOutUpdateHeader, bufOutUpdateBuffer),
			Reply:   Bufs(bufPtlrpcBody, bufObjectUpdateReply),
			Bulk:    &BulkData{Portal: portalMDSBulk, Get: true, Type: updatesBulk},
			Ask:     askUpdates, Answer: answerUpdates, Inner: updateError,
		},
		{Name: "read",
			Request: Bufs(bufPtlrpcBody, bufOutUpdateHeader, bufOutUpdateBuffer),
			Reply:   Bufs(bufPtlrpcBody, bufObjectUpdateReply),
			Bulk:    &BulkData{Portal: portalMDSBulk, Type: outReadBulk},
			Ask:     askUpdates, Answer: answerUpdates, Inner: updateError, Subject: updateSubject,
		},
	},
	Picks: []int{outHeaderSize + updateRequestHeader + updateHeader},
	Pick: func(m *Msg) *Variant {
		first := updateAt(m, 0)
		switch {
		case ouhInline.Uint(m.Buf(1), m.Big) == 0:
			return m.RPC.Variants[1]
		case first != nil && ouType.Uint(first, m.Big) == outRead:
			return m.RPC.Variants[2]
		}
		return m.RPC.Variants[0]
	},
	Guess:   func(m *Msg) *Variant { return m.RPC.Variants[0] },
	Context: true,
})

var ouhCount = outUpdateHeader.Field("ouh_count")

func updateSubject(m *Msg) (fid, name []byte) {
	u := updateAt(m, 0)
	if u == nil {
		return nil, nil
	}
	if updateParamForm(ouType.Uint(u, m.Big), 0) == paramName && len(u) > updateHeader {
		name = TrimNUL(paramValue(u[updateHeader:], m.Big))
	}
	return ouFid.Bytes(u), name
}

// askUpdates: the first update, and how many more there are.
func askUpdates(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < outHeaderSize {
		return
	}
	u := updateAt(m, 0)
	if u == nil {
		l.Count(ouhCount.Uint(b, m.Big), "bulk buffer")
		return
	}
	l.Value(Flag, OutUpdateType, ouType.Uint(u, m.Big))
	fid, name := updateSubject(m)
	l.Key("")
	l.FID(fid, m.Big)
	if len(name) > 0 {
		l.Key("")
		l.Label(Name, name)
	}
	if n := ourqCount.Uint(b[outHeaderSize:], m.Big); n > 1 {
		l.Key("+")
		l.Num(n - 1)
	}
}

// answerUpdates: the first result that is an error.
func answerUpdates(m *Msg, l *Line) {
	if i, rc := failedUpdate(m); rc < 0 {
		l.Key("update ")
		l.Num(uint64(i))
		l.Key("")
		l.Errno(rc)
	}
}

func updateError(m *Msg) int32 {
	_, rc := failedUpdate(m)
	return rc
}

// failedUpdate finds the first result that is an error.
func failedUpdate(m *Msg) (index int, rc int32) {
	b := m.Buf(1)
	if len(b) < resultsAt {
		return 0, 0
	}
	count := int(ourpCount.Uint(b, m.Big))
	at := resultsAt + pad8(2*count)
	for i := 0; i < count && at+4 <= len(b); i++ {
		n := int(ReadUint(b[resultsAt+2*i:resultsAt+2*i+2], m.Big))
		if n == 0 {
			break
		}
		if rc = int32(ourRc.Uint(b[at:], m.Big)); rc < 0 {
			return i, rc
		}
		at += pad8(n)
	}
	return 0, 0
}
