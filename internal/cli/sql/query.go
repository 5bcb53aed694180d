package sql

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/render/records"
)

// queryFile has the queries that have names: a line "-- NAME: QUESTION" before each.
//
//go:embed queries.sql
var queryFile string

// NamedQuery is a query that lshark has.
type NamedQuery struct{ Name, Question, SQL string }

// Queries returns the queries that have names, in the order of docs/queries.md.
func Queries() (list []NamedQuery) {
	for _, part := range strings.Split(queryFile, "\n\n-- ")[1:] {
		head, text, _ := strings.Cut(part, "\n")
		name, question, _ := strings.Cut(head, ": ")
		list = append(list, NamedQuery{name, question, strings.TrimSpace(text)})
	}
	return list
}

// queryOf returns the query that an argument is or names, empty for a file.
func queryOf(arg string) string {
	if q, err := named([]string{arg}); err == nil {
		return q[0].SQL
	}
	if isQuery(arg) {
		return arg
	}
	return ""
}

// named returns the queries with names, all without any.
func named(names []string) (list []NamedQuery, err error) {
	all := Queries()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, q := range all {
		known = append(known, q.Name)
	}
	for _, name := range names {
		at := slices.Index(known, name)
		if at < 0 {
			return nil, exit.UnknownName("query", name, known)
		}
		list = append(list, all[at])
	}
	return list, nil
}

// The tables of records that have views, or other keys than their records.
var (
	messagesTable = records.Messages.Name
	rpcsTable     = records.RPCs.Name
)

// allTables are the names of all tables.
var allTables = func() (names []string) {
	for _, t := range records.Kinds() {
		if t.Name != "" {
			names = append(names, t.Name)
		}
	}
	return names
}()

// rpcViewNames are the views and tables that are made of rpcsTable.
var rpcViewNames = [...]string{"slow", "errors", "by_op", "both_sides", "captures", "rpcs_by_capture"}

// viewTable returns the table that the view or table name reads; ok reports whether name
// is known.
func viewTable(name string) (table string, ok bool) {
	if slices.Contains(rpcViewNames[:], name) {
		return rpcsTable, true
	}
	return name, slices.Contains(allTables, name)
}

var statements = strings.Fields("select from with describe desc summarize show explain pivot unpivot values table copy create set pragma call " +
	"attach use install load export execute prepare insert update delete drop alter begin")

// isQuery reports whether an argument is a query and not the name of a file: by its
// first word, so that files cannot change what it is. A file with such a name needs
// its directory, as in ./select.
func isQuery(text string) bool {
	begin := regexp.MustCompile(`^[\s(;]*([a-zA-Z]*)(--|/\*|[\s;*('"])`).FindStringSubmatch(text)
	if begin == nil {
		return false
	}
	word, next := strings.ToLower(begin[1]), begin[2]
	return word == "" && (next == "--" || next == "/*") || slices.Contains(statements, word)
}

// hidingWords are those with which a query can read a table that it does not name: by
// lists of tables, by copies of a database, and by queries that are made of text.
var hidingWords = strings.Fields("query query_table show show_tables show_tables_expanded tables database information_schema pg_catalog " +
	"sqlite_master sqlite_schema duckdb_tables duckdb_views duckdb_columns")

// mentioned returns the tables that a query may read. A word in a comment or a text
// counts, too: a table too many costs time, one too few a wrong answer.
func mentioned(query string) (tables []string) {
	words := make(map[string]bool)
	for _, word := range regexp.MustCompile(`\w+`).FindAllString(strings.ToLower(query), -1) {
		words[word] = true
	}
	isMentioned := func(word string) bool { return words[word] }
	hasCommand := strings.HasPrefix(query, ".") || strings.Contains(query, "\n.") // of the DuckDB shell, such as .read
	if hasCommand || slices.ContainsFunc(hidingWords, isMentioned) {
		return slices.Clone(allTables)
	}
	for _, table := range allTables {
		if words[table] || table == rpcsTable && slices.ContainsFunc(rpcViewNames[:], isMentioned) {
			tables = append(tables, table)
		}
	}
	if len(tables) == 0 && (words["describe"] || len(words) == 1 && words["desc"]) { // a list of tables
		return slices.Clone(allTables)
	}
	return tables
}
