package extcap

import (
	"bytes"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/pdu"
)

// TestGeneratedProfile checks that the profile in completions/ is up to date; UPDATE=1 in the environment
// writes it.
func TestGeneratedProfile(t *testing.T) {
	dir := wiretest.Repo("completions/wireshark/" + profileName)
	var names []string
	for _, f := range profileFiles {
		names = append(names, f.name)
		path := filepath.Join(dir, f.name)
		wiretest.Golden(t, path, f.text)
	}
	entries := must.Value(os.ReadDir(dir))(t)
	for _, e := range entries {
		if !slices.Contains(names, e.Name()) {
			t.Errorf("%s belongs to no file of the profile", e.Name())
		}
	}
}

// TestColorRules checks the form of the colouring rules, and that kinds of messages have their names in them.
func TestColorRules(t *testing.T) {
	rule := regexp.MustCompile(`^@[^@]+@[^@]+@\[\d+,\d+,\d+\]\[\d+,\d+,\d+\]\n$`)
	for line := range strings.Lines(colorFilters) {
		assert.That(t, strings.HasPrefix(line, "#") || rule.MatchString(line), "not a rule: %s", line)
	}
	for _, filter := range []string{`"(?-i)%s (ENOTCONN|ESHUTDOWN)"`, `"(?-i)%s E[A-Z0-9]+ "`} {
		assert.That(t, strings.Contains(colorFilters, fmt.Sprintf(filter, lnet.Reply)), "no rule with %s", filter)
	}
	assert.That(t, strings.Contains(colorFilters, fmt.Sprintf(`"(?-i)%s "`, lnet.EarlyReply)), "no rule of early replies")
	assert.That(t, strings.Contains(colorFilters, fmt.Sprintf(`"(?-i) %s "`, lnet.Bulk)), "no rule of bulk data")
}

// save writes the messages or frames of a sample as -w does, and returns the file, and the messages as -T json prints
// them.
func save(t *testing.T, sample string, pdus bool) (path string, messages [][]byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "out.pcapng")
	in := must.Value((&scan.Flags{Read: []string{sample}, Quiet: true}).Check(nil, false))(t)
	var errs bytes.Buffer
	sys := &scan.System{IO: &iostreams.IO{Err: &errs}}
	p := scan.New(sys, in, scan.Options{SaveTo: path, SavePDUs: pdus, Distinct: true, Names: track.NewNames()})
	j := render.NewJSON()
	p.Add(scan.Consumer{Message: func(m *dissect.Message) error {
		messages = append(messages, j.Append(nil, m, render.Moment{First: p.First()}))
		return nil
	}})
	if err := p.Run(); err != nil || errs.Len() > 0 {
		t.Fatalf("%v: %s", err, &errs)
	}
	return path, messages
}

// joined returns a file with the packets of several ones.
func joined(t *testing.T, files ...string) string {
	t.Helper()
	var all []byte
	for _, file := range files {
		all = append(all, must.ReadFile(t, file)...)
	}
	name := filepath.Join(t.TempDir(), "all.pcapng")
	must.NoError(t, os.WriteFile(name, all, 0o644))
	return name
}

// tshark runs tshark with a home folder of its own, and returns what it prints. The
// test is skipped where it is not installed.
func tshark(t *testing.T, home string, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("tshark", args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	text := strings.ReplaceAll(errs.String(), "Running as user \"root\" and group \"root\". This could be dangerous.\n", "")
	if err != nil || text != "" {
		t.Errorf("tshark %s: %v: %s", strings.Join(args, " "), err, text)
	}
	return string(out)
}

// TestTsharkProfile checks that tshark reads the profile without a warning, shows its
// columns, and colours packets by its rules.
func TestTsharkProfile(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "wireshark", "profiles", profileName)
	must.NoError(t, os.MkdirAll(dir, 0o755))
	for _, f := range profileFiles {
		must.NoError(t, os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o644))
	}
	messages, list := save(t, wiretest.Sample("recovery"), true)
	frames, _ := save(t, wiretest.Sample("recovery"), false)
	file, n := joined(t, messages, frames), len(list)
	first := fmt.Sprintf("frame.number in {1, %d}", n+1)
	lines := slices.Collect(strings.Lines(tshark(t, home, "-C", profileName, "-r", file, "-c", fmt.Sprint(n+1), "-Y", first)))
	must.Equal(t, len(lines), 2, "lines of the first packets")
	rules := slices.Collect(strings.Lines(tshark(t, home, "-C", profileName, "--color", "-r", file, "-T", "fields", "-e", "frame.coloring_rule.name")))
	must.That(t, len(rules) > n, "%d packets, %d of them messages", len(rules), n)
	for i, tt := range []struct {
		what  string
		rules []string
		want  map[string]int // packets of some rules
	}{
		{"messages", rules[:n], map[string]int{"connection unknown to the server, or client evicted": 6, "error": 8, "sent again": 1,
			"lock callback": 34, "connect or disconnect": 23, "bulk data": 11, "ping": 132}},
		{"frames", rules[n:], map[string]int{"connection unknown to the server, or client evicted": 6, "error": 8,
			"lock callback": 33, "connect or disconnect": 24, "bulk data": 24, "ping": 71}},
	} {
		if !strings.Contains(lines[i], " LDLM_ENQUEUE GETATTR request [0x200000007:0x1:0x0] x1882453916452096") {
			t.Errorf("%s: columns: %s", tt.what, lines[i])
		}
		got := make(map[string]int)
		for _, name := range tt.rules {
			got[strings.TrimPrefix(strings.TrimSpace(name), "Lustre: ")]++
		}
		assert.Equal(t, got[""], 0, tt.what, "packets without a colour")
		delete(got, "Lustre")
		if !maps.Equal(got, tt.want) {
			t.Errorf("%s: rules match %v, want %v", tt.what, got, tt.want)
		}
	}
}

