package lnet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestReadAhead: frames that are read ahead give the same messages, and the error of the
// source comes after the last frame.
func TestReadAhead(t *testing.T) {
	broken := errors.New("broken")
	for _, frames := range [][]capture.Frame{
		wiretest.ReadSample(t, "../../pcaps/recovery.pcap.zst"),
		wiretest.ReadSample(t, "../../pcaps/rdma_mount.pcap"),
		fragmented(wiretest.ReadSample(t, "../../pcaps/mount.pcap")),
	} {
		want := messagesOf(func(d *Decoder) {
			for i := range frames {
				d.Frame(&frames[i])
			}
		})
		var shared []byte // as a Reader reuses its memory
		next := 0
		a := ReadAhead(func(f *capture.Frame) error {
			if next == len(frames) {
				return broken
			}
			*f = frames[next]
			shared = append(shared[:0], f.Data...)
			f.Data = shared
			next++
			return nil
		})
		var err error
		got := messagesOf(func(d *Decoder) {
			for err == nil {
				var f *Decoded
				if f, err = a.Next(); err == nil {
					d.Decoded(f)
				}
			}
		})
		a.Close()
		if !errors.Is(err, broken) || !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%d messages, %v; want %d", len(got), err, len(want))
		}
	}
}

// messagesOf describes the messages of a Decoder that feed gives frames.
func messagesOf(feed func(d *Decoder)) (list []string) {
	d := NewDecoder(Options{Handle: func(m *Message) {
		c := *m
		c.IB = nil
		list = append(list, fmt.Sprintf("%+v", c))
		if m.IB != nil {
			list = append(list, fmt.Sprintf("%+v", *m.IB))
		}
	}})
	feed(d)
	d.Close()
	return list
}

// fragmented splits IPv4 packets behind Ethernet headers into fragments of 64 bytes.
func fragmented(frames []capture.Frame) (list []capture.Frame) {
	const ethernet, ip, size = 14, 20, 64
	for _, f := range frames {
		payload := f.Data[ethernet+ip:]
		for off := 0; off < len(payload); off += size {
			part := payload[off:min(off+size, len(payload))]
			b := slices.Concat(f.Data[:ethernet+ip], part)
			flags := uint16(off / 8)
			if off+size < len(payload) {
				flags |= 0x2000 // more fragments
			}
			binary.BigEndian.PutUint16(b[ethernet+2:], uint16(ip+len(part)))
			binary.BigEndian.PutUint16(b[ethernet+6:], flags)
			binary.BigEndian.PutUint16(b[ethernet+4:], uint16(f.Number))
			c := f
			c.Data, c.Len = b, len(b)
			list = append(list, c)
		}
	}
	return list
}

// TestReadAheadClose: Close ends the reading of a source that does not end.
func TestReadAheadClose(t *testing.T) {
	frames := wiretest.ReadSample(t, "../../pcaps/ip6_mount.pcap")
	next := 0
	a := ReadAhead(func(f *capture.Frame) error {
		*f = frames[next%len(frames)]
		next++
		return nil
	})
	for i := range 3 * maxAheadFrames {
		if f, err := a.Next(); err != nil || f.Len != frames[i%len(frames)].Len {
			t.Fatal(i, f, err)
		}
	}
	a.Close()
}
