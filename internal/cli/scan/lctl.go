package scan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/targets"
)

// noNames, as a value of --names, turns off that lctl is asked.
const noNames = "none"

// The bounds of what lctl may take and print. An import has 3 KB.
var lctlTimeout, lctlOutput = 5 * time.Second, 32 << 20

// lctlFiles are what lctl runs with and opens.
var lctlFiles = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/null", "/dev/lnet", "/dev/obd", "/proc/fs/lustre", "/proc/sys",
	"/sys/fs/lustre", "/sys/kernel/debug/lustre"}

// lctl runs lctl and returns what it prints on standard output.
func lctl(ctx context.Context, path string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second // for a child of it that keeps the pipe open
	var out, errs limited
	out.left, errs.left = lctlOutput, 1<<10
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case len(errs.bytes) > 0 && err != nil:
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(errs.bytes))
	}
	if err != nil {
		err = fmt.Errorf("lctl %s: %w", strings.Join(args, " "), err)
	}
	return out.bytes, err
}

// limited is a buffer that takes only so many bytes.
type limited struct {
	bytes []byte // not a bytes.Buffer, whose ReadFrom takes all
	left  int
}

func (b *limited) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, io.ErrShortBuffer // ends the program by a closed pipe
	}
	b.bytes = append(b.bytes, p...)
	return len(p), nil
}

// askNode adds the targets that the imports of this node lead to, and those that it serves, to
// names. errs are what lctl could not do.
func askNode(path string, names *targets.Names) (errs error) {
	ctx, cancel := context.WithTimeout(context.Background(), lctlTimeout)
	defer cancel()
	imports, err := lctl(ctx, path, "get_param", "*.*.import")
	if len(imports) > 0 { // it fails after what it has printed, where it may not read some of them
		errs = names.Read(bytes.NewReader(imports), "lctl get_param")
	} else {
		errs = err
	}
	served, err := lctl(ctx, path, "get_param", "-N", "obdfilter.*", "mdt.*")
	if len(served) == 0 {
		if ctx.Err() != nil {
			errs = errors.Join(errs, err)
		}
		return errs // a client serves none
	}
	list, err := lctl(ctx, path, "list_nids")
	errs = errors.Join(errs, err)
	var nids []lnet.NID
	for _, text := range strings.Fields(string(list)) {
		if nid, ok := lnet.ParseNID(text); ok {
			nids = append(nids, nid)
		}
	}
	for _, param := range strings.Fields(string(served)) {
		_, target, _ := strings.Cut(param, ".")
		names.AddServed(target, nids)
	}
	return errs
}

// asksNode reports whether lctl may be asked.
func (in *Input) asksNode() bool { return !slices.Contains(in.flags.Names, noNames) }

// AskNode asks lctl for the names of targets, on a node that runs Lustre, and lets the messages
// from then on have them. Another goroutine may call it while a live capture runs. What lctl
// may not read any more, as privileges were dropped, stays known.
func (p *Pass) AskNode() {
	if !p.in.captures() || !p.in.asksNode() {
		return
	}
	path, err := exec.LookPath("lctl")
	if err == nil {
		p.asking.Lock()
		defer p.asking.Unlock()
		names := cmp.Or(p.asked.Load(), p.in.names).Clone() // the others are read meanwhile
		err = askNode(path, names)
		p.asked.Store(names)
	}
	if err != nil && p.in.flags.Verbose {
		p.sys.Say("names of targets: %v", err)
	}
}

// takeNames lets the messages from now on have the names that AskNode has found.
func (p *Pass) takeNames() {
	if names := p.asked.Load(); names != p.taken && p.targets != nil {
		p.taken = names
		p.targets.SetNames(names)
	}
}
