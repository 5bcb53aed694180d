package render

import (
	"cmp"
	"strconv"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// RPCSummary renders an RPC as one line.
type RPCSummary struct {
	opt    SummaryOptions
	text   []byte
	layout rpcLayout                  // chosen for the first RPC
	keys   []*records.Key[*track.RPC] // of RPCDetails
	val    records.Value
}

// NewRPCSummary makes a summary renderer of RPCs.
func NewRPCSummary(o SummaryOptions) *RPCSummary {
	s := &RPCSummary{opt: o, text: make([]byte, 0, 128)}
	for i := range RPCDetails {
		p, _ := records.RPCs.Find(RPCDetails[i].Key)
		s.keys = append(s.keys, p.Key)
	}
	return s
}

// Omitted names the columns that lines on a narrow terminal do not have, if any.
func (s *RPCSummary) Omitted() string {
	switch l := &s.layout; {
	case l.time == 0 || l.server > 0: // no line, or all columns
		return ""
	case l.target > 0:
		return "server"
	}
	return "server target"
}

// AppendRPC appends the line of an RPC.
func (s *RPCSummary) AppendRPC(dst *schema.Marked, r *track.RPC, at Moment) {
	if s.layout.time == 0 {
		s.layout = newRPCLayout(&s.opt, r)
	}
	l, start := &s.layout, len(dst.Text)
	if l.frame > 0 {
		s.text = s.text[:0]
		if p := r.Requested(); p.Frame > 0 {
			s.text = AppendFrame(s.text, p.File, p.Frame)
		}
		addCellEnd(dst.Spaces(l.frame-Width(s.text)), schema.Dim, s.text, min(l.frame, Width(s.text)))
		dst.Plain(" ")
	}
	s.text = s.opt.Time.Append(s.text[:0], r.Begin(), at, l.marks)
	addCellRight(dst, schema.Dim, fitTime(s.text, l.decimals, l.time), l.time)
	s.text = appendNode(s.text[:0], s.opt.NIDs, r.Client)
	addCellEnd(dst.Plain(" "), schema.Node, s.text, l.client)
	s.destination(dst, r)
	s.text = strconv.AppendUint(append(s.text[:0], 'x'), r.XID, 10)
	addCellLeft(dst.Plain(" "), schema.Dim, s.text, l.xid)
	if l.marks {
		dst.Plain(" ")
		s.operation(dst, r, l.op)
	}
	dst.Plain(" ")
	s.latency(dst, r)
	var status [64]byte
	text, st := s.status(status[:0], r)
	room := func() int { return s.opt.Width - Width(dst.Text[start:]) - 1 }
	if !l.marks {
		width, others := room(), 0
		if len(text) > 0 {
			others = 1 + len(text)
		}
		if ns, ok := r.LockWait(); ok {
			var wait [16]byte
			others += len(" waits ") + len(AppendLockWait(wait[:0], ns))
		}
		if others > 0 {
			width = max(width-others, min(l.op, width-2))
		}
		dst.Plain(" ")
		s.operation(dst, r, min(width, maxOpWidth))
	}
	if len(text) > 0 {
		width := len(text)
		if s.opt.Width > 0 {
			width = max(1, room())
		}
		AddTruncated(dst.Plain(" "), st, text, width)
	}
	s.details(dst, r, start)
	dst.TrimSpaces()
	dst.Text = append(dst.Text, '\n')
}

// destination appends the server and the target of an RPC. Without a column for servers, that of
// an unknown target is in the column of targets.
func (s *RPCSummary) destination(dst *schema.Marked, r *track.RPC) {
	l := &s.layout
	if l.server > 0 {
		s.text = appendNode(s.text[:0], s.opt.NIDs, r.Server)
		dst.Plain(" ").Add(schema.Dim, ">").Plain(" ")
		addCellEnd(dst, schema.Node, s.text, l.server)
	}
	if l.target == 0 {
		return
	}
	t, st := cmp.Or(r.Target(), r.TargetIndex()), schema.Node
	switch s.text = schema.AppendText(s.text[:0], []byte(t)); {
	case t != "":
	case l.server > 0:
		st, s.text = schema.Dim, append(s.text, '-')
	default:
		s.text = appendNode(s.text, s.opt.NIDs, r.Server)
	}
	addCellEnd(dst.Plain(" "), st, s.text, l.target)
}

// appendNode appends a NID, or - for one that is unknown: of an RPC that only a log has.
func appendNode(dst []byte, nids NIDs, n lnet.NID) []byte {
	if n == (lnet.NID{}) {
		return append(dst, '-')
	}
	return nids.Append(dst, n)
}

func (s *RPCSummary) operation(dst *schema.Marked, r *track.RPC, width int) {
	s.text = appendRPCOperation(s.text[:0], r)
	if !s.layout.marks {
		s.text = ShortenOpcode(s.text)
	} else if r.Variant.String() == "" {
		s.text = append(s.text, " -"...)
	}
	st := schema.Action
	switch {
	case r.IsExpectedError():
	case r.Failed():
		st = schema.Bad
	case r.Opcode == opcodes.OBD_PING:
		st = schema.Dim
	}
	if !s.layout.marks {
		AddTruncated(dst, st, s.text, width)
		return
	}
	addCellLeft(dst, st, s.text, width)
}

// appendRPCOperation appends the operation of an RPC, with ? where it is inferred, and its variant.
func appendRPCOperation(dst []byte, r *track.RPC) []byte {
	switch {
	case r.HasOpcode:
		dst = AppendOpcode(dst, r.Opcode)
	case r.Inferred != 0:
		dst = append(AppendOpcode(dst, r.Inferred), '?')
	case r.Encrypted:
		dst = append(dst, "(encrypted)"...)
	default:
		dst = append(dst, "(unknown)"...)
	}
	if name := r.Variant.String(); name != "" {
		dst = append(append(dst, ' '), name...)
	}
	return dst
}

// AppendOpcode appends the name of an operation, or its number.
func AppendOpcode(dst []byte, opc uint32) []byte {
	if name := opcodes.Opcodes.Name(uint64(opc)); name != "" {
		return append(dst, name...)
	}
	return strconv.AppendUint(dst, uint64(opc), 10)
}

var missingTexts = [...]string{
	track.NotMissing:     "no-reply",
	track.CaptureEnded:   "end",
	track.Unanswered:     "unanswered",
	track.NotCaptured:    "uncaptured",
	track.EncryptedReply: "encrypted",
}

// latency appends the latency, or why there is none.
func (s *RPCSummary) latency(dst *schema.Marked, r *track.RPC) {
	st := schema.Number
	s.text = s.text[:0]
	switch ns, ok := r.Latency(); {
	case ok:
		s.text = AppendLatency(s.text, ns)
	case r.OneWay:
		st, s.text = schema.Dim, append(s.text, "one-way"...)
	case r.Log != nil && r.Log.NotOnWire == debuglog.RequestUnseen:
		st, s.text = schema.Bad, append(s.text, "not-on-wire"...)
	case !r.HasReply:
		st, s.text = schema.Warning, append(s.text, missingTexts[r.Missing]...)
	case s.layout.marks:
		st, s.text = schema.Dim, append(s.text, "no-request"...)
	default:
		st, s.text = schema.Dim, append(s.text, '-')
	}
	width := s.layout.latency
	if !r.HasReply {
		width = max(width, len(s.text)) // a line without a status has room for it
	}
	addCellRight(dst, st, s.text, width)
}

// status appends the status of the reply, or else an error that is not in it: in
// parentheses. It returns the style of the text, too.
func (s *RPCSummary) status(dst []byte, r *track.RPC) ([]byte, schema.Role) {
	lock := opcodes.LockStatus(r.Opcode, r.Status)
	switch {
	case r.IsExpectedError():
		return records.AppendErrno(dst, r.Status), schema.Dim
	case r.Failed():
		return records.AppendErrno(dst, r.Status), schema.Bad
	case lock != "" && !r.IntentDone:
		return append(dst, lock...), schema.Flag
	case r.Status > 0 && !r.IntentDone:
		return strconv.AppendInt(dst, int64(r.Status), 10), schema.Dim
	case !r.HasReply:
		if s.layout.marks {
			dst = append(dst, '-')
		}
		return dst, schema.Dim
	case len(r.OtherErrors) > 0 && r.Sends <= 1:
		return appendOtherErrors(dst, r.OtherErrors), schema.Bad
	case s.layout.marks && r.IsLog() && !r.Has(opcodes.PbStatus):
		dst = append(dst, '-')
	case s.layout.marks:
		dst = append(dst, "ok"...)
	}
	return dst, schema.Dim
}

// appendOtherErrors appends errors that are not in the final status, in
// parentheses; a failed security context needs none, as its reply has no other
// status.
func appendOtherErrors(dst []byte, errors []int32) []byte {
	context := len(errors) == 1 && opcodes.GSSErrorName(errors[0]) != ""
	if !context {
		dst = append(dst, '(')
	}
	dst = appendJoined(dst, errors, ",", records.AppendErrno)
	if !context {
		dst = append(dst, ')')
	}
	return dst
}

// details appends further values, those that there is room for.
func (s *RPCSummary) details(dst *schema.Marked, r *track.RPC, start int) {
	add := func(label string, st schema.Role, value []byte) (added bool) {
		if len(value) == 0 {
			return false
		}
		if s.opt.Width > 0 && Width(dst.Text[start:])+1+len(label)+Width(value) > s.opt.Width {
			return false
		}
		dst.Text = append(dst.Text, ' ')
		if label != "" {
			dst.Add(schema.Dim, label)
		}
		dst.AddBytes(st, value)
		return true
	}
	b := s.text[:0]
	if len(r.OtherErrors) > 0 && r.HasReply && (r.Failed() || r.Status > 0 && !r.IntentDone || r.Sends > 1) {
		if r.Sends > 1 { // before it was sent again
			add("was ", schema.Bad, appendJoined(b, r.OtherErrors, ",", records.AppendErrno))
		} else {
			add("", schema.Bad, appendOtherErrors(b, r.OtherErrors))
		}
	}
	if ns, ok := r.LockWait(); ok {
		if !add("", schema.Flag, appendLockWaitText(b, r)) {
			add("waits ", schema.Flag, AppendLockWait(b, ns))
		}
	}
	for i := range RPCDetails {
		d, k := &RPCDetails[i], s.keys[i]
		switch {
		case d.show != nil:
			add(d.Label, d.role, d.show(b, r))
		case k.Read(r, 0, &s.val) && (d.least == 0 || s.val.U >= d.least):
			add(d.Label, d.role, append(AppendCell(b, &s.val, k.Unit, s.opt.NIDs), d.unit...))
		}
	}
	if p := r.Requested(); p.Frame > 0 && s.layout.frame == 0 {
		add("frame=", schema.Dim, AppendFrame(b, p.File, p.Frame))
	}
}

// RPCDetail is a value in the lines of rpcs behind the status, where there is room for it.
type RPCDetail struct {
	Label string // before the value
	Key   string // path
	Doc   string // in place of the meaning of the key, where the line shows it in another way

	role  schema.Role
	least uint64                                // a lower number is not shown
	unit  string                                // behind the value
	show  func(dst []byte, r *track.RPC) []byte // nil: the value of the key
}

// RPCDetails are these values in their order.
var RPCDetails = []RPCDetail{
	{Label: "bulk=", Key: "bulk_bytes", role: schema.Number, least: 1},
	{Label: "rdma=", Key: "rdma_time", role: schema.Number},
	{Label: "sends=", Key: "sends", role: schema.Warning, least: 2},
	{Label: "early=", Key: "early_replies", role: schema.Warning, least: 1},
	{Key: "flags", role: schema.Warning},
	{Key: "name", role: schema.Name},
	{Key: "fid", role: schema.Object},
	{Label: "service<", Key: "service_time_max", role: schema.Number, least: 3, unit: "s"}, // the least that a server sends is 2
	{Label: "rtx=", Key: "retransmits", Doc: "number of TCP segments or InfiniBand packets with bytes of its messages that were sent again, " +
		"and the part of the latency that was lost by that", role: schema.Warning, show: func(dst []byte, r *track.RPC) []byte {
		n := r.Retransmits()
		if n == 0 {
			return dst
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
		if ns, ok := r.RetransmitTime(); ok && ns > 0 {
			dst = append(AppendLatency(append(dst, '('), ns), ')')
		}
		return dst
	}},
	{Label: "rtt=", Key: "rtt", role: schema.Number, show: func(dst []byte, r *track.RPC) []byte {
		if ns, ok := r.RTT(); ok && r.Retransmits() > 0 {
			return AppendLatency(dst, ns)
		}
		return dst
	}},
	{Label: "node=", Key: "node_time", role: schema.Number},
	{Label: "queue=", Key: "log.queue", role: schema.Number},
	{Label: "work=", Key: "log.service", role: schema.Number},
	{Label: "thread=", Key: "log.thread", role: schema.Name, show: func(dst []byte, r *track.RPC) []byte {
		if l := r.Log; l != nil && l.Server.Handled != 0 {
			return schema.AppendText(dst, []byte(l.Server.Process))
		}
		return dst
	}},
	{Label: "job=", Key: "job", role: schema.Name},
	{Label: "transno=", Key: "transno", role: schema.Object, least: 1},
}

// appendLockWaitText appends how long a lock had to wait, and how that ended.
func appendLockWaitText(dst []byte, r *track.RPC) []byte {
	ns, _ := r.LockWait()
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
	if dst = AppendLockWait(dst, ns); p.Frame > 0 {
		dst = AppendFrame(append(dst, " in frame "...), p.File, p.Frame)
	}
	return dst
}
