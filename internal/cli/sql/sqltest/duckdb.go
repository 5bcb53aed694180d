// Package sqltest provides DuckDB to tests of lshark sql.
package sqltest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// standIn has the flags of DuckDB's shell that lshark uses.
//
//go:embed duckdb.mjs
var standIn string

// release is that of npm's package @duckdb/node-api.
const release = "1.5.6-r.1"

var install = sync.OnceValues(func() (folder string, err error) {
	if path, err := exec.LookPath("duckdb"); err == nil {
		return filepath.Dir(path), nil
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	modules := filepath.Join(cache, "lshark-tests", "duckdb-"+release)
	if _, err := os.Stat(modules); err != nil {
		if err := installModules(modules); err != nil {
			return "", err
		}
	}
	// Node finds the package in the folder above.
	folder = filepath.Join(modules, fmt.Sprintf("%x", sha256.Sum256([]byte(standIn))))
	program := filepath.Join(folder, "duckdb")
	if _, err := os.Stat(program); err == nil {
		return folder, nil
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' '%s/duckdb.mjs' \"$@\"\n", node, folder)
	err = errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "duckdb.mjs"), []byte(standIn), 0o600),
		os.WriteFile(program+".new", []byte(script), 0o700))
	return folder, errors.Join(err, os.Rename(program+".new", program))
})

// installModules installs npm's package for DuckDB in a folder, which is complete or not there.
func installModules(folder string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(folder), ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", temp, "--no-audit", "--no-fund", "--no-save", "@duckdb/node-api@"+release)
	cmd.Dir = temp
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm: %w: %s", err, out)
	}
	if err := os.Rename(temp, folder); err != nil {
		if _, there := os.Stat(folder); there == nil {
			return nil // of another test, meanwhile
		}
		return err
	}
	return nil
}

// Path returns a PATH with duckdb in it: DuckDB's shell, or a stand-in over npm's package for
// DuckDB. The test is skipped where neither is to be had.
func Path(t *testing.T) string {
	t.Helper()
	folder, err := install()
	if err != nil {
		t.Skip("no duckdb here, and npm has none for us: ", err)
	}
	return folder + string(os.PathListSeparator) + os.Getenv("PATH")
}
