package pcapfilter_test

import (
	"errors"
	"fmt"

	"golang.org/x/net/bpf"

	"github.com/lshark/lshark/dissect/capture/pcapfilter"
)

// A filter is compiled once and applied to each frame. It sees the length that
// the frame had on the wire, not how many bytes of it were captured.
func Example() {
	f, err := pcapfilter.New("ip proto 6 and greater 1000", pcapfilter.LinkEthernet)
	if err != nil {
		fmt.Println(err)
		return
	}
	frame := make([]byte, 60)
	copy(frame[12:], []byte{0x08, 0x00}) // EtherType: IPv4
	frame[14+9] = 6                      // protocol: TCP
	for _, length := range []int{60, 1514} {
		ok, err := f.Match(pcapfilter.LinkEthernet, frame, length)
		fmt.Println(length, ok, err)
	}
	// Output:
	// 60 false <nil>
	// 1514 true <nil>
}

// The program of a filter is for whoever runs BPF: a socket, another capture
// library, golang.org/x/net/bpf.
func ExampleCompile() {
	program, err := pcapfilter.Compile("arp", pcapfilter.LinkEthernet)
	if err != nil {
		fmt.Println(err)
		return
	}
	instructions, _ := bpf.Disassemble(program)
	for _, i := range instructions {
		fmt.Println(i)
	}
	// Output:
	// ldh [12]
	// jneq #2054,1
	// ret #1048576
	// ret #0
}

// An error has the column of what is wrong.
func ExampleError() {
	_, err := pcapfilter.New("tcp port 988 988", pcapfilter.LinkEthernet)
	var invalid *pcapfilter.Error
	if errors.As(err, &invalid) {
		fmt.Printf("%s\n%*s\n%s\n", invalid.Expr, invalid.Column, "^", invalid.Cause)
	}
	// Output:
	// tcp port 988 988
	//              ^
	// unexpected "988"
}

func ExampleTCPAndRoCE() {
	f, err := pcapfilter.New(pcapfilter.TCPAndRoCE([]int{988, 989}), pcapfilter.LinkRaw)
	if err != nil {
		fmt.Println(err)
		return
	}
	packet := []byte{
		0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 192, 0, 2, 3, 192, 0, 2, 1, // IPv4
		0x03, 0xfd, 0x03, 0xdc, // TCP: port 1021 to 988
	}
	fmt.Println(f.Match(pcapfilter.LinkRaw, packet, len(packet)))
	// Output: true <nil>
}
