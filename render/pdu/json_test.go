package pdu

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// nested returns a value with containers nested to a depth.
func nested(r *rand.Rand, depth int) any {
	if depth == 0 {
		return []any{1.5, -3.0, true, nil, "", "é\n\"\\", "\u2028", map[string]any{}, []any{}, []any{"READ", "WRITE"}}[r.IntN(10)]
	}
	n := 1 + r.IntN(3)
	if r.IntN(3) == 0 {
		var list []any
		for i := range n {
			list = append(list, nested(r, max(0, depth-1-i)))
		}
		return list
	}
	object := make(map[string]any)
	for i := range n {
		object[fmt.Sprintf("k%d", i)] = nested(r, max(0, depth-1-i))
	}
	return object
}

// chain returns a value with one container in the other.
func chain(r *rand.Rand, depth int) any {
	v := any([]string{"READ", "WRITE"})
	for range depth {
		if v = any(map[string]any{"a": depth, "b": v, "c": "d"}); r.IntN(2) == 0 {
			v = []any{1, v, "x"}
		}
	}
	return v
}

// leaves collects the scalars and empty containers of a value, by their paths.
func leaves(path string, v any, to map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			leaves(path+"."+name, member, to)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for i, element := range v {
			leaves(fmt.Sprintf("%s[%d]", path, i), element, to)
		}
		if len(v) > 0 {
			return
		}
	}
	to[path] = fmt.Sprint(v)
}

// depthOf returns the depth at which Wireshark parses a value.
func depthOf(v any) (depth int) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			depth = max(depth, depthOf(member))
		}
		return depth + objectDepth
	case []any:
		for _, element := range v {
			depth = max(depth, depthOf(element))
		}
		return depth + arrayDepth
	}
	return 0
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	return must.Value(json.Marshal(v))(t)
}

func decode(t *testing.T, b []byte) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v: %.1000s", err, b)
	}
	return v
}

// TestLimiterDepth checks that deep JSON keeps all values under their paths.
func TestLimiterDepth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l Limiter
	changed := 0
	rounds := wiretest.Rounds(1000)
	for range rounds {
		in := map[string]any{"a": nested(r, r.IntN(12)), "b": chain(r, r.IntN(50))}
		src := encode(t, in)
		got := l.Append([]byte("{"), src, 1<<30)[1:]
		out := decode(t, got)
		if string(got) != string(src) {
			changed++
		}
		want, have := make(map[string]any), make(map[string]any)
		leaves("", decode(t, src), want)
		leaves("", out, have)
		for path, v := range have {
			if text, ok := v.(string); ok && want[path] == nil && strings.HasPrefix(text, "[") { // an array in an array
				var list []any
				if err := json.Unmarshal([]byte(text), &list); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				delete(have, path)
				leaves(path, list, have)
			}
		}
		must.That(t, maps.Equal(want, have), "values differ:\n%.1000s\n%.1000s", src, got)
		depth := depthOf(out)
		must.That(t, depth <= maxDepth, "depth %d: %.1000s", depth, got)
	}
	assert.That(t, changed >= rounds/5, "%d of %d texts were changed", changed, rounds)
}

// TestLimiterKeys checks the keys of values that are moved up.
func TestLimiterKeys(t *testing.T) {
	open, end := "", ""
	for range flatDepth / objectDepth {
		open, end = open+`{"x":`, "}"+end
	}
	for in, want := range map[string]string{
		`{"a":1,"b":["R","W"]}`:                   `{"a":1,"b":["R","W"]}`,
		`{"a":{"b":{"c":1}},"d":2}`:               `{"a.b.c":1,"d":2}`,
		`{"a":[{"b":1},{"b":["R"]}]}`:             `{"a[0].b":1,"a[1].b":["R"]}`,
		`{"a":[[1,2],{"b":{}}],"c":[]}`:           `{"a[0][0]":1,"a[0][1]":2,"a[1].b":{},"c":[]}`,
		`{"a":{"b":[{"c":{"d":[{"e":"f,{"}]}}]}}`: `{"a.b[0].c.d[0].e":"f,{"}`,
	} {
		var l Limiter
		in, want = open+in+end, open+want+end
		got := l.rewrite(nil, []byte(in), 100)
		assert.That(t, string(got) == want, "%.1000s becomes\n%.1000s, want\n%s", in, got, want)
	}
}

