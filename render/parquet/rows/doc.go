// Package rows writes records as rows of Parquet files, which databases read.
//
// The columns of a file are the keys of a records.Table, so they have the names,
// the order and the values of its JSON, in types that suit queries:
//
//	request.frame     request_frame: keys of an object are columns of their own
//	numbers           INT64; sizes and positions in bytes UINT64, EOF as 2^64-1
//	xid, transno      UINT64
//	durations         INT64, nanoseconds
//	times             TIMESTAMP in microseconds, UTC, and a second column NAME_ns: INT64,
//	                  nanoseconds since the epoch
//	bool              BOOLEAN, false where JSON leaves the key out
//	names, NIDs, FIDs strings, as in JSON
//	lists, flags      LIST; of objects, LIST of a group
//	counts            MAP from a name to a number
//
// Inside the elements of a list, flags and counts are text, as -T fields prints them.
// Other values that JSON has as null or leaves out are NULL.
package rows
