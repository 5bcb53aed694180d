package structure

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// mayImport lists for each package the packages of this module that it may
// import. Data flows from capture to cli, and imports point the other way;
// the tables of the protocol lie below every package that reads messages.
// Test files may import more.
var mayImport = map[string][]string{
	".":                  {"cli"},
	"cli":                {"tui", "tui/model", "tui/store", "anonymize", "anonymize/values", "diagnose", "diagnose/rules", "cli/exit", "cli/extcap", "cli/monitor", "cli/flags", "cli/reference", "cli/iostreams", "cli/scan", "cli/sql", "capture", "lnet", "opcodes", "opcodes/schema", "dissect", "track", "track/config", "track/locks", "track/files", "track/recovery", "records", "filter", "render", "render/explain", "render/ladder", "render/report", "render/columns", "render/html", "track/comparison", "track/sizes", "track/slowest", "track/timeline"},
	"cli/reference":      {"cli/exit", "cli/flags", "cli/iostreams", "diagnose", "diagnose/rules", "filter", "opcodes", "opcodes/schema", "records", "render", "render/columns", "render/explain"},
	"cli/flags":          {"cli/exit", "cli/iostreams", "cli/scan", "capture", "dissect", "filter", "lnet", "opcodes/schema", "records", "render/columns", "render", "track"},
	"cli/scan":           {"diagnose", "cli/exit", "cli/iostreams", "capture", "capture/pcapfilter", "capture/pdu", "lnet", "dissect", "track", "track/targets", "render"},
	"cli/extcap":         {"cli/exit", "cli/flags", "cli/iostreams", "cli/scan", "capture", "capture/pdu", "filter", "lnet"},
	"cli/sql/sqltest":    {},
	"cli/sql":            {"cli/exit", "cli/flags", "cli/iostreams", "cli/scan", "capture", "render/columns", "render/parquet"},
	"cli/monitor":        {"cli/exit", "cli/flags", "cli/scan", "capture", "diagnose", "dissect", "filter", "lnet", "metrics", "monitor", "otlp", "track"},
	"cli/exit":           {"cli/iostreams", "capture", "opcodes/schema", "filter"},
	"cli/iostreams":      {},
	"render":             {"lnet", "opcodes", "opcodes/schema", "dissect", "track", "records"},
	"render/ladder":      {"lnet", "opcodes", "opcodes/schema", "dissect", "track", "track/files", "track/locks", "internal/fifo", "render"},
	"render/parquet":     {},
	"render/columns":     {"opcodes/schema", "records", "render", "render/parquet"},
	"render/explain":     {"diagnose", "lnet", "opcodes", "opcodes/schema", "dissect", "records", "render"},
	"track/recovery":     {"lnet", "opcodes", "dissect", "track", "internal/fifo"},
	"render/html":        {"diagnose", "lnet", "opcodes/schema", "dissect", "records", "track", "track/files", "track/locks", "track/recovery", "track/sizes", "track/slowest", "track/timeline", "render", "render/report"},
	"render/report":      {"track/timeline", "diagnose", "lnet", "opcodes", "opcodes/schema", "records", "track", "track/config", "track/locks", "track/files", "track/recovery", "render", "track/comparison"},
	"filter":             {"lnet", "opcodes", "opcodes/schema", "dissect", "track", "records"},
	"monitor":            {"capture", "diagnose", "diagnose/rules", "dissect", "filter", "lnet", "metrics", "opcodes", "otlp", "records", "render/columns", "track", "track/evictions"},
	"records":            {"diagnose", "lnet", "opcodes", "opcodes/schema", "dissect", "track", "track/config", "track/locks", "track/files", "track/recovery", "track/comparison"},
	"diagnose/rules":     {"diagnose", "lnet", "lnet/ib", "opcodes", "opcodes/schema", "dissect", "track", "track/evictions", "track/locks", "track/paths", "track/recovery", "internal/fifo"},
	"diagnose":           {"lnet", "dissect", "track", "track/evictions", "track/locks", "track/paths", "track/recovery"},
	"track/comparison":   {"dissect", "track"},
	"track/config":       {"lnet", "opcodes", "dissect", "track", "internal/fifo"},
	"track/evictions":    {"lnet", "opcodes", "dissect", "track", "track/locks", "internal/fifo"},
	"track/paths":        {"lnet", "dissect", "track", "internal/fifo"},
	"track/files":        {"lnet", "opcodes", "dissect", "track", "track/locks", "internal/fifo"},
	"track/locks":        {"lnet", "opcodes", "dissect", "track", "internal/fifo"},
	"track/timeline":     {"track"},
	"track/sizes":        {"opcodes", "dissect", "track"},
	"track/slowest":      {"opcodes", "dissect", "track"},
	"track/targets":      {"lnet", "opcodes", "opcodes/schema", "dissect", "track", "track/config", "internal/fifo"},
	"track":              {"lnet", "opcodes", "opcodes/schema", "dissect", "internal/codec", "internal/fifo"},
	"dissect":            {"capture", "lnet", "opcodes", "opcodes/schema", "internal/fifo"},
	"lnet":               {"lnet/link", "lnet/ib", "capture", "opcodes", "opcodes/schema", "internal/fifo"},
	"lnet/link":          {"lnet/ib", "capture"},
	"lnet/ib":            {},
	"capture":            {"capture/pcapfilter"},
	"capture/pcapfilter": {},
	"capture/pdu":        {"capture"},
	"opcodes":            {"opcodes/schema", "internal/checksum"},
	"opcodes/schema":     {},

	"anonymize":        {"internal/checksum", "anonymize/values", "capture", "lnet", "lnet/ib", "lnet/link", "dissect"},
	"anonymize/values": {"lnet", "opcodes", "opcodes/schema", "dissect", "internal/fifo"},

	"otlp": {"metrics", "internal/protowire"},

	"bench/gen":                {"capture", "lnet", "dissect"},
	"bench/profile":            {"cli", "cli/iostreams", "cli/scan"},
	"bench/rows":               {},
	"bench/replay":             {"capture"},
	"bench/walk":               {},
	"internal/checksum":        {},
	"internal/codec":           {"lnet"},
	"internal/codec/codectest": {"lnet", "opcodes/schema"},
	"internal/facts":           {},
	"internal/fifo":            {},
	"internal/protowire":       {},
	"release":                  {},
	"tui":                      {"tui/model", "tui/store", "lnet", "opcodes", "opcodes/schema", "dissect", "track", "records", "filter", "render"},
	"tui/model":                {"tui/store", "diagnose", "diagnose/rules", "capture", "lnet", "opcodes/schema", "dissect", "track", "track/locks", "track/files", "records", "render", "render/ladder", "render/report", "internal/fifo"},
	"tui/store":                {"capture", "lnet", "lnet/link", "opcodes/schema", "dissect", "track", "records", "filter", "render", "internal/codec"},
	"internal/wiretest":        {"capture"},
	"internal/prometheustest":  {},
	"metrics":                  {"internal/protowire"},
}

