package track

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

const (
	xid    = 1882453915467904
	getter = opcodes.MDS_GETATTR
	reader = opcodes.OST_READ
	writer = opcodes.OST_WRITE
)

func TestRequestAndReply(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, getter, job("dd.0"), func(m *dissect.Message) { m.RPC.UID, m.RPC.GID = 7, 8 })
	w.pass(4 * ms)
	w.reply(xid, getter, status(-2), transno(9), func(m *dissect.Message) { m.RPC.Service, m.RPC.Timeout = 1, 5 })
	r := w.one()
	ns, ok := r.Latency()
	assert.That(t, ok && ns == 4*ms, "latency %d, %v", ns, ok)
	if r.Status != -2 || r.Transno != 9 || r.Service != 1 || r.Estimate != 5 || r.UID != 7 || r.GID != 8 ||
		string(r.Job()) != "dd.0" || r.Sends != 1 || r.RequestSize != 100 || r.ReplySize != 50 {
		t.Errorf("got %+v", r)
	}
	if r.Requested().Frame != 1 || r.Replied().Frame != 2 || !r.Failed() || r.Unanswered() {
		t.Errorf("frames %v %v, failed %v, unanswered %v", r.Requested(), r.Replied(), r.Failed(), r.Unanswered())
	}
}

// Only what was captured of a truncated or encrypted reply counts.
func TestCutReply(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, getter)
	w.reply(xid, getter, func(m *dissect.Message) { m.Msg.Bufs[0] = m.Msg.Bufs[0][:opcodes.PbTransno.Off] })
	w.request(xid+128, getter)
	w.reply(xid+128, getter, func(m *dissect.Message) { m.Msg = nil })
	all := w.end()
	if r := all[0]; !r.Has(opcodes.PbStatus) || r.Has(opcodes.PbTransno) {
		t.Errorf("cut: status %v, transno %v", r.Has(opcodes.PbStatus), r.Has(opcodes.PbTransno))
	}
	if r := all[1]; r.Has(opcodes.PbStatus) || !r.HasReply {
		t.Errorf("encrypted: status %v, reply %v", r.Has(opcodes.PbStatus), r.HasReply)
	}
}

func TestEarlyReplies(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, getter)
	for range 2 {
		w.pass(5 * ms)
		w.send(lnet.EarlyReply, server, client, rpc(xid, getter))
	}
	w.pass(5 * ms)
	w.reply(xid, getter)
	r := w.one()
	ns, _ := r.Latency()
	assert.That(t, r.Early == 2 && ns == 15*ms, "%d early replies, latency %d", r.Early, ns)
}

func TestResendIsTheSameRPC(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, getter)
	w.pass(int64(7 * time.Second))
	w.request(xid, getter, flags(dissect.FlagResent))
	w.pass(ms)
	w.reply(xid, getter)
	w.pass(ms)
	w.reply(xid, getter) // the answer to the other send
	r := w.one()
	if ns, _ := r.Latency(); r.Sends != 2 || r.Flags&dissect.FlagResent == 0 || ns != int64(7*time.Second)+ms {
		t.Errorf("sends %d, flags %x, latency %d", r.Sends, r.Flags, ns)
	}
}

// TestRequestAfterTheEnd: a request whose RPC has ended, such as one that a client sends again
// when only the reply to the first send was captured, is not passed on: nothing may follow Done.
func TestRequestAfterTheEnd(t *testing.T) {
	var sent, done int
	w := newWire(t, Options{
		Sent: func(*RPC, *dissect.Message) {
			sent++
			assert.That(t, done == 0, "Sent after Done")
		},
		Done: func(*RPC) { done++ },
	})
	w.reply(xid, getter)
	w.pass(int64(21 * time.Second))
	w.reply(xid+128, getter) // lets the time pass
	must.Equal(t, done, 1, "ended")
	w.request(xid, getter)
	assert.Equal(t, sent, 0, "requests")
}

// A server that does not know the client answers ENOTCONN; the client
// reconnects and sends its requests again.
func TestResendAfterError(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, writer)
	w.pass(ms)
	w.reply(xid, writer, status(opcodes.ENOTCONN))
	w.pass(3 * ms)
	w.request(xid, writer, flags(dissect.FlagResent))
	w.pass(ms)
	w.reply(xid, writer, transno(5))
	r := w.one()
	if ns, _ := r.Latency(); r.Status != 0 || r.Transno != 5 || r.Sends != 2 || ns != 5*ms {
		t.Errorf("status %d, transno %d, sends %d, latency %d", r.Status, r.Transno, r.Sends, ns)
	}
}

