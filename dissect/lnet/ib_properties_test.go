package lnet

import (
	"fmt"
	"math/rand"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// ibDialog returns the frames of a connection with messages and transfers of all kinds in
// both directions, several of which are in progress at once.
func ibDialog() []capture.Frame {
	w := wiretest.O2iblnd{Credits: 1, Sum: true}
	c := connected(w)
	small := func(back bool, n int, match uint64) {
		c.Send(back, w.Immediate(back, wiretest.Put, requestPortal, match, 0, pattern(n))).Ack(!back)
	}
	data := pattern(20000)
	for i := range uint64(4) {
		small(false, 300, 10+i)
		small(true, 3900, 20+i)
		put(c, w, true, 30+i, data[i:i+7000], 5000, 2000)
		get(c, w, true, 40+i, data[i:i+9000], 9000)
		put(c, w, false, 50+i, data[i:i+1500], 1500)
		get(c, w, false, 60+i, data[i:i+2500], 1000, 1500)
		c.Send(false, w.Noop(false))
	}
	piece := []wiretest.Fragment{{Address: 0x700000, Size: 6000}}
	other := []wiretest.Fragment{{Address: 0x800000, Size: 3000}}
	c.Send(true, w.GetReq(true, bulkPortal, 1, 90, 0x77, piece...)).Send(true, w.GetReq(true, bulkPortal, 2, 91, 0x77, other...))
	c.Send(false, w.PutReq(false, wiretest.Put, bulkPortal, 3, 0, 4000, 92)).Ack(true)
	c.Send(true, w.PutAck(true, 92, 93, 0x77, wiretest.Fragment{Address: 0x900000, Size: 4000}))
	small(false, 100, 94)
	c.Write(false, 0x700000, 0x77, data[:6000]).Send(false, w.Done(false, wiretest.O2GetDone, 90, 6000))
	c.Write(false, 0x900000, 0x77, data[:4000]).Send(false, w.Done(false, wiretest.O2PutDone, 93, 4000)).Ack(true)
	c.Write(false, 0x800000, 0x77, data[:3000]).Send(false, w.Done(false, wiretest.O2GetDone, 91, 3000)).Ack(true)
	small(true, 200, 95)
	return c.Disconnect(false).Frames
}

// overIB runs a test on dialogs and on the samples of InfiniBand, with the messages in
// them.
func overIB(t *testing.T, test func(t *testing.T, frames []capture.Frame, whole []seen)) {
	dialogs := map[string][]capture.Frame{"dialog": ibDialog()}
	paths, err := filepath.Glob(wiretest.Repo("pcaps/rdma_*.pcap*"))
	must.NoError(t, err)
	for _, path := range paths {
		dialogs[filepath.Base(path)] = wiretest.ReadSample(t, path)
	}
	for name, frames := range dialogs {
		t.Run(name, func(t *testing.T) {
			whole, st := collect(frames, Options{Frames: true})
			if len(whole) < 30 || st.IB.Joined < 4 || st.IB.Gaps != 0 || st.IB.Unjoined != 0 {
				t.Fatalf("%d messages, %+v", len(whole), st.IB)
			}
			test(t, frames, whole)
		})
	}
}

// stride is the distance of the frames of a capture at which a test plays all of it: more
// than one in large captures, with the tag all in fewer.
func stride(frames []capture.Frame) int { return 1 + len(frames)*len(frames)/wiretest.Rounds(200000) }

// ibIdentity returns what identifies a message, whatever was captured of it.
func ibIdentity(s *seen) identity {
	h := s.m.LNet
	if s.m.Kind == Dreq || s.m.Kind == Drep {
		h = Header{} // its NIDs are those of the REQ
	}
	h.Length, h.Offset, h.Sink = 0, 0, 0
	return identity{s.flow, s.m.Kind, h}
}

type identity struct {
	flow string
	kind Kind
	lnet Header
}

// checkIBPhantoms fails if there is a message that is not in whole.
func checkIBPhantoms(t *testing.T, what string, got, whole []seen) {
	t.Helper()
	real := make(map[identity]int)
	for i := range whole {
		real[ibIdentity(&whole[i])]++
	}
	for i := range got {
		id := ibIdentity(&got[i])
		if real[id]--; real[id] < 0 {
			t.Errorf("%s: no such message: %s", what, got[i].what)
		}
	}
}

// sameIB fails unless both have the same messages in each direction of a queue pair, and
// the same messages of the connection manager.
func sameIB(t *testing.T, what string, got, want []seen) {
	t.Helper()
	same(t, what, managedLast(got), managedLast(want))
}

// managedLast returns messages with those of the connection manager, which have no place
// in the order of a queue pair, at the end.
func managedLast(all []seen) []seen {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b seen) int { return managed(&a) - managed(&b) })
	return all
}

