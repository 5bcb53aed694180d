package records

import "strings"

// column is a column of a table that has another name than the key that it
// shows. Columns with the names of keys need no entry.
type column struct {
	name string
	key  string // path
	doc  string // where it shows the key in another way
}

// table is a table with such columns.
type table struct {
	name    string
	columns []column
	keys    []Entry
}

// tables returns the tables with such columns.
func tables() []table {
	return []table{
		{"table of stats", statsColumns, Rows.Entries()},
		{"tsv of stats", tsvColumns, Rows.Entries()},
		{"table of imports", importsColumns, Imports.Entries()},
		{"table of locks", locksColumns, Locks.Entries()},
		{"table of blockers", blockersColumns, Holders.Entries()},
		{"table of diff", changesColumns, nil},
		{"table of recovery", recoveryColumns, Recoveries.Entries()},
		{"tables of config", configColumns, Configuration.Entries()},
		{"table of files", filesColumns, Files.Entries()},
		{"table of directories", directoriesColumns, Directories.Entries()},
		{"line of rpcs", rpcsColumns, RPCs.Entries()},
		{"table of flags", flagsColumns, nil},
	}
}

var statsColumns = []column{
	{"err", "errors", "number of RPCs with an error in their final status"},
	{"unans", "unanswered", ""},
	{"uncap", "not_captured", ""},
	{"ops/s", "ops_rate", ""},
	{"MB/s", "byte_rate", "bytes of the requests, replies and bulk data of the RPCs that were answered in the window, in units of 1,000,000 per second"},
	{"p50", "latency.p50", ""},
	{"p90", "latency.p90", ""},
	{"p99", "latency.p99", ""},
	{"max", "latency.max", ""},
	{"min", "latency.min", ""},
	{"time", "latency.sum", ""},
	{"wait", "lock_wait.max", "the longest wait for a lock that was not granted with the reply"},
	{"bulk", "bulk_bytes", ""},
	{"depth", "in_flight", "number of RPCs of the row that were waiting for a reply when one was sent: on average and at most"},
	{"svc", "service_time_max", ""},
	{"rtx", "retransmits", ""},
	{"rtt", "rtt.p50", ""},
	{"rdma", "rdma_time.p50", ""},
	{"sent", "request_bytes", ""},
	{"got", "reply_bytes", ""},
	{"errors", "errors", "errors and how often each occurred; those in parentheses are not in the final status: of an intent, of a range, or of a reply after which the request was sent again"},
}

var tsvColumns = []column{
	{"errors", "errors", "number of RPCs with an error in their final status"},
	{"error_names", "errors", "errors in the final status, and how often each occurred"},
	{"other_errors", "other_errors", "number of errors that are not in the final status"},
	{"other_error_names", "other_errors", "errors that are not in the final status, and how often each occurred"},
	{"min", "latency.min", ""},
	{"p50", "latency.p50", ""},
	{"p90", "latency.p90", ""},
	{"p99", "latency.p99", ""},
	{"max", "latency.max", ""},
	{"sum", "latency.sum", ""},
	{"lock_wait_max", "lock_wait.max", ""},
	{"lock_wait_sum", "lock_wait.sum", ""},
	{"rtt_p50", "rtt.p50", ""},
	{"rdma_time_p50", "rdma_time.p50", ""},
	{"rdma_time_max", "rdma_time.max", ""},
	{"in_flight_max", "in_flight.max", ""},
	{"in_flight_mean", "in_flight.mean", ""},
}

var importsColumns = []column{
	{"cnt", "conn_cnt", ""},
	{"fails", "", "errors with which the server refused connects and security contexts, and how often each occurred"},
	{"evict", "evictions", ""},
	{"rtx", "retransmits", ""},
	{"committed", "last_committed", ""},
	{"ungranted", "flags.refused", "number of flags that were asked for and not granted"},
	{"uuid", "client_uuid", ""},
}

