// Package records describes the records that lshark prints, in one table of
// keys for each kind of record: messages, RPCs, rows of statistics, connections, locks,
// files, recoveries, findings and others. [All] lists the tables.
//
// A [Key] has a name, a type, a unit, a meaning, and a getter that reads its
// value from a record into a [Value]. JSON, -T fields -e, the display filter,
// explain, completion and `lshark fields` read the tables, so a key that is
// added to one works everywhere. The order of a table is the order of its JSON.
//
// A key with Parts is an object, a key with Len is a list. The keys of a part of a record,
// or of the elements of a list, are declared for their own Go type; the funcs inside and list
// turn them into keys of the record. A key inside another one has a path with the names of
// both: request.frame. [Table.Find] finds a key by its path.
//
// [All] describes all keys, and the codes of notes and events; [Named] finds those with
// a name. The columns of tables for people name the keys that they show: see package
// tables. A key of RPCs with a label is also in the lines of rpcs.
//
// A key is one line: its name, its meaning and a func that gets the value, in a
// constructor for the kind of value ([NumberKey], [TextKey], [DurationKey], point and the like). A
// kind of record is a [Table] of its Go type, in tables or, declared by its command, with [Add]. For
// a value of which no constructor is exported, a command writes a [Key] with its fields.
package records
