package reference

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
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
func SchemaTables() (list []SchemaTable) {
	for _, t := range records.Kinds() {
		switch {
		case t.Name == "":
		case t.Record == records.Messages.Record:
			list = append(list, SchemaTable{t.Name, "lshark", rows.Describe(flags.MessageTable())})
		default:
			list = append(list, SchemaTable{t.Name, "lshark " + t.Command, rows.Describe(t)})
		}
	}
	return list
}

// NewSchema returns the command that prints the columns of Parquet files.
func NewSchema(sys *scan.System) *cobra.Command {
	form := flags.FormChoice("text", "json", "sql", "clickhouse")
	cmd := &cobra.Command{
		Use:   "schema [flags] [NAME…]",
		Short: "List the columns of Parquet files, with type and meaning",
		Long: "schema prints the columns of the files that -T parquet writes, with their types as DuckDB names them, the units of numbers, " +
			"the keys of JSON that they are made from, and their meanings. NAME is a table, a column, or TABLE.COLUMN. With -T sql it prints " +
			"statements that create empty tables, with -T clickhouse those for ClickHouse.",
		Example: `  # the columns about RPCs
  lshark schema rpcs

  # statements that make empty tables
  lshark schema -T sql rpcs locks

  # a table for a shard of ClickHouse
  lshark schema -T clickhouse rpcs`,
		RunE: func(_ *cobra.Command, args []string) error {
			tables, unknown := chooseTables(args)
			if len(tables) == 0 {
				return unknown
			}
			_, err := sys.Out.Write(renderSchema(tables, form.Value))
			return errors.Join(err, unknown)
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

// chooseTables returns the tables with these names, or those with columns of these names and
// only such columns; all without a name. The error is about names of neither.
func chooseTables(names []string) (chosen []SchemaTable, unknown error) {
	all := SchemaTables()
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		before := len(chosen)
		known := tableNames()
		for _, t := range all {
			if strings.EqualFold(t.Name, name) {
				chosen = append(chosen, t)
				continue
			}
			t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c rows.Column) bool {
				known = append(known, c.Name)
				return !strings.EqualFold(c.Name, name) && !strings.EqualFold(t.Name+"."+c.Name, name)
			})
			if len(t.Columns) > 0 {
				chosen = append(chosen, t)
			}
		}
		if len(chosen) == before {
			unknown = errors.Join(unknown, exit.UnknownName("table or column", name, known))
		}
	}
	return chosen, unknown
}

// appendJSON appends a value of strings as JSON, on a line.
func appendJSON(out []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings only
	}
	return append(append(out, text...), '\n')
}

func renderSchema(tables []SchemaTable, form string) (out []byte) {
	if form != "json" {
		out = fmt.Appendf(out, "-- schema version %s\n", rows.SchemaVersion)
	}
	for _, t := range tables {
		switch form {
		case "json":
			out = appendJSON(out, struct {
				Version string `json:"version"`
				SchemaTable
			}{rows.SchemaVersion, t})
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
