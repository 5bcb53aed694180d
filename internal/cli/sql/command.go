package sql

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/lnet/clocks"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render/parquet/rows"
)

// Run runs a command line of lshark, without the name of the program.
type Run func(sys *scan.System, args []string) error

type command struct {
	sys       *scan.System
	run       Run
	input     scan.Flags
	form      flags.Choice
	queryFile string
	tables    []string
	cacheSize flags.Size
	list      bool
	listCache bool
	clear     bool

	cache *cache
	read  iostreams.ReadBytes
}

// New returns the command; run converts captures.
func New(sys *scan.System, run Run) *cobra.Command {
	c := &command{sys: sys, run: run, form: flags.FormChoice(forms[:]...), cacheSize: 20 << 30}
	cmd := &cobra.Command{
		Use:   "sql [flags] [QUERY|NAME|-] CAPTURE|FOLDER…",
		Short: "Query captures with SQL, by DuckDB",
		Long: "sql runs DuckDB with a table for each kind of record: rpcs, messages, imports, locks, files, findings, recovery and config; " +
			"\"lshark schema\" lists their columns. NAME is a query of --list. The arguments are captures, Parquet files of -T parquet or monitor, " +
			"and folders with either. Without QUERY, the query is read from standard input.",
		Example: `  # a query that lshark has: who waits for locks, and for whom
  lshark sql lock_waits client.pcap

  # the slowest operations of each target
  lshark sql 'select op, target, quantile_cont(latency, .99) / 1e6 as p99_ms
    from rpcs group by all order by p99_ms desc' client.pcap

  # what failed, as CSV
  lshark sql -T csv 'select request_time, op, error from errors' client.pcap

  # network or server: what both sides of the network have seen
  lshark sql 'select op, max(wire_time) / 1e6 as network_ms,
    max(node_time) / 1e6 as server_ms from both_sides
    group by all' client.pcap server.pcap`,
		ValidArgsFunction: c.complete,
		RunE:              func(_ *cobra.Command, args []string) error { return c.start(args) },
	}
	flags.AddInput(cmd, sys, &c.input, false)
	flags.Add(cmd, flags.InputGroup, func(f *pflag.FlagSet) {
		f.StringVar(&c.queryFile, "query", "", "read the query from `FILE`")
		f.StringSliceVar(&c.tables, "tables", nil, "convert these `TABLES`, separated by commas, and not those that the query mentions")
	})
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		flags.RegisterForm(f, &c.form)
		f.BoolVar(&c.list, "list", false, "list the queries that have names; with names, print their SQL")
		f.BoolVar(&c.listCache, "list-cache", false, "list the captures whose tables are in the cache, and where, the last used first")
		f.BoolVar(&c.clear, "clear-cache", false, "remove everything from the cache")
		f.Var(&c.cacheSize, "cache-size", "keep up to `SIZE` in the cache, such as 500M; what was not used for longest is removed first")
		c.input.RegisterNotes(f)
	})
	return cmd
}

func (c *command) start(args []string) error {
	for _, name := range c.tables {
		if _, ok := viewTable(name); !ok {
			return exit.UnknownName("table", name, allTables)
		}
	}
	if c.list {
		return c.listQueries(args)
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("no folder for the cache: %w", err)
	}
	c.cache = &cache{folder: filepath.Join(folder, "lshark"), release: release(), now: time.Now}
	if err := c.cache.check(); err != nil {
		return err
	}
	if c.listCache || c.clear {
		return c.maintain(args)
	}
	// Check the input flags now, without opening the captures.
	inputFlags := c.input
	inputFlags.Read, inputFlags.Offsets = []string{os.DevNull}, nil
	if _, err := inputFlags.Check(nil, false); err != nil {
		return err
	}
	query, in, err := c.split(args)
	if err != nil {
		return err
	}
	err = c.answer(in, query)
	return errors.Join(err, c.cache.prune(int64(c.cacheSize)))
}

// release returns what identifies this build of lshark and its columns: builds of a working copy have all the same version.
func release() string {
	path, _ := os.Executable()
	state, _ := flags.FileState(path)
	return flags.Version() + " schema " + rows.SchemaVersion + " " + state
}

// complete completes names of queries; else shells complete files.
func (c *command) complete(_ *cobra.Command, args []string, start string) (names []string, _ cobra.ShellCompDirective) {
	if !c.list && (len(args) > 0 || start == "") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for _, q := range Queries() {
		names = append(names, q.Name+"\t"+q.Question)
	}
	return flags.WithPrefix(names, start), cobra.ShellCompDirectiveDefault
}

// listQueries prints the queries with names, or the SQL of some.
func (c *command) listQueries(names []string) error {
	list, err := named(names)
	if err != nil {
		return err
	}
	var text []byte
	for _, q := range list {
		if len(names) > 0 {
			text = fmt.Appendf(text, "-- %s\n%s\n", q.Question, q.SQL)
		} else {
			text = fmt.Appendf(text, "%-18s %s\n", q.Name, q.Question)
		}
	}
	_, err = c.sys.Out.Write(text)
	return err
}

