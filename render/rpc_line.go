package render

import (
	"strconv"

	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/track"
)

// RPCSummary renders an RPC as one line.
type RPCSummary struct {
	opt   SummaryOptions
	c     *Colors
	stamp Stamp
	text  []byte

	// Widths of columns, which grow to the widest value so far: lines stay
	// aligned.
	time, client, server, op, latency int
	maxOp                             int // a wider operation shifts the rest of its own line only
}

// NewRPCSummary makes a summary renderer of RPCs.
func NewRPCSummary(o SummaryOptions) *RPCSummary {
	s := &RPCSummary{opt: o, c: o.Colors, time: 9, client: 9, server: 9, op: 18, maxOp: 20, latency: 8}
	if o.Wide() {
		s.server, s.op, s.maxOp = 24, 26, 30
	}
	return s
}

// AppendRPC appends the line of an RPC.
func (s *RPCSummary) AppendRPC(dst []byte, r *track.RPC, at Moment) []byte {
	c, start := s.c, len(dst)
	wide := s.opt.Wide()
	s.text = s.stamp.Append(s.text[:0], s.opt.Time, r.Begin(), at, wide)
	dst = AppendRight(dst, &c.Dim, s.text, &s.time)
	s.text = AppendNID(s.text[:0], r.Client, s.opt.FullNIDs)
	dst = AppendLeft(append(dst, ' '), &c.NID, s.text, &s.client)
	dst = c.Dim.Append(append(dst, ' '), ">")
	s.text = s.destination(s.text[:0], r, wide)
	dst = AppendLeft(append(dst, ' '), &c.NID, s.text, &s.server)
	dst, excess := s.operation(append(dst, ' '), r)
	dst = s.outcome(append(dst, ' '), r, excess)
	dst = s.details(dst, r, start)
	for len(dst) > start && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '\n')
}

// destination appends the target of an RPC, or the server where the target is
// unknown; with both, server and target. A callback goes to the client, so the
// target alone would mislead.
func (s *RPCSummary) destination(dst []byte, r *track.RPC, both bool) []byte {
	t := r.Target()
	named := t != "" && (both || !track.IsCallback(r.Opcode))
	if !named || both {
		dst = AppendNID(dst, r.Server, s.opt.FullNIDs)
	}
	if named && both {
		dst = append(dst, ' ')
	}
	if named {
		dst = schema.AppendText(dst, []byte(t))
	}
	return dst
}

// AppendNID appends a NID, without @tcp unless it is to be full.
func AppendNID(dst []byte, nid lnet.NID, full bool) []byte {
	const defaultNet = "@tcp"
	start := len(dst)
	dst = nid.Append(dst)
	if n := len(dst) - len(defaultNet); !full && n > start && string(dst[n:]) == defaultNet {
		return dst[:n]
	}
	return dst
}

// operation appends the operation and returns by how many columns it is too
// wide.
func (s *RPCSummary) operation(dst []byte, r *track.RPC) (line []byte, excess int) {
	s.text = s.text[:0]
	switch {
	case r.HasOpcode:
		s.text = AppendOpcode(s.text, r.Opcode)
	case r.Encrypted:
		s.text = append(s.text, "(encrypted)"...)
	default:
		s.text = append(s.text, "(unknown)"...)
	}
	if r.Variant != nil && r.Variant.Name != "" {
		s.text = append(append(s.text, ' '), r.Variant.Name...)
	}
	st := &s.c.Op
	switch {
	case r.IsExpectedError():
	case r.Failed():
		st = &s.c.Bad
	case r.Opcode == opcodes.OBD_PING:
		st = &s.c.Dim
	}
	dst = appendLeftUpTo(dst, st, s.text, &s.op, s.maxOp)
	return dst, max(0, Width(s.text)-s.op)
}

// AppendOpcode appends the name of an operation, or its number.
func AppendOpcode(dst []byte, opc uint32) []byte {
	if name := opcodes.Opcodes.Name(uint64(opc)); name != "" {
		return append(dst, name...)
	}
	return strconv.AppendUint(dst, uint64(opc), 10)
}

// missingTexts are the words for a reply that is missing.
var missingTexts = [...]string{
	track.NotMissing:     "no reply",
	track.CaptureEnded:   "end",
	track.Unanswered:     "no reply",
	track.NotCaptured:    "uncaptured",
	track.EncryptedReply: "encrypted",
}