var locksColumns = []column{
	{"lock", "mode", "mode of the lock, and its bits, range or group id"},
	{"frame", "asked.frame", ""},
	{"bl", "callbacks", "number of callbacks that asked the client to give the lock back"},
	{"blocked by", "blocked_by", "nodes and jobs with locks that kept it waiting"},
}

var blockersColumns = []column{
	{"holder", "client", ""},
	{"time", "waited", ""},
}

var changesColumns = []column{
	{"what", "", "what has changed: a measure with the name of its JSON key, or an error"},
	{"before", "", "its value in the first capture: of count with the RPCs per second, of what happens to some RPCs with their share"},
	{"after", "", "the same in the second capture"},
	{"change", "", "factor between the two: of count between the rates, of what happens to some RPCs between the shares; new and gone where one of them is 0"},
	{"beyond noise", "", "with --all: the value has changed by more than chance and the usual differences explain"},
}

var configColumns = []column{
	{"index", "target_index", ""},
	{"state", "inactive", "active, inactive (a parameter or the record that adds the target deactivates it), or failover: another node that serves the target"},
	{"node", "nodes.node", ""},
	{"NIDs", "nids", "NIDs of the node"},
	{"earlier", "restarts.instance", "earlier starts of the target that the table had"},
	{"seen", "time", "when the entry was first seen"},
	{"result", "error", "ok, or the error with which the MGS refused the request"},
	{"sent", "time", "when the last request was sent"},
}

var recoveryColumns = []column{
	{"down", "downtime", "how long the target was gone; <: at most"},
	{"clients", "recovered", "number of clients that recovered, of how many; ?: the capture was not made at the server"},
	{"evict", "evicted", ""},
	{"replayed", "requests.replayed", ""},
	{"locks", "locks.replayed", ""},
	{"failed", "requests.errors", "errors of replayed requests and locks, and how often each occurred"},
	{"longest", "waited_max", ""},
	{"gaps", "not_replayed.count", ""},
	{"last", "clients", "client that connected last, by its target when it is a server, and how long after the first"},
	{"frame", "gone.frame", ""},
}

var filesColumns = []column{
	{"read", "read_bytes", ""},
	{"written", "write_bytes", ""},
	{"waited", "lock_waited", ""},
}

var directoriesColumns = []column{
	{"directory", "path", ""},
	{"read", "read_bytes", ""},
	{"written", "write_bytes", ""},
	{"waited", "lock_waited", ""},
}

var rpcsColumns = []column{
	{"bulk", "bulk_bytes", ""},
	{"rdma", "rdma_time", ""},
	{"early", "early_replies", ""},
	{"rtx", "retransmits", "number of TCP segments or InfiniBand packets with bytes of its messages that were sent again, and the part of the latency that was lost by that"},
	{"service", "service_time_max", ""},
	{"node", "node_time", ""},
}

var flagsColumns = []column{
	{"bit", "", "number of the bit, or of the first and last bit of a part of the word"},
	{"name", "", "name of the flag, without the prefix of its group"},
	{"asked", "", "the client asked for the flag in its connect; - it did not, ? the request was not seen"},
	{"granted", "", "the server granted the flag in its reply; - it did not, ? the reply was not seen"},
	{"meaning", "", "what the flag means"},
}

// columns describes the columns of all tables.
func columns() (list []Entry) {
	for _, t := range tables() {
		for _, c := range t.columns {
			e := Entry{Kind: ColumnEntry, Type: Text}
			for _, k := range t.keys {
				switch {
				case k.Path == c.key:
					e.Type, e.Unit, e.Doc = k.Type, k.Unit, e.Doc+k.Doc
				case strings.HasPrefix(c.key, k.Path+"."):
					e.Doc = k.Doc + ": "
				}
			}
			e.Name, e.Path, e.Of = c.name, c.name, t.name
			if c.doc != "" {
				e.Doc = c.doc
			}
			list = append(list, e)
		}
	}
	return list
}
