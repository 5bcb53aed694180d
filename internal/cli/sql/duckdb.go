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
	"strconv"
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

var errNoDuckDB = errors.New("duckdb is not in PATH: https://duckdb.org/install has its command-line client, one file without dependencies")

// duckdb runs DuckDB with views; without a query it is interactive.
func duckdb(s *iostreams.IO, views, form, query string) error {
	program, err := exec.LookPath("duckdb")
	if err != nil {
		return errNoDuckDB
	}
	folder, err := os.MkdirTemp("", "lshark-sql-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "views.sql")
	if err := os.WriteFile(path, []byte(views), 0o600); err != nil {
		return err
	}
	// As -cmd and not as -init, so that the user's ~/.duckdbrc is read, too.
	args := slices.Concat([]string{"-bail", "-cmd", ".read " + strconv.Quote(path)}, formFlags(form, s.OutTTY))
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
	if err == nil {
		return nil
	}
	if !errors.As(err, &ended) {
		return fmt.Errorf("run duckdb: %w", err)
	}
	status, ok := ended.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && status.Signal() == syscall.SIGPIPE:
		return syscall.EPIPE // which is no failure: the reader of the output went away
	case ended.ExitCode() < 0:
		return fmt.Errorf("duckdb: %v", ended.ProcessState)
	}
	return errQuery
}
