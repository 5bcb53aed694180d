package capture

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The ring is memory shared with the kernel (TPACKET_V3): blocks that the kernel
// fills with frames and passes on when they are full or old enough.
const (
	blockBytes  = 1 << 20 // a frame cannot be longer
	blockAge    = 60      // ms until a block that is not full is passed on
	frameStep   = 1 << 16 // bytes; not used in this version, but checked
	frameSpace  = 32      // bytes kept free before a frame, for a cooked header and a VLAN tag
	headerBytes = 48      // struct tpacket3_hdr; struct sockaddr_ll follows
)

// Offsets in struct tpacket_block_desc.
const (
	blockStatus = 8
	blockCount  = 12
	blockFirst  = 16
)

type ring struct {
	mem    []byte
	blocks int
	block  int    // index of the block that is read, or is next
	held   bool   // the block belongs to this program, not to the kernel
	left   uint32 // frames of the block that are not read yet
	at     int    // offset in mem of the next frame
}

// newRing creates and maps a ring of size bytes, or fewer if memory is short.
func newRing(fd, size int) (*ring, error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return nil, os.NewSyscallError("packet version", err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_RESERVE, frameSpace); err != nil {
		return nil, os.NewSyscallError("packet reserve", err)
	}
	for blocks := max(size/blockBytes, 2); ; blocks /= 2 {
		err := unix.SetsockoptTpacketReq3(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &unix.TpacketReq3{
			Block_size: blockBytes, Block_nr: uint32(blocks),
			Frame_size: frameStep, Frame_nr: uint32(blocks * blockBytes / frameStep),
			Retire_blk_tov: blockAge,
		})
		if err == unix.ENOMEM && blocks > 2 {
			continue
		}
		if err != nil {
			return nil, os.NewSyscallError("packet ring", err)
		}
		mem, err := unix.Mmap(fd, 0, blocks*blockBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return nil, os.NewSyscallError("mmap", err)
		}
		return &ring{mem: mem, blocks: blocks}, nil
	}
}

func (r *ring) close() error { return os.NewSyscallError("munmap", unix.Munmap(r.mem)) }

// status returns the word that states who owns the block: the kernel or this
// program.
func (r *ring) status() *uint32 {
	return (*uint32)(unsafe.Pointer(&r.mem[r.block*blockBytes+blockStatus]))
}

// next returns the next frame, if there is one. The previous frame is no longer
// valid: its block may have been returned to the kernel.
func (r *ring) next() (packet, bool) {
	for r.left == 0 {
		if r.held {
			atomic.StoreUint32(r.status(), unix.TP_STATUS_KERNEL)
			r.held = false
			r.block = (r.block + 1) % r.blocks
		}
		if atomic.LoadUint32(r.status())&unix.TP_STATUS_USER == 0 {
			return packet{}, false
		}
		start := r.block * blockBytes
		r.held = true
		r.left = binary.NativeEndian.Uint32(r.mem[start+blockCount:])
		r.at = start + int(binary.NativeEndian.Uint32(r.mem[start+blockFirst:]))
	}
	p := packet{mem: r.mem, at: r.at}
	r.left--
	r.at += int(p.word(0))
	return p, true
}

// packet is a frame in the ring, at its struct tpacket3_hdr and struct
// sockaddr_ll.
type packet struct {
	mem []byte
	at  int
}

func (p packet) word(offset int) uint32 { return binary.NativeEndian.Uint32(p.mem[p.at+offset:]) }

func (p packet) half(offset int) uint16 { return binary.NativeEndian.Uint16(p.mem[p.at+offset:]) }

// time returns the time stamp of the kernel, nanoseconds since the epoch.
func (p packet) time() int64 { return int64(p.word(4))*1e9 + int64(p.word(8)) }

func (p packet) index() int32 { return int32(p.word(headerBytes + 4)) }

// kind returns PACKET_HOST, PACKET_OUTGOING and so on.
func (p packet) kind() byte { return p.mem[p.at+headerBytes+10] }

// bounds returns the begin and the end of the frame in mem, and its length on the
// wire.
func (p packet) bounds() (begin, end, size int) {
	begin = p.at + int(p.half(24))
	return begin, begin + int(p.word(12)), int(p.word(16))
}

// tag returns the VLAN tag that the kernel removed from the frame.
func (p packet) tag() (etherType, value uint16, ok bool) {
	status := p.word(20)
	if status&unix.TP_STATUS_VLAN_VALID == 0 {
		return 0, 0, false
	}
	etherType = unix.ETH_P_8021Q
	if status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
		etherType = p.half(36)
	}
	return etherType, uint16(p.word(32)), true
}

// ethernet returns the frame with its VLAN tag, and its length on the wire.
func (p packet) ethernet() ([]byte, int) {
	begin, end, size := p.bounds()
	const addresses, tagBytes = 12, 4
	if etherType, value, ok := p.tag(); ok && end-begin >= addresses {
		copy(p.mem[begin-tagBytes:], p.mem[begin:begin+addresses])
		begin -= tagBytes
		size += tagBytes
		binary.BigEndian.PutUint16(p.mem[begin+addresses:], etherType)
		binary.BigEndian.PutUint16(p.mem[begin+addresses+2:], value)
	}
	return p.mem[begin:end:end], size
}

// cooked returns the packet behind a LINUX_SLL2 header that it makes from the
// socket address, and the length on the wire with that header.
func (p packet) cooked() ([]byte, int) {
	begin, end, size := p.bounds()
	const header, tagBytes = 20, 4
	from := p.mem[p.at+headerBytes:]
	protocol := binary.BigEndian.Uint16(from[2:])
	if etherType, value, ok := p.tag(); ok {
		begin -= tagBytes
		size += tagBytes
		binary.BigEndian.PutUint16(p.mem[begin:], value)
		binary.BigEndian.PutUint16(p.mem[begin+2:], protocol)
		protocol = etherType
	}
	begin -= header
	h := p.mem[begin : begin+header]
	binary.BigEndian.PutUint16(h, protocol)
	binary.BigEndian.PutUint16(h[2:], 0)
	binary.BigEndian.PutUint32(h[4:], uint32(p.index()))
	binary.BigEndian.PutUint16(h[8:], binary.NativeEndian.Uint16(from[8:])) // hardware type
	h[10], h[11] = from[10], from[11]                                       // packet type, address length
	copy(h[12:], from[12:20])
	return p.mem[begin:end:end], size + header
}