// TestResendAfterFailover: while a target fails over, its clients connect again and again, and
// send their requests again when one connect was accepted, which may take minutes.
func TestResendAfterFailover(t *testing.T) {
	w := newWire(t, Options{})
	refuse := func(m *dissect.Message) { m.RPC.Type, m.RPC.Status = dissect.TypeError, opcodes.ENOTCONN }
	w.request(xid, writer, handle(77), connCnt(1))
	w.reply(xid, writer, refuse)
	w.pass(int64(5 * time.Minute))
	w.request(xid+128, getter, handle(77), connCnt(2))
	w.reply(xid+128, getter)
	w.request(xid, writer, handle(77), connCnt(2), flags(dissect.FlagResent))
	w.reply(xid, writer, transno(5))
	all := w.end()
	must.Equal(t, len(all), 2, "RPCs, want 2")
	r := all[slices.IndexFunc(all, func(r *RPC) bool { return r.XID == xid })]
	if ns, _ := r.Latency(); r.Status != 0 || r.Sends != 2 || ns != int64(5*time.Minute) || !slices.Equal(r.OtherErrors, []int32{opcodes.ENOTCONN}) {
		t.Errorf("status %d, sends %d, latency %d, other errors %d", r.Status, r.Sends, ns, r.OtherErrors)
	}
}

// TestGivenUpAfterError: an RPC that failed ends when its client, connected again, works on
// without it, or at the bound.
func TestGivenUpAfterError(t *testing.T) {
	const second = int64(time.Second)
	for name, c := range map[string]struct {
		opcode uint32
		status int32
		again  uint32 // number of a connect that later requests have, 0: there are none
		until  int64  // when the RPC ends
	}{
		"not sent again":        {writer, opcodes.ENOTCONN, 2, 60 * second},
		"not connected again":   {writer, opcodes.ENOTCONN, 1, 600 * second},
		"silent":                {writer, opcodes.ENOTCONN, 0, 600 * second},
		"a ping":                {opcodes.OBD_PING, opcodes.ENOTCONN, 0, 20 * second},
		"a lock that is held":   {opcodes.LDLM_ENQUEUE, opcodes.EAGAIN, 0, 20 * second},
		"tried again, no space": {writer, opcodes.EINPROGRESS, 1, 600 * second},
		"another error":         {writer, -5, 0, 20 * second},
	} {
		w := newWire(t, Options{Resend: 600 * second})
		w.request(xid, c.opcode, handle(77), connCnt(1))
		w.reply(xid, c.opcode, status(c.status))
		begin := w.now
		for n := uint64(1); n <= 100; n++ {
			w.pass(10 * second)
			if c.again != 0 && n == 4 {
				w.request(xid+n<<7, getter, handle(77), connCnt(c.again))
				w.reply(xid+n<<7, getter)
			}
			w.rpcs.Advance(w.now)
			if slices.ContainsFunc(w.done, func(r *RPC) bool { return r.XID == xid }) {
				break
			}
		}
		got := w.now - begin
		assert.That(t, got == c.until, "%s: ended after %d s", name, got/second)
	}
}

// TestFailedRPCsAreBounded: a target that is not there fails RPCs without end.
func TestFailedRPCsAreBounded(t *testing.T) {
	rpcs := NewPairing(Options{})
	w := &wire{t: t, now: 1e18, rpcs: rpcs}
	for n := range uint64(3 * maxRefused) {
		w.request(xid+n<<7, writer, handle(77), connCnt(1))
		w.reply(xid+n<<7, writer, status(opcodes.ENOTCONN))
		held := rpcs.Len()
		must.That(t, held <= maxHeld+maxRefused+2, "%d RPCs are held", held)
		w.pass(10 * ms)
	}
	assert.That(t, rpcs.Len() >= maxRefused, "%d RPCs are held", rpcs.Len())
}

// Without a second reply, the first one counts.
func TestResendAfterErrorWithoutAnswer(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, writer)
	w.reply(xid, writer, status(opcodes.ENOTCONN))
	w.request(xid, writer, flags(dissect.FlagResent))
	r := w.one()
	assert.That(t, r.Status == opcodes.ENOTCONN && r.Sends == 2, "status %d, sends %d", r.Status, r.Sends)
}

