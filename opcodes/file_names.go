package opcodes

import (
	"bytes"

	. "github.com/lshark/lshark/opcodes/schema"
)

// FileAttrs is what the mdt_body of a reply says about a file or directory.
type FileAttrs struct {
	FID     FileID // zero: not said
	Mode    uint32 // type and permissions, 0: not said
	Size    uint64
	HasSize bool
	Lazy    bool // the size may be out of date
	NoLinks bool // it has no name any longer
	Linked  bool // it has one at least
}

// FileAttrsOf reads the mdt_body of a reply.
func FileAttrsOf(m *Msg) FileAttrs { return fileAttrs(m.Named("mdt_body"), m.Big) }

func fileAttrs(b []byte, big bool) (a FileAttrs) {
	o := mdtBodyOf{b, big}
	if o.has(bodyFID) {
		a.FID = fileID(mboFid1.Bytes(b), big)
	}
	if o.has(ObdMdValid.Bit("FLTYPE")) {
		a.Mode = uint32(o.word(mboMode))
	}
	if len(b) >= mboNlink.Off+mboNlink.Size && o.has(ObdMdValid.Bit("FLNLINK")) {
		a.Linked = o.word(mboNlink) > 0
		a.NoLinks = !a.Linked
	}
	if o.has(bodySize) && len(b) >= mboSize.Off+mboSize.Size {
		a.Size, a.HasSize, a.Lazy = o.word(mboSize), true, !o.has(ObdMdValid.Bit("FLSIZE"))
	}
	return a
}

// RegularFile is the type of a regular file in a mode.
const RegularFile = 0o100000

// FileKind is the type of a file in its mode, in a word: file, dir, symlink, …;
// empty when the mode is none.
func FileKind(mode uint32) string { return fileTypes[mode>>12&15] }

// Reintegration is what the record of an MDS_REINT, an open or a close says.
type Reintegration struct {
	First, Second FileID // rr_fid1, rr_fid2
	Name, NewName []byte // in the bytes of the message; empty: none
	User          uint32 // on whose behalf it is done
	Size          uint64
	HasSize       bool
	Truncates     bool // to Size
	Opens         bool
	ByFID         bool // an open by FID: the name does not matter
	Volatile      bool // a temporary file without a name
	CrossRef      bool // the name is on another MDT: First is the object
}

// ReintegrationOf reads the record rec_reint of a request; ok is false when it has
// none, or it was not captured.
func ReintegrationOf(m *Msg) (r Reintegration, ok bool) {
	rec := recOf(m)
	if len(rec.b) < rrFid2.Off+rrFid2.Size {
		return r, false
	}
	r.First, r.Second = fileID(rrFid1.Bytes(rec.b), rec.big), fileID(rrFid2.Bytes(rec.b), rec.big)
	r.User = uint32(rec.word(mdtRecReint.Field("rr_fsuid")))
	r.Name, r.NewName = TrimNUL(m.Named("name")), TrimNUL(m.Named("target_name"))
	switch rec.word(rrOpcode) {
	case reintSetattr:
		r.First, r.Second = fileID(saFid.Bytes(rec.b), rec.big), FileID{}
		valid := rec.word(saValid)
		r.Size, r.HasSize = rec.word(saSize), valid&attrSize != 0
		r.Truncates = r.HasSize && valid&MdsAttrFlags.Bit("SIZE") != 0 && m.Opcode != MDS_CLOSE
	case reintOpen, reintCreate:
		flags := openFlags(rec.b, rec.big)
		r.Volatile = flags&MdsOpenFlags.Bit("OPEN_VOLATILE") != 0
		r.Opens = rec.word(rrOpcode) == reintOpen
		r.ByFID = r.Opens && flags&MdsOpenFlags.Bit("OPEN_BY_FID") != 0
		r.CrossRef = rec.word(crBias)&MdsOpBias.Bit("CROSS_REF") != 0
	case reintSetxattr:
		r.Name = nil // of the attribute
	}
	return r, true
}

// InlineData returns how many bytes of a file whose data is on the MDT a reply to an
// open brings.
func InlineData(m *Msg) int64 {
	b := m.Named("niobuf_inline")
	size := rnbLen.Uint(b, m.Big)
	if len(b) < niobufRemote.Size || isDir(mboMode.Uint(m.Named("mdt_body"), m.Big)) || size > uint64(len(b)-niobufRemote.Size) {
		return 0
	}
	return int64(size)
}

