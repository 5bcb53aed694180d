package opcodes

import (
	"bytes"
	"strconv"
	"time"

	. "github.com/lshark/lshark/opcodes/schema"
)

// Bits of cr_flags and cr_extra_flags.
const (
	clfRename  = 0x2000
	clfJobid   = 0x4000
	clfExtra   = 0x8000
	clfTypeful = 0x0fff // the bits whose meaning depends on the type

	clfeUidgid = 0x1
	clfeNid    = 0x2
	clfeOpen   = 0x4
	clfeXattr  = 0x8
	clfeNidBE  = 0x10

	changelogNidSize = 24
)

// changelogMarks are the short names of changes that lfs prints.
var changelogMarks = [...]string{"MARK", "CREAT", "MKDIR", "HLINK", "SLINK", "MKNOD", "UNLNK", "RMDIR", "RENME", "RNMTO",
	"OPEN", "CLOSE", "LYOUT", "TRUNC", "SATTR", "XATTR", "HSM", "MTIME", "CTIME", "ATIME", "MIGRT", "FLRW", "RESYNC", "GXATR",
	"NOPEN"}

// changelog is a changelog record taken apart.
type changelog struct {
	rec    []byte // struct changelog_rec, and what follows it
	big    bool
	flags  uint64
	extra  uint64
	rename []byte
	jobid  []byte
	uidgid []byte
	nid    []byte
	open   []byte
	xattr  []byte
	names  []byte
}

// parse takes the record that starts with its llog header at b apart; parts
// that are not all there are nil.
func (c *changelog) parse(b []byte, big bool) {
	if len(b) < llogRecHdr.Size+changelogRec.Size {
		return
	}
	c.rec, c.big = b[llogRecHdr.Size:], big
	c.flags = crFlags.Uint(c.rec, big)
	rest := c.rec[changelogRec.Size:]
	part := func(there bool, n int) []byte {
		if !there || len(rest) < n {
			return nil
		}
		p := rest[:n]
		rest = rest[n:]
		return p
	}
	c.rename = part(c.flags&clfRename != 0, changelogExtRename.Size)
	c.jobid = part(c.flags&clfJobid != 0, changelogExtJobid.Size)
	if x := part(c.flags&clfExtra != 0, changelogExtExtraFlags.Size); x != nil {
		c.extra = ReadUint(x, big)
	}
	c.uidgid = part(c.extra&clfeUidgid != 0, changelogExtUidgid.Size)
	c.nid = part(c.extra&clfeNid != 0, changelogNidSize)
	c.open = part(c.extra&clfeOpen != 0, changelogExtOpenmode.Size)
	c.xattr = part(c.extra&clfeXattr != 0, changelogExtXattr.Size)
	c.names = rest[:min(len(rest), int(crNamelen.Uint(c.rec, big)))]
}

// name is the name of the entry; old is the one a renamed object had.
func (c *changelog) name() (name, old []byte) {
	name = c.names
	if c.rename != nil {
		name, old, _ = bytes.Cut(c.names, []byte{0})
	}
	return name, TrimNUL(old)
}

func hasChangelogFlag(v *View, bit uint64) bool {
	var c changelog
	c.parse(v.Struct, v.Big)
	return c.flags&bit != 0
}

func changelogExtra(v *View) uint64 {
	var c changelog
	c.parse(v.Struct, v.Big)
	return c.extra
}

// hasLargeNid is asked in the part with the NID.
func hasLargeNid(v *View) bool { return v.Up != nil && changelogExtra(v.Up)&clfeNidBE != 0 }

// changelogNameSize counts the NUL that parts two names.
func changelogNameSize(v *View) int {
	var c changelog
	c.parse(v.Struct, v.Big)
	name, _ := c.name()
	if len(name) < len(c.names) {
		return len(name) + 1
	}
	return len(name)
}

func changelogOldNameSize(v *View) int {
	var c changelog
	c.parse(v.Struct, v.Big)
	_, old := c.name()
	return len(old)
}

// changelogTime splits cr_time.
func changelogTime(t uint64) time.Time {
	const bits = 30 // of the nanoseconds
	return time.Unix(int64(t>>bits), int64(t&(1<<bits-1))).UTC()
}

