package sql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/lshark/lshark/internal/cli/iostreams"
)

// forms are the output forms of DuckDB's shell, and of -T.
var forms = [...]string{"duckbox", "table", "box", "csv", "json", "jsonlines", "line", "list", "markdown", "html", "tsv"}

func formFlags(form string, terminal bool) []string {
	switch form {
	case "duckbox": // has no flag, since it is the default
		if terminal {
			return nil
		}
		return []string{"-cmd", ".maxrows 1000000000"} // else only 40 rows are shown
	case "tsv":
		return []string{"-csv", "-separator", "\t"}
	}
	return []string{"-" + form}
}

// maxQuery is how long a query may be in bytes: Linux has 128 KiB for an argument.
const maxQuery = 100_000

// errNoDuckDB is the error when DuckDB is not installed.
var errNoDuckDB = errors.New("duckdb is not in PATH: https://duckdb.org/install has its command-line client, one file without dependencies")

// duckdb runs DuckDB with views; without a query it is interactive. folder is for a
// temporary file.
func duckdb(s *iostreams.IO, folder, views, form, query string) error {
	program, err := exec.LookPath("duckdb")
	if err != nil {
		return errNoDuckDB
	}
	path := filepath.Join(folder, "views.sql")
	if err := os.WriteFile(path, []byte(views), 0o600); err != nil {
		return err
	}
	// As -cmd and not as -init, so that the user's ~/.duckdbrc is read, too.
	args := slices.Concat([]string{"-bail", "-cmd", ".read " + shellQuote(path)}, formFlags(form, s.OutTTY))
	if query != "" {
		args = append(args, "-c", query)
	}
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, s.Out, s.Err

	// Ctrl-C is for DuckDB, which ends a query by it.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	// A process inherits signals that are ignored: DuckDB would not end with its reader.
	signal.Reset(syscall.SIGPIPE)
	err = cmd.Start()
	signal.Ignore(syscall.SIGPIPE)
	if err != nil {
		return fmt.Errorf("run duckdb: %w", err)
	}
	return explainEnd(cmd.Wait())
}

// errQuery is the error of a query that failed; DuckDB has printed the reason.
var errQuery = errors.New("the query failed")

func explainEnd(err error) error {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &ended):
		return fmt.Errorf("run duckdb: %w", err)
	case brokenPipe(ended.ProcessState):
		return syscall.EPIPE // which is no failure: the reader of the output went away
	case ended.ExitCode() < 0:
		return fmt.Errorf("duckdb: %v", ended.ProcessState)
	}
	return errQuery
}

func shellQuote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// The tables of records, by the names that they have in queries.
const (
	messagesTable = "messages"
	rpcsTable     = "rpcs"
	importsTable  = "imports"
	locksTable    = "locks"
	filesTable    = "files"
	findingsTable = "findings"
)

// allTables are the tables in the order in which they are documented.
var allTables = [...]string{rpcsTable, messagesTable, importsTable, locksTable, filesTable, findingsTable}

// viewTable returns the table that the view or table name reads; ok reports whether name
// is known.
func viewTable(name string) (table string, ok bool) {
	switch name {
	case "slow", "errors", "by_op", "both_sides", "captures", "rpcs_by_capture":
		return rpcsTable, true
	}
	return name, slices.Contains(allTables[:], name)
}

// statements are the words that a query begins with.
var statements = [...]string{"select", "from", "with", "describe", "desc", "summarize", "show", "explain", "pivot", "unpivot", "values", "table",
	"copy", "create", "set", "pragma", "call", "attach", "use", "install", "load", "export", "execute", "prepare", "insert", "update", "delete",
	"drop", "alter", "begin"}

// isQuery reports whether an argument is a query and not the name of a file: by its
// first word, so that files cannot change what it is. A file with such a name needs
// its directory, as in ./select.
func isQuery(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n(;")
	rest := strings.TrimLeftFunc(text, isLetter)
	word := text[:len(text)-len(rest)]
	isComment := strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "/*")
	if word == "" {
		return isComment
	}
	if rest == "" || !isComment && !strings.ContainsRune(" \t\r\n;*('\"", rune(rest[0])) {
		return false
	}
	return slices.Contains(statements[:], strings.ToLower(word))
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// isWordPart reports whether a byte may be in the name of a table that is not in
// quotes.
func isWordPart(r rune) bool { return isLetter(r) || r >= '0' && r <= '9' || r == '_' }

// hidingWords are those with which a query can read a table that it does not name: by
// lists of tables, by copies of a database, and by queries that are made of text.
var hidingWords = [...]string{"query", "query_table", "show", "show_tables", "show_tables_expanded", "tables", "database", "information_schema", "pg_catalog",
	"sqlite_master", "sqlite_schema", "duckdb_tables", "duckdb_views", "duckdb_columns"}

// mentioned returns the tables that a query may read. A word in a comment or a text
// counts, too: a table too many costs time, one too few a wrong answer.
func mentioned(query string) (tables []string) {
	words := make(map[string]bool)
	for _, word := range strings.FieldsFunc(query, func(r rune) bool { return !isWordPart(r) }) {
		words[strings.ToLower(word)] = true
	}
	for line := range strings.Lines(query) {
		if strings.HasPrefix(line, ".") { // a command of the DuckDB shell, such as .read
			return slices.Clone(allTables[:])
		}
	}
	for _, word := range hidingWords {
		if words[word] {
			return slices.Clone(allTables[:])
		}
	}
	needed := make(map[string]bool)
	for word := range words {
		if table, ok := viewTable(word); ok {
			needed[table] = true
		}
	}
	for _, table := range allTables {
		if needed[table] {
			tables = append(tables, table)
		}
	}
	if len(tables) == 0 && (words["describe"] || len(words) == 1 && words["desc"]) { // a list of tables
		return slices.Clone(allTables[:])
	}
	return tables
}
