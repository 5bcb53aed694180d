// Package tables renders statistics and records as tables for people, and as bars,
// timelines and paragraphs; statistics also as JSON and as lines separated by tabs.
//
// A kind of table is a list of columns. A column names the key of package records that it
// shows, and has its value, type and meaning; what is its own is the title, the rank by
// which it is left out of a narrow terminal, the style, and a func where it shows the key
// in another way. [Columns] describes the columns for explain.
package tables
