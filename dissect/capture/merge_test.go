package capture

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// at makes frames at the given seconds, marked with a letter.
func at(mark string, seconds ...int64) []byte {
	var list []sample
	for _, s := range seconds {
		list = append(list, sample{s * 1e9, []byte(mark), 1})
	}
	return pcapFile(binary.LittleEndian, true, 1, list)
}

func TestMergeOrder(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var paths []string
	var want []int64
	for i := range 7 {
		var list []sample
		now := int64(0)
		for range 100 * i {
			now += random.Int63n(1000)
			list = append(list, sample{now + 1, []byte{byte(i)}, 1})
			want = append(want, now+1)
		}
		paths = append(paths, writeFile(t, fmt.Sprint(i), pcapFile(binary.LittleEndian, true, 1, list)))
	}
	slices.Sort(want)
	got, err := readAll(t, Options{}, paths...)
	must.That(t, err == nil && len(got) == len(want), "%d frames, want %d; %v", len(got), len(want), err)
	for i, f := range got {
		must.Equal(t, f.Time, want[i], "frame")
	}
}

// TestSources: files of one node follow each other, files of different nodes
// overlap.
func TestSources(t *testing.T) {
	dir := func(name string, data []byte) string { return writeFile(t, name, data) }
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"rotated": {[]string{dir("c2", at("c", 5, 6)), dir("c0", at("a", 1, 2)), dir("c1", at("b", 3, 4))},
			"a0 a0 b0 b0 c0 c0"},
		"two nodes": {[]string{dir("x", at("a", 1, 3)), dir("y", at("b", 2, 4))},
			"a0 b1 a0 b1"},
		"equal times": {[]string{dir("x", at("a", 1, 1)), dir("y", at("b", 1, 1))},
			"a0 a0 b0 b0"},
		"one inside": {[]string{dir("x", at("a", 1, 9)), dir("y", at("b", 2, 3)), dir("z", at("c", 4))},
			"a0 b1 b1 c1 a0"},
	} {
		got := must.Value(readAll(t, Options{}, c.files...))(t)
		assert.Equal(t, marks(got), c.want, name)
	}
	// Two nodes, rotated: the names say what goes on with what.
	base := t.TempDir() + "/"
	for name, data := range map[string][]byte{"client.0": at("a", 1, 4), "server.0": at("b", 2, 3), "client.1": at("c", 6, 8), "server.1": at("d", 5, 7)} {
		writeTo(t, base+name, data)
	}
	got, err := readAll(t, Options{}, base+"client.0", base+"client.1", base+"server.0", base+"server.1")
	if want := "a0 b1 b1 a0 d1 c0 d1 c0"; err != nil || marks(got) != want {
		t.Errorf("%s, want %s; %v", marks(got), want, err)
	}
}

func marks(list []Frame) string {
	text := ""
	for i, f := range list {
		if i > 0 {
			text += " "
		}
		text += string(f.Data) + fmt.Sprint(f.Source)
	}
	return text
}

// TestFrameFiles checks that each frame of a merge has the name of its file and
// its number in it, and that of a single file only the number.
func TestFrameFiles(t *testing.T) {
	a, b, c := writeFile(t, "a", at("a", 1, 5)), writeFile(t, "b", at("b", 2, 3, 7)), writeFile(t, "c", at("c", 4))
	names := FileNames([]string{a, b, c})
	got, err := readAll(t, Options{}, a, b, c)
	must.NoError(t, err)
	type place struct {
		file   string
		number int64
	}
	want := []place{{names[0], 1}, {names[1], 1}, {names[1], 2}, {names[2], 1}, {names[0], 2}, {names[1], 3}}
	var places []place
	for _, f := range got {
		places = append(places, place{f.File, f.FileNumber})
	}
	assert.Slice(t, places, want)
	got, err = readAll(t, Options{}, b)
	assert.That(t, err == nil && len(got) == 3 && got[2].File == "" && got[2].Number == 3, "a single file: %+v; %v", got, err)
}

func TestOffset(t *testing.T) {
	a, b := writeFile(t, "a", at("a", 1, 3, 5)), writeFile(t, "b", at("b", 12, 14))
	got, err := readAll(t, Options{Offset: map[string]time.Duration{b: -10 * time.Second}}, a, b)
	if want := "a0 b1 a0 b1 a0"; err != nil || marks(got) != want || got[1].Time != 2e9 {
		t.Errorf("%s, want %s; %v", marks(got), want, err)
	}
}

// TestMergeDamage: the damaged file ends early, the others go on.
func TestMergeDamage(t *testing.T) {
	data := at("b", 2, 4, 6)
	a, b := writeFile(t, "a", at("a", 1, 3, 5, 7)), writeFile(t, "b", data[:len(data)-1])
	c := writeFile(t, "c", nil)
	got, err := readAll(t, Options{}, a, b, c)
	assert.Equal(t, marks(got), "a0 b1 a0 b1 a0 a0")
	d := damaged(t, err)
	first := (err.(interface{ Unwrap() []error })).Unwrap()
	assert.That(t, len(first) == 2 && d.File == c, "%v, want the damage of %s and %s", err, c, b)
}

// TestEstimateThree: a file is compared with the first one that it shares
// segments of both directions with.