func TestReplayIsAnotherRPC(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, getter)
	w.reply(xid, getter, transno(5))
	w.pass(int64(time.Second))
	w.request(xid, getter, flags(dissect.FlagReplay), transno(5))
	w.pass(ms)
	w.reply(xid, getter, transno(5))
	all := w.end()
	if len(all) != 2 || all[0].Replay() || !all[1].Replay() || all[0].Sends != 1 || all[1].Sends != 1 {
		t.Fatalf("got %d RPCs: %+v", len(all), all)
	}
	ns, _ := all[1].Latency()
	assert.That(t, ns == ms, "latency of the replay %d", ns)
}

// TestReplayedTwice checks that what is replayed after a second restart, over another connection, is another RPC than the first replay.
func TestReplayedTwice(t *testing.T) {
	for _, handle := range []uint64{0xa, 0xb} {
		w := newWire(t, Options{})
		for _, h := range []uint64{0xa, handle} {
			w.request(xid, getter, flags(dissect.FlagReplay), transno(5), func(m *dissect.Message) { m.RPC.Handle = h })
			w.pass(ms)
			w.reply(xid, getter, transno(5))
			w.pass(ms)
		}
		want := 1 // sent again, or seen by another capture point
		if handle != 0xa {
			want = 2
		}
		assert.Equal(t, len(w.end()), want, handle)
	}
}

// A reply goes to the RPC that waits for one.
func TestReplyFindsTheOneThatWaits(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, getter)
	w.request(xid, getter, flags(dissect.FlagReplay))
	w.reply(xid, getter, status(-1))
	w.reply(xid, getter, status(-2))
	all := w.end()
	assert.That(t, len(all) == 2 && all[0].Status == -1 && all[1].Status == -2, "got %+v", all)
}

func TestBulkBytes(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, reader)
	for part := range uint64(3) {
		w.pass(ms)
		w.send(lnet.Bulk, server, client, rpc(xid, reader), matchBits(xid+part), size(1000))
		w.send(lnet.Ack, client, server, rpc(xid, reader), size(1000))
	}
	w.reply(xid, reader)
	r := w.one()
	if ns, ok := r.BulkTime(); r.BulkBytes() != 3000 || !ok || ns != 2*ms {
		t.Errorf("%d bytes of bulk in %d ns", r.BulkBytes(), ns)
	}
}

// A GET and its REPLY are one transfer.
func TestFetchedBulkCountsOnce(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, writer)
	for part := range uint64(2) {
		w.send(lnet.Get, server, client, rpc(xid, writer), matchBits(xid+part), size(4096))
	}
	for range 2 {
		w.send(lnet.GetReply, client, server, rpc(xid, writer), matchBits(1), size(4096))
	}
	w.reply(xid, writer)
	assert.Equal(t, w.one().BulkBytes(), 8192, "bytes of bulk")
}

func TestRails(t *testing.T) {
	w := newWire(t, Options{})
	rail := nid(33)
	w.request(xid, getter, handle(77))
	w.request(xid, getter, handle(77), flags(dissect.FlagResent), nodes(rail, server))
	w.reply(xid, getter, handle(77), nodes(server, rail))
	r := w.one()
	assert.That(t, r.Sends == 2 && r.HasReply, "sends %d, reply %v", r.Sends, r.HasReply)
}

func TestClientsWithTheSameXID(t *testing.T) {
	w := newWire(t, Options{})
	w.request(xid, getter, handle(1))
	w.request(xid, getter, handle(2), nodes(client2, server))
	w.reply(xid, getter, handle(2), nodes(server, client2), status(-2))
	w.reply(xid, getter, handle(1))
	all := w.end()
	if len(all) != 2 || all[0].Client != client2 || all[0].Status != -2 || all[1].Client != client || all[1].Status != 0 ||
		all[0].Sends != 1 || all[1].Sends != 1 {
		t.Errorf("got %+v", all)
	}
}

func TestSidesThatAreMissing(t *testing.T) {
	w := newWire(t, Options{})
	w.reply(xid, getter)
	w.request(xid+128, getter)
	w.request(xid+256, opcodes.SEC_CTX_FINI)
	all := w.end()
	must.Equal(t, len(all), 3, "RPCs")
	orphan, oneWay, lost := all[0], all[1], all[2]
	assert.That(t, !orphan.HasRequest && orphan.Client == client && orphan.Requested().IsZero(), "reply without request: %+v", orphan)
	assert.That(t, oneWay.OneWay && !oneWay.Unanswered(), "one-way: %+v", oneWay)
	assert.That(t, lost.Missing == CaptureEnded && lost.Sends == 1, "request without reply: %+v", lost)
}

