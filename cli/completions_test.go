package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
)

// TestGenerated checks that the completion scripts and man pages in completions/
// are up to date; -update writes them.
func TestGenerated(t *testing.T) {
	dir := filepath.Join("..", "completions")
	fresh := make(map[string][]byte)
	for shell, name := range map[string]string{"bash": "lshark.bash", "zsh": "_lshark", "fish": "lshark.fish", "powershell": "lshark.ps1"} {
		var b bytes.Buffer
		if code := Run(testSystem(&b, &b), []string{"completion", shell}); code != 0 {
			t.Fatalf("completion %s: status %d\n%s", shell, code, b.Bytes())
		}
		fresh[name] = b.Bytes()
	}
	var pages func(cmd *cobra.Command)
	pages = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		fresh[manName(cmd)+".1"] = manPage(cmd)
		for _, c := range cmd.Commands() {
			pages(c)
		}
	}
	pages(newRoot(testSystem(io.Discard, io.Discard)))
	old, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range old {
		if fresh[e.Name()] == nil {
			if t.Errorf("completions/%s belongs to no command", e.Name()); *update {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	for name, want := range fresh {
		path := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("completions/%s is stale; go test ./cli -run Generated -update updates it", name)
		}
	}
}

// TestComplete checks completions as a shell requests them.
func TestComplete(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{""}, "rpcs\t"},
		{[]string{"-T", "js"}, "json\n"},
		{[]string{"rpcs", "-T", "su"}, "summary\n"},
		{[]string{"-T", "fields", "-e", "mbo_va"}, "mbo_valid\n"},
		{[]string{"rpcs", "-e", "late"}, "latency\n"},
		{[]string{"-Y", "pb_opc == 3 and ocd_ver"}, "pb_opc == 3 and ocd_version\n"},
		{[]string{"rpcs", "-Y", "rpc.tar"}, "rpc.target\n"},
		{[]string{"stats", "--by", "op,tar"}, "op,target\n"},
		{[]string{"-i", "an"}, "any\n"},
		{[]string{"explain", "obd_connect_d"}, "obd_connect_data\n"},
		{[]string{"explain", "OBD_CONNECT_GRANT_S"}, "OBD_CONNECT_GRANT_SHRINK\n"},
		{[]string{"decode", "ver"}, "version\n"},
		{[]string{"completion", "z"}, "zsh\n"},
		{[]string{"help", "rp"}, "rpcs\n"},
	} {
		var out, errs bytes.Buffer
		sys := testSystem(&out, &errs)
		if code := Run(sys, append([]string{"__complete"}, tt.args...)); code != 0 || !bytes.Contains(append([]byte("\n"), out.Bytes()...), []byte("\n"+tt.want)) {
			t.Errorf("%q: status %d, %q, want a line %q", tt.args, code, out.Bytes(), tt.want)
		}
	}
}