// gopacketFiles lists the files that import gopacket, tests apart. It is kept
// short so that replacing or updating gopacket touches few files.
var gopacketFiles = []string{
	"capture/pcap.go",
	"capture/pcapng_frames.go",
	"capture/source.go",
	"capture/writer.go",
	"lnet/ib/cm.go",
	"lnet/ib/extensions.go",
	"lnet/ib/grh.go",
	"lnet/ib/layer_types.go",
	"lnet/ib/lrh.go",
	"lnet/ib/mad.go",
	"lnet/ib/transport.go",
	"lnet/link/infiniband.go",
	"lnet/link/ip.go",
	"lnet/link/ip_tunnel.go",
	"lnet/link/decoder.go",
}

// testPackages lists packages that only tests and the programs in bench/ may import: as
// readers that check what the program writes.
var testPackages = []string{"github.com/parquet-go/"}

const gopacketPath = "github.com/google/gopacket"

// vagueNames are package names without a subject.
var vagueNames = []string{"util", "utils", "common", "misc", "helper", "helpers"}

func TestImports(t *testing.T) {
	packages := parseModule(t, os.DirFS("../.."))
	for _, p := range checkImports(packages) {
		t.Error(p)
	}
	for dir := range mayImport {
		if !slices.ContainsFunc(packages, func(p sourcePackage) bool { return p.dir == dir }) {
			t.Errorf("package %s is gone: remove it from mayImport in internal/structure/imports_test.go", dir)
		}
	}
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
		allowed, listed := mayImport[pkg.dir]
		if !listed {
			report("package %s is new: add it to mayImport in internal/structure/imports_test.go, with the packages it may import", pkg.dir)
			continue
		}
		for _, file := range pkg.files {
			for _, imported := range file.imports {
				own, isOwn := strings.CutPrefix(imported, modulePath+"/")
				if isOwn && !slices.Contains(allowed, own) {
					report("%s imports %s, against the direction of the imports: %s may import %s. Move what is needed down to one of these, or pass it as an argument",
						file.name, own, pkg.dir, listOrNothing(allowed))
				}
				if !strings.HasPrefix(pkg.dir, "bench/") && slices.ContainsFunc(testPackages, func(prefix string) bool { return strings.HasPrefix(imported, prefix) }) {
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

func listOrNothing(list []string) string {
	if len(list) == 0 {
		return "nothing of this module"
	}
	return strings.Join(list, ", ")
}

// TestImportChecks checks that a violation of each rule is reported.
func TestImportChecks(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		want             []string
	}{
		{"upwards", "lnet/a.go", `import "github.com/lshark/lshark/render"`, []string{"lnet/a.go imports render", "Move what is needed down"}},
		{"sideways", "filter/a.go", `import "github.com/lshark/lshark/render"`, []string{"filter/a.go imports render"}},
		{"bottom", "opcodes/schema/a.go", `import "github.com/lshark/lshark/opcodes"`, []string{"opcodes/schema may import nothing of this module"}},
		{"tests only", "cli/a.go", `import "github.com/lshark/lshark/internal/wiretest"`, []string{"cli/a.go imports internal/wiretest"}},
		{"new package", "export/a.go", ``, []string{"package export is new: add it to mayImport"}},
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
	tree := fstest.MapFS{"cli/a.go": {Data: []byte(`package p; import "github.com/lshark/lshark/track"`)}}
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
		if !strings.Contains(problems[0], part) {
			t.Errorf("%s: %q, want %q in it", name, problems[0], part)
		}
	}
}