func changelogTimeRemark(v *View, dst []byte) []byte {
	return changelogTime(crTime.Uint(v.Struct, v.Big)).AppendFormat(dst, "2006-01-02 15:04:05.000000000 UTC")
}

// changelogText writes the line that lfs prints for a record.
func changelogText(v *View, dst []byte) []byte {
	var c changelog
	c.parse(v.Struct, v.Big)
	if c.rec == nil {
		return dst
	}
	dst = c.appendHead(dst)
	if c.jobid != nil {
		dst = append(append(dst, " j="...), TrimNUL(c.jobid)...)
	}
	if c.flags&clfExtra != 0 {
		dst = c.appendExtra(dst)
	}
	if !zeroBytes(crPfid.Bytes(c.rec)[:crPfid.Size]) {
		dst = c.appendFID(append(dst, " p="...), crPfid.Bytes(c.rec))
	}
	name, old := c.name()
	if len(name) > 0 {
		dst = append(append(dst, ' '), name...)
	}
	if c.rename != nil && !zeroBytes(c.rename[:16]) {
		dst = c.appendFID(append(dst, " s="...), c.rename)
		dst = c.appendFID(append(dst, " sp="...), c.rename[16:])
		dst = append(append(dst, ' '), old...)
	}
	return dst
}

// appendHead: "5 08RENME 08:26:29.681891870 2026.11.21 0x0 t=[…]".
func (c *changelog) appendHead(dst []byte) []byte {
	dst = strconv.AppendUint(dst, crIndex.Uint(c.rec, c.big), 10)
	kind := crType.Uint(c.rec, c.big)
	dst = append(dst, ' ')
	if kind < 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendUint(dst, kind, 10)
	width := len(dst) + 5
	if kind < uint64(len(changelogMarks)) {
		dst = append(dst, changelogMarks[kind]...)
	}
	for len(dst) < width {
		dst = append(dst, ' ')
	}
	dst = changelogTime(crTime.Uint(c.rec, c.big)).AppendFormat(dst, " 15:04:05.000000000 2006.01.02 ")
	dst = AppendHex(dst, c.flags&clfTypeful)
	if kind == 0 {
		return AppendHex(append(dst, " mark="...), ReadUint(crTfid.Bytes(c.rec)[:4], c.big))
	}
	return c.appendFID(append(dst, " t="...), crTfid.Bytes(c.rec))
}

// appendFID writes a sequence of zero as lfs does, without "0x".
func (c *changelog) appendFID(dst, fid []byte) []byte {
	if ReadUint(fid[:8], c.big) != 0 {
		return AppendFIDBytes(dst, fid, c.big)
	}
	dst = AppendHex(append(dst, "[0:"...), ReadUint(fid[8:12], c.big))
	return append(AppendHex(append(dst, ':'), ReadUint(fid[12:16], c.big)), ']')
}

func (c *changelog) appendExtra(dst []byte) []byte {
	dst = AppendHex(append(dst, " ef="...), c.extra)
	if c.uidgid != nil {
		dst = strconv.AppendUint(append(dst, " u="...), ReadUint(c.uidgid[:8], c.big), 10)
		dst = strconv.AppendUint(append(dst, ':'), ReadUint(c.uidgid[8:16], c.big), 10)
	}
	switch {
	case c.nid == nil:
	case c.extra&clfeNidBE != 0:
		dst = AppendNIDBytes(append(dst, " nid="...), c.nid)
	default:
		dst = AppendNID4(append(dst, " nid="...), ReadUint(c.nid[:8], c.big))
	}
	if c.open != nil {
		mode := ReadUint(c.open, c.big)
		dst = append(dst, " m="...)
		for i, letter := range "rwx" {
			if mode>>i&1 != 0 {
				dst = append(dst, byte(letter))
			} else {
				dst = append(dst, '-')
			}
		}
	}
	if c.xattr != nil {
		dst = append(append(dst, " x="...), TrimNUL(c.xattr)...)
	}
	return dst
}

func zeroBytes(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
