// Package records describes the records that lshark prints, in one table of
// keys for each kind of record: [Messages], [RPCs], [Rows] of statistics and
// [Imports].
//
// A [Key] has a name, a type, a unit, a meaning, and a getter that reads its
// value from a record into a [Value]. JSON, -T fields -e, the display filter,
// explain, completion and `lshark fields` read the tables, so a key that is
// added to one works everywhere. The order of a table is the order of its JSON.
//
// A key with Parts is an object, a key with Len is a list. A key inside another
// one has a path with the names of both: request.frame. [Table.Find] finds a key
// by its path.
//
// [All] describes all keys, the codes of notes and events, and the columns of
// tables that have other names than the keys they show; [Named] finds those with
// a name.
//
// To add a kind of record, declare a [Table] of its Go type and add its entries
// to All.
package records