// TestTsharkTree checks that tshark shows messages as trees with the names of flags,
// and filters by them. A script prints what each filter finds, as tshark takes long to start.
func TestTsharkTree(t *testing.T) {
	var files []string
	var sample []string // that each packet is of
	for _, name := range []string{"mount", "ip6_mount", "rdma_mount", "update_log"} {
		file, messages := save(t, wiretest.Sample(name), true)
		files = append(files, file)
		sample = append(sample, slices.Repeat([]string{name}, len(messages))...)
	}
	filters := []struct{ filter, want string }{ // of packets in mount.pcap
		{`json.path_with_value == "/opcode:OST_STATFS"`, "99 100 101 102"},
		{`json.path_with_value == "/buffers/connect_data/ocd_connect_flags/[]:GRANT_SHRINK"`, "59 60 61 62 63 64 75 76 77 80 149 150 151 152 155 156 166 167 168 169"},
		{`exported_pdu.orig_fno == 4 && ip.src == 192.0.2.3 && exported_pdu.dst_port == 988`, "1"},
		{`frame.comment contains "OST_STATFS reply" && frame.time_epoch == 1795248406.876224000`, "100"},
	}
	trees := `json.object && !data-text-lines && !_ws.malformed`
	script := "function list(filter)\n\tlocal tap = Listener.new(nil, filter)\n\tfunction tap.packet(packet) print(packet.number, filter) end\nend\n"
	for _, f := range filters {
		script += fmt.Sprintf("list([[%s]])\n", f.filter)
	}
	name := filepath.Join(t.TempDir(), "list.lua")
	must.NoError(t, os.WriteFile(name, fmt.Appendf(nil, "%slist([[%s]])\n", script, trees), 0o600))
	shown, found := make(map[string]int), make(map[string]string)
	for line := range strings.Lines(tshark(t, t.TempDir(), "-q", "-X", "lua_script:"+name, "-r", joined(t, files...))) {
		number, filter, _ := strings.Cut(strings.TrimSpace(line), "\t")
		n := must.Value(strconv.Atoi(number))(t)
		must.That(t, n <= len(sample), "packet %d of %d messages", n, len(sample))
		switch of := sample[n-1]; {
		case filter == trees:
			shown[of]++
		case of == "mount":
			found[filter] += " " + number
		}
	}
	want := map[string]int{"mount": 196, "ip6_mount": 130, "rdma_mount": 114, "update_log": 34}
	assert.That(t, maps.Equal(shown, want), "tshark shows the messages %v, want %v", shown, want)
	for _, f := range filters {
		assert.Equal(t, found[f.filter], " "+f.want, f.filter, "packets")
	}
}

// TestAnswers checks that answers that are files have the values of the program.
func TestAnswers(t *testing.T) {
	for _, link := range []capture.LinkType{pdu.LinkType, capture.LinkEthernet} {
		assert.That(t, strings.Contains(linkTypes, fmt.Sprintf("{number=%d}", link)), "no link type %d", link)
	}
	for _, text := range []string{localSettings, remoteSettings} {
		for _, content := range []string{contentMessages, contentFrames} {
			assert.That(t, strings.Contains(text, "{value="+content+"}"), "no content %s", content)
		}
	}
}

// TestInterfaceValue checks that the name of an interface does not end a value or a line.
func TestInterfaceValue(t *testing.T) {
	got := interfaceValue(&capture.Interface{Name: "a}{b\n", Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/24")}})
	assert.Equal(t, got, "value {arg=0}{value=a)(b }{display=a)(b  192.0.2.1}{default=false}\n")
}