// outcome appends the latency and the status, or why there is no latency. The
// operation before it takes excess columns of the space before the latency.
func (s *RPCSummary) outcome(dst []byte, r *track.RPC, excess int) []byte {
	c := s.c
	st := &c.Num
	s.text = s.text[:0]
	switch ns, ok := r.Latency(); {
	case ok:
		s.text = AppendLatency(s.text, ns)
	case r.OneWay:
		st, s.text = &c.Dim, append(s.text, "one way"...)
	case !r.HasReply:
		st, s.text = &c.Warn, append(s.text, missingTexts[r.Missing]...)
	default:
		st, s.text = &c.Dim, append(s.text, "no request"...)
	}
	s.latency = max(s.latency, len(s.text))
	room := s.latency - excess
	dst = AppendRight(dst, st, s.text, &room)
	switch lock := opcodes.LockStatus(r.Opcode, r.Status); {
	case r.Failed():
		st := &c.Bad
		if r.IsExpectedError() {
			st = &c.Dim
		}
		s.text = records.AppendErrno(s.text[:0], r.Status)
		dst = st.Append(append(dst, ' '), string(s.text))
	case lock != "":
		dst = c.Flag.Append(append(dst, ' '), lock)
	case r.Status > 0:
		s.text = strconv.AppendInt(s.text[:0], int64(r.Status), 10)
		dst = c.Dim.Append(append(dst, ' '), string(s.text))
	}
	if len(r.OtherErrors) == 0 {
		return dst
	}
	dst = append(dst, ' ')
	if r.Sends > 1 {
		dst = c.Dim.Append(dst, "was ") // before it was sent again
	}
	s.text = s.text[:0]
	for i, e := range r.OtherErrors {
		if i > 0 {
			s.text = append(s.text, ',')
		}
		s.text = records.AppendErrno(s.text, e)
	}
	return c.Bad.Append(dst, string(s.text))
}

// details appends further values, those that there is room for.
func (s *RPCSummary) details(dst []byte, r *track.RPC, start int) []byte {
	c := s.c
	add := func(label string, st *Style, value []byte) {
		if len(value) == 0 {
			return
		}
		if s.opt.Width > 0 && Width(dst[start:])+1+len(label)+Width(value) > s.opt.Width {
			return
		}
		dst = append(dst, ' ')
		if label != "" {
			dst = c.Dim.Append(dst, label)
		}
		dst = append(append(append(dst, st.on...), value...), st.off...)
	}
	var buf [128]byte
	b := buf[:0]
	add("", &c.Flag, appendLockWait(b, r))
	if n := r.BulkBytes(); n > 0 {
		add("bulk=", &c.Num, AppendSize(b, n))
	}
	if r.Sends > 1 {
		add("sends=", &c.Warn, strconv.AppendInt(b, int64(r.Sends), 10))
	}
	if r.Early > 0 {
		add("early=", &c.Warn, strconv.AppendInt(b, int64(r.Early), 10))
	}
	if flags := r.Flags & records.SendFlags; flags != 0 {
		add("", &c.Warn, AppendFlags(b, opcodes.MsgFlags, uint64(flags), "|"))
	}
	add("", &c.Name, schema.AppendText(b, r.Name()))
	if r.HasFID {
		add("", &c.FID, schema.AppendFID(b, r.FID.Seq, r.FID.OID, r.FID.Ver))
	}
	if limit, ok := r.ServiceLimit(); ok && r.Service > 1 {
		add("service<", &c.Num, append(strconv.AppendInt(b, limit, 10), 's'))
	}
	if n := r.Retransmits(); n > 0 {
		v := strconv.AppendInt(b, int64(n), 10)
		if ns, ok := r.RetransmitTime(); ok && ns > 0 {
			v = append(AppendLatency(append(v, '('), ns), ')')
		}
		add("rtx=", &c.Warn, v)
		if ns, ok := r.RTT(); ok {
			add("rtt=", &c.Num, AppendLatency(b, ns))
		}
	}
	if ns, ok := r.NodeTime(); ok {
		add("node=", &c.Num, AppendLatency(b, ns))
	}
	add("job=", &c.Name, schema.AppendText(b, r.Job()))
	if r.HasReply && r.Transno != 0 {
		add("transno=", &c.FID, strconv.AppendUint(b, r.Transno, 10))
	}
	if p := r.Requested(); p.Frame != 0 {
		add("frame=", &c.Dim, strconv.AppendInt(b, p.Frame, 10))
	}
	return dst
}

// appendLockWait appends how long a lock had to wait and how that ended, nothing
// when it had not to wait.
func appendLockWait(dst []byte, r *track.RPC) []byte {
	ns, ok := r.LockWait()
	if !ok {
		return dst
	}
	dst = append(dst, "waits, "...)
	end, p := r.LockWaitEnd()
	switch end {
	case track.LockWaitCaptureEnded:
		dst = append(dst, "not granted by the end of the capture after "...)
	case track.LockWaitPending:
		dst = append(dst, "not granted after "...)
	default:
		dst = append(append(dst, end.String()...), " after "...)
	}
	if dst = AppendLatency(dst, roundLatency(ns)); p.Frame != 0 {
		dst = strconv.AppendInt(append(dst, " in frame "...), p.Frame, 10)
	}
	return dst
}

// AppendSize appends a number of bytes with a unit: 512, 4K, 1.5M.
func AppendSize(dst []byte, n int64) []byte {
	const units = "KMGTPE"
	if n < 1024 {
		return strconv.AppendInt(dst, n, 10)
	}
	u, v := 0, float64(n)/1024
	for v >= 1023.95 && u < len(units)-1 {
		u, v = u+1, v/1024
	}
	if v < 10 && v != float64(int64(v)) {
		dst = strconv.AppendFloat(dst, v, 'f', 1, 64)
	} else {
		dst = strconv.AppendFloat(dst, v, 'f', 0, 64)
	}
	return append(dst, units[u])
}
