// Package html renders a capture as one self-contained HTML page: what was captured,
// findings, latencies and operations over time, statistics, files, connections, locks
// and the slowest RPCs.
//
// What the page shows comes from packages track and diagnose, in a Page; nothing is
// computed a second time. The page needs no network: style, script and charts are part
// of it, and its Content-Security-Policy forbids everything else. Without the script
// everything is visible; it adds sorting and searching of tables, and the choice of
// colours.
//
// page.go has the model and the order of sections, writer.go escapes text and makes
// elements, table.go writes tables, chart.go axes; lists.go has the sections that are tables of
// commands, each other section has a file of its own. The number of rows, cells and lines is
// bounded, so the size of a page does not depend on that of the capture.
//
// Text is escaped by construction: raw takes markup, a type of its own that only constants
// have without a conversion, and text of the capture goes through text, which replaces
// control characters that package render has not escaped, and escapes what HTML needs. The conversions to markup
// are of numbers, words for severities and the style sheet: search for "markup(".
package html
