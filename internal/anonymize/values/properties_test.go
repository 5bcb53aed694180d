package values

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestManyNames replaces many names: each by another one of the same length, which is no
// other's replacement, and in any order by the same one.
func TestManyNames(t *testing.T) {
	var list []string
	for i := range wiretest.Rounds(50_000) {
		list = append(list, fmt.Sprintf("f%d", i), fmt.Sprintf("run_%06d.out", i))
	}
	for _, c := range alphabet {
		list = append(list, string(c), string(c)+"1", "."+string(c))
	}
	p, again := New([]byte("key")), New([]byte("key"))
	replacements := make(map[string]string, len(list))
	for _, name := range list {
		r := p.fileName([]byte(name))
		if len(r) != len(name) || r == name {
			t.Fatalf("%q became %q", name, r)
		}
		if other, ok := replacements[r]; ok && other != name {
			t.Fatalf("%q and %q became %q", name, other, r)
		}
		replacements[r] = name
	}
	differ := 0
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, name := range list {
		if a, b := p.fileName([]byte(name)), again.fileName([]byte(name)); a != b {
			differ++
		}
	}
	// Replacements that are originals, or those of names with other characters, depend on the order.
	if differ > len(list)/1000 {
		t.Errorf("in another order %d of %d names have other replacements", differ, len(list))
	}
	if a, b := New([]byte("other key")).fileName([]byte("lustre.txt")), p.fileName([]byte("lustre.txt")); a == b {
		t.Errorf("with another key the replacement is %q again", a)
	}
}

// TestNamesAreNoOriginals replaces names that are replacements of others.
func TestNamesAreNoOriginals(t *testing.T) {
	p := New([]byte("key"))
	word := func(s string) string { return p.word([]byte(s)) }
	first := New([]byte("key")).word([]byte("data"))
	word(first)
	if r := word("data"); r == first || len(r) != 4 {
		t.Errorf("data became %q, an original", r)
	}
	all := map[string]bool{}
	for c := range 256 {
		if r := word(string([]byte{byte(c)})); all[r] {
			t.Errorf("%q became %q, as another one", byte(c), r)
		} else {
			all[r] = true
		}
		if c == 220 {
			break // about as many names of one byte can be
		}
	}
}

// TestNumbers checks that number is a permutation without fixed points.
func TestNumbers(t *testing.T) {
	k := newKeyed([]byte("key"))
	for _, n := range []uint64{2, 3, 9, 90, 124, 1000} {
		seen := make([]bool, n)
		for x := range n {
			y := k.number("test", nil, x, n)
			if y >= n || seen[y] || y == x {
				t.Fatalf("%d of %d became %d", x, n, y)
			}
			seen[y] = true
		}
	}
	seen := map[uint64]bool{}
	for x := uint64(100); x <= 223; x++ {
		y := k.numberIn("test", nil, x, 100, 223, 5, 127, 130, 300)
		if y < 100 || y > 223 || seen[y] || (y == x) != (x == 127 || x == 130) {
			t.Fatalf("%d became %d", x, y)
		}
		seen[y] = true
	}
}

// TestCycle checks that a cycle is a permutation without fixed points.
func TestCycle(t *testing.T) {
	c := cycle{newKeyed([]byte("key")), "test", 7}
	for size := 1; size <= 4; size++ {
		seen := map[string]bool{}
		var each func(prefix []byte)
		each = func(prefix []byte) {
			if len(prefix) < size {
				for d := range c.radix {
					each(append(prefix[:len(prefix):len(prefix)], byte(d)))
				}
				return
			}
			r := append([]byte(nil), prefix...)
			c.next(r)
			if string(r) == string(prefix) || seen[string(r)] {
				t.Fatalf("%v became %v", prefix, r)
			}
			seen[string(r)] = true
		}
		each(nil)
	}
}

