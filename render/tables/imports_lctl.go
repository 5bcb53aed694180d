package tables

import (
	"cmp"
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

// appendLctlFlags appends the names of the flags in a word; names[bit] is empty where lctl has none.
func appendLctlFlags(dst []byte, names *[64]string, word uint64) []byte {
	for ; word != 0; word &= word - 1 {
		n := bits.TrailingZeros64(word)
		if dst[len(dst)-1] != ' ' {
			dst = append(dst, ", "...)
		}
		if names[n] != "" {
			dst = append(dst, names[n]...)
		} else {
			dst = schema.AppendHex(append(dst, "unknown_"...), 1<<n)
		}
	}
	return dst
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
			dst = append(append(dst, "# client "...), i.Client.String()...)
			if i.ClientUUID != "" {
				dst = append(append(dst, ", uuid "...), i.ClientUUID...)
			}
			dst = append(render.AppendISO(append(dst, ", at "...), a.At), '\n')
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
	line := func(key, value string) { dst = append(append(append(append(dst, key...), ": "...), value...), '\n') }
	number := func(key string, n uint64) { line(key, strconv.FormatUint(n, 10)) }
	dst = append(append(append(append(dst, deviceType(i)...), '.'), nameOf(i)...), ".import=\nimport:\n"...)
	line("    name", nameOf(i))
	if i.Target != "" {
		line("    target", cmp.Or(i.TargetUUID, i.Target))
	}
	if i.State != track.StateUnknown {
		line("    state", lctlState(i.State))
	}
	if i.HasGranted {
		dst = appendLctlFlags(append(dst, "    connect_flags: [ "...), &lctlFlags, i.Granted.Flags)
		dst = append(appendLctlFlags(dst, &lctlFlags2, i.Granted.Flags2), " ]\n    connect_data:\n"...)
		line("       flags", string(schema.AppendHex(nil, i.Granted.Flags)))
		number("       instance", uint64(i.Granted.Instance))
		line("       target_version", string(schema.AppendVersion(nil, i.Granted.Version)))
		for _, v := range i.Limits.List() {
			if v.Hex {
				line("       "+v.Name, string(schema.AppendHex(nil, v.Value)))
			} else {
				number("       "+v.Name, v.Value)
			}
		}
	}
	dst = a.appendImportFlags(dst, i)
	dst = a.appendConnection(dst, i)
	dst = append(dst, "    rpcs:\n"...)
	number("       inflight", uint64(a.InFlight[i]))
	if i.HasCommitted {
		dst = append(dst, "    transactions:\n"...)
		number("       peer_committed", i.LastCommitted)
	}
	return dst
}

// appendImportFlags appends what the last connect that succeeded has decided.
func (a *ImportParameters) appendImportFlags(dst []byte, i *track.Import) []byte {
	var list []string
	for k := len(i.Events) - 1; k >= 0; k-- {
		if e := &i.Events[k]; e.Kind == track.EventConnected {
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
	if list == nil {
		return dst
	}
	return append(append(append(dst, "    import_flags: [ "...), strings.Join(list, ", ")...), " ]\n"...)
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

func (a *ImportParameters) appendConnection(dst []byte, i *track.Import) []byte {
	dst = append(dst, "    connection:\n"...)
	if list := connectsOf(i); len(list) > 0 {
		dst = append(dst, "       failover_nids: ["...)
		for k := range list {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendQuote(append(dst, ' '), list[k].nid.String())
		}
		dst = append(dst, " ]\n"...)
		if i.ConnCnt == uint32(i.Attempts) { // all of them were captured
			dst = append(dst, "       nids_stats:\n"...)
			for _, c := range list {
				dst = strconv.AppendQuote(append(dst, "          "...), c.nid.String())
				dst = strconv.AppendInt(append(dst, ": { connects: "...), int64(c.sent), 10)
				dst = strconv.AppendInt(append(dst, ", replied: "...), int64(c.replied), 10)
				dst = append(strconv.AppendInt(append(dst, ", sec_ago: "...), (a.At-c.last)/1e9, 10), " }\n"...)
			}
		}
	}
	dst = append(strconv.AppendQuote(append(dst, "       current_connection: "...), i.Server.String()), '\n')
	if i.ConnCnt > 0 {
		dst = append(strconv.AppendUint(append(dst, "       connection_attempts: "...), uint64(i.ConnCnt), 10), '\n')
	}
	if i.LastReply != 0 {
		dst = append(strconv.AppendInt(append(dst, "       idle: "...), (a.At-i.LastReply)/1e9, 10), " sec\n"...)
	}
	return dst
}

// lctlState returns the name that lctl prints for a state: a client that disconnects an idle connection is CONNECTING.
func lctlState(s track.ImportState) string {
	if s == track.StateDisconnecting {
		s = track.StateConnecting
	}
	return s.String()
}

// maxLctlStates is how many states lctl prints.
const maxLctlStates = 16

func (a *ImportParameters) appendStates(dst []byte, i *track.Import) []byte {
	if i.State == track.StateUnknown || len(i.History) == 0 {
		return dst
	}
	dst = append(append(append(append(dst, deviceType(i)...), '.'), nameOf(i)...), ".state=\ncurrent_state: "...)
	dst = append(append(dst, lctlState(i.State)...), "\nstate_history:\n"...)
	for _, t := range i.History[max(0, len(i.History)-maxLctlStates):] {
		dst = strconv.AppendInt(append(dst, " - [ "...), t.Time/1e9, 10)
		dst = append(append(append(dst, ", "...), lctlState(t.State)...), " ]\n"...)
	}
	return dst
}
