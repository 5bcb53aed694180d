package link

// Bounds of what is held of unfinished IP packets.
const (
	maxFragmentedPackets = 256
	maxFragmentBytes     = 4 << 20
	maxFragmentAge       = 30e9 // ns; Linux gives up after as long
	maxPacket            = 1 << 16
	maxParts             = 1 << 10 // of one packet
)

type fragmentKey struct {
	addresses
	source int32
	proto  byte
	six    bool
	id     uint32
}

type fragment struct {
	off  int
	more bool // not the last one
	span
}

// partialPacket is an IP packet whose fragments are not all there.
type partialPacket struct {
	parts []fragment
	since int64
	bytes int
	size  int // of the whole, 0 while the last fragment is missing
}

// fragments reassembles IP packets from their fragments.
type fragments struct {
	packets map[fragmentKey]*partialPacket
	bytes   int
	whole   []byte // the packet just finished
}

// add takes one fragment; when it completes its packet it returns the packet,
// valid until the next call. Bytes behind the first that was not captured
// count as not captured.
func (fs *fragments) add(key fragmentKey, f fragment, now int64) (span, bool) {
	if f.off+f.wire > maxPacket || f.wire == 0 {
		return span{}, false
	}
	p := fs.packets[key]
	if p != nil && now-p.since > maxFragmentAge {
		fs.drop(key)
		p = nil
	}
	if p != nil && fs.bytes+f.wire > maxFragmentBytes {
		fs.drop(key) // fragments that overlap would never end
		return span{}, false
	}
	if p == nil {
		fs.makeRoom(f.wire)
		p = &partialPacket{since: now}
		fs.packets[key] = p
	}
	if len(p.parts) >= maxParts {
		return span{}, false
	}
	for _, q := range p.parts {
		if q.off == f.off {
			return span{}, false // a duplicate
		}
	}
	if !f.more {
		p.size = f.off + f.wire
	}
	f.data = append([]byte(nil), f.data...)
	p.parts = append(p.parts, f)
	p.bytes += f.wire
	fs.bytes += f.wire
	if p.size == 0 || p.bytes < p.size {
		return span{}, false
	}
	fs.drop(key)
	return fs.join(p), true
}

// makeRoom keeps the bounds when a packet begins with a fragment of n bytes. If a
// bound is reached it drops all other packets, because so many of them will never
// be complete.
func (fs *fragments) makeRoom(n int) {
	if fs.packets == nil {
		fs.packets = make(map[fragmentKey]*partialPacket)
	}
	if len(fs.packets) >= maxFragmentedPackets || fs.bytes+n > maxFragmentBytes {
		clear(fs.packets)
		fs.bytes = 0
	}
}

func (fs *fragments) drop(key fragmentKey) {
	fs.bytes -= fs.packets[key].bytes
	delete(fs.packets, key)
}

// join copies the parts to their places, up to the first byte that is missing.
func (fs *fragments) join(p *partialPacket) span {
	fs.whole = fs.whole[:0]
	for len(fs.whole) < p.size {
		at := len(fs.whole)
		for _, f := range p.parts {
			if f.off <= at && at < f.off+len(f.data) {
				fs.whole = append(fs.whole, f.data[at-f.off:]...)
				break
			}
		}
		if len(fs.whole) == at {
			break
		}
	}
	return span{fs.whole[:min(len(fs.whole), p.size)], p.size}
}
