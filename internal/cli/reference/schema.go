package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/render/parquet/rows"
	"github.com/lshark/lshark/render/records"
)

// SchemaTable is the columns of the Parquet files of a kind of record.
type SchemaTable struct {
	Name    string        `json:"table"`
	Command string        `json:"command"` // that writes them
	Columns []rows.Column `json:"columns"`
}

// SchemaTables returns the tables of all kinds of records.
func SchemaTables() []SchemaTable {
	return []SchemaTable{
		{"messages", "lshark", rows.Describe(flags.MessageTable())},
		{"rpcs", "lshark rpcs", rows.Describe(&records.RPCs)},
		{"imports", "lshark imports", rows.Describe(&records.Imports)},
		{"locks", "lshark locks", rows.Describe(&records.Locks)},
		{"files", "lshark files", rows.Describe(&records.Files)},
		{"recovery", "lshark recovery", rows.Describe(&records.Recoveries)},
		{"config", "lshark config", rows.Describe(&records.Configuration)},
		{"findings", "lshark diagnose", rows.Describe(&records.Findings)},
	}
}

// NewSchema returns the command that prints the columns of Parquet files.
func NewSchema(sys *iostreams.IO) *cobra.Command {
	form := flags.FormChoice("text", "json", "sql", "clickhouse")
	cmd := &cobra.Command{
		Use:   "schema [flags] [TABLE…]",
		Short: "List the columns of Parquet files, with type and meaning",
		Long: "schema prints the columns of the files that -T parquet writes, with their types as DuckDB names them, the units of numbers, " +
			"the keys of JSON that they are made from, and their meanings. With -T sql it prints statements that create empty tables, with -T clickhouse those for ClickHouse.\n\n" +
			"TABLE is messages (written by lshark), rpcs, imports, locks, files, recovery, config or findings (written by diagnose); without it, all are shown. " +
			"Columns are only added, unless the version of the schema changes; files have it in their metadata as lshark.schema.",
		Example: `  # the columns about RPCs
  lshark schema rpcs

  # statements that make empty tables
  lshark schema -T sql rpcs locks

  # a table for a shard of ClickHouse
  lshark schema -T clickhouse rpcs`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := form.Check(); err != nil {
				return err
			}
			tables, err := chooseTables(args)
			if err != nil {
				return err
			}
			_, err = sys.Out.Write(renderSchema(tables, form.Value))
			return err
		},
		ValidArgsFunction: func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
			return flags.WithPrefix(tableNames(), start), cobra.ShellCompDirectiveNoFileComp
		},
	}
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) { flags.RegisterForm(f, &form) })
	return cmd
}

func tableNames() (names []string) {
	for _, t := range SchemaTables() {
		names = append(names, t.Name)
	}
	return names
}

// chooseTables returns the tables with these names, all without a name.
func chooseTables(names []string) ([]SchemaTable, error) {
	all := SchemaTables()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []SchemaTable
	for _, name := range names {
		i := slices.IndexFunc(all, func(t SchemaTable) bool { return t.Name == name })
		if i < 0 {
			return nil, exit.UnknownName("table", name, tableNames())
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func renderSchema(tables []SchemaTable, form string) (out []byte) {
	if form != "json" {
		out = fmt.Appendf(out, "-- schema version %s\n", rows.SchemaVersion)
	}
	for _, t := range tables {
		switch form {
		case "json":
			line, err := json.Marshal(struct {
				Version string `json:"version"`
				SchemaTable
			}{rows.SchemaVersion, t})
			if err != nil {
				panic(err) // strings only
			}
			out = append(append(out, line...), '\n')
		case "sql":
			out = appendSQL(out, t)
		case "clickhouse":
			out = appendClickHouse(out, t)
		default:
			out = fmt.Appendf(out, "\n%s (%s -T parquet)\n", t.Name, t.Command)
			for _, c := range t.Columns {
				out = fmt.Appendf(out, "%s\t%s\t%s\t%s\t%s\n", c.Name, c.Type, c.Unit, c.Key, c.Doc)
			}
		}
	}
	return out
}

func appendSQL(out []byte, t SchemaTable) []byte {
	out = fmt.Appendf(out, "\nCREATE TABLE %s (\n", t.Name)
	for i, c := range t.Columns {
		comma := ","
		if i == len(t.Columns)-1 {
			comma = ""
		}
		comment := c.Doc
		if c.Unit != "" {
			comment = c.Unit + "; " + comment
		}
		out = fmt.Appendf(out, "  \"%s\" %s%s -- %s\n", c.Name, c.Type, comma, strings.ReplaceAll(comment, "\n", " "))
	}
	return append(out, ");\n"...)
}
