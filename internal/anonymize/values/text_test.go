package values

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
)

// TestTexts replaces texts of all kinds. The golden pins the replacements too: with the
// same key they must be the same in all releases, so that captures still agree.
func TestTexts(t *testing.T) {
	p := New([]byte("key"))
	kinds := []struct {
		name    string
		replace func(string) string
		texts   []string
	}{
		{"file name", with(p.fileName), []string{"data", "data.h5", ".bashrc", ".", "..", "a", "b", "x1", "run_0001.out.gz", "two words.txt", "größe.dat",
			"no.extension", ".c", "..x", "[0x200000401:0x1:0x0]", "[0x240000402:0x1:0x0]:3", "0x200000401:0x1:0x0", "[0x1:0x2]", "MDT0001", "lost+found", "a/b", "\xff\xfe"}},
		{"path", with(p.path), []string{"/scratch/alice/data.h5", "../data", "x//y", "/"}},
		{"device", with(p.device), []string{"MGS", "lustre", "lustre-OST0001", "lustre-OST0001_UUID", "lustre-MDT0000-lwp-OST0001_UUID", "lustre-client",
			"lustre-MDT0000-mdc-ff1100000685a000", "lustre-OST0000-osc-MDT0002", "lustre-clilov_UUID", "lustre-OST*", "scratch2-mdtlov", "client-OST0000",
			"b1a2c3d4-0011-2233-4455-66778899aabb", "b1a2c3d4-0011-2233-4455-66778899aabb_UUID", "192.0.2.1@tcp", "192.0.2.1@tcp_0", "MGC192.0.2.1@tcp",
			"MGC192.0.2.1@tcp_0", "fd00:2::1@tcp", "oss01@tcp", "oss01_UUID", "192.0.2.1", "general", "params"}},
		{"NID", with(p.nidText), []string{"192.0.2.1@tcp", "192.0.2.2@tcp", "192.0.2.1@o2ib3", "10.0.0.255@tcp", "0@lo", "127.0.0.1@tcp", "17@gni", "fd00::1:2@tcp",
			"fd00:0:0::1@tcp", "192.0.2.[1-20]@tcp", "nid00012@gni", "192.0.2.1"}},
		{"job", with(p.job), []string{"cp.500", "cp.501", "bash.0", "dd.1001", "12345678", "a_very_long_job_identifier_exce", "bash.0.0.client.219", "kworker/0:1.0", "job-7:my prog", "ll_sa.0", "ll_sa_4711.0"}},
		{"xattr", with(p.xattrName), []string{"trusted.lov", "user.comment", "user.mime_type", "user.job", "trusted.project_x", "security.selinux", "lustre.lov.set.flags", "comment"}},
		{"parameters", with(p.params), []string{"timeout=20", "osc.*.max_dirty_mb=64", "osc.lustre-OST0000.max_dirty_mb=64", "lustre.sys.timeout=20",
			"failover.node=192.0.2.1@tcp:192.0.2.2@tcp sys.timeout=40", "mgsnode=192.0.2.1@tcp,192.0.2.2@tcp", "failover.node=fd00::1@tcp:fd00::2@tcp",
			"mdt.lustre-MDT0000.root_squash=500:501", "mdt.*.nosquash_nids=192.0.2.[1-5]@tcp", "jobid_var=procname_uid", "jobid_name=%e.%u-alice", "jobid_var=SITE_JOB",
			"nodemap.alice.admin_nodemap=1", "nodemap.alice.squash_uid=1000", "srpc.flavor.default.cli2mdt=ska", "llite.*.max_read_ahead_mb=16M",
			"mdt.lustre-MDT0000.identity_upcall=/usr/sbin/l_getidentity", "autodegrade=on ", "ost.OSS.ost_io.nrs_policies=tbf nid", "sys.peer=192.0.2.9", "192.0.2.9"}},
		{"argument", func(s string) string { return p.argument([]byte(s), false) }, []string{"lov", "osc", "0", "1", "lustre-OST0000_UUID", "tpool", "lustre", "mode=ro", "/scratch/x"}},
		{"argument with IDs", func(s string) string { return p.argument([]byte(s), true) }, []string{"alice", "1000:500", "192.0.2.1@tcp", "500"}},
		{"comment", with(p.comment), []string{"lov setup", "add osc", "new lustre.tpool", "add lustre.tpool.lustre-OST0001_UUID", "osc.*.max_dirty_mb", "lustre-OST0000.osc.active", "mount opts", "for alice"}},
	}
	var b strings.Builder
	for _, kind := range kinds {
		fmt.Fprintf(&b, "%s\n", kind.name)
		for _, text := range kind.texts {
			r := kind.replace(text)
			fmt.Fprintf(&b, "    %-45q %q\n", text, r)
			if len(r) != len(text) {
				t.Errorf("%s %q became %q, of another length", kind.name, text, r)
			}
			if again := kind.replace(text); again != r {
				t.Errorf("%s %q became %q and then %q", kind.name, text, r, again)
			}
		}
	}
	checkGolden(t, "texts.txt", b.String())
}

func with(replace func([]byte) string) func(string) string {
	return func(s string) string { return replace([]byte(s)) }
}

// TestLongZone checks that an address with a long zone is no word of its own.
func TestLongZone(t *testing.T) {
	for zone, want := range map[string]int{"eth0": len("fe80::1%eth0"), strings.Repeat("a", 64): len("fe80")} {
		assert.Equal(t, settingLength([]byte("fe80::1%"+zone)), want, zone)
	}
}
