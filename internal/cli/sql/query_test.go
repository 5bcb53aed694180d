package sql

import (
	"testing"

	"github.com/lshark/lshark/internal/assert"
)

func TestIsQuery(t *testing.T) {
	for text, want := range map[string]bool{
		"select 1":                    true,
		"  SELECT\n* from rpcs":       true,
		"from by_op":                  true,
		"FROM(select 1)":              true,
		"with a as (select 1) from a": true,
		"-- slow ones\nfrom slow":     true,
		"/* all */ from rpcs":         true,
		"(select 1) union select 2":   true,
		"select*from rpcs":            true,
		"select'a'":                   true,
		"select/* a */1":              true,
		"select":                      false,
		"select.pcap":                 false,
		"from-node1.pcap":             false,
		"show/tables.pcap":            false,
		"client.pcap":                 false,
		"./select 1":                  false,
		"selct 1":                     false,
		"-":                           false,
		"":                            false,
		"/from x":                     false,
	} {
		assert.Equal(t, isQuery(text), want, text)
	}
}

func TestNeededTables(t *testing.T) {
	for query, want := range map[string][]string{
		"from rpcs": {"rpcs"},
		`select * from "RPCs" r join main.Locks l`: {"rpcs", "locks"},
		"from by_op":                       {"rpcs"},
		"from rpcs_by_capture, imports":    {"rpcs", "imports"},
		"from my_rpcs":                     nil,
		"from messages -- and locks":       {"messages", "locks"},
		"from both_sides, findings, files": {"rpcs", "files", "findings"},
		"show tables":                      allTables[:],
		"describe;":                        allTables[:],
		"desc;":                            allTables[:],
		"describe locks":                   {"locks"},
		"pragma show_tables":               allTables[:],
		"":                                 allTables[:],
		"from imprts":                      nil,
		"export database 'folder'":         allTables[:],
		"select 1;\n.read more.sql":        allTables[:],
	} {
		assert.Slice(t, neededTables(query, nil), want, query)
	}
	assert.Slice(t, neededTables("from findings", []string{"locks", "slow"}), []string{"rpcs", "locks"})
}

func TestPathList(t *testing.T) {
	got := pathList([]file{{path: "/a b/it's.parquet"}, {path: "/x[1]*?/y"}})
	assert.Equal(t, got, `['/a b/it''s.parquet', '/x[[]1][*][?]/y']`)
}
