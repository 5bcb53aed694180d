package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

// Quota commands that fill the quota_iter buffer.
const (
	qIterQuota  = 0x800017
	qIterOQuota = 0x800018
)

// Sizes of the items in a quota_iter buffer.
const (
	iterGlbSize  = 40
	iterAcctSize = 24
)

// Offsets in obd_quotactl of the sizes of the two halves.
const (
	iterFirstAt  = 40 + 8
	iterSecondAt = 40 + 32
)

// graceBits are the time in a word whose top bits are flags.
const graceBits = 48

// quotaIDForm is the kind of id in a lquota_id: by the index that goes with
// it, empty when it is a FID.
func quotaIDForm(v *View) string {
	if len(v.Struct) >= 16 && ReadUint(v.Struct[8:16], v.Big) != 0 {
		return ""
	}
	return quotaIDKind(quotaIndexOID(v))
}

// quotaIndexOID is the object id of the quota index that an id belongs to: it
// stands before the id in a quota_body, and in the lock's name with a glimpse.
func quotaIndexOID(v *View) uint64 {
	up := v.Up
	if up == nil || up.Type == nil {
		return 0
	}
	if up.Type.Name == "quota_body" && len(up.Struct) >= 12 {
		return ReadUint(up.Struct[8:12], up.Big)
	}
	if req := v.Msg.Buf(1); len(req) >= handlesAt && up.Type.Name == "ldlm_gl_lquota_desc" {
		return requestLock(req, v.Msg.Big).u64(lockNameAt + 8)
	}
	return 0
}

// quotactlWord reads a word of the message's obd_quotactl.
func quotactlWord(v *View, at, size int) uint64 {
	b := v.Msg.Buf(1)
	if len(b) < at+size {
		return 0
	}
	return ReadUint(b[at:at+size], v.Msg.Big)
}

// listsIDs: the command lists all ids, and uses the limits for other things.
func listsIDs(v *View) bool {
	cmd := quotactlWord(v, 0, 4)
	return cmd == qIterQuota || cmd == qIterOQuota
}

func iterHalf(v *View) int { return len(v.Struct) / 2 }

// iterItems is the number of items in the bytes that obd_quotactl claims at
// that offset, at most as many as the room holds.
func iterItems(v *View, at, room, size int) int {
	used := quotactlWord(v, at, 8)
	return int(min(used, uint64(room))) / size
}

func iterMetadata(v *View) int { return iterItems(v, iterFirstAt, iterHalf(v), iterGlbSize) }
func iterData(v *View) int     { return iterItems(v, iterSecondAt, iterHalf(v), iterGlbSize) }

// iterUsage: usage lies in one part from the start on. MDTs give its size as
// that of the first half, OSTs as that of the second.
func iterUsage(v *View) int {
	room := len(v.Struct)
	return max(iterItems(v, iterFirstAt, room, iterAcctSize), iterItems(v, iterSecondAt, room, iterAcctSize))
}

// quotaIter chooses what a quota_iter buffer holds.
func quotaIter(v *View) *Field {
	switch quotactlWord(v, 0, 4) {
	case qIterQuota:
		return quotaIterForms[0]
	case qIterOQuota:
		return quotaIterForms[1]
	}
	return nil
}

var quotaIterForms = []*Field{Sub("", quotaIterLimits), Sub("", quotaIterUsage)}

// iterMeans says what a limit stands for in the commands that list all ids.
func iterMeans(text string) func(*View, []byte) []byte {
	return func(v *View, dst []byte) []byte {
		if listsIDs(v) {
			return append(dst, text...)
		}
		return dst
	}
}

// graceText splits a time with flags in its top bits.
func graceText(v *View, dst []byte) []byte {
	if len(v.Rest) < 8 {
		return dst
	}
	word := ReadUint(v.Rest[:8], v.Big)
	if word>>graceBits == 0 {
		return dst
	}
	l := PlainLine(append(dst, "flags "...))
	l.Flags(QuotaGraceFlags, word>>graceBits)
	l.Text = strconv.AppendUint(append(l.Text, ", time "...), word&(1<<graceBits-1), 10)
	return l.Text
}