func managed(s *seen) int {
	if k := s.m.Kind; k >= Connreq && k <= Drep {
		return int(k)
	}
	return 0
}

// TestIBReorder delays frames by random numbers of frames: the messages are the same.
func TestIBReorder(t *testing.T) {
	overIB(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for seed := range int64(60) {
			rnd := rand.New(rand.NewSource(seed))
			mixed := slices.Clone(frames)
			late := make(map[int64]int)
			for i := range mixed {
				late[mixed[i].Number] = i + rnd.Intn(2+int(seed))
			}
			slices.SortStableFunc(mixed, func(a, b capture.Frame) int { return late[a.Number] - late[b.Number] })
			got, st := collect(wiretest.Renumber(mixed), Options{})
			sameIB(t, fmt.Sprintf("seed %d", seed), got, whole)
			if st.IB.Unjoined != 0 || st.Held != 0 {
				t.Errorf("seed %d: %+v", seed, st.IB)
			}
		}
	})
}

// TestIBDuplicate plays each frame twice: the messages are the same.
func TestIBDuplicate(t *testing.T) {
	overIB(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for _, later := range []int{0, 1, 5, 63} {
			got, _ := collect(wiretest.Renumber(repeated(frames, later)), Options{})
			got = slices.DeleteFunc(got, func(s seen) bool {
				return managed(&s) > 0 && slices.ContainsFunc(s.notes, func(n Note) bool { return n.Code == "resent" })
			})
			same(t, fmt.Sprintf("again %d frames later", later), got, whole)
		}
	})
}

// TestIBLost leaves out one to three packets at each place: only the messages with bytes in
// them are lost or changed.
func TestIBLost(t *testing.T) {
	overIB(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for n := 1; n <= 3; n++ {
			for i := 0; i < len(frames)-n; i += stride(frames) {
				got, st := collect(slices.Delete(slices.Clone(frames), i, i+n), Options{})
				what := fmt.Sprintf("without %d frames from %d", n, i+1)
				found := make(map[string]int)
				for _, s := range got {
					found[s.what]++
				}
				touched := make(map[string]bool)
				for _, s := range whole {
					touched[s.what] = touched[s.what] || slices.ContainsFunc(s.m.Frames, func(f int64) bool { return f > int64(i) && f <= int64(i+n) })
				}
				for _, s := range whole {
					if found[s.what]--; found[s.what] < 0 && !touched[s.what] {
						t.Errorf("%s: lost %s in frames %v", what, s.what, s.m.Frames)
					}
				}
				checkIBPhantoms(t, what, got, whole)
				if st.Held != 0 {
					t.Errorf("%s: %d bytes are held", what, st.Held)
				}
			}
		}
	})
}

// TestIBWrites leaves out one packet of a write at a time: the bytes of all others are
// where they belong.
func TestIBWrites(t *testing.T) {
	overIB(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		payload := make(map[identity][]byte)
		for i := range whole {
			payload[ibIdentity(&whole[i])] = whole[i].m.Payload()
		}
		var d link.Decoder
		lost := 0
		for i := 0; i < len(frames); i += stride(frames) {
			if d.Decode(&frames[i]) != link.InfiniBand || d.Packet.BTH.Opcode.Operation() != ib.Write {
				continue
			}
			size := d.Packet.Size
			got, _ := collect(slices.Delete(slices.Clone(frames), i, i+1), Options{})
			for k := range got {
				m := got[k].m
				if len(m.Holes) == 0 && m.Tail == Present {
					continue
				}
				lost++
				missing := m.Size - len(m.Data)
				for _, h := range m.Holes {
					missing += h.Len
					clear(m.Data[h.Off : h.Off+h.Len])
				}
				if missing != size {
					t.Errorf("without frame %d of %d bytes: %d are missing", i+1, size, missing)
				}
				want := slices.Clone(payload[ibIdentity(&got[k])])
				for _, h := range m.Holes {
					clear(want[h.Off-m.PayloadOff : h.Off+h.Len-m.PayloadOff])
				}
				if have := m.Payload(); string(have) != string(want[:len(have)]) {
					t.Errorf("without frame %d: the data of %s are wrong", i+1, got[k].what)
				}
			}
		}
		if lost == 0 {
			t.Error("no message lost a byte: this proves nothing")
		}
	})
}

