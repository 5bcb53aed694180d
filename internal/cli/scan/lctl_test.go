package scan

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// putLctl puts a program lctl on PATH: a script for the shell.
func putLctl(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "lctl"), []byte("#!/bin/sh\n"+script), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// askedNames returns what a live capture learns from lctl, and what it says.
func askedNames(t *testing.T, names ...string) (*targets.Names, string) {
	t.Helper()
	in := must.Value((&Flags{Interfaces: []string{"lo"}, Verbose: true, Names: names}).Check(nil, false))(t)
	var errs bytes.Buffer
	p := New(&System{IO: &iostreams.IO{Err: &errs}}, in, Options{})
	p.AskNode()
	return p.asked.Load(), errs.String()
}

// targetOf returns the target of a connection to the OST of a server.
func targetOf(names *targets.Names, server string) string {
	e := targets.New(names)
	nid, _ := lnet.ParseNID(server)
	r := &track.RPC{HasRequest: true}
	r.HasOpcode, r.Opcode, r.Portal, r.Sends = true, opcodes.OST_STATFS, 28, 1 // OST_REQUEST_PORTAL
	r.Server, r.Connection = nid, &track.Connection{Handle: 1, Server: nid}
	e.Sent(r, &dissect.Message{Msg: &schema.Msg{Opcode: opcodes.OST_STATFS, RPC: opcodes.ByOpcode(opcodes.OST_STATFS)}})
	e.Conclude()
	return r.Connection.Target
}

// imports is what lctl prints on a client.
const imports = `osc.lustre-OST0000-osc-ff11000006cef800.import=
import:
    name: lustre-OST0000-osc-ff11000006cef800
    target: lustre-OST0000_UUID
    state: FULL
    connection:
       failover_nids: [ "192.0.2.2@tcp" ]
       current_connection: "192.0.2.2@tcp"
`

// TestLctl: a client knows its servers from its imports, a server its own targets.
func TestLctl(t *testing.T) {
	putLctl(t, `case "$*" in
"get_param *.*.import") cat <<END
`+imports+`END
;;
"get_param -N "*) echo "error: get_param: param_path 'obdfilter/*': No such file or directory" >&2; exit 2;;
esac`)
	names, said := askedNames(t)
	assert.That(t, names != nil && targetOf(names, "192.0.2.2@tcp") == "lustre-OST0000" && said == "", "%q, %s", targetOf(names, "192.0.2.2@tcp"), said)
	names, _ = askedNames(t, noNames)
	assert.That(t, names == nil, "lctl is asked in spite of --names none")

	putLctl(t, `case "$*" in
"get_param *.*.import") exit 2;;
"get_param -N "*) echo obdfilter.lustre-OST0003; echo mdt.lustre-MDT0001; echo mdt.;;
list_nids) echo 192.0.2.7@tcp; echo 10.0.0.7@o2ib;;
esac`)
	names, _ = askedNames(t)
	assert.Equal(t, targetOf(names, "10.0.0.7@o2ib"), "lustre-OST0003")
}

// TestLctlFails: an lctl that is not there, fails, hangs or prints too much does no harm. What
// it printed before something strange counts.
func TestLctlFails(t *testing.T) {
	defer func(before int) { lctlOutput = before }(lctlOutput)
	lctlOutput = 1000
	for script, want := range map[string]string{
		"exit 1":                                "lctl get_param *.*.import: exit status 1",
		"echo broken >&2; exit 1":               "broken",
		"kill -9 $$":                            "killed",
		"echo 'import:'; echo '   target: \"' ": "must be a name such as",
		"exec cat /dev/zero":                    "get_param",
	} {
		putLctl(t, script)
		names, said := askedNames(t)
		assert.That(t, names != nil && strings.Contains(said, want), "%s: %q, want %q", script, said, want)
	}
	t.Setenv("PATH", t.TempDir())
	names, said := askedNames(t)
	assert.That(t, names == nil && strings.Contains(said, "executable file not found"), "%v, %q", names, said)
}

// TestLctlHangs: an lctl that hangs is ended.
func TestLctlHangs(t *testing.T) {
	defer func(before time.Duration) { lctlTimeout = before }(lctlTimeout)
	lctlTimeout = 10 * time.Millisecond
	putLctl(t, "exec sleep 1000")
	names, said := askedNames(t)
	assert.That(t, names != nil && strings.Contains(said, "deadline exceeded"), "%q", said)
}