// TestIDs replaces IDs by others with as many digits.
func TestIDs(t *testing.T) {
	p := New([]byte("key"))
	seen := map[uint64]uint64{}
	for _, id := range []uint64{0, 1, 9, 10, 99, 500, 501, 1000, 1001, 65533, 65534, 65535, 65536, 99999, 100000, 1 << 31, 1<<32 - 3, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<32 + 1, 9999999999, 1 << 40, 1e19, 1<<64 - 3, 1<<64 - 2, 1<<64 - 1} {
		r := p.ID(id)
		if keptID(id) != (r == id) {
			t.Errorf("%d became %d", id, r)
		}
		if len(fmt.Sprint(id)) != len(fmt.Sprint(r)) || id < 1<<32 && r >= 1<<32 {
			t.Errorf("%d became %d, of another length", id, r)
		}
		if other, ok := seen[r]; ok {
			t.Errorf("%d and %d became %d", id, other, r)
		}
		seen[r] = id
	}
}

// TestIPv4 checks that common prefixes stay common, that texts stay as long, and that
// addresses of special kinds stay.
func TestIPv4(t *testing.T) {
	p := New([]byte("key"))
	random := rand.New(rand.NewPCG(3, 4))
	var list [][4]byte
	for range 3000 {
		list = append(list, [4]byte{byte(random.IntN(4)) + 8, byte(random.IntN(3)), byte(random.IntN(3)), byte(random.IntN(256))})
	}
	for _, s := range []string{"1.2.3.4", "223.255.255.254", "128.0.0.1", "126.1.1.1"} {
		list = append(list, netip.MustParseAddr(s).As4())
	}
	seen := map[[4]byte][4]byte{}
	for i, a := range list {
		r := replaced4(p.IPv4, a)
		if other, ok := seen[r]; ok && other != a {
			t.Fatalf("%v and %v became %v", a, other, r)
		}
		seen[r] = a
		ip := netip.AddrFrom4(r)
		if ip.IsLoopback() || ip.IsMulticast() || ip.IsUnspecified() || r[0] >= 224 || r == a {
			t.Fatalf("%v became %v", a, r)
		}
		if len(ip.String()) != len(netip.AddrFrom4(a).String()) {
			t.Fatalf("%v became %v, of another length", a, r)
		}
		if i > 0 {
			if want, got := common(a[:], list[i-1][:]), common(r[:], seen4(p, list[i-1])); want != got {
				t.Fatalf("%v and %v: %d octets in common, their replacements %d", a, list[i-1], want, got)
			}
		}
	}
	for _, s := range []string{"0.0.0.0", "127.0.0.1", "224.0.0.251", "239.1.2.3", "255.255.255.255"} {
		if a := netip.MustParseAddr(s).As4(); replaced4(p.IPv4, a) != a {
			t.Errorf("%s became %v", s, replaced4(p.IPv4, a))
		}
	}
}

// TestFlatAddresses checks that the replacements of neighbors have nothing in common but by
// chance, are different, and as long.
func TestFlatAddresses(t *testing.T) {
	p := New([]byte("key"))
	p.Flat = true
	seen, first := map[netip.Addr]bool{}, map[string]int{}
	for i := range 250 {
		for _, a := range []netip.Addr{netip.AddrFrom4([4]byte{192, 168, 23, byte(i + 1)}), netip.MustParseAddr(fmt.Sprintf("fd12:3456:789a::%x", 0x1000+i))} {
			r := netip.AddrFrom16(replaced16(p.IPv6, a.As16())).Unmap()
			if len(r.String()) != len(a.String()) || r == a || seen[r] {
				t.Errorf("%s became %s", a, r)
			}
			seen[r] = true
			prefix, err := r.Prefix(16)
			if err != nil {
				t.Fatal(err)
			}
			first[prefix.String()]++
		}
	}
	for prefix, n := range first {
		if n > 12 { // of 250 at random in 122 * 156 prefixes, or 256
			t.Errorf("%d replacements have the prefix %s", n, prefix)
		}
	}
	if r := p.addressPattern("192.0.2.[1-20]"); strings.ContainsAny(r, "[.]") {
		t.Errorf("the pattern became %s", r)
	}
}

