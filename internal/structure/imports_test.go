package structure

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lshark/lshark/internal/assert"
)

// rooms are the folders of the module from the bottom to the top. A package
// belongs to the last room here whose folder it is in or below, and imports
// only packages of its own room and of rooms above it in this list: frames
// become messages, facts, findings and output, and imports point the other
// way. Test files may import more.
var rooms = []string{
	"internal/fifo",
	"internal/parallel",
	"internal/checksum",
	"opcodes/schema",
	"opcodes",
	"dissect/capture",
	"dissect/lnet",
	"dissect",
	"internal/codec",
	"dissect/track",
	"dissect/diagnose",
	"render/records",
	"render",
	"render/filter",
	"internal/anonymize",
	"internal/outdir",
	"internal/trouble",
	"internal/monitor",
	"internal/tui",
	"internal/cli",
	".",
}

// testRooms are rooms that only tests and other rooms of this list import.
var testRooms = []string{"internal/tools", "internal/wiretest", "internal/simulator", "internal/assert", "internal/must", "internal/codec/codectest", "internal/facts",
	"internal/cli/sql/sqltest"}

// gopacketFiles lists the files that import gopacket, tests apart. It is kept
// short so that replacing or updating gopacket touches few files.
var gopacketFiles = []string{
	"dissect/capture/pcap.go",
	"dissect/capture/pcapng.go",
	"dissect/capture/source.go",
	"dissect/capture/writer.go",
	"dissect/lnet/link/ip.go",
	"dissect/lnet/link/decoder.go",
}

// testPackage begins the paths of what only tests may import, as a reader that checks what the program writes: all but a
// hash function.
const (
	testPackage = "github.com/parquet-go/"
	hashPackage = testPackage + "parquet-go/bloom/xxhash"
)

const gopacketPath = "github.com/google/gopacket"

// vagueNames are package names without a subject.
var vagueNames = []string{"util", "utils", "common", "misc", "helper", "helpers"}

func TestImports(t *testing.T) {
	packages := parseModule(t, os.DirFS("../.."))
	for _, p := range checkImports(packages) {
		t.Error(p)
	}
	for _, room := range slices.Concat(rooms, testRooms) {
		if !slices.ContainsFunc(packages, func(p sourcePackage) bool { return inRoom(p.dir, room) }) {
			t.Errorf("%s is gone: remove it from rooms or testRooms in internal/structure/imports_test.go", room)
		}
	}
}

func inRoom(dir, room string) bool { return dir == room || strings.HasPrefix(dir, room+"/") }

// roomOf returns the index of the most specific room of a list that a package
// is in, or -1.
func roomOf(dir string, list []string) int {
	best := -1
	for i, room := range list {
		if inRoom(dir, room) && (best < 0 || len(room) > len(list[best])) {
			best = i
		}
	}
	return best
}

func checkImports(packages []sourcePackage) []string {
	var problems []string
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var gopacket []string
	for _, pkg := range packages {
		if slices.Contains(vagueNames, path.Base(pkg.dir)) {
			report("package %s has no subject in its name: name it after what it does, or move its parts to the packages that need them", pkg.dir)
			continue
		}
		room, forTests := roomOf(pkg.dir, rooms), roomOf(pkg.dir, testRooms) >= 0
		if room < 0 && !forTests {
			report("package %s is in no room: move it into one of rooms in internal/structure/imports_test.go, or add it there", pkg.dir)
			continue
		}
		for _, file := range pkg.files {
			for _, imported := range file.imports {
				own, isOwn := strings.CutPrefix(imported, modulePath+"/")
				switch {
				case !isOwn || forTests:
				case roomOf(own, testRooms) >= 0:
					report("%s imports %s, which only tests may import", file.name, own)
				case roomOf(own, rooms) > room:
					report("%s imports %s, against the direction of the imports. Move what is needed down, or pass it as an argument", file.name, own)
				}
				if !forTests && strings.HasPrefix(imported, testPackage) && imported != hashPackage {
					report("%s imports %s, which only tests may import", file.name, imported)
				}
				if imported == gopacketPath || strings.HasPrefix(imported, gopacketPath+"/") {
					gopacket = append(gopacket, file.name)
				}
			}
		}
	}
	gopacket = slices.Compact(gopacket)
	for _, name := range gopacket {
		if !slices.Contains(gopacketFiles, name) {
			report("%s imports gopacket: use what one of the files in gopacketFiles offers, or add it to that list in internal/structure/imports_test.go", name)
		}
	}
	for _, name := range gopacketFiles {
		if !slices.Contains(gopacket, name) {
			report("%s no longer imports gopacket: remove it from gopacketFiles in internal/structure/imports_test.go", name)
		}
	}
	return problems
}

// TestImportChecks checks that a violation of each rule is reported.
func TestImportChecks(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		want             []string
	}{
		{"upwards", "dissect/lnet/a.go", `import "github.com/lshark/lshark/render"`, []string{"dissect/lnet/a.go imports render", "Move what is needed down"}},
		{"upwards from a room in a room", "render/records/a.go", `import "github.com/lshark/lshark/render"`, []string{"render/records/a.go imports render"}},
		{"bottom", "opcodes/schema/a.go", `import "github.com/lshark/lshark/opcodes"`, []string{"opcodes/schema/a.go imports opcodes"}},
		{"tests only", "internal/cli/a.go", `import "github.com/lshark/lshark/internal/wiretest"`, []string{"internal/cli/a.go imports internal/wiretest"}},
		{"new room", "export/a.go", ``, []string{"package export is in no room"}},
		{"vague name", "internal/util/a.go", ``, []string{"internal/util has no subject in its name"}},
		{"package of tests", "render/a.go", `import "github.com/parquet-go/parquet-go/format"`, []string{"render/a.go imports github.com/parquet-go/parquet-go/format, which only tests may import"}},
		{"gopacket", "render/a.go", `import "github.com/google/gopacket/layers"`, []string{"render/a.go imports gopacket"}},
	} {
		tree := fstest.MapFS{tt.file: {Data: []byte("package p\n" + tt.text)}}
		for _, name := range gopacketFiles {
			tree[name] = &fstest.MapFile{Data: []byte(`package p; import "github.com/google/gopacket"`)}
		}
		checkProblems(t, tt.name, checkImports(parseModule(t, tree)), tt.want)
	}
	tree := fstest.MapFS{"internal/cli/a.go": {Data: []byte(`package p; import "github.com/lshark/lshark/dissect/track"`)}}
	problems := checkImports(parseModule(t, tree))
	if len(problems) != len(gopacketFiles) || !strings.Contains(problems[0], "no longer imports gopacket: remove it") {
		t.Errorf("without gopacket: %q", problems)
	}
}

// checkProblems compares the problems found with parts of the one wanted.
func checkProblems(t *testing.T, name string, problems, want []string) {
	t.Helper()
	if len(problems) != 1 {
		t.Errorf("%s: problems %q, want one", name, problems)
		return
	}
	for _, part := range want {
		assert.Contains(t, problems[0], part, name, "in it")
	}
}
