package exit_test

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// TestStatus checks the exit status and the report of each kind of error.
func TestStatus(t *testing.T) {
	damage := &capture.DamageError{File: "x.pcap", Offset: 24, Cause: "cut short"}
	for _, tt := range []struct {
		err    error
		status int
		text   string
	}{
		{nil, exit.OK, ""},
		{fmt.Errorf("write: %w", syscall.EPIPE), exit.OK, ""},
		{errors.New("no\nway"), exit.Failure, "lshark: no\\nway\n"},
		{exit.Usagef("-c %d", -1), exit.Usage, "lshark: -c -1\n"},
		{fmt.Errorf("in: %w", exit.Usagef("bad")), exit.Usage, "lshark: in: bad\n"},
		{damage, exit.Damage, "lshark: x.pcap: byte 24: cut short\n"},
		{errors.Join(errors.New("a"), errors.Join(errors.New("b"), damage)), exit.Damage, "lshark: a\nlshark: b\nlshark: x.pcap: byte 24: cut short\n"},
		{errors.Join(damage, fmt.Errorf("%w: disk full", iostreams.ErrWrite)), exit.Failure, "lshark: x.pcap: byte 24: cut short\nlshark: cannot write: disk full\n"},
		{errors.Join(damage, exit.Usagef("bad")), exit.Usage, "lshark: x.pcap: byte 24: cut short\nlshark: bad\n"},
		{exit.FoundWarning, 5, ""},
		{errors.Join(exit.FoundWarning, exit.FoundError, exit.FoundWarning), 4, ""},
		{errors.Join(exit.FoundError, damage), exit.Damage, "lshark: x.pcap: byte 24: cut short\n"},
		{errors.Join(exit.FoundError, errors.New("a")), exit.Failure, "lshark: a\n"},
	} {
		var b bytes.Buffer
		if status := exit.Status(&iostreams.IO{Err: &b}, tt.err); status != tt.status || b.String() != tt.text {
			t.Errorf("%v: status %d, %q", tt.err, status, &b)
		}
	}
}

// TestUnknownName checks that similar names are suggested, or all names of a
// short list.
func TestUnknownName(t *testing.T) {
	long := make([]string, 20)
	for i := range long {
		long[i] = fmt.Sprintf("abcdefgh%d", i)
	}
	for _, tt := range []struct {
		name string
		list []string
		want string
	}{
		{"jsno", []string{"json", "summary"}, `unknown form "jsno"; did you mean json?`},
		{"xyzxyz", []string{"json", "tree"}, `unknown form "xyzxyz"; known are json, tree`},
		{"xyzxyz", long, `unknown form "xyzxyz"`},
	} {
		assert.Equal(t, exit.UnknownName("form", tt.name, tt.list).Error(), tt.want)
	}
}
