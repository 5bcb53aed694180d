package lnet_test

import (
	"fmt"
	"io"
	"os"

	"github.com/google/gopacket/pcapgo"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
)

// The messages of the first 50 ms of a mount.
func Example() {
	r, err := capture.Open([]string{"../../pcaps/mount.pcap"}, capture.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	var f capture.Frame
	first := int64(0)
	d := lnet.NewDecoder(lnet.Options{Handle: func(m *lnet.Message) {
		if ms := (m.Time - first) / 1e6; ms < 50 {
			fmt.Printf("%2d ms  %s > %s  %s, %d bytes\n", ms, m.Src, m.Dst, m.Kind, m.Size)
		}
	}})
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		if first == 0 {
			first = f.Time
		}
		d.Frame(&f)
	}
	if err != io.EOF {
		fmt.Println(err)
	}
	d.Close()
	// Output:
	// 10 ms  192.0.2.3:1023 > 192.0.2.1:988  connreq, 16 bytes
	// 13 ms  192.0.2.3:1023 > 192.0.2.1:988  hello, 56 bytes
	// 20 ms  192.0.2.1:988 > 192.0.2.3:1023  hello, 56 bytes
	// 24 ms  192.0.2.3:1023 > 192.0.2.1:988  ping, 96 bytes
	// 26 ms  192.0.2.1:988 > 192.0.2.3:1023  ping_reply, 144 bytes
	// 33 ms  192.0.2.3:1022 > 192.0.2.1:988  connreq, 16 bytes
	// 34 ms  192.0.2.3:1023 > 192.0.2.1:988  push, 144 bytes
	// 34 ms  192.0.2.3:1022 > 192.0.2.1:988  hello, 56 bytes
	// 38 ms  192.0.2.1:988 > 192.0.2.3:1023  ack, 96 bytes
	// 38 ms  192.0.2.1:988 > 192.0.2.3:1023  push, 144 bytes
}

// Frames read by gopacket. Want skips the payloads, so Data holds the headers
// only.
func ExampleDecoder_Frame() {
	file, err := os.Open("../../pcaps/mount.pcap")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	r, err := pcapgo.NewReader(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	skipped, largest := 0, 0
	d := lnet.NewDecoder(lnet.Options{
		Want: func(m *lnet.Message) int { return 0 },
		Handle: func(m *lnet.Message) {
			skipped += m.Size - len(m.Data)
			largest = max(largest, m.Size)
		},
	})
	for n := int64(1); ; n++ {
		data, info, err := r.ZeroCopyReadPacketData()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		d.Frame(&capture.Frame{Number: n, Time: info.Timestamp.UnixNano(), Len: info.Length, Data: data, Link: capture.LinkType(r.LinkType())})
	}
	d.Close()
	st := d.Stats()
	fmt.Printf("%d messages on %d connections, %d bytes skipped, the largest message has %d\n", st.Messages, st.TCP.Conns, skipped, largest)
	// Output:
	// 196 messages on 6 connections, 128720 bytes skipped, the largest message has 8568
}

func ExampleParseNID() {
	n, ok := lnet.ParseNID("192.0.2.1@o2ib3")
	fmt.Println(n, ok, n.Type, n.Num)
	// Output: 192.0.2.1@o2ib3 true 5 3
}