func TestTimeout(t *testing.T) {
	w := newWire(t, Options{Timeout: int64(time.Minute), Linger: ms})
	w.request(xid, getter)
	w.pass(int64(59 * time.Second))
	w.rpcs.Advance(w.now)
	must.Equal(t, len(w.done), 0, "given up too early")
	w.pass(int64(time.Second))
	w.rpcs.Advance(w.now)
	w.pass(ms)
	w.rpcs.Advance(w.now)
	must.That(t, len(w.done) == 1 && w.done[0].Expired && w.done[0].Unanswered(), "got %+v", w.done)
	w.reply(xid, getter) // much too late: absorbed
	w.end()
	assert.Equal(t, len(w.done), 1, "RPCs")
}

// The number of records is bounded.
func TestMemoryIsBounded(t *testing.T) {
	rpcs := NewPairing(Options{})
	m := &dissect.Message{Message: lnet.Message{Kind: lnet.Request}}
	m.LNet.Src, m.LNet.Dst, m.Src = client, server, addr(client)
	for i := range 2 * maxWaiting {
		m.Frame, m.Time = int64(i+1), int64(i)*1000
		m.RPC = dissect.RPC{XID: uint64(i) << 7, Opcode: getter, HasOpcode: true}
		rpcs.Message(m)
		n := rpcs.queue(waiting).Len() + rpcs.queue(lingering).Len() + rpcs.queue(ended).Len()
		must.That(t, n <= maxWaiting+maxHeld+maxHeld+3, "%d records are held", n)
	}
	if n := rpcs.byXID.Len(); n > maxWaiting+maxHeld+maxHeld+3 {
		t.Errorf("%d xids are held", n)
	}
	m.Time += int64(2 * time.Hour)
	for range 2 { // what was given up lingers
		m.Time += int64(time.Minute)
		rpcs.Advance(m.Time)
	}
	assert.Equal(t, rpcs.queue(waiting).Len()+rpcs.queue(lingering).Len(), 0, "records are left hours later")
}

func TestOrderIsThatOfTheEnds(t *testing.T) {
	w := newWire(t, Options{})
	for i := range uint64(4) {
		w.request(xid+i<<7, getter)
		w.pass(ms)
	}
	for _, i := range []uint64{2, 0, 3} {
		w.reply(xid+i<<7, getter)
		w.pass(ms)
	}
	var order []uint64
	for _, r := range w.end() {
		order = append(order, (r.XID-xid)>>7)
	}
	assert.Slice(t, order, []uint64{2, 0, 3, 1}, "order")
}

// A file system can do without some configuration logs: nodes ask at each
// mount, and ENOENT is not a failure.
func TestExpectedErrors(t *testing.T) {
	for _, c := range []struct {
		opcode uint32
		name   string
		status int32
		want   bool
	}{
		{opcodes.LLOG_ORIGIN_HANDLE_CREATE, "lustre-sptlrpc", opcodes.ENOENT, true},
		{opcodes.LLOG_ORIGIN_HANDLE_CREATE, "params", opcodes.ENOENT, true},
		{opcodes.LLOG_ORIGIN_HANDLE_CREATE, "lustre-client", opcodes.ENOENT, false},
		{opcodes.LLOG_ORIGIN_HANDLE_CREATE, "lustre-sptlrpc", opcodes.EACCES, false},
		{opcodes.LLOG_ORIGIN_HANDLE_CREATE, "lustre-sptlrpc", 0, false},
		{opcodes.LLOG_ORIGIN_HANDLE_NEXT_BLOCK, "lustre-sptlrpc", opcodes.ENOENT, false},
	} {
		w := newWire(t, Options{})
		v := opcodes.ByOpcode(opcodes.LLOG_ORIGIN_HANDLE_CREATE).Variants[0]
		w.request(xid, c.opcode, func(m *dissect.Message) {
			m.RPC.Variant, m.Msg = v, &schema.Msg{Bufs: [][]byte{nil, nil, []byte(c.name + "\x00")}}
		})
		w.reply(xid, c.opcode, status(c.status))
		assert.Equal(t, w.one().IsExpectedError(), c.want, "opcode", c.opcode, c.name, "status", c.status)
	}
}

