package wiretest

// Attributes of the messages of the connection manager.
const (
	CMReq  = 0x0010
	CMMra  = 0x0011
	CMRej  = 0x0012
	CMRep  = 0x0013
	CMRtu  = 0x0014
	CMDreq = 0x0015
	CMDrep = 0x0016
)

// cmData is the length of the data of a message of the connection manager.
const cmData = 232

// CM sends a message of the connection manager: a datagram to queue pair 1, with
// up to 232 bytes of data.
func (c *QueuePairs) CM(back bool, attribute uint16, data []byte) *QueuePairs {
	const queueKey = 0x80010000
	from, to := c.ends(back)
	version := []byte{1, 7, 2, 3} // class of communication management, its version, Send
	mad := pack(be, version, uint32(0), c.trans, attribute, make([]byte, 6), data, make([]byte, cmData-len(data)))
	c.packet(from, to, Join(BTH(UDSendOnly, management, 0, false), DETH(queueKey, management)), mad)
	return c
}

// ids builds the begin of all messages of the connection manager but REQ.
func ids(from, to *QueuePair) []byte { return pack(be, from.CommID, to.CommID) }

// Connect opens the connection: REQ, REP, RTU, with the private data of the first
// two.
func (c *QueuePairs) Connect(req, rep []byte) *QueuePairs {
	c.trans++
	return c.CM(false, CMReq, c.Req(req)).CM(true, CMRep, c.Rep(rep)).CM(false, CMRtu, ids(&c.A, &c.B))
}

// Disconnect closes the connection: DREQ, DREP.
func (c *QueuePairs) Disconnect(back bool) *QueuePairs {
	from, to := c.ends(back)
	c.trans++
	return c.CM(back, CMDreq, pack(be, ids(from, to), to.Number<<8)).CM(!back, CMDrep, ids(to, from))
}

// Reject answers a REQ with a REJ, with private data.
func (c *QueuePairs) Reject(reason uint16, private []byte) *QueuePairs {
	const answersReq = 0 << 6
	// B has no id yet.
	return c.CM(true, CMRej, pack(be, uint32(0), c.A.CommID, byte(answersReq), byte(0), reason, make([]byte, 72), private))
}

// Req builds the data of a REQ of A, with a header for IP and private data.
func (c *QueuePairs) Req(private []byte) []byte {
	b := make([]byte, 140)
	be.PutUint32(b, c.A.CommID)
	be.PutUint64(b[8:], serviceID)
	be.PutUint64(b[16:], 0x0200_00ff_fe00_0001) // GUID of the adapter
	be.PutUint32(b[32:], c.A.Number<<8|1)       // responder resources
	be.PutUint32(b[36:], 1)                     // initiator depth
	be.PutUint32(b[40:], 20<<3)                 // timeout of the answer; RC
	be.PutUint32(b[44:], c.B.PSN<<8|20<<3|7)    // the number with which B begins; timeout; retries
	be.PutUint16(b[48:], 0xffff)                // partition
	b[50] = 3<<4 | 7                            // MTU 1024; retries when the receiver is not ready
	be.PutUint16(b[52:], 0xffff)                // LIDs that stand for none
	be.PutUint16(b[54:], 0xffff)
	src, dst := c.A.Addr.As16(), c.B.Addr.As16()
	copy(b[56:], src[:]) // GIDs
	copy(b[72:], dst[:])
	ip := make([]byte, 4, 36) // header of the RDMA connection manager
	ip[1] = 4 << 4
	be.PutUint16(ip[2:], 40000) // port of A
	if c.A.Addr.Is6() && !c.A.Addr.Is4In6() {
		ip[1] = 6 << 4
	} else {
		src, dst = ipv4Form(src), ipv4Form(dst)
	}
	ip = append(append(ip, src[:]...), dst[:]...)
	return Join(b, ip, private)
}

// ipv4Form returns the form of an IPv4 address in the header of the RDMA
// connection manager: behind 12 zero bytes.
func ipv4Form(mapped [16]byte) (b [16]byte) {
	copy(b[12:], mapped[12:])
	return b
}

// Rep builds the data of a REP of B, with private data.
func (c *QueuePairs) Rep(private []byte) []byte {
	b := append(ids(&c.B, &c.A), make([]byte, 28)...)
	be.PutUint32(b[12:], c.B.Number<<8)
	be.PutUint32(b[20:], c.A.PSN<<8)
	b[24], b[25] = 1, 1 // responder resources, initiator depth
	b[27] = 7 << 5      // retries when the receiver is not ready
	be.PutUint64(b[28:], 0x0200_00ff_fe00_0002)
	return Join(b, private)
}