// IntentDone reports what the intent of an LDLM_ENQUEUE did, by the reply: whether
// the file was opened, and whether it was created.
func IntentDone(m *Msg) (opened, created bool) {
	rep := m.Buf(1)
	done := lockRes1.Uint(rep, m.Big)
	if intentResult(rep, m.Big) != 0 {
		return false, false
	}
	return done&Disposition.Bit("OPEN_OPEN") != 0, done&dispMade != 0
}

// IsNegative reports whether the reply to an LDLM_ENQUEUE says that the name of its
// intent is not there.
func IsNegative(m *Msg) bool { return lockRes1.Uint(m.Buf(1), m.Big)&dispNeg != 0 }

// ClosedWith returns the second file of a close that swaps, merges or splits
// layouts, or releases data to the archive; the zero FileID when it has none.
func ClosedWith(m *Msg) FileID { return fileID(cdFid.Bytes(m.Named("close_data")), m.Big) }

// IsCloseDone reports whether a close did what it was to do besides closing, by its
// reply.
func IsCloseDone(m *Msg) bool { return bodyOf(m).has(closeExecuted) }

// SecondFile returns the second object in the mdt_body of a request: in an
// MDS_SWAP_LAYOUTS the other file, in a getattr what the client knows the name, or
// without a name the request, to be about.
func SecondFile(m *Msg) FileID { return fileID(mboFid2.Bytes(m.Named("mdt_body")), m.Big) }

// RemovedFiles calls f with each file that an MDS_RMFID has removed, by its reply.
func RemovedFiles(m *Msg, f func(file FileID)) {
	results := m.Named("rcs")
	for b := m.Named("fid_array"); len(b) >= fidSize && len(results) >= 4; b, results = b[fidSize:], results[4:] {
		if ReadUint(results[:4], m.Big) == 0 {
			f(fileID(b, m.Big))
		}
	}
}

// DirectoryEntries calls f with each entry of the directory pages in bulk data.
func DirectoryEntries(pages []byte, f func(object FileID, name []byte, mode uint32)) {
	for ; len(pages) > 0; pages = pages[min(pageSize, len(pages)):] {
		page := pages[:min(pageSize, len(pages))]
		if len(page) < dirPageHeader || ldpFlags.Uint(page, false)&dirPageEmpty != 0 {
			continue
		}
		for at := dirPageHeader; at+direntHeader <= len(page); {
			entry := page[at:]
			n, attrs := int(ldeNamelen.Uint(entry, false)), ldeAttrs.Uint(entry, false)
			length, size := int(ldeReclen.Uint(entry, false)), direntSize(n, attrs)
			if n == 0 || size > len(entry) || length != 0 && length < size {
				break
			}
			var mode uint32
			if attrs&ludaHasType != 0 {
				mode = uint32(ReadUint(entry[size-2:size], false))
			}
			f(fileID(entry, false), entry[direntHeader:direntHeader+n], mode)
			if length == 0 {
				break
			}
			at += length
		}
	}
}

// PathOf returns the answer to a fid2path: the path of the object from a directory
// on, which is the root as a rule, and that of another MDT's part of a path.
func PathOf(m *Msg) (from FileID, path []byte) {
	b := m.Named("getinfo_val")
	if len(b) <= getinfoFid2path.Size {
		return from, nil
	}
	return fileID(b, m.Big), TrimNUL(b[getinfoFid2path.Size:])
}

// Fileset returns the subdirectory that an MDS_GET_ROOT asks for, empty for the
// root.
func Fileset(m *Msg) []byte { return TrimNUL(m.Named("name")) }

// ObjectLinks calls f with each name of an object, and the directory that it is in,
// that a reply with extended attributes brings; of a list it reads the first ones.
func ObjectLinks(m *Msg, f func(dir FileID, name []byte)) {
	switch {
	case m.Opcode == MDS_GETXATTR && m.Req != nil:
		if string(TrimNUL(m.Req.Named("name"))) == linkXattr {
			eachLink(m.Named("eadata"), f)
		}
	case m.Opcode == LDLM_ENQUEUE:
		values, sizes := m.Named("eavals"), m.Named("eavals_lens")
		for i := 0; len(sizes) >= 4; i, sizes = i+1, sizes[4:] {
			n := int(uint32(ReadUint(sizes[:4], m.Big)))
			if n > len(values) {
				return
			}
			if n > 0 && values[0] == linkMagicHigh || n > 3 && values[3] == linkMagicHigh {
				if string(nthXattr(m, i)) == linkXattr {
					eachLink(values[:n], f)
				}
			}
			values = values[n:]
		}
	}
}

