package pcapfilter

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/bpf"

	"github.com/lshark/lshark/internal/must"
)

// The frames every expression is tried on, by a letter each.
func filterFrames() map[byte]testPacket {
	lnet := testPacket{src: "192.0.2.3", dst: "192.0.2.1", proto: 6, sport: 1021, dport: 988, payload: 100}
	with := func(change func(*testPacket)) testPacket {
		p := lnet
		change(&p)
		return p
	}
	return map[byte]testPacket{
		'a': lnet,
		'b': with(func(p *testPacket) { p.src, p.dst, p.sport, p.dport = p.dst, p.src, p.dport, p.sport }),
		'c': with(func(p *testPacket) { p.dport, p.syn, p.payload = 989, true, 0 }),
		'd': with(func(p *testPacket) { p.proto, p.dst = 17, "198.51.100.7" }),
		'e': with(func(p *testPacket) { p.src, p.dst = "fd00::3", "fd00::1" }),
		'f': with(func(p *testPacket) { p.fragment = 185 }),
		'g': with(func(p *testPacket) { p.tags = []uint16{5} }),
		'h': with(func(p *testPacket) { p.tags = []uint16{7, 0x2005} }),
		'i': with(func(p *testPacket) { p.proto = 1 }),
	}
}

// matching is the letters of the frames that an expression matches.
func matching(t *testing.T, expr string, link LinkType) string {
	t.Helper()
	f, err := New(expr, LinkEthernet)
	if err != nil {
		t.Fatalf("%q: %v", expr, err)
	}
	text := ""
	for c := byte('a'); c <= 'i'; c++ {
		p := filterFrames()[c]
		if p.link = link; layouts[link].etype < 0 && p.tags != nil {
			continue // has no VLANs
		}
		frame := p.build(t)
		ok, err := f.Match(frame.link, frame.data, len(frame.data))
		if err != nil {
			t.Fatalf("%q: %v", expr, err)
		}
		if ok {
			text += string(c)
		}
	}
	return text
}