// TestIBWrap gives the packets numbers that begin again at zero.
func TestIBWrap(t *testing.T) {
	overIB(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		first := make(map[string]uint32)
		var d link.Decoder
		shifted := slices.Clone(frames)
		for i := range shifted {
			if d.Decode(&shifted[i]) != link.InfiniBand || d.Packet.BTH.Opcode.Service() == ib.UD {
				continue
			}
			p := &d.Packet
			end := fmt.Sprint(p.Dst, p.BTH.DestQP)
			if p.BTH.Opcode.Operation() == ib.Acknowledge {
				end = ""
				for key := range first { // the only other end between these hosts
					if strings.HasPrefix(key, fmt.Sprint(p.Src)) && near24(first[key], p.BTH.PSN) {
						end = key
					}
				}
			}
			if _, known := first[end]; !known {
				first[end] = p.BTH.PSN
			}
			b := slices.Clone(shifted[i].Data)
			at := strings.Index(string(b), string(p.Headers))
			psn := p.BTH.PSN - first[end] - 5
			b[at+9], b[at+10], b[at+11] = byte(psn>>16), byte(psn>>8), byte(psn)
			shifted[i].Data = b
		}
		// The connection manager announced other numbers.
		shifted = slices.DeleteFunc(shifted, func(f capture.Frame) bool {
			return d.Decode(&f) == link.InfiniBand && d.Packet.BTH.Opcode.Service() == ib.UD
		})
		var want []seen
		for _, s := range whole {
			if managed(&s) == 0 {
				want = append(want, s)
			}
		}
		got, _ := collect(wiretest.Renumber(shifted), Options{})
		same(t, "wrapped", got, want)
	})
}

func near24(first, psn uint32) bool { return (psn-first)&0xffffff < 1<<16 }

// TestIBMidStream starts at each frame: every message that is in the frames from there on
// is found.
func TestIBMidStream(t *testing.T) {
	overIB(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for i := 0; i < len(frames); i += stride(frames) {
			got, _ := collect(slices.Clone(frames[i:]), Options{})
			what := fmt.Sprintf("from frame %d", i+1)
			found := make(map[string]int)
			for _, s := range got {
				found[s.what]++
			}
			for _, s := range whole {
				if slices.Min(s.m.Frames) <= int64(i) || s.m.Kind == Dreq || s.m.Kind == Drep {
					continue // also where all that is left of the connection is its end
				}
				if found[s.what]--; found[s.what] < 0 {
					t.Errorf("%s: %s of frames %v is lost", what, s.what, s.m.Frames)
				}
			}
			checkIBPhantoms(t, what, got, whole)
		}
	})
}

// TestIBSnaplen cuts the frames: every message is there, with its header and with holes.
func TestIBSnaplen(t *testing.T) {
	overIB(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for _, snaplen := range []int{180, 256, 400} {
			short := slices.Clone(frames)
			for i := range short {
				short[i].Data = short[i].Data[:min(snaplen, len(short[i].Data))]
			}
			got, _ := collect(short, Options{})
			found := make(map[identity]*Message)
			for i := range got {
				found[ibIdentity(&got[i])] = got[i].m
			}
			for i := range whole {
				m := whole[i].m
				if managed(&whole[i]) > 0 || snaplen < 256 && len(m.IB.Parts) > 1 {
					continue // the private data or the cookies are cut off
				}
				cut := found[ibIdentity(&whole[i])]
				switch {
				case cut == nil:
					t.Errorf("snaplen %d: %s of frame %d is lost", snaplen, whole[i].what, m.Frame)
				case cut.Size != m.Size || cut.LNet != m.LNet:
					t.Errorf("snaplen %d: %s of frame %d: %v of %d, %+v", snaplen, whole[i].what, m.Frame, cut.Kind, cut.Size, cut.LNet)
				case cut.Missing(0, cut.Size) != Present && cut.Missing(0, cut.Size) != Snaplen:
					t.Errorf("snaplen %d: %s of frame %d: %v", snaplen, whole[i].what, m.Frame, cut.Missing(0, cut.Size))
				}
			}
			if snaplen >= 256 {
				got = slices.DeleteFunc(got, func(s seen) bool { return managed(&s) > 0 })
				checkIBPhantoms(t, fmt.Sprint("snaplen ", snaplen), got, whole)
			}
		}
	})
}

