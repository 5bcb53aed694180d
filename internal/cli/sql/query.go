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
		return strings.TrimSpace(arg)
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

// neededTables returns the tables that --tables names or, when it names none, the query, by its words. A query
// without any, and without FROM, such as show tables, gets all, and so does an interactive DuckDB.
func neededTables(query string, named []string) []string {
	words := named
	if len(named) == 0 {
		words = regexp.MustCompile(`\w+`).FindAllString(strings.ToLower(query), -1)
	}
	tables := slices.DeleteFunc(slices.Clone(allTables), func(table string) bool {
		return !slices.ContainsFunc(words, func(word string) bool {
			read, _ := viewTable(word)
			return read == table
		})
	})
	if len(tables) == 0 && !slices.Contains(words, "from") {
		return allTables
	}
	return tables
}
