package tables

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// ImportParameters renders connections in the form in which lctl get_param prints the
// parameters import and state of their clients.
type ImportParameters struct {
	At       int64                 // the moment that the connections are shown of
	InFlight map[*track.Import]int // RPCs whose reply had not come
}

// The flags of connects as lctl names them, by bit.
var (
	lctlFlags = [64]string{"read_only", "lov_index", "connect_from_mds", "write_grant", "server_lock", "version", "mgs_nidlist", "acl", "xattr",
		"create_on_write", "old_falloc", "initial_transno", "inode_bit_locks", "barrier", "getattr_by_fid", "no_oh_for_devices", "remote_client",
		"remote_client_by_force", "max_byte_per_rpc", "64bit_qdata", "mds_capability", "oss_capability", "early_lock_cancel", "som",
		"adaptive_timeouts", "lru_resize", "mds_mds_connection", "real_conn", "change_qunit_size", "alt_checksum_algorithm", "fid_is_enabled",
		"version_recovery", "pools", "grant_shrink", "skip_orphan", "large_ea", "full20", "layout_lock", "64bithash", "object_max_bytes",
		"imp_recov", "jobstats", "umask", "einprogress", "grant_param", "flock_owner", "lvb_type", "nanoseconds_times", "lightweight_conn",
		"short_io", "pingless", "flock_deadlock", "disp_stripe", "open_by_fid", "lfsck", "unknown", "unlink_close", "multi_mod_rpcs", "dir_stripe",
		"subtree", "lockahead", "bulk_mbits", "compact_obdo", "second_flags"}
	lctlFlags2 = [64]string{"file_secctx", "lockaheadv2", "dir_migrate", "sum_statfs", "overstriping", "flr", "wbc", "lock_convert",
		"archive_id_array", "increasing_xid", "selinux_policy", "lsom", "pcc", "crush", "async_discard", "client_encryption", "fidmap", "getattr_pfid",
		"lseek", "dom_lvb", "reply_mbits", "mode_convert", "batch_rpc", "pcc_ro", "mne_nid_type", "lock_contend", "atomic_open_lock", "name_encryption",
		"mkdir_replay", "dmv_imp_inherit", "encryption_fid2path", "replay_create", "large_nid", "compressed_file", "unaligned_dio", "conn_policy",
		"sparse_read", "mirror_id_fix", "update_layout", "readdir_open", "flr_ec"}
)

// lctlFlagNames returns the names of the flags in two words, unknown ones with their number.
func lctlFlagNames(flags, flags2 uint64) (list []string) {
	for k, word := range []uint64{flags, flags2} {
		for ; word != 0; word &= word - 1 {
			n := bits.TrailingZeros64(word)
			list = append(list, cmp.Or([]*[64]string{&lctlFlags, &lctlFlags2}[k][n], fmt.Sprintf("unknown_0x%x", uint64(1)<<n)))
		}
	}
	return list
}

// Append appends connections, those of each client together.
func (a *ImportParameters) Append(dst []byte, list []*track.Import) []byte {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y *track.Import) int {
		return cmp.Or(cmp.Compare(x.Client.String(), y.Client.String()), cmp.Compare(x.ClientUUID, y.ClientUUID), cmp.Compare(nameOf(x), nameOf(y)))
	})
	for k, i := range list {
		if k == 0 || list[k-1].Client != i.Client || list[k-1].ClientUUID != i.ClientUUID {
			if k > 0 {
				dst = append(dst, '\n')
			}
			dst = fmt.Appendf(dst, "# client %v%s, at %s\n", i.Client, before(", uuid ", i.ClientUUID), render.AppendISO(nil, a.At))
		}
		dst = a.appendImport(dst, i)
		dst = a.appendStates(dst, i)
	}
	return dst
}

// nameOf returns the name of the client's device, without the address at its end, which is not on the wire.
func nameOf(i *track.Import) string {
	if deviceType(i) == "mgc" {
		return "MGC" + i.Server.String()
	}
	target := cmp.Or(i.Target, i.TargetIndex, "unknown")
	node := strings.TrimSuffix(i.ClientUUID, "_UUID")
	switch i.Kind() {
	case "lwp":
		return node
	case "mdt-mdt", "mdt-ost":
		_, mdt, _ := strings.Cut(strings.TrimSuffix(node, "-mdtlov"), "-")
		device := "-osp-"
		if i.Kind() == "mdt-ost" {
			device = "-osc-"
		}
		return target + device + mdt
	}
	return target + "-" + deviceType(i)
}

