package opcodes

import (
	"bytes"

	. "github.com/lshark/lshark/opcodes/schema"
)

// RecoveryTable is the name of the variant of MGS_CONFIG_READ that reads where targets
// run now.
const RecoveryTable = "recover"

// MovedTargets calls f for each entry of the table of imperative recovery: the kind of
// the target, MDT or OST, its index and the number of its start.
func MovedTargets(table []byte, big bool, f func(kind string, index, instance uint32)) {
	for len(table) >= mgsNidtblEntry.Size {
		f(nidtblType.Name(mneType.Uint(table, big)), uint32(mneIndex.Uint(table, big)), uint32(mneInstance.Uint(table, big)))
		n := int(mneLength.Uint(table, big))
		if n < mgsNidtblEntry.Size || n > len(table) {
			return
		}
		table = table[n:]
	}
}

// RegisteredTarget returns the name of the target in an MGS_TARGET_REG.
func RegisteredTarget(m *Msg) (name []byte, ok bool) {
	name, _, ok = bytes.Cut(mtiSvname.Bytes(m.Buf(1)), []byte{0})
	return name, ok && len(name) > 0
}

var (
	mneInstance = mgsNidtblEntry.Field("mne_instance")
	mneIndex    = mgsNidtblEntry.Field("mne_index")
	mneType     = mgsNidtblEntry.Field("mne_type")
)