// TestLimiterSize checks that long JSON is truncated to a size.
func TestLimiterSize(t *testing.T) {
	const limit = 64 << 10
	var many []any
	for i := range 40_000 {
		many = append(many, map[string]any{"name": fmt.Sprintf("file%d", i)})
	}
	deep := any(many[:4])
	for range 9 {
		deep = []any{deep, deep, deep}
	}
	for name, tt := range map[string]struct {
		in   any
		want string
	}{
		"array":  {many, ` more"]`},
		"text":   {strings.Repeat("\n\\é\u2028", 50_000), `…"`},
		"both":   {map[string]any{"x": many, "y": strings.Repeat("é", 100_000)}, `…"`},
		"nested": {deep, `"kind":"reply"`},
	} {
		src := encode(t, map[string]any{"buffers": tt.in, "frame": 7, "kind": "reply", "text": strings.Repeat("\\", 200)})
		var l Limiter
		got := l.Append(nil, src, limit)
		assert.That(t, len(got) <= limit && strings.Contains(string(got), tt.want), "%s: %d bytes: %.200s", name, len(got), got)
		out := decode(t, got)
		assert.That(t, out["frame"] == 7.0 && out["kind"] == "reply", "%s: %v", name, out)
		if name == "array" {
			list := out["buffers"].([]any)
			if n := len(list) - 1; list[n] != fmt.Sprintf("%d more", len(many)-n) || n < 1000 {
				t.Errorf("%s: %d elements, then %v", name, n, list[n])
			}
		}
	}
}

// TestLimiterScalars checks what remains of an object with too many containers.
func TestLimiterScalars(t *testing.T) {
	object := make(map[string]any)
	for i := range 10_000 {
		object[fmt.Sprintf("member%d", i)] = []any{i}
	}
	src := encode(t, map[string]any{"buffers": object, "frame": 7, "long": strings.Repeat("x", 100)})
	var l Limiter
	out := decode(t, l.Append(nil, src, 64<<10))
	keys := slices.Sorted(maps.Keys(out))
	assert.That(t, slices.Equal(keys, []string{"frame", "long"}) && out["long"] == strings.Repeat("x", 64)+"…", "%v", out)
}

// TestLimiterUnchanged checks that JSON within the limits is copied without
// allocations.
func TestLimiterUnchanged(t *testing.T) {
	src := []byte(`{"frame":1,"buffers":{"connect_data":{"ocd_connect_flags":["RDONLY","GRANT"]}}}`)
	var l Limiter
	dst := make([]byte, 0, 1<<10)
	if n := testing.AllocsPerRun(10, func() { dst = l.Append(dst[:0], src, 64<<10) }); n > 0 || string(dst) != string(src) {
		t.Errorf("%v allocations, %s", n, dst)
	}
}

func TestHeader(t *testing.T) {
	for name, tt := range map[string]struct {
		h    Header
		want string
	}{
		"IPv4": {
			Header{Dissector: "json", Src: netip.MustParseAddr("192.0.2.3"), Dst: netip.MustParseAddr("::ffff:192.0.2.1"), Ports: TCP,
				SrcPort: 1021, DstPort: 988, Frame: 258, Protocol: "Lustre", Info: []byte("hello")},
			"000c0004" + "6a736f6e" + "00140004" + "c0000203" + "00150004" + "c0000201" + "00180004" + "00000002" +
				"00190004" + "000003fd" + "001a0004" + "000003dc" + "001e0004" + "00000102" +
				"00210008" + "4c75737472650000" + "00240008" + "68656c6c6f000000" + "00000000"},
		"IPv6": {
			Header{Dissector: "json", Src: netip.MustParseAddr("2001:db8::1"), Dst: netip.MustParseAddr("fe80::2%eth0"), Ports: QueuePair, SrcPort: 1 << 20, DstPort: 17},
			"000c0004" + "6a736f6e" + "00160010" + "20010db8000000000000000000000001" + "00170010" + "fe800000000000000000000000000002" +
				"00180004" + "0000000e" + "00190004" + "00100000" + "001a0004" + "00000011" + "001e0004" + "00000000" + "00210000" + "00240000" + "00000000"},
		"no addresses": {
			Header{Dissector: "json"},
			"000c0004" + "6a736f6e" + "00180004" + "00000000" + "00190004" + "00000000" + "001a0004" + "00000000" + "001e0004" + "00000000" +
				"00210000" + "00240000" + "00000000"},
	} {
		got := hex.EncodeToString(tt.h.Append(nil))
		assert.That(t, got == tt.want, "%s:\n%s, want\n%s", name, got, tt.want)
	}
}