// deviceType returns the type of the client's device.
func deviceType(i *track.Import) string {
	switch kind := i.Kind(); {
	case i.Target == "MGS" || i.TargetIndex == "MGS":
		return "mgc"
	case kind == "lwp":
		return "lwp"
	case kind == "mdt-mdt" || kind == "mdt-ost":
		return "osp"
	case strings.Contains(i.Target+i.TargetIndex, "OST"):
		return "osc"
	}
	return "mdc"
}

func (a *ImportParameters) appendImport(dst []byte, i *track.Import) []byte {
	line := func(format string, args ...any) { dst = append(fmt.Appendf(dst, format, args...), '\n') }
	line("%s.%s.import=\nimport:\n    name: %s", deviceType(i), nameOf(i), nameOf(i))
	if i.Target != "" {
		line("    target: %s", cmp.Or(i.TargetUUID, i.Target))
	}
	if i.State != track.StateUnknown {
		line("    state: %v", lctlState(i.State))
	}
	if i.HasGranted {
		line("    connect_flags: [ %s ]", strings.Join(lctlFlagNames(i.Granted.Flags, i.Granted.Flags2), ", "))
		line("    connect_data:\n       flags: 0x%x\n       instance: %d\n       target_version: %s", i.Granted.Flags, i.Granted.Instance,
			schema.AppendVersion(nil, i.Granted.Version))
		for _, v := range i.Limits.List() {
			if v.Hex {
				line("       %s: 0x%x", v.Name, v.Value)
			} else {
				line("       %s: %d", v.Name, v.Value)
			}
		}
	}
	if list := importFlags(i); len(list) > 0 {
		line("    import_flags: [ %s ]", strings.Join(list, ", "))
	}
	line("    connection:")
	if list := connectsOf(i); len(list) > 0 {
		var nids []string
		for _, c := range list {
			nids = append(nids, strconv.Quote(c.nid.String()))
		}
		line("       failover_nids: [ %s ]", strings.Join(nids, ", "))
		if i.ConnCnt == uint32(i.Attempts) { // all of them were captured
			line("       nids_stats:")
			for _, c := range list {
				line("          %q: { connects: %d, replied: %d, sec_ago: %d }", c.nid.String(), c.sent, c.replied, (a.At-c.last)/1e9)
			}
		}
	}
	line("       current_connection: %q", i.Server.String())
	if i.ConnCnt > 0 {
		line("       connection_attempts: %d", i.ConnCnt)
	}
	if i.LastReply != 0 {
		line("       idle: %d sec", (a.At-i.LastReply)/1e9)
	}
	line("    rpcs:\n       inflight: %d", a.InFlight[i])
	if i.HasCommitted {
		line("    transactions:\n       peer_committed: %d", i.LastCommitted)
	}
	return dst
}

// importFlags returns what the last connect that succeeded has decided.
func importFlags(i *track.Import) (list []string) {
	for _, e := range slices.Backward(i.Events) {
		if e.Kind == track.EventConnected {
			if e.OpFlags&opcodes.ConnectReplayable != 0 {
				list = append(list, "replayable")
			}
			break
		}
	}
	if i.Pings > 0 {
		list = append(list, "pingable")
	}
	if i.Attempts > 0 {
		list = append(list, "connect_tried")
	}
	return list
}

// connects counts the connects to a node.
type connects struct {
	nid           lnet.NID
	sent, replied int
	last          int64
}

func connectsOf(i *track.Import) (list []connects) {
	at := -1
	for k := range i.Events {
		switch e := &i.Events[k]; e.Kind {
		case track.EventConnect:
			if at = slices.IndexFunc(list, func(c connects) bool { return c.nid == e.Node }); at < 0 {
				at = len(list)
				list = append(list, connects{nid: e.Node})
			}
			list[at].sent += max(1, e.Count)
			list[at].last = max(e.Time, e.Until.Time)
		case track.EventConnected:
			if at >= 0 {
				list[at].replied++
			}
		}
	}
	return list
}

// lctlState returns the name that lctl prints for a state: a client that disconnects an idle connection is CONNECTING.
func lctlState(s track.ImportState) track.ImportState {
	if s == track.StateDisconnecting {
		return track.StateConnecting
	}
	return s
}

// maxLctlStates is how many states lctl prints.
const maxLctlStates = 16

func (a *ImportParameters) appendStates(dst []byte, i *track.Import) []byte {
	if i.State == track.StateUnknown || len(i.History) == 0 {
		return dst
	}
	dst = fmt.Appendf(dst, "%s.%s.state=\ncurrent_state: %v\nstate_history:\n", deviceType(i), nameOf(i), lctlState(i.State))
	for _, t := range i.History[max(0, len(i.History)-maxLctlStates):] {
		dst = fmt.Appendf(dst, " - [ %d, %v ]\n", t.Time/1e9, lctlState(t.State))
	}
	return dst
}
