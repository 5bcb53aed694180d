//go:build all

// The toy message in the whole program, which has to be compiled with it once more:
// go test -tags all ./opcodes, which .ci/run does.

package opcodes_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// The bytes of the toy message, written without its declaration.
const (
	opcodeToy   = 99
	opcodeLock  = 101
	intentToy   = 0x10000
	toyFid      = "[0x200000401:0x7:0x0]"
	sizeAsked   = 4096
	sizeGranted = 8192
)

// toyBytes is a struct toy_body. Without the flag of the size its bytes are there
// and mean nothing.
func toyBytes(valid, size uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, valid)
	b = binary.LittleEndian.AppendUint64(b, 0x200000401)
	b = binary.LittleEndian.AppendUint32(b, 7)
	b = binary.LittleEndian.AppendUint32(b, 0)
	return binary.LittleEndian.AppendUint64(b, size)
}

// toyCapture writes the frames of an RPC into a file.
func toyCapture(t *testing.T, opcode uint32, request, reply [][]byte) string {
	t.Helper()
	body := func(typ uint32, bufs [][]byte) []byte {
		return wiretest.Msg(append([][]byte{wiretest.Body(typ, opcode)}, bufs...)...)
	}
	var file bytes.Buffer
	w := capture.NewWriter(&file)
	for _, f := range wiretest.Dialog(wiretest.ByReply, body(wiretest.TypeRequest, request), body(wiretest.TypeReply, reply)) {
		must.NoError(t, w.Write(&f, ""))
	}
	must.NoError(t, w.Flush())
	path := filepath.Join(t.TempDir(), "toy.pcapng")
	must.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
	return path
}

func toyRPC(t *testing.T) string {
	return toyCapture(t, opcodeToy, [][]byte{toyBytes(3, sizeAsked)}, [][]byte{toyBytes(1, sizeGranted)})
}

func toyEnqueue(t *testing.T) string {
	lock := make([]byte, 104)
	lock[1] = 0x10 // LDLM_FL_HAS_INTENT
	lock[8] = 13   // inode bits
	intent := binary.LittleEndian.AppendUint64(nil, intentToy)
	return toyCapture(t, opcodeLock, [][]byte{lock, intent, toyBytes(3, sizeAsked)}, [][]byte{make([]byte, 112), toyBytes(3, sizeGranted)})
}

// lshark runs a command line and returns what it prints.
func lshark(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	sys := &scan.System{IO: &iostreams.IO{Out: &out, Err: &errs, Env: func(string) string { return "" }}}
	if status := cli.Run(sys, args); status != 0 {
		t.Fatalf("lshark %s: exit status %d: %s", strings.Join(args, " "), status, &errs)
	}
	return out.String()
}

// TestToyMessage follows a message that was declared in one file through all
// that lshark shows of a message.
func TestToyMessage(t *testing.T) {
	rpc, enqueue := toyRPC(t), toyEnqueue(t)
	for _, tt := range []struct {
		name    string
		args    []string
		has     []string
		without []string
	}{
		{"summary", []string{rpc}, []string{"MDS_TOY", toyFid + " size 4096"}, []string{"size 8192"}},
		{"tree", []string{"-V", rpc}, []string{"toy_body", "tb_valid", "FID", "tb_fid", toyFid, "tb_size", "4096"}, nil},
		{"JSON", []string{"-T", "json", rpc}, []string{`"opcode":"MDS_TOY"`, `"toy_body":{`, `"tb_valid":`, `"tb_fid":"` + toyFid + `"`, `"tb_size":4096`}, nil},
		{"fields", []string{"-T", "fields", "-e", "opcode", "-e", "tb_size", rpc}, []string{"MDS_TOY\t4096"}, nil},
		{"filter by value", []string{"-Y", "tb_size == 4096", rpc}, []string{"MDS_TOY"}, []string{"8192"}},
		{"filter by flag", []string{"-Y", "tb_valid.SIZE", rpc}, []string{toyFid + " size 4096"}, []string{"8192"}},
		{"filter by operation", []string{"-Y", "opcode == MDS_TOY && kind == reply", rpc}, []string{toyFid}, []string{"size 4096"}},
		{"a filter that nothing fits", []string{"-Y", "tb_size == 1", rpc}, nil, []string{"MDS_TOY"}},
		{"RPCs", []string{"rpcs", rpc}, []string{"MDS_TOY", toyFid}, nil},
		{"statistics", []string{"stats", rpc}, []string{"MDS_TOY"}, nil},
		{"intent, summary", []string{enqueue}, []string{"LDLM_ENQUEUE", "TOY", toyFid + " size 4096", toyFid + " size 8192"}, nil},
		{"intent, tree", []string{"-V", enqueue}, []string{"ldlm_intent", "TOY", "toy_body", "tb_size"}, nil},
		{"intent, filter", []string{"-Y", "ldlm_intent.opc.TOY", enqueue}, []string{"LDLM_ENQUEUE"}, nil},
		{"explain the operation", []string{"explain", "MDS_TOY"}, []string{"Plays with an object", "toy_body"}, nil},
		{"explain the struct", []string{"explain", "toy_body"}, []string{"tb_valid", "tb_fid", "tb_size", "largest size"}, nil},
		{"explain the flags", []string{"explain", "toy_flags"}, []string{"FID", "SIZE", "0x2"}, nil},
		{"explain the intent", []string{"explain", "IT_TOY"}, []string{"0x10000", "play with an object"}, nil},
		{"decode", []string{"decode", "toy_flags", "3"}, []string{"FID", "SIZE"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := lshark(t, tt.args...)
			for _, s := range tt.has {
				if !strings.Contains(out, s) {
					t.Errorf("lshark %s has no %s:\n%s", strings.Join(tt.args, " "), s, out)
				}
			}
			for _, s := range tt.without {
				if strings.Contains(out, s) {
					t.Errorf("lshark %s has %s:\n%s", strings.Join(tt.args, " "), s, out)
				}
			}
		})
	}
}
