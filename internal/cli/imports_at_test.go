package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestImportsAt compares a connection with what lctl get_param printed on the client while the sample was captured.
func TestImportsAt(t *testing.T) {
	const mount = "../../pcaps/mount.pcap"
	out := succeeds(t, "imports", "--at", "3.2", mount)
	for _, want := range []string{
		"mdc.lustre-MDT0000-mdc.import=\nimport:\n    name: lustre-MDT0000-mdc\n    target: lustre-MDT0000_UUID\n    state: FULL\n    connect_flags: [ write_grant, server_lock, version, acl,",
		", batch_rpc, pcc_ro, atomic_open_lock, name_encryption, dmv_imp_inherit, encryption_fid2path, unaligned_dio, mirror_id_fix ]\n" +
			"    connect_data:\n       flags: 0xae7a5e7be344d2b8\n       instance: 1\n       target_version: 2.17.0.0\n       initial_grant: 3407872\n" +
			"       max_brw_size: 1048576\n       ibits_known: 0x7f\n       grant_block_size: 131072\n       grant_inode_size: 4096\n" +
			"       grant_max_extent_size: 134217728\n       grant_extent_tax: 655360\n       cksum_types: 0xb2\n       max_easize: 65536\n       max_mod_rpcs: 8\n",
		"    connection:\n       failover_nids: [ \"192.0.2.1@tcp\" ]\n       nids_stats:\n          \"192.0.2.1@tcp\": { connects: 1, replied: 1, sec_ago: 2 }\n" +
			"       current_connection: \"192.0.2.1@tcp\"\n       connection_attempts: 1\n",
		"    rpcs:\n       inflight: 0\n    transactions:\n       peer_committed: 0\n",
		"mdc.lustre-MDT0000-mdc.state=\ncurrent_state: FULL\nstate_history:\n - [ 1795248402, CONNECTING ]\n - [ 1795248402, FULL ]\n",
	} {
		assert.That(t, strings.Contains(out, want), "no %q in\n%s", want, out)
	}
	for _, at := range [][]string{{"3.2s"}, {"2026-11-21T08:06:45.021367Z"}, {"08:06:45.021367", "-t", "u"}, {"2026-11-21 08:06:45.021367", "-t", "u"}} {
		assert.Equal(t, succeeds(t, slices.Concat([]string{"imports", mount, "--at"}, at)...), out, at)
	}
	early := succeeds(t, "imports", "--at", "0", mount)
	assert.That(t, !strings.Contains(early, "FULL"), "at the first frame:\n%s", early)
	must.That(t, strings.Contains(succeeds(t, "imports", "--at", "1000", mount), "state: CLOSED"), "at the end nothing is closed")
}

// TestImportsAtInFlight: a request whose reply comes later is in flight.
func TestImportsAtInFlight(t *testing.T) {
	hung := "../../dissect/diagnose/rules/testdata/hung_target.pcap.zst"
	for at, want := range map[string]bool{"2026-11-22T22:14:40Z": true, "2026-11-22T22:15:26Z": false} {
		out := succeeds(t, "imports", "--at", at, hung)
		_, ost, _ := strings.Cut(out, "OST0000")
		_, inflight, ok := strings.Cut(ost, "inflight: ")
		assert.Equal(t, ok && inflight[0] != '0', want, at, inflight[:min(3, len(inflight))])
	}
}
