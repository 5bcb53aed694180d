package opcodes

import (
	"encoding/binary"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

func quotactl(cmd uint64, first, second uint64) []byte {
	o := binary.LittleEndian
	b := make([]byte, obdQuotactl.Size)
	o.PutUint32(b, uint32(cmd))
	o.PutUint64(b[qcDqblk.Off+dqbBsoft.Off:], first)
	o.PutUint64(b[qcDqblk.Off+dqbIsoft.Off:], second)
	return b
}

func TestQuotaIter(t *testing.T) {
	tests := []struct {
		form                  string
		cmd                   uint64
		first, second         uint64
		metadata, data, usage int
	}{
		{"quota_iter_limits", qIterQuota, 160, 200, 4, 5, 8},
		{"quota_iter_usage", qIterOQuota, 48, 0, 1, 0, 2},                     // of an MDT
		{"quota_iter_usage", qIterOQuota, 0, 48, 0, 1, 2},                     // of an OST
		{"quota_iter_limits", qIterQuota, 1 << 40, ^uint64(0), 128, 128, 426}, // sizes that lie
	}
	buffer := make([]byte, 10240)
	for _, tt := range tests {
		v := View{Struct: buffer, Rest: buffer, Msg: &Msg{Reply: true, Bufs: [][]byte{nil, quotactl(tt.cmd, tt.first, tt.second), buffer}}}
		if f := quotaIter(&v); f == nil || f.Type.Name != tt.form {
			t.Errorf("command %#x is taken for %v", tt.cmd, f)
		}
		if got := [3]int{iterMetadata(&v), iterData(&v), iterUsage(&v)}; got != [3]int{tt.metadata, tt.data, tt.usage} {
			t.Errorf("sizes %d and %d: %v items", tt.first, tt.second, got)
		}
	}
	if quotaIter(&View{Msg: &Msg{Bufs: [][]byte{nil, quotactl(0x800007, 0, 0)}}}) != nil {
		t.Error("a command that lists nothing has a list")
	}
}

func TestQuotaID(t *testing.T) {
	o := binary.LittleEndian
	body := make([]byte, quotaBody.Size)
	o.PutUint64(body, seqQuotaGlobal)
	o.PutUint32(body[8:], 0x1020000)
	o.PutUint64(body[16:], 501)
	up := View{Struct: body, Type: quotaBody}
	v := View{Struct: body[16:], Type: lquotaId, Up: &up}
	if got := quotaIDForm(&v); got != "gid" {
		t.Errorf("an id of a group index is a %q", got)
	}
	reply := Msg{Reply: true, Opcode: QUOTA_DQACQ}
	slave := append([]byte(nil), body...)
	o.PutUint64(slave, seqQuota)
	o.PutUint32(slave[8:], 0x100c)
	answered := View{Struct: slave[16:], Type: lquotaId, Msg: &reply, Up: &View{Struct: slave, Type: quotaBody}}
	if got := quotaIDForm(&answered); got != "" {
		t.Errorf("without the request, the id of a slave's index is a %q", got)
	}
	reply.Req = &Msg{Bufs: [][]byte{nil, body}}
	if got := quotaIDForm(&answered); got != "gid" {
		t.Errorf("in the reply, the id of a group index is a %q", got)
	}
	reply.Req, reply.Opcode = nil, LDLM_ENQUEUE
	reply.Bufs = [][]byte{nil, lockBytes(o, 0, ldlmPlainType, []uint64{seqQuotaGlobal, 0x2020000, 501}, 16, 16)}
	if got := quotaIDForm(&answered); got != "projid" {
		t.Errorf("beside the lock of a project's quota, the id is a %q", got)
	}
	var l Line
	summarizeAcquireRequest(body, false, &l)
	if want := "0x0 gid 501 blocks count 0 usage 0"; string(l.Text) != want {
		t.Errorf("%q, not %q", l.Text, want)
	}
	o.PutUint64(body[24:], 1)
	if got := quotaIDForm(&v); got != "" {
		t.Errorf("a FID is a %q", got)
	}
}

// TestQuotaLines checks the lines of a slave that connects to a global index,
// and of a reply that gives or takes back quota.
func TestQuotaLines(t *testing.T) {
	for _, o := range orders {
		order := o.order.(binary.ByteOrder)
		body := make([]byte, quotaBody.Size)
		order.PutUint64(body, seqQuotaGlobal)
		order.PutUint32(body[8:], 0x20000)
		order.PutUint64(body[qbCount.Off:], 512)
		order.PutUint64(body[qbUsage.Off:], 1024)
		order.PutUint64(body[qbSlvVer.Off:], 6)
		m := &Msg{Big: o.big, Bufs: [][]byte{nil, nil, nil, body}}
		for _, tt := range []struct {
			line func(m *Msg, l *Line)
			want string
		}{
			{intentQuotaConn.SummarizeRequest, "usr blocks"},
			{intentQuotaConn.SummarizeReply, "index [0x200000006:0x20000:0x0] version 6"},
			{intentDqacq.SummarizeReply, "count 512 unit 1024"},
		} {
			var l Line
			if tt.line(m, &l); string(l.Text) != tt.want {
				t.Errorf("%s: %q, not %q", o.name, l.Text, tt.want)
			}
			m.Bufs[3] = body[:8]
			l.Reset()
			if tt.line(m, &l); len(l.Text) != 0 {
				t.Errorf("%s: %q of 8 bytes", o.name, l.Text)
			}
			m.Bufs[3] = body
		}
	}
}

// TestQuotaIntentError checks that the line of an intent tells the error of its
// operation, and that the id is out of quota.
func TestQuotaIntentError(t *testing.T) {
	o := binary.LittleEndian
	rep := make([]byte, ldlmReply.Size)
	o.PutUint64(rep[lockRes2.Off:], 1<<64-122)
	lvb := make([]byte, lquotaLvb.Size)
	lvb[0] = 1
	m := &Msg{Reply: true, Bufs: [][]byte{nil, rep, lvb, make([]byte, quotaBody.Size)}}
	var l Line
	intentDqacq.SummarizeReply(m, &l)
	if want := "EDQUOT count 0 LQUOTA_FL_EDQUOT"; string(l.Text) != want {
		t.Errorf("%q, not %q", l.Text, want)
	}
}

// TestQuotaLvb checks the meaning of a slot that the lock's name tells: the lock of
// an index has no id.
func TestQuotaLvb(t *testing.T) {
	for id, want := range map[uint64]string{0: "lvb_glb_ver", 1002: "lvb_id_may_rel"} {
		m := &Msg{Reply: true, Opcode: LDLM_ENQUEUE, Bufs: [][]byte{nil,
			lockBytes(binary.LittleEndian, 0, ldlmPlainType, []uint64{seqQuotaGlobal, 0x20000, id}, 16, 16)}}
		v := View{Struct: make([]byte, lquotaLvb.Size), Msg: m}
		for _, name := range []string{"lvb_glb_ver", "lvb_id_may_rel"} {
			if got := lquotaLvb.Field(name).If(&v); got != (name == want) {
				t.Errorf("%s in the lock of id %d: %v", name, id, got)
			}
		}
	}
}

func TestQuotaValidity(t *testing.T) {
	o := binary.LittleEndian
	ctl := quotactl(0x800007, 0, 0)
	o.PutUint32(ctl[40+64:], 0x1|0x8) // BLIMITS and INODES
	v := View{Struct: ctl[40:], Msg: &Msg{Bufs: [][]byte{nil, ctl}}}
	for name, want := range map[string]bool{
		"dqb_bhardlimit": true, "dqb_curspace": false, "dqb_curinodes": true, "dqb_ihardlimit": false, "dqb_btime": false,
	} {
		if got := obdDqblk.Field(name).Valid(&v); got != want {
			t.Errorf("%s means something: %v", name, got)
		}
	}
	o.PutUint32(ctl, uint32(qIterQuota))
	if !obdDqblk.Field("dqb_ihardlimit").Valid(&v) || obdDqblk.Field("dqb_curspace").Valid(&v) {
		t.Error("a command that lists ids uses the limits, not the usage")
	}
}

func TestGraceFlags(t *testing.T) {
	v := View{Rest: binary.LittleEndian.AppendUint64(nil, 1<<48|60)}
	if got, want := string(graceText(&v, nil)), "flags DEFAULT, time 60"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
