package opcodes

import (
	"bytes"

	. "github.com/lshark/lshark/opcodes/schema"
)

// MDS_GET_INFO and MDS_SET_INFO: a key, by its name, and a value.

const (
	MDS_GET_INFO = 53
	MDS_SET_INFO = 46
)

var getinfoFid2path = &Struct{Name: "getinfo_fid2path", Doc: "asks for the path of a FID; the reply brings it", Fields: []*Field{
	Sub("gf_fid", &LuFid, "the object"),
	U64("gf_recno", Harmless, "changelog record up to which names may be as they were; all ones: as they are"),
	U32("gf_linkno", Harmless, "which of several names, from 0; reply: the next one"),
	U32("gf_pathlen", Size, "room for the path"),
	Str("gf_path", 0, FilePath, If(isReply), "the path, from the root of the file system or of the fileset"),
	Subs("gf_root_fid", -1, &LuFid, Over("gf_path"), If(isRequest), "root of the client's fileset"),
}}

// fid2pathKey is what fills the key buffer of a fid2path: its name in an area
// of 16 bytes, and the question.
var fid2pathKey = &Struct{Name: "fid2path_key", Doc: "key of a fid2path together with its argument", Fields: []*Field{
	Str("key", 16, Keyword, "the name of the key"),
	Sub("getinfo_fid2path", &getinfoFid2path, "the question"),
}}

var getparent = &Struct{Name: "getparent", Doc: "asks for a parent of a FID and its name there", Fields: []*Field{
	Sub("gp_fid", &LuFid, "the object; answer: its parent"),
	U32("gp_linkno", Harmless, "which of several names, from 0"),
	U32("gp_name_size", Size, "room for the name"),
	Str("gp_name", 0, FileName, "the name"),
}}

var (
	bufGetinfoKeyFid2path      = Sub("getinfo_key", &fid2pathKey, "the name of the key and the FID to resolve")
	bufGetinfoValFid2path      = Sub("getinfo_val", &getinfoFid2path, "the path")
	bufGetinfoVallen           = U32("getinfo_vallen", Size, "room for the value")
	bufGetinfoValChangelogUser = Sub("getinfo_val", &changelogFilter, "the changelog user")
	bufSetinfoValMds           = OneOf("setinfo_val", chooseSetinfo, []*Field{formReadOnly, formBytes}, "value of the key")
)

var formReadOnly = U32("read_only", Harmless, "1: the client mounts read-only")

// chooseSetinfo is the form of a value, by its key.
func chooseSetinfo(v *View) *Field {
	if string(TrimNUL(v.Msg.Named("setinfo_key"))) == "read-only" {
		return formReadOnly
	}
	return formBytes
}

var _ = DefineRPC(&RPC{Opcode: MDS_GET_INFO, Name: "MDS_GET_INFO", Does: OfFile,
	Doc:       "Asks for something by the name of a key: the path of a FID, the map of a file's data, a changelog user.",
	PickBytes: []int{maxKey},
	Pick:      pickMdsGetInfo, PickReply: guessMdsGetInfo, Context: true,
	Variants: []*Variant{mdsFid2path, getFiemap, mdsChangelogUser, mdsOtherInfo}})

var (
	mdsFid2path = &Variant{Name: "fid2path", Does: FindsPath,
		Request: Bufs(bufPtlrpcBody, bufGetinfoKeyFid2path, bufGetinfoVallen),
		Reply:   Bufs(bufPtlrpcBody, bufGetinfoValFid2path),
		SummarizeRequest: func(m *Msg, l *Line) {
			fid, _ := fid2pathSubject(m)
			l.FID(fid, m.Big)
		}, SummarizeReply: summarizeFid2pathReply, Subject: fid2pathSubject,
	}
	mdsChangelogUser = &Variant{Name: "changelog_user",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKey, bufGetinfoValChangelogUser),
		Reply:   Bufs(bufPtlrpcBody, bufGetinfoValChangelogUser),
		SummarizeRequest: func(m *Msg, l *Line) {
			l.Key("user cl").Num(changelogFilter.Field("cf_user_id").Uint(m.Named("getinfo_val"), m.Big))
		},
		SummarizeReply: NoSummary,
	}
	mdsOtherInfo = &Variant{Name: "other",
		Request:          Bufs(bufPtlrpcBody, bufGetinfoKey, bufGetinfoVallen),
		Reply:            Bufs(bufPtlrpcBody, Opaque("getinfo_val", 0, "value of the key")),
		SummarizeRequest: summarizeInfoKeyRequest, SummarizeReply: NoSummary,
	}
)

func pickMdsGetInfo(m *Msg) *Variant {
	key := m.Buf(1)
	switch {
	case bytes.HasPrefix(key, []byte("fid2path")):
		return mdsFid2path
	case bytes.HasPrefix(key, []byte("fiemap")):
		return getFiemap
	case bytes.HasPrefix(key, []byte("changelog_user")):
		return mdsChangelogUser
	}
	return mdsOtherInfo
}

// guessMdsGetInfo reads an answer without its request by its size.
func guessMdsGetInfo(m *Msg) *Variant {
	val := m.Buf(1)
	switch {
	case len(val) == changelogFilter.Size:
		return mdsChangelogUser
	case len(val) > getinfoFid2path.Size && !allZero(val[:8]):
		return mdsFid2path
	case len(val) >= fiemapHdr.Size:
		return getFiemap
	}
	return mdsOtherInfo
}

const fid2pathKeySize = 16

func fid2pathSubject(m *Msg) (fid, name []byte) {
	key := m.Named("getinfo_key")
	if len(key) < fid2pathKeySize+16 {
		return nil, nil
	}
	return key[fid2pathKeySize : fid2pathKeySize+16], nil
}

func summarizeFid2pathReply(m *Msg, l *Line) {
	if val := m.Named("getinfo_val"); len(val) > getinfoFid2path.Size {
		l.Key("").FID(val[:16], m.Big)
		l.Key("is ").Label(Name, val[getinfoFid2path.Size:])
	}
}

func summarizeInfoKeyRequest(m *Msg, l *Line) {
	l.Key("key ").Label(Name, m.Buf(1))
}

var _ = DefineRPC(&RPC{Opcode: MDS_SET_INFO, Name: "MDS_SET_INFO",
	Doc:       "Tells something by the name of a key: changelog records that a user has read and no longer needs, a read-only mount.",
	PickBytes: []int{maxKey},
	Pick:      pickMdsSetInfo,
	Variants:  []*Variant{mdsChangelogClear, mdsOtherSetInfo}})

var (
	mdsChangelogClear = &Variant{Name: "changelog_clear",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, Sub("setinfo_val", &changelogSetinfo), bufMdtBody),
		Subject: NoSubject, // clients do not fill in the FID
		SummarizeRequest: func(m *Msg, l *Line) {
			val := m.Named("setinfo_val")
			if len(val) < 12 {
				return
			}
			l.Key("user cl").Num(ReadUint(val[8:12], m.Big))
			if end := ReadUint(val[:8], m.Big); end == 0 {
				l.Key("all records")
			} else {
				l.Key("up to record ").Num(end)
			}
		},
	}
	mdsOtherSetInfo = &Variant{Name: "other",
		Request:          Bufs(bufPtlrpcBody, bufSetinfoKey, bufSetinfoValMds),
		SummarizeRequest: summarizeInfoKeyRequest,
	}
)

func pickMdsSetInfo(m *Msg) *Variant {
	if bytes.HasPrefix(m.Buf(1), []byte("changelog_clear")) {
		return mdsChangelogClear
	}
	return mdsOtherSetInfo
}