const linkXattr = "trusted.link"

// eachLink calls f with each entry of a trusted.link.
func eachLink(b []byte, f func(dir FileID, name []byte)) {
	if len(b) < linkEaHeader.Size {
		return
	}
	n := linkEaHeader.Field("leh_reccount").Uint(b, linkEaHeader.Detect(b, false))
	for b = b[linkEaHeader.Size:]; n > 0 && len(b) >= linkEntrySize; n-- {
		size := int(ReadUint(b[:2], true))
		if size <= linkEntrySize || size > len(b) {
			return
		}
		f(fileID(b[2:2+fidSize], true), b[linkEntrySize:size])
		b = b[size:]
	}
}

// XattrLayout returns the layout of a file that a reply to an MDS_GETXATTR brings,
// nil when it brings none.
func XattrLayout(m *Msg) []byte {
	if m.Req == nil {
		return nil
	}
	switch string(TrimNUL(m.Req.Named("name"))) {
	case "trusted.lov", "lustre.lov", "trusted.lmv", "lustre.lmv":
		return wholeLayout(m.Named("eadata"))
	}
	return nil
}

// BatchedName is a request of an MDS_BATCH: attributes of what has a name in a
// directory.
type BatchedName struct {
	Dir  FileID
	Name []byte // in the bytes of the message
}

// BatchedNames calls f with each request of an MDS_BATCH, in order, when they are in
// the message.
func BatchedNames(m *Msg, f func(BatchedName)) {
	if b := m.Buf(1); buhInline.Uint(b, m.Big) != 0 {
		BatchedNamesInBulk(b[min(len(b), butUpdateHeader.Size):], m.Big, f)
	}
}

// BatchedNamesInBulk calls f with each request of an MDS_BATCH, in order, when they
// are the bulk data.
func BatchedNamesInBulk(b []byte, big bool, f func(BatchedName)) {
	n := batchCount.Uint(b, big)
	for b = b[min(len(b), batchUpdateRequest.Size):]; n > 0 && len(b) >= LustreMsg.Size; n-- {
		body := messageBuffer(b, batchedBody, big)
		f(BatchedName{fileID(mboFid1.Bytes(body), big), TrimNUL(messageBuffer(b, batchedName, big))})
		b = b[min(len(b), bufferAt(b, messageBuffers(b, big), big)):]
	}
}

// BatchedAnswers calls f with what each answer of an MDS_BATCH says about a file,
// and its layout, in the order of the requests. An answer without attributes says
// nothing.
func BatchedAnswers(m *Msg, f func(a FileAttrs, layout []byte)) {
	b := m.Buf(1)
	n := batchCount.Uint(b, m.Big)
	if m.Status < 0 {
		n++ // the one that failed is there, but does not count
	}
	for b = b[min(len(b), batchUpdateReply.Size):]; n > 0 && len(b) >= LustreMsg.Size; n-- {
		var a FileAttrs
		var layout []byte
		if lmOpc.Uint(b, m.Big) == 0 && intentResult(messageBuffer(b, 0, m.Big), m.Big) == 0 {
			a = fileAttrs(messageBuffer(b, 1, m.Big), m.Big)
			if valid := mboValid.Uint(messageBuffer(b, 1, m.Big), m.Big); valid&(mdLinkname|mdDirEA) == 0 || valid&mdMEA != 0 {
				layout = wholeLayout(messageBuffer(b, 2, m.Big))
			}
		}
		f(a, layout)
		b = b[min(len(b), bufferAt(b, messageBuffers(b, m.Big), m.Big)):]
	}
}

// IsStripeName reports whether a name is that of a stripe in the directory that is
// striped, such as [0x200000403:0x1:0x0]:2, where object is what it names.
func IsStripeName(name []byte, object FileID) bool {
	if len(name) == 0 || name[0] != '[' {
		return false
	}
	end := bytes.IndexByte(name, ']')
	if end < 0 || end+2 > len(name) || name[end+1] != ':' {
		return false
	}
	seq, oid, ver, ok := ParseFID(string(name[:end+1]))
	return ok && object == FileID{seq, oid, ver}
}
