// Package sql is the command lshark sql: it converts captures to Parquet files, keeps
// these in a cache, and runs the DuckDB of the user with views over them.
//
//   - inputs.go finds the captures and Parquet files that the arguments name.
//   - query.go finds the tables that a query mentions, since only these are converted.
//   - cache.go has a folder for what is made of each capture.
//   - convert.go converts what is not there yet, several captures at a time.
//   - views.go writes the SQL of the views; rpcs.sql has those over RPCs.
//   - duckdb.go runs DuckDB.
package sql