func seen4(p *Mapper, a [4]byte) []byte {
	p.IPv4(a[:])
	return a[:]
}

// replaced4, replaced16, replaced8 and replaced6 return what an address becomes.
func replaced4(replace func([]byte), a [4]byte) [4]byte {
	replace(a[:])
	return a
}

func replaced16(replace func([]byte), a [16]byte) [16]byte {
	replace(a[:])
	return a
}

func replaced8(replace func([]byte), a [8]byte) [8]byte {
	replace(a[:])
	return a
}

func replaced6(replace func([]byte), a [6]byte) [6]byte {
	replace(a[:])
	return a
}

func common(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// TestIPv6 checks the same of IPv6 addresses.
func TestIPv6(t *testing.T) {
	p := New([]byte("key"))
	for _, s := range []string{"::", "::1", "ff02::1", "ff05::2"} {
		if a := netip.MustParseAddr(s).As16(); replaced16(p.IPv6, a) != a {
			t.Errorf("%s became %v", s, netip.AddrFrom16(replaced16(p.IPv6, a)))
		}
	}
	seen := map[[16]byte]bool{}
	for _, s := range []string{"fd00:2::1", "fd00:2::2", "fd00:3::1", "2001:db8::1", "2001:db8:0:7::abcd", "fe80::1234:56ff:fe78:9abc", "64:ff9b::1", "5f00::1"} {
		a := netip.MustParseAddr(s)
		r := netip.AddrFrom16(replaced16(p.IPv6, a.As16()))
		if len(r.String()) != len(s) || r == a || seen[r.As16()] {
			t.Errorf("%s became %s", s, r)
		}
		seen[r.As16()] = true
		if a.IsLinkLocalUnicast() != r.IsLinkLocalUnicast() || a.IsPrivate() != r.IsPrivate() || a.IsGlobalUnicast() != r.IsGlobalUnicast() {
			t.Errorf("%s became %s, of another kind", s, r)
		}
	}
	one, two := replaced16(p.IPv6, netip.MustParseAddr("fd00:2::1").As16()), replaced16(p.IPv6, netip.MustParseAddr("fd00:2::2").As16())
	if common(one[:], two[:]) != 15 {
		t.Errorf("the replacements of neighbors are %v and %v", netip.AddrFrom16(one), netip.AddrFrom16(two))
	}
	node, group := netip.MustParseAddr("ff02::1:ff12:3456").As16(), replaced16(p.IPv6, netip.MustParseAddr("ff02::1:ff12:3456").As16())
	if common(node[:], group[:]) != 13 || [3]byte(lastBytes(replaced6(p.MAC, [6]byte{0x33, 0x33, 0xff, 0x12, 0x34, 0x56}))) != [3]byte(group[13:]) {
		t.Errorf("the solicited-node address became %v", netip.AddrFrom16(group))
	}
	mapped := replaced16(p.IPv6, netip.MustParseAddr("::ffff:192.0.2.1").As16())
	if v4 := replaced4(p.IPv4, [4]byte{192, 0, 2, 1}); netip.AddrFrom16(mapped).Unmap() != netip.AddrFrom4(v4) {
		t.Errorf("the mapped address became %v, that of version 4 %v", netip.AddrFrom16(mapped), v4)
	}
}

func lastBytes(a [6]byte) []byte { return a[3:] }

// TestHardwareAddresses replaces MACs, GUIDs, GIDs and LIDs.
func TestHardwareAddresses(t *testing.T) {
	p := New([]byte("key"))
	mac := [6]byte{0, 0x1b, 0x21, 1, 2, 3}
	if r := replaced6(p.MAC, mac); r[0]&3 != 2 || r == mac || replaced6(p.MAC, mac) != r {
		t.Errorf("the MAC became %x", r)
	}
	for _, kept := range [][6]byte{{}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {1, 0, 0x5e, 1, 2, 3}, {0x33, 0x33, 0, 0, 0, 1}} {
		if replaced6(p.MAC, kept) != kept {
			t.Errorf("%x became %x", kept, replaced6(p.MAC, kept))
		}
	}
	guid := [8]byte{1, 2, 3, 4, 5, 6, 7, 8}
	gid := [16]byte{0xfe, 0x80, 8: 1, 2, 3, 4, 5, 6, 7, 8}
	if r := replaced16(p.GID, gid); [8]byte(r[8:]) != replaced8(p.GUID, guid) || r[0] != 0xfe || r[1] != 0x80 || replaced8(p.GUID, guid) == guid {
		t.Errorf("the GID became %x, the GUID %x", r, replaced8(p.GUID, guid))
	}
	roce := netip.MustParseAddr("::ffff:192.0.2.1").As16()
	if replaced16(p.GID, roce) != replaced16(p.IPv6, roce) {
		t.Errorf("a GID of RoCE became %x", replaced16(p.GID, roce))
	}
	for _, lid := range []uint16{0, 0xffff, 0xc001} {
		b := binary.BigEndian.AppendUint16(nil, lid)
		if p.LID(b); binary.BigEndian.Uint16(b) != lid {
			t.Errorf("LID %#x became %#x", lid, b)
		}
	}
	b := []byte{0, 7}
	p.LID(b)
	if r := binary.BigEndian.Uint16(b); r == 7 || r == 0 || r > 0xbfff {
		t.Errorf("LID 7 became %d", r)
	}
}

// TestNIDs checks that NIDs have the replacements of their addresses, in all forms.
func TestNIDs(t *testing.T) {
	p := New([]byte("key"))
	for _, s := range []string{"192.0.2.1@tcp", "192.0.2.1@o2ib3", "17@gni", "fd00::1@tcp", "0@lo"} {
		n, ok := lnet.ParseNID(s)
		if !ok {
			t.Fatal(s)
		}
		r := p.NID(n)
		if text := p.nidText([]byte(s)); r.String() != text {
			t.Errorf("%s became %s, as text %s", s, r, text)
		}
		if (r == n) != strings.HasSuffix(s, "@lo") || r.Type != n.Type || r.Num != n.Num {
			t.Errorf("%s became %s", s, r)
		}
	}
	var any = lnet.NID4(1<<64 - 1)
	if p.NID(any) != any || p.NID(lnet.NID{}) != (lnet.NID{}) {
		t.Error("the NIDs of any or no node did not stay")
	}
}

// TestEachHasOneOrder lists names of files that are also names of jobs.
func TestEachHasOneOrder(t *testing.T) {
	p := New([]byte("key"))
	for i := range 50 {
		name := fmt.Appendf(nil, "n%d", i)
		for _, k := range []kind{jobs, jobs, fileNames} {
			p.replace(k, name, (*Mapper).newFileName)
		}
	}
	list := func() (all []Mapping) {
		p.Each(func(m *Mapping) { all = append(all, *m) })
		return all
	}
	first := list()
	for range 20 {
		if again := list(); !slices.Equal(first, again) {
			t.Fatalf("the same replacements are listed as\n%v\nand as\n%v", first, again)
		}
	}
}

// TestEach checks the list of replacements.
func TestEach(t *testing.T) {
	p := New([]byte("key"))
	replaced4(p.IPv4, [4]byte{192, 0, 2, 1})
	replaced4(p.IPv4, [4]byte{192, 0, 2, 1})
	p.ID(500)
	replaced6(p.MAC, [6]byte{0, 1, 2, 3, 4, 5})
	p.fileName([]byte("data.h5"))
	p.device([]byte("b1a2c3d4-0011-2233-4455-66778899aabb"))
	var got []string
	p.Each(func(m *Mapping) {
		if m.Replacement == "" || m.Replacement == m.Original {
			t.Errorf("%q became %q", m.Original, m.Replacement)
		}
		got = append(got, fmt.Sprint(m.Class, " ", m.Original, " ", m.Count))
	})
	want := "name data.h5 1, address 00:01:02:03:04:05 1, address 192.0.2.1 2, identity 500 1, identity b1a2c3d4-0011-2233-4455-66778899aabb 1"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}