// TestAnswersThatNothingIsThere checks that an OUT_UPDATE has no error when
// what it asks for is not there: an LFSCK looks for xattrs and names that most
// objects do not have.
func TestAnswersThatNothingIsThere(t *testing.T) {
	lookups, others := 0, 0
	p := NewPairing(Options{Done: func(r *RPC) {
		if r.Opcode != opcodes.OUT_UPDATE || !r.HasReply {
			return
		}
		if r.Failed() && r.IsExpectedError() {
			lookups++
		} else {
			others++
		}
		assert.Equal(t, len(r.OtherErrors), 0, r.XID, "has errors", r.OtherErrors)
	}})
	wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) { p.Message(m) }}), wiretest.ReadSample(t, "../../pcaps/lfsck.pcap.zst"))
	p.Close()
	assert.That(t, lookups == 2 && others != 0, "%d lookups of names that are not there, %d others", lookups, others)
}

func between(from, to lnet.NID) func(*dissect.Message) {
	return func(m *dissect.Message) {
		m.Src, m.Dst = addr(from), addr(to)
		m.RPC.Timeout = 10
	}
}

// lose reports a loss of what one node sent to another, now, on a connection with
// messages between some nodes.
func (w *wire) lose(point int, from, to lnet.NID, nids ...lnet.NID) {
	w.rpcs.Lost(&lnet.Loss{Source: point, Src: netip.AddrPortFrom(addr(from).Addr(), 988), Dst: addr(to), From: w.now, To: w.now, Bytes: 1, NIDs: nids})
}

// of returns the RPC with an xid, after the end of the capture.
func (w *wire) of(xid uint64) *RPC {
	w.t.Helper()
	w.end()
	for _, r := range w.done {
		if r.XID == xid {
			return r
		}
	}
	w.t.Fatalf("no RPC %d", xid)
	return nil
}

// behindRouter returns the NIDs of as many nodes as a Loss may have.
func behindRouter(first lnet.NID) []lnet.NID {
	list := []lnet.NID{first}
	for i := byte(100); len(list) < lnet.MaxLossNIDs; i++ {
		list = append(list, nid(i))
	}
	return list
}

