package cli

import (
	"runtime"
	"testing"
)

// TestCores: what a command prints does not depend on the number of cores.
func TestCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, files := range [][]string{
		{recoverySample},
		{"../../pcaps/rdma_data.pcap.zst"},
		{"../../pcaps/mount.pcap", "../../pcaps/locks.pcap.zst"},
		{cutCapture(t, "../../pcaps/mount.pcap", 200)},
	} {
		for _, command := range [][]string{
			{}, {"-T", "json", "-v"}, {"rpcs", "-v"}, {"rpcs", "-c", "20", "-v"}, {"rpcs", "--slowest", "5"}, {"stats", "-v"}, {"stats", "--by", "target,job", "-T", "json"},
			{"imports", "--timeline"}, {"locks"}, {"files", "-T", "json"}, {"recovery", "-v"}, {"config"}, {"diagnose", "-v"},
		} {
			args := append(command, files...)
			runtime.GOMAXPROCS(1)
			want, wantErrs, wantStatus := run(t, args...)
			runtime.GOMAXPROCS(4)
			if got, errs, status := run(t, args...); got != want || errs != wantErrs || status != wantStatus {
				t.Errorf("%q: on four cores %d bytes, %q, status %d; on one %d bytes, %q, %d", args, len(got), errs, status, len(want), wantErrs, wantStatus)
			}
		}
	}
}