func (c *command) maintain(args []string) error {
	if len(args) > 0 || c.listCache && c.clear {
		return exit.Usagef("--list-cache and --clear-cache exclude each other, and take no arguments")
	}
	if c.clear {
		return c.cache.clear()
	}
	list, err := c.cache.entries()
	if err != nil {
		return err
	}
	var total int64
	var text []byte
	for _, e := range list {
		total += e.size
		text = fmt.Appendf(text, "%d\t%s\t%s\t%s\n", e.size, strings.Join(e.tables, ","), e.capture, e.folder)
	}
	if _, err := c.sys.Out.Write(text); err != nil {
		return err
	}
	if !c.input.Quiet {
		c.sys.Say("%d captures, %d bytes in %s", len(list), total, c.cache.folder)
	}
	return nil
}

// split returns the query, empty for an interactive DuckDB, and the files that the arguments name.
func (c *command) split(args []string) (query string, in *inputs, err error) {
	const stdin = "-"
	source := c.queryFile
	if len(args) > 0 {
		query = queryOf(args[0])
	}
	switch {
	case query != "" && source != "":
		return "", nil, exit.Usagef("--query and %q: there can be one query only", args[0])
	case query != "":
		args = args[1:]
	case source == "" && len(args) > 0 && args[0] == stdin:
		source, args = stdin, args[1:]
	case source == "" && !c.sys.InTTY:
		source = stdin
	case source == "" && c.form.Value != forms[0]: // DuckDB will be interactive
		return "", nil, exit.Usagef("-T needs a query")
	}
	files := slices.Concat(c.input.Read, args)
	if slices.Contains(files, stdin) {
		return "", nil, exit.Usagef("-: standard input cannot be a capture here; save it first")
	}
	// A missing file is found now, and not when standard input ends.
	if in, err = findInputs(files); err != nil || source == "" {
		return query, in, err
	}
	var text []byte
	if source == stdin {
		if text, err = io.ReadAll(io.LimitReader(os.Stdin, maxQuery+1)); err != nil {
			err = fmt.Errorf("read standard input: %w", err)
		}
	} else if text, err = os.ReadFile(source); err != nil {
		err = fmt.Errorf("--query: %w", err)
	}
	if err != nil {
		return "", nil, err
	}
	query = strings.TrimSpace(string(text))
	switch {
	case query == "":
		err = exit.Usagef("no query given: it is the first argument, such as 'from by_op', or read from standard input")
	case len(query) > maxQuery:
		err = exit.Usagef("the query is longer than %d bytes", maxQuery)
	case strings.ContainsRune(query, 0):
		err = exit.Usagef("the query has a byte 0 in it")
	}
	return query, in, err
}

// maxQuery is below the longest argument of a command on Linux, 128 KiB with its NUL.
const maxQuery = 100 << 10

// answer converts what is needed and runs DuckDB.
func (c *command) answer(in *inputs, query string) error {
	tables := neededTables(query, c.tables)
	captures := in.files[noTable]
	if c.input.Verbose && len(tables) > 0 {
		c.sys.Say("%d captures; tables: %s", len(captures), strings.Join(tables, ", "))
	}
	files, damaged, err := c.convert(captures, tables)
	if err != nil {
		return errors.Join(err, damaged)
	}
	for _, table := range tables {
		for _, path := range in.files[table] {
			files[table] = append(files[table], file{path: path})
		}
	}
	clocks, err := c.clocks(captures, tables)
	if err != nil {
		return errors.Join(err, damaged)
	}
	err = duckdb(c.sys.IO, script(files, captures, clocks), c.form.Value, query)
	if errors.Is(err, errNoDuckDB) && len(tables) > 0 && len(captures) > 0 {
		folder := filepath.Dir(files[tables[0]][0].path)
		if len(captures) > 1 {
			folder = filepath.Dir(folder)
		}
		err = fmt.Errorf("%w; the Parquet files are in %s", err, folder)
	}
	switch {
	case errors.Is(err, errQuery) && query == "":
		err = nil // the user saw which of his queries failed
	case errors.Is(err, errQuery):
		known := strings.Join(slices.Concat(allTables, rpcViewNames[:]), ", ")
		err = fmt.Errorf("%w; there are the tables %s; converted: %s (--tables names others)", err, known, tablesText(files))
	}
	return errors.Join(err, damaged)
}

// clocks returns the clocks of captures that have packets in common, and those that --offset gives, by path.
func (c *command) clocks(captures, tables []string) (map[string]clocks.Clock, error) {
	if !slices.Contains(tables, rpcsTable) || len(captures) < 2 {
		return nil, nil
	}
	check := c.input
	check.Read = captures
	in, err := check.Check(nil, false)
	if err != nil {
		return nil, err
	}
	return in.Clocks(c.sys)
}

func tablesText(files map[string][]file) string {
	names := slices.DeleteFunc(slices.Clone(allTables), func(table string) bool { return len(files[table]) == 0 })
	return cmp.Or(strings.Join(names, ", "), "none")
}