func TestMissing(t *testing.T) {
	const second = int64(time.Second)
	sent := between(client, server)
	for name, c := range map[string]struct {
		happens func(w *wire)
		want    Missing
	}{
		"end":              {func(w *wire) { w.request(xid, getter, sent); w.pass(20 * second) }, CaptureEnded},
		"deadline":         {func(w *wire) { w.request(xid, getter, sent); w.pass(40 * second) }, Unanswered},
		"without estimate": {func(w *wire) { w.request(xid, getter); w.pass(1000 * second) }, CaptureEnded},
		"sent again":       {func(w *wire) { w.request(xid, getter, sent); w.request(xid, getter, sent, flags(dissect.FlagResent)) }, Unanswered},
		"early reply": {func(w *wire) {
			w.request(xid, getter, sent)
			w.pass(10 * second)
			w.send(lnet.EarlyReply, server, client, rpc(xid, getter), func(m *dissect.Message) { m.RPC.Timeout = 40 })
			w.pass(40 * second)
		}, CaptureEnded},
		"loss":             {func(w *wire) { w.request(xid, getter, sent); w.lose(0, server, client); w.pass(40 * second) }, NotCaptured},
		"loss before":      {func(w *wire) { w.lose(0, server, client); w.pass(1); w.request(xid, getter, sent) }, CaptureEnded},
		"loss behind":      {func(w *wire) { w.request(xid, getter, sent); w.pass(40 * second); w.lose(0, server, client) }, Unanswered},
		"loss of requests": {func(w *wire) { w.request(xid, getter, sent); w.lose(0, client, server) }, CaptureEnded},
		"other client":     {func(w *wire) { w.request(xid, getter, sent); w.lose(0, server, client2) }, CaptureEnded},
		"one point of two": {func(w *wire) {
			w.request(xid, getter, sent)
			w.request(xid, getter, sent, source(1))
			w.lose(1, server, client)
		}, CaptureEnded},
		"both points": {func(w *wire) {
			w.request(xid, getter, sent)
			w.request(xid, getter, sent, source(1))
			w.lose(1, server, client)
			w.lose(0, server, client)
		}, NotCaptured},
		"other router":         {func(w *wire) { w.request(xid, getter, sent); w.lose(0, nid(50), client, client, server) }, NotCaptured},
		"router of many":       {func(w *wire) { w.request(xid, getter, sent); w.lose(0, nid(50), client, behindRouter(client)...) }, NotCaptured},
		"router of another":    {func(w *wire) { w.request(xid, getter, sent); w.lose(0, nid(50), client, client, nid(51)) }, CaptureEnded},
		"unused connection":    {func(w *wire) { w.request(xid, getter, sent); w.lose(0, nid(50), client) }, NotCaptured},
		"unused, other client": {func(w *wire) { w.request(xid, getter, sent); w.lose(0, nid(50), client2) }, CaptureEnded},
		"other rail": {func(w *wire) {
			w.request(xid+1, getter, handle(7))
			w.send(lnet.Request, nid(60), nid(61), rpc(xid+2, getter), handle(7))
			w.reply(xid+1, getter)
			w.send(lnet.Reply, nid(61), nid(60), rpc(xid+2, getter))
			w.request(xid, getter, sent, handle(7))
			w.lose(0, nid(61), nid(60), nid(60), nid(61))
		}, NotCaptured},
		"rail of another": {func(w *wire) {
			w.request(xid, getter, sent, handle(7))
			w.lose(0, nid(61), nid(60), nid(60), nid(61))
		}, CaptureEnded},
		"encrypted":                   {func(w *wire) { w.request(xid, getter, encrypted); w.pass(10 * second) }, CaptureEnded},
		"encrypted, long ago":         {func(w *wire) { w.request(xid, getter, encrypted); w.pass(100 * second) }, EncryptedReply},
		"encrypted, sent again":       {func(w *wire) { w.request(xid, getter, encrypted); w.request(xid, getter, encrypted) }, Unanswered},
		"encrypted, loss":             {func(w *wire) { w.request(xid, getter, encrypted); w.lose(0, server, client); w.pass(100 * second) }, NotCaptured},
		"encrypted, past the timeout": {func(w *wire) { w.request(xid, getter, encrypted); w.pass(4000 * second) }, Unanswered},
		"encrypted reply of another": {func(w *wire) {
			w.request(xid, getter, encrypted)
			w.reply(xid+1, getter, encrypted)
		}, EncryptedReply},
		"encrypted reply before": {func(w *wire) {
			w.reply(xid+1, getter, encrypted)
			w.pass(1)
			w.request(xid, getter, encrypted)
		}, CaptureEnded},
		"encrypted reply to another": {func(w *wire) {
			w.request(xid, getter, encrypted)
			w.send(lnet.Reply, server, client2, rpc(xid+1, getter), encrypted)
		}, CaptureEnded},
		"encrypted, answered": {func(w *wire) { w.request(xid, getter, encrypted); w.reply(xid, getter, encrypted) }, NotMissing},
		"answered":            {func(w *wire) { w.request(xid, getter, sent); w.lose(0, server, client); w.reply(xid, getter) }, NotMissing},
	} {
		w := newWire(t, Options{})
		c.happens(w)
		w.rpcs.Advance(w.now)
		assert.Equal(t, w.of(xid).Missing, c.want, name)
	}
}

// The times of losses are bounded.
func TestLossesAreBounded(t *testing.T) {
	var l Spans
	for i := range int64(10 * maxLossSpans) {
		l.Add(Span{10 * i, 10*i + 1}, maxLossSpans)
	}
	assert.That(t, len(l) == maxLossSpans && l.Overlap(Span{6000, 6005}) && !l.Overlap(Span{3, 8}), "%d spans", len(l))
}

// Bytes lost between other hosts, of which no message was captured, are no loss of a connection.
func TestLossBetweenOthers(t *testing.T) {
	at := func(host byte) netip.AddrPort { return messages.Addr(messages.NID(host)) }
	c := &Connection{Client: messages.NID(3), Server: messages.NID(2)}
	for _, tt := range []struct {
		from, to byte
		want     bool
	}{{2, 3, true}, {3, 2, true}, {2, 9, true}, {8, 9, false}} {
		i := NewImports()
		i.Lost(&lnet.Loss{Src: at(tt.from), Dst: at(tt.to), From: 5, To: 6})
		assert.Equal(t, i.IsLossy(c, Span{1, 10}), tt.want, tt)
	}
}
