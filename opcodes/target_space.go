package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// TargetSpace is what a target says about its space, in bytes and objects.
type TargetSpace struct {
	Size, Free, Available uint64 // Available is what may still be used: less than Free by what is reserved or granted
	Objects, FreeObjects  uint64
	Granted               uint64 // to clients for writes that they have cached
	State                 uint64 // of ObdStatfsState
}

var (
	osBfree   = obdStatfs.Field("os_bfree")
	osFiles   = obdStatfs.Field("os_files")
	osGranted = obdStatfs.Field("os_granted")
)

// TargetSpaceOf reads the reply to an OST_STATFS or MDS_STATFS; ok is false when it
// has none, or when the numbers are those of the whole file system.
func TargetSpaceOf(m *Msg) (s TargetSpace, ok bool) {
	b := m.Buf(1)
	if m.Status < 0 || len(b) < osGranted.Off+osGranted.Size {
		return s, false
	}
	block := osBsize.Uint(b, m.Big)
	s = TargetSpace{
		Size: osBlocks.Uint(b, m.Big) * block, Free: osBfree.Uint(b, m.Big) * block, Available: osBavail.Uint(b, m.Big) * block,
		Objects: osFiles.Uint(b, m.Big), FreeObjects: osFfree.Uint(b, m.Big),
		Granted: osGranted.Uint(b, m.Big) * block, State: osState.Uint(b, m.Big),
	}
	return s, s.Size != 0 && s.State&sumOfTargets == 0
}

var sumOfTargets = ObdStatfsState.Bit("SUM")
