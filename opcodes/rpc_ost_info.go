package opcodes

import (
	"bytes"

	. "github.com/lshark/lshark/opcodes/schema"
)

var rpcOstGetInfo = DefineRPC(&RPC{Opcode: OST_GET_INFO, Name: "OST_GET_INFO",
	Doc:      "Asks a target for something by key: the last object id or FID, or the map of an object's extents.",
	Variants: []*Variant{getLastID, getLastFID, getFiemap, getFid2path, getOther},
	Picks:    []int{maxKey},
	Pick: func(m *Msg) *Variant {
		key := m.Buf(1)
		switch {
		case hasKey(key, "last_id"):
			return getLastID
		case hasKey(key, "last_fid"):
			return getLastFID
		case hasKey(key, "fiemap"):
			return getFiemap
		case hasKey(key, "fid2path"):
			return getFid2path
		}
		return getOther
	},
	Guess: func(m *Msg) *Variant {
		switch n := len(m.Buf(1)); {
		case n == 8:
			return getLastID
		case n == 16:
			return getLastFID
		case n >= fiemapHdr.Size && (n-fiemapHdr.Size)%fiemapExtent.Size == 0:
			return getFiemap
		}
		return getOther
	},
})

// maxKey is longer than the keys that tell what is asked.
const maxKey = 32

// hasKey: keys are compared as far as they go, a NUL behind them is not
// certain.
func hasKey(b []byte, key string) bool {
	return bytes.HasPrefix(b, []byte(key))
}

var (
	getLastID = &Variant{Name: "last_id",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKey),
		Reply:   Bufs(bufPtlrpcBody, bufLastId),
		Ask:     askKey,
		Answer: func(m *Msg, l *Line) {
			if b := m.Buf(1); len(b) >= 8 {
				l.Num(ReadUint(b[:8], m.Big))
			}
		},
	}
	getLastFID = &Variant{Name: "last_fid",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKey, bufFid),
		Reply:   Bufs(bufPtlrpcBody, bufLastFid),
		Ask: func(m *Msg, l *Line) {
			l.FID(m.Buf(2), false)
		},
		Answer: func(m *Msg, l *Line) { l.FID(m.Buf(1), m.Big) },
	}
	getFiemap = &Variant{Name: "fiemap",
		Request: Bufs(bufPtlrpcBody, bufFiemapKey, bufFiemap),
		Reply:   Bufs(bufPtlrpcBody, bufFiemap),
		Ask: func(m *Msg, l *Line) {
			askKey(m, l)
			l.Key("")
			fiemapKeyAttrs(m).object(l)
			if b := m.Buf(2); len(b) >= fiemapHdr.Size {
				l.Key("from ")
				l.Offset(fmStart.Uint(b, m.Big))
				l.Key("length ")
				l.Offset(fmLength.Uint(b, m.Big))
			}
		},
		Answer: func(m *Msg, l *Line) {
			if b := m.Buf(1); len(b) >= fiemapHdr.Size {
				l.Key("extents ")
				l.Num(fmMapped.Uint(b, m.Big))
			}
		},
		Subject: func(m *Msg) (fid, name []byte) { return fiemapKeyAttrs(m).file(m.Scratch[:0]), nil },
	}
	getFid2path = &Variant{Name: "fid2path",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKeyGetinfoFid2path, bufGetinfoVallen),
		Reply:   Bufs(bufPtlrpcBody, bufGetinfoVal),
		Ask:     askKey,
	}
	getOther = &Variant{Name: "other",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKey),
		Reply:   Bufs(bufPtlrpcBody, bufGenericData),
		Ask:     askKey,
	}
)

// fiemapKeyAttrs is the obdo behind the name in a fiemap key.
func fiemapKeyAttrs(m *Msg) attrs {
	b := m.Buf(1)
	if len(b) < llFiemapInfoKey.Size {
		return attrs{nil, m.Big}
	}
	return attrs{b[8:], m.Big}
}

func askKey(m *Msg, l *Line) { l.Label(Name, m.Buf(1)) }

var rpcOstSetInfo = DefineRPC(&RPC{Opcode: OST_SET_INFO, Name: "OST_SET_INFO",
	Doc:      "Sets something by key. With grant_shrink a client gives back grant that it does not use.",
	Variants: []*Variant{setGrantShrink, setOther, setLastFID},
	Picks:    []int{maxKey},
	Pick: func(m *Msg) *Variant {
		key := m.Buf(1)
		switch {
		case hasKey(key, "grant_shrink"):
			return setGrantShrink
		case hasKey(key, "last_fid"):
			return setLastFID
		}
		return setOther
	},
	Guess: func(m *Msg) *Variant {
		if len(m.Buf(1)) == ostBody.Size {
			return setGrantShrink
		}
		return setOther
	},
})

var (
	setGrantShrink = &Variant{Name: "grant_shrink",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufOstBody),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Ask: func(m *Msg, l *Line) {
			askKey(m, l)
			l.Key("by ")
			l.Num(attrsOf(m, 2).word(oGrant))
		},
		Answer: func(m *Msg, l *Line) { attrsOf(m, 1).grant(l) },
	}
	setOther = &Variant{Name: "other",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufSetinfoVal),
		Reply:   Bufs(bufPtlrpcBody),
		Ask:     askKey,
	}
	setLastFID = &Variant{Name: "last_fid",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufSetinfoVal),
		Reply:   Bufs(bufPtlrpcBody),
		Ask:     askKey,
	}
)
