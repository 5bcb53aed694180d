package main

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

func TestNewNames(t *testing.T) {
	c := must.Value(newComparison("testdata"))(t)
	var out strings.Builder
	must.NoError(t, c.run(&out))
	assert.Equal(t, out.String(), `toy.h:5: define TOY_SHIFT = 0x4: unknown
toy.h:7: define TOY_SIZE = 0x31: unknown
toy.h:9: define TOY_NAME: unknown
toy.h:10: define TOY_MASK = -5: unknown
toy.h:14: define LMV_CRUSH_PG_COUNT: lshark has it since 2.15, these headers are of 2.13
toy.h:50: define o_toy: unknown
toy.h:21: enum mds_cmd MDS_GETATTR = 0x31: lshark has 0x21
toy.h:23: enum mds_cmd MDS_TOY = 0x23: unknown
toy.h:24: enum mds_cmd MDS_TOY_LETTER = 0x61: unknown
toy.h:29: struct obd_connect_data has ocd_toys: unknown
toy.h:29: struct obd_connect_data has ocd_more: unknown
toy.h:31: struct obd_connect_data has ocd_toy_inside: unknown
toy.h:35: struct toy_body: unknown
toy.h:52: enum tag toy_records: unknown
23 names, 14 differ
`, "the differences")
	out.Reset()
	must.NoError(t, c.rows(&out))
	assert.Equal(t, out.String(), `toy.h	define	TOY_SHIFT=0x4 TOY_SIZE=0x31 TOY_NAME="toy" TOY_MASK=-5	
toy.h	alias	o_toy=o_misc	
toy.h	enum mds_cmd	MDS_TOY=0x23 MDS_TOY_LETTER=0x61	
toy.h	struct obd_connect_data	ocd_toys ocd_more ocd_toy_inside	
toy.h	struct toy_body	tb_fid tb_list	
toy.h	alias	toy_records=changelog_type	
`, "the rows")
}

func TestOurs(t *testing.T) {
	var out strings.Builder
	must.NoError(t, printOurs(&out, "testdata"))
	assert.That(t, strings.Contains(out.String(), "struct lu_fid: f_seq f_oid f_ver\n"), "%s", out.String())
	assert.That(t, !strings.Contains(out.String(), " obd_connect_data "), "obd_connect_data is in toy.h")
}

// TestNamesIn reads declarations that are written in unusual ways.
func TestNamesIn(t *testing.T) {
	for text, want := range map[string]string{
		// One of two parentheses is in code that the preprocessor drops.
		"#ifdef X\nint f(int a,\n#else\nint f(long a,\n#endif\nint b); struct later { int y; int z; }; enum { A, B, C };": "later y z A B C",
		"struct s { int a); int b; }; struct later { int y; int z; };":                                                    "s a b later y z",
		"struct s { struct { int a; } x[4], y; union { int b; }; enum { C, D } e, f; int g; } u, v;":                      "s a b C D e f g",
		"static int f(struct s *p) { int a; { int b; } return 0; } struct later { int y; };":                              "later y",
		"extern \"C\" { struct later { int y; }; }":                                                                       "later y",
	} {
		var names []string
		for _, n := range namesIn("toy.h", text) {
			names = append(names, n.name)
		}
		assert.Equal(t, strings.Join(names, " "), want, text)
	}
}

func TestNoHeaders(t *testing.T) {
	names, err := readHeaders("..")
	assert.That(t, names == nil && err != nil, "%d names, %v", len(names), err)
}