// TestIBPrefix ends the capture behind each frame: the messages that are complete by then
// are the same.
func TestIBPrefix(t *testing.T) {
	overIB(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for n := 0; n < len(frames); n += stride(frames) {
			var want []seen
			for _, m := range whole {
				if m.frame <= int64(n) {
					want = append(want, m)
				}
			}
			got, _ := collect(frames[:n], Options{})
			got = slices.DeleteFunc(got, func(m seen) bool {
				return slices.ContainsFunc(m.notes, func(n Note) bool { return n.Code == "truncated" || n.Code == "unanswered" })
			})
			same(t, fmt.Sprintf("%d frames", n), got, want)
		}
	})
}

// TestIBLinks puts the packets into other frames: each has the same messages.
func TestIBLinks(t *testing.T) {
	frames := ibDialog()
	whole, _ := collect(frames, Options{})
	const vlan = "\x81\x00\x00\x07"
	gids := map[byte][16]byte{1: {0xfe, 0x80, 15: 1}, 2: {0xfe, 0x80, 15: 2}}
	for name, wrap := range map[string]func(src, dst byte, ip, packet []byte) (capture.LinkType, []byte){
		"VLAN": func(_, _ byte, ip, _ []byte) (capture.LinkType, []byte) {
			b := wiretest.Ethernet(ip)
			return capture.LinkEthernet, slices.Concat(b[:12], []byte(vlan), b[12:])
		},
		"IPv6": func(src, dst byte, ip, _ []byte) (capture.LinkType, []byte) {
			const protoUDP, ipv4Header = 17, 20
			return capture.LinkEthernet, wiretest.Ethernet(wiretest.IP(netip.AddrFrom16(gids[src]), netip.AddrFrom16(gids[dst]), protoUDP, ip[ipv4Header:]))
		},
		"InfiniBand, LIDs": func(src, dst byte, _, packet []byte) (capture.LinkType, []byte) {
			return capture.LinkInfiniBand, append(wiretest.LRH(uint16(src), uint16(dst), false, len(packet)), packet...)
		},
		"InfiniBand, GIDs": func(src, dst byte, _, packet []byte) (capture.LinkType, []byte) {
			b := append(wiretest.GRH(gids[src], gids[dst], len(packet)), packet...)
			return capture.LinkInfiniBand, append(wiretest.LRH(uint16(src), uint16(dst), true, len(b)), b...)
		},
	} {
		wrapped := slices.Clone(frames)
		for i := range wrapped {
			f := &wrapped[i]
			const ip, srcAddr, dstAddr = 14, 14 + 15, 14 + 19
			f.Link, f.Data = wrap(f.Data[srcAddr], f.Data[dstAddr], f.Data[ip:], f.Data[bthOff:])
			f.Len = len(f.Data)
		}
		got, st := collect(wrapped, Options{})
		if len(got) != len(whole) || st.IB.Conns != 1 {
			t.Errorf("%s: %d messages, want %d; %+v", name, len(got), len(whole), st.IB)
			continue
		}
		for i := range got {
			a, b := got[i].m, whole[i].m
			if a.Kind != b.Kind || a.LNet != b.LNet || string(a.Data) != string(b.Data) || a.IB.SrcQP != b.IB.SrcQP || a.IB.Local != (name == "InfiniBand, LIDs") {
				t.Errorf("%s: %+v\nwant %+v", name, a, b)
			}
			if ports := name == "VLAN" || name == "IPv6"; (a.Dst.Port() == portRoCE) != ports || (a.Src.Port() != 0) != ports {
				t.Errorf("%s: %v>%v", name, a.Src, a.Dst)
			}
		}
	}
}
