package main

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// Tags of the header with checksums, and its region.
const (
	regionSignatures = 62
	sigSHA1          = 269
	sigSHA256        = 273
	sigSize          = 1000 // of header and payload
	sigMD5           = 1004
	sigPayloadSize   = 1007 // before compression
)

// Tags of the header about the package, and its region.
const (
	regionImmutable      = 63
	tagI18NTable         = 100
	tagName              = 1000
	tagVersion           = 1001
	tagRelease           = 1002
	tagSummary           = 1004
	tagDescription       = 1005
	tagBuildTime         = 1006
	tagSize              = 1009
	tagLicense           = 1014
	tagGroup             = 1016
	tagURL               = 1020
	tagOS                = 1021
	tagArch              = 1022
	tagFileSizes         = 1028
	tagFileModes         = 1030
	tagFileRDevs         = 1033
	tagFileMTimes        = 1034
	tagFileDigests       = 1035
	tagFileLinkTos       = 1036
	tagFileFlags         = 1037
	tagFileUserName      = 1039
	tagFileGroupName     = 1040
	tagSourceRPM         = 1044
	tagFileVerifyFlags   = 1045
	tagProvideName       = 1047
	tagRequireFlags      = 1048
	tagRequireName       = 1049
	tagRequireVersion    = 1050
	tagFileDevices       = 1095
	tagFileInodes        = 1096
	tagFileLangs         = 1097
	tagProvideFlags      = 1112
	tagProvideVersion    = 1113
	tagDirIndexes        = 1116
	tagBaseNames         = 1117
	tagDirNames          = 1118
	tagPayloadFormat     = 1124
	tagPayloadCompressor = 1125
	tagPayloadFlags      = 1126
	tagFileDigestAlgo    = 5011
	tagPayloadDigest     = 5092
	tagPayloadDigestAlgo = 5093
)

// Types of values.
const (
	kindInt16       = 3
	kindInt32       = 4
	kindString      = 6
	kindBinary      = 7
	kindStringArray = 8
	kindI18NString  = 9
)

// Values of flags and enumerations.
const (
	senseLess    = 1 << 1
	senseEqual   = 1 << 3
	senseRPMLib  = 1 << 24 // a feature of rpm, not a package
	fileDoc      = 1 << 1
	fileLicense  = 1 << 7
	digestSHA256 = 8
)

// rpmTable is a header of an rpm package: a list of tags with their values.
type rpmTable struct {
	entries []rpmEntry
}

// rpmEntry is a tag with its value as it stands in the package.
type rpmEntry struct {
	tag, kind, count uint32
	data             []byte
}

// bytes returns the header as it stands in a package: a magic number, two
// counts, an index sorted by tag, and the store of the values. The region is
// the first tag of the index. Its value comes last, and covers the whole index.
func (h *rpmTable) bytes(region uint32) []byte {
	slices.SortFunc(h.entries, func(a, b rpmEntry) int { return cmp.Compare(a.tag, b.tag) })
	var index, store []byte
	entry := func(b []byte, tag, kind, offset, count uint32) []byte {
		for _, v := range []uint32{tag, kind, offset, count} {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		return b
	}
	for _, e := range h.entries {
		switch e.kind {
		case kindInt16:
			store = pad(store, 2)
		case kindInt32:
			store = pad(store, 4)
		}
		index = entry(index, e.tag, e.kind, uint32(len(store)), e.count)
		store = append(store, e.data...)
	}
	const entrySize = 16
	count := uint32(len(h.entries) + 1)
	first := entry(nil, region, kindBinary, uint32(len(store)), entrySize)
	store = entry(store, region, kindBinary, -(count * entrySize), entrySize)

	b := []byte{0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0}
	b = binary.BigEndian.AppendUint32(b, count)
	b = binary.BigEndian.AppendUint32(b, uint32(len(store)))
	return slices.Concat(b, first, index, store)
}

func (h *rpmTable) add(tag, kind uint32, count int, data []byte) {
	h.entries = append(h.entries, rpmEntry{tag, kind, uint32(count), data})
}

func (h *rpmTable) text(tag uint32, s string) { h.add(tag, kindString, 1, append([]byte(s), 0)) }

func (h *rpmTable) translated(tag uint32, s string) {
	h.add(tag, kindI18NString, 1, append([]byte(s), 0))
}

func (h *rpmTable) texts(tag uint32, list ...string) {
	h.add(tag, kindStringArray, len(list), []byte(strings.Join(list, "\x00")+"\x00"))
}

func (h *rpmTable) binary(tag uint32, data []byte) { h.add(tag, kindBinary, len(data), data) }

func (h *rpmTable) uint16s(tag uint32, list ...uint16) {
	var b []byte
	for _, v := range list {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	h.add(tag, kindInt16, len(list), b)
}

func (h *rpmTable) uint32s(tag uint32, list ...uint32) {
	var b []byte
	for _, v := range list {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	h.add(tag, kindInt32, len(list), b)
}
