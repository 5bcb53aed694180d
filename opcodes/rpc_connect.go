package opcodes

import (
	"math/bits"

	. "github.com/lshark/lshark/opcodes/schema"
)

const connectDoc = " Names the target and the client, and says what the client can do. The reply brings the handle of the connection and what the server agrees to."

const disconnectDoc = " The client gives the connection up; its locks and open files go with it."

var _ = DefineRPC(&RPC{Opcode: OST_CONNECT, Name: "OST_CONNECT", Context: true,
	Doc: "Connects a client, or an MDT, to an OST." + connectDoc, Variants: connectVariants})

var _ = DefineRPC(&RPC{Opcode: MDS_CONNECT, Name: "MDS_CONNECT", Context: true,
	Doc: "Connects a client, or another server, to an MDT." + connectDoc, Variants: connectVariants})

var _ = DefineRPC(&RPC{Opcode: MGS_CONNECT, Name: "MGS_CONNECT", Context: true,
	Doc: "Connects a node to the management server." + connectDoc, Variants: connectVariants})

var _ = DefineRPC(&RPC{Opcode: OST_DISCONNECT, Name: "OST_DISCONNECT",
	Doc: "Ends a connection to an OST." + disconnectDoc, Variants: bodyOnly})

var _ = DefineRPC(&RPC{Opcode: MDS_DISCONNECT, Name: "MDS_DISCONNECT",
	Doc: "Ends a connection to an MDT." + disconnectDoc, Variants: bodyOnly})

var _ = DefineRPC(&RPC{Opcode: MGS_DISCONNECT, Name: "MGS_DISCONNECT",
	Doc: "Ends a connection to the management server." + disconnectDoc, Variants: bodyOnly})

var connectVariants = []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufTargetUuid, bufClientUuid, bufConn, bufConnectData, bufSelinuxPol),
	Reply:   Bufs(bufPtlrpcBody, bufConnectData),
	Ask:     askConnect,
	Answer:  answerConnect,
}}

var bodyOnly = []*Variant{{
	Request: Bufs(bufPtlrpcBody),
	Reply:   Bufs(bufPtlrpcBody),
}}

var _ = DefineRPC(&RPC{Opcode: MDS_GET_ROOT, Name: "MDS_GET_ROOT",
	Doc: "Asks for the FID of the root directory, or of the subdirectory that the client mounts. First step of a mount, once connected.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufFileset),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Ask: func(m *Msg, l *Line) {
			if fileset := TrimNUL(m.Buf(2)); len(fileset) > 0 {
				l.Key("fileset ")
				l.Label(Name, fileset)
			}
		},
		Answer: func(m *Msg, l *Line) {
			if body := m.Buf(1); m.Status >= 0 && len(body) >= fidSize {
				l.Key("")
				l.FID(body, m.Big)
			}
		},
	}}})

// bufFileset is the directory to mount.
var bufFileset = Str("name", 0, "path of the subdirectory to mount; empty for the root")

const fidSize = 16

// connectData are the flags and the version in the connect data of a message.
type connectData struct {
	flags, flags2 uint64
	version       uint32
}

var (
	ocdFlags   = obdConnectData.Field("ocd_connect_flags")
	ocdFlags2  = obdConnectData.Field("ocd_connect_flags2")
	ocdVersion = obdConnectData.Field("ocd_version")
)

func readConnectData(b []byte, big bool) connectData {
	c := connectData{flags: ocdFlags.Uint(b, big)}
	if c.flags&ObdConnectFlags.Bit("FLAGS2") != 0 {
		c.flags2 = ocdFlags2.Uint(b, big)
	}
	if c.flags&ObdConnectFlags.Bit("VERSION") != 0 {
		c.version = uint32(ocdVersion.Uint(b, big))
	}
	return c
}

func (c connectData) count() int { return bits.OnesCount64(c.flags) + bits.OnesCount64(c.flags2) }

func (c connectData) appendVersion(l *Line) {
	if c.version == 0 {
		return
	}
	l.Key("version ")
	l.Text = AppendVersion(l.Text, c.version)
	l.Mark(Number)
}

func askConnect(m *Msg, l *Line) {
	l.Key("")
	l.Label(Node, m.Buf(1))
	l.Key("from ")
	l.Label(Node, m.Buf(2))
	if data := m.Buf(4); len(data) > 0 {
		asked := readConnectData(data, m.Big)
		asked.appendVersion(l)
		l.Key("asks ")
		l.Num(uint64(asked.count()))
		l.Add(Dim, " flags")
	}
	sayConnectFlags(m, l)
}

func answerConnect(m *Msg, l *Line) {
	sayConnectFlags(m, l)
	if data := m.Buf(1); m.Status >= 0 && len(data) > 0 {
		got := readConnectData(data, m.Big)
		got.appendVersion(l)
		l.Key("grants ")
		l.Num(uint64(got.count()))
		if m.Req != nil && len(m.Req.Buf(4)) > 0 {
			asked := readConnectData(m.Req.Buf(4), m.Req.Big)
			l.Add(Dim, " of ")
			l.Num(uint64(asked.count()))
			appendRefused(l, asked.flags&^got.flags, asked.flags2&^got.flags2)
		} else {
			l.Add(Dim, " flags")
		}
	}
}

// sayConnectFlags appends what state the target is in, or what the client asks
// for.
func sayConnectFlags(m *Msg, l *Line) {
	if op := opFlags(m); op != 0 {
		l.Key("")
		l.Flags(MsgConnectFlags, op)
	}
}

// mostNamed is how many refused flags a summary has room for.
const mostNamed = 6

// appendRefused names the flags that were asked for and not granted, or counts
// them when they are many.
func appendRefused(l *Line, flags, flags2 uint64) {
	n := bits.OnesCount64(flags) + bits.OnesCount64(flags2)
	if n == 0 {
		return
	}
	l.Key("refuses ")
	if n > mostNamed {
		l.Num(uint64(n))
		return
	}
	if flags != 0 {
		l.Flags(ObdConnectFlags, flags)
	}
	if flags != 0 && flags2 != 0 {
		l.Add(Dim, "|")
	}
	if flags2 != 0 {
		l.Flags(ObdConnectFlags2, flags2)
	}
}
