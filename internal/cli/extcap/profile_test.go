package extcap

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render"
)

// TestGeneratedProfile checks that the profile in completions/ is up to date; UPDATE=1 in the environment
// writes it.
func TestGeneratedProfile(t *testing.T) {
	dir := wiretest.Repo("completions/wireshark/" + profileName)
	var names []string
	for _, f := range profileFiles() {
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

// TestColorRules checks that no name or filter has the character that separates them.
func TestColorRules(t *testing.T) {
	for _, r := range colorRules {
		assert.That(t, !strings.Contains(r.name+r.filter, "@"), "%s: %s: a filter cannot contain @", r.name, r.filter)
	}
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
	for _, f := range profileFiles() {
		must.NoError(t, os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o644))
	}
	for _, tt := range []struct {
		sample string
		pdus   bool
		want   map[string]int // packets of some rules
	}{
		{"recovery", true, map[string]int{"connection unknown to the server, or client evicted": 6, "error": 8, "sent again": 1,
			"lock callback": 34, "connect or disconnect": 23, "bulk data": 11, "ping": 132}},
		{"recovery", false, map[string]int{"connection unknown to the server, or client evicted": 6, "error": 8,
			"lock callback": 33, "connect or disconnect": 24, "bulk data": 24, "ping": 71}},
	} {
		file, _ := save(t, wiretest.Sample(tt.sample), tt.pdus)
		if line := tshark(t, home, "-C", profileName, "-r", file, "-c", "1"); !strings.Contains(line, " LDLM_ENQUEUE GETATTR request [0x200000007:0x1:0x0] x1882453916452096") {
			t.Errorf("columns: %s", line)
		}
		got := make(map[string]int)
		for name := range strings.Lines(tshark(t, home, "-C", profileName, "--color", "-r", file, "-T", "fields", "-e", "frame.coloring_rule.name")) {
			got[strings.TrimPrefix(strings.TrimSpace(name), "Lustre: ")]++
		}
		n := got[""]
		assert.That(t, n <= 0, "%d packets without a colour", n)
		delete(got, "Lustre")
		if !maps.Equal(got, tt.want) {
			t.Errorf("%s: rules match %v, want %v", fmt.Sprint(tt.sample, tt.pdus), got, tt.want)
		}
	}
}

// TestTsharkTree checks that tshark shows messages as trees with the names of flags,
// and filters by them.
func TestTsharkTree(t *testing.T) {
	home := t.TempDir()
	for sample, want := range map[string]int{"mount": 196, "ip6_mount": 130, "rdma_mount": 114, "update_log": 34} {
		file, _ := save(t, wiretest.Sample(sample), true)
		n := strings.Count(tshark(t, home, "-r", file, "-Y", "json.object && !data-text-lines && !_ws.malformed", "-T", "fields", "-e", "frame.number"), "\n")
		assert.That(t, n == want, "%s: tshark shows %d messages, want %d", sample, n, want)
	}
	file, _ := save(t, wiretest.Sample("mount"), true)
	for filter, want := range map[string]string{
		`json.path_with_value == "/opcode:OST_STATFS"`:                                          "99\n100\n101\n102\n",
		`json.path_with_value == "/buffers/connect_data/ocd_connect_flags/[]:GRANT_SHRINK"`:     "59\n60\n61\n62\n63\n64\n75\n76\n77\n80\n149\n150\n151\n152\n155\n156\n166\n167\n168\n169\n",
		`exported_pdu.orig_fno == 4 && ip.src == 192.0.2.3 && exported_pdu.dst_port == 988`:     "1\n",
		`frame.comment contains "OST_STATFS reply" && frame.time_epoch == 1795248406.876224000`: "100\n",
	} {
		assert.Equal(t, tshark(t, home, "-r", file, "-Y", filter, "-T", "fields", "-e", "frame.number"), want, filter, "packets")
	}
}