var expressions = []struct{ expr, want string }{
	{"", "abcdefghi"},
	{"tcp", "abcef"},
	{"udp", "d"},
	{"icmp", "i"},
	{"icmp6", ""},
	{"ip", "abcdfi"},
	{"ip6", "e"},
	{"arp", ""},
	{"ip proto 6", "abcf"},
	{"ip proto \\udp", "d"},
	{"ip6 proto 6", "e"},
	{"proto 17", "d"},
	{"port 988", "abde"},
	{"tcp port 988", "abe"},
	{"udp port 988", "d"},
	{"src port 988", "b"},
	{"dst port 988", "ade"},
	{"src and dst port 988", ""},
	{"src or dst port 988", "abde"},
	{"tcp dst port 988 or 989", "ace"},
	{"tcp port (988 or 989)", "abce"},
	{"portrange 989-1000", "c"},
	{"dst portrange 988-989", "acde"},
	{"portrange 1021", "abcde"},
	{"host 192.0.2.1", "abcfi"},
	{"src host 192.0.2.1", "b"},
	{"src 192.0.2.1", "b"},
	{"192.0.2.1", "abcfi"},
	{"host fd00::1", "e"},
	{"dst host fd00::3", ""},
	{"net 192.0.2.0/24", "abcdfi"},
	{"net 192.0.2", "abcdfi"},
	{"dst net 198.51.100.0/30", ""},
	{"dst net 198.51.100.4/30", "d"},
	{"net 198.51.100.0 mask 255.255.255.0", "d"},
	{"net 0.0.0.0/0", "abcdfi"},
	{"ip6 net fd00::/9", "e"},
	{"net fd00::/126", "e"},
	{"not tcp port 988", "cdfghi"},
	{"! tcp && !udp", "ghi"},
	{"tcp and host 192.0.2.1 and not port 988", "cf"},
	{"udp or tcp and dst port 989", "c"}, // from left to right: (udp or tcp) and …
	{"udp or (tcp and dst port 989)", "cd"},
	{"vlan", "gh"},
	{"vlan 5", "g"},
	{"vlan 7 and vlan 5", "h"},
	{"vlan and tcp port 988", "g"},
	{"tcp port 988 or (vlan and tcp port 988)", "abeg"},
	{"vlan and vlan and dst host 192.0.2.1", "h"},
	{"tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "c"},
	{"tcp[13] & 2 = 0", "ab"},
	{"ip[6:2] & 0x1fff != 0", "f"},
	{"ip[8] > 63", "abcdfi"},
	{"ip[8] >= 65", ""},
	{"ip[8] < 65 and udp[2:2] == 988", "d"},
	{"ip[8] <= 63", ""},
	{"ip[16:4] = 0xc0000201", "acfi"},
	{"ip6[7] = 64", "e"},
}

func TestFilter(t *testing.T) {
	for _, c := range expressions {
		for _, link := range []LinkType{LinkEthernet, LinkLinuxSLL, LinkLinuxSLL2, LinkRaw, LinkRawBSD, LinkRawOpenBSD, LinkNull, LinkLoop} {
			want := c.want
			if layouts[link].etype < 0 {
				want = strings.NewReplacer("g", "", "h", "").Replace(want)
			}
			if got := matching(t, c.expr, link); got != want {
				t.Errorf("%q on link type %d: %s, want %s", c.expr, link, got, want)
			}
		}
	}
}

func TestDefaultFilter(t *testing.T) {
	if got := matching(t, TCPAndRoCE([]int{989, 988}), LinkEthernet); got != "abcefgh" {
		t.Errorf("two ports: %s", got)
	}
	if got := matching(t, TCPAndRoCE([]int{1}), LinkEthernet); got != "f" {
		t.Errorf("another port: %s", got)
	}
}

// TestRoCE filters packets of RDMA over Ethernet: version 1, and version 2 with
// IPv4 and IPv6.
func TestRoCE(t *testing.T) {
	frames := func(link LinkType, tags []uint16) map[byte]testFrame {
		p := testPacket{link: link, tags: tags, src: "192.0.2.3", dst: "192.0.2.1", proto: 17, sport: 50000, dport: 4791, payload: 60}
		four := p.build(t)
		p.src, p.dst = "fd00::3", "fd00::1"
		six := p.build(t)
		return map[byte]testFrame{'1': {link, append(linkHeader(link, tags, 0x8915), make([]byte, 80)...)}, '4': four, '6': six}
	}
	for _, c := range []struct{ expr, untagged, tagged, twice string }{
		{TCPAndRoCE([]int{988}), "146", "146", "146"},
		{TCPAndRoCE(nil), "146", "146", "146"},
		{"udp port 4791", "46", "", ""},
		{"vlan and udp port 4791", "", "46", ""},
		{"ether proto 0x8915", "1", "", ""},
		{"vlan and ether proto 0x8915", "", "1", ""},
		{"vlan and vlan and ether proto 0x8915", "", "", "1"},
		{"ether proto 0x8915 or 0x86dd", "16", "", ""},
		{"ether proto (0x8915 or \\ip)", "14", "", ""},
		{"not ether proto 0x8915", "46", "146", "146"},
		{"ether proto \\ip6", "6", "", ""},
	} {
		f, err := New(c.expr, LinkEthernet)
		if err != nil {
			t.Fatalf("%q: %v", c.expr, err)
		}
		for _, link := range []LinkType{LinkEthernet, LinkLinuxSLL, LinkLinuxSLL2} {
			for tags, want := range []string{c.untagged, c.tagged, c.twice} {
				all := frames(link, []uint16{5, 6}[:tags])
				got := ""
				for _, letter := range []byte("146") {
					frame := all[letter]
					if ok, err := f.Match(link, frame.data, len(frame.data)); err != nil {
						t.Fatal(err)
					} else if ok {
						got += string(letter)
					}
				}
				if got != want {
					t.Errorf("%q on link type %d, %d tags: %q, want %q", c.expr, link, tags, got, want)
				}
			}
		}
	}
}

// TestOpaque: frames that begin with headers of InfiniBand or ERF can be filtered
// by their length; other filters are refused, and never ignored.
func TestOpaque(t *testing.T) {
	for link, name := range map[LinkType]string{LinkInfiniBand: "INFINIBAND", LinkERF: "ERF"} {
		for expr, want := range map[string]bool{"": true, "less 100": true, "greater 100": false, "len > 50 and not len > 70": true} {
			f, err := New(expr, LinkEthernet)
			must.NoError(t, err)
			if got, err := f.Match(link, make([]byte, 60), 60); got != want || err != nil {
				t.Errorf("%q on %s: %v, %v", expr, name, got, err)
			}
		}
		for _, expr := range []string{"tcp port 988", "not tcp", "udp port 4791", "host 192.0.2.1", "vlan", "ether proto 0x8915", "ether[12:2] = 0x8915",
			"ip6[6] = 1", "less 100 or arp", TCPAndRoCE([]int{988})} {
			f, err := New(expr, LinkEthernet)
			must.NoError(t, err)
			for range 2 {
				_, err = f.Match(link, make([]byte, 60), 60)
				var refused *Error
				if !errors.As(err, &refused) || !refused.Unsupported || !strings.Contains(refused.Cause, "link type "+name) {
					t.Errorf("%q on %s: %v", expr, name, err)
				}
			}
		}
	}
}

// TestFilterLength compares the length on the wire, which is not what was
// captured of the frame.
func TestFilterLength(t *testing.T) {
	for expr, want := range map[string]bool{"less 1500": true, "less 1499": false, "greater 1500": true, "greater 1501": false,
		"len = 1500": true, "len > 1499": true, "len < 1500": false} {
		f, err := New(expr, LinkEthernet)
		must.NoError(t, err)
		if got, err := f.Match(LinkEthernet, make([]byte, 60), 1500); got != want || err != nil {
			t.Errorf("%q: %v, %v", expr, got, err)
		}
	}
}

// TestFilterSizes makes programs whose jumps are longer than 255.
func TestFilterSizes(t *testing.T) {
	for n := 1; n < 70; n += 7 {
		expr := "port 988"
		for i := range n {
			expr = fmt.Sprintf("host 203.0.113.%d or (not port %d and %s)", i, 2000+i, expr)
		}
		if got := matching(t, expr, LinkEthernet); got != "abde" {
			t.Errorf("%d terms: %s", n, got)
		}
		program, err := Compile(expr, LinkEthernet)
		must.NoError(t, err)
		decoded, ok := bpf.Disassemble(program)
		if !ok {
			t.Errorf("%d terms: not a BPF program", n)
		}
		if _, err := bpf.NewVM(decoded); err != nil {
			t.Errorf("%d terms: %v", n, err)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	t.Setenv("PATH", "") // no tcpdump
	for _, c := range []struct {
		expr        string
		column      int
		cause       string
		unsupported bool
	}{
		{"tcp port", 9, "ends too early", false},
		{"tcp port 99999", 10, "up to 65535", false},
		{"(tcp", 5, "ends too early", false},
		{"tcp)", 4, "unexpected", false},
		{"tcp and", 8, "ends too early", false},
		{"tcp port 988 988", 14, "unexpected", false},
		{"tcp host 192.0.2.1", 1, "invalid combination", false},
		{"host 192.0.2", 6, "not an address", false},
		{"net 192.0.2.1/24", 5, "bits set", false},
		{"net 192.0.2.0/33", 5, "not a network", false},
		{"ip host fd00::1", 9, "not an address of ip", false},
		{"less x", 6, "not a number", false},
		{"tcp §", 5, "unexpected character", false},
		{"ip[0:3] = 1", 6, "1, 2 or 4", false},
		{"ip[0] tcp", 7, "comparison", false},
		{"vlan 5000", 6, "up to 4095", false},
		{"portrange 1-", 11, "not a range of ports", false},
		{"portrange -1000", 11, "not a range of ports", false},
		{"udp and portrange - or tcp", 19, "not a range of ports", false},
		{"portrange 1--0", 13, "not a port", false},
		{"port -0", 6, "not a port", false},
		{"(ip multicast)", 5, `"multicast" is not supported`, true},
		{"broadcast", 1, `"broadcast" is not supported`, true},
		{"ether host 00:11:22:33:44:55", 1, `"ether" is not supported`, true},
		{"tcp and gateway router", 9, `"gateway" is not supported`, true},
		{"host lustre-mds", 6, `"lustre-mds" is not supported`, true},
		{"ip[0] + 1 = 2", 7, `"+" is not supported`, true},
		{"ip proto ospf", 10, `"ospf" is not supported`, true},
		{"vlan and vlan and vlan", 19, "third", true},
		{"ether proto 0x10000", 13, "not a number up to 65535", false},
		{"ether proto 0x42", 13, `"0x42" is not supported`, true},
		{"ether proto stp", 13, `"stp" is not supported`, true},
		{"ether src proto 1", 1, `"ether" is not supported`, true},
		{strings.Repeat("port 1 or ", 1000) + "tcp", 1, "too long", false},
		{strings.Repeat("(", 300) + "tcp", 201, "nested", false},
	} {
		_, err := New(c.expr, LinkEthernet)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.expr, err)
			continue
		}
		if e.Column != c.column || !strings.Contains(e.Cause, c.cause) || e.Unsupported != c.unsupported {
			t.Errorf("%q: column %d: %s", c.expr, e.Column, e.Cause)
		}
	}
	f, err := New("tcp", LinkEthernet)
	must.NoError(t, err)
	for range 2 {
		if ok, err := f.Match(147, nil, 0); ok || err != nil {
			t.Errorf("a link type that is not known: %v, %v", ok, err)
		}
	}
}

// TestFilterShort must not match or fail where the frame ends too early.
func TestFilterShort(t *testing.T) {
	whole := filterFrames()['a']
	whole.link = LinkEthernet
	frame := whole.build(t)
	f, err := New("tcp dst port 988", LinkEthernet)
	must.NoError(t, err)
	for n := range len(frame.data) {
		if got, err := f.Match(frame.link, frame.data[:n:n], len(frame.data)); err != nil || got != (n >= 38) {
			t.Errorf("%d bytes: %v, %v", n, got, err)
		}
	}
}
