package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// target is a system to build for, in Go's words.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// targets lists the systems of a release. Live capture works on Linux; on the
// others lshark reads files and pipes.
var targets = []target{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
}

type release struct {
	docs    map[string][]byte // by name in the work tree, see readDocs
	version string            // as in 1.2.3, or 0.0.0~20261122031704~654067e8b87a
	time    time.Time         // of the commit; archives and packages give it to their files
}

// build writes the files of the release for the given targets into folder out,
// with or without deb and rpm packages, optimized by the profile or not. It builds a clone of the commit that is
// checked out at root: changes that are not committed are left out, and Go finds
// the version of a clone.
func build(root, out string, selected []target, packages, optimize bool, log io.Writer) error {
	if err := makeEmpty(out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "lshark-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	clone := filepath.Join(work, "clone")
	if err := cloneCommit(root, clone); err != nil {
		return err
	}
	docs, err := readDocs(clone)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, t := range selected {
		r := release{docs: docs}
		folder := filepath.Join(work, t.os+"-"+t.arch)
		flags := []string{"-trimpath"}
		if optimize {
			flags = append(flags, "-pgo="+filepath.Join(clone, "internal/tools/release", profile))
		}
		binary, err := r.compile(clone, filepath.Join(folder, "lshark"), flags, []string{"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch})
		if err != nil {
			return err
		}
		if err := r.checkChangelog(); err != nil {
			return err
		}
		archive, err := r.archive(t, binary)
		if err != nil {
			return err
		}
		products := []packedFile{archive}
		if packages && t.os == "linux" {
			list, err := r.packages(t, binary, clone, folder)
			if err != nil {
				return err
			}
			products = append(products, list...)
		}
		for _, p := range products {
			if err := os.WriteFile(filepath.Join(out, p.name), p.data, 0o644); err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(p.data), p.name)
			fmt.Fprintf(log, "%s, %d bytes\n", p.name, len(p.data))
		}
	}
	return os.WriteFile(filepath.Join(out, checksumFile), sums.Bytes(), 0o644)
}

// profile is the CPU profile that the binaries of a release are optimized with, from
// internal/tools/bench/pgo. It is not default.pgo beside main.go, with which go test
// and go run would compile every package, the standard library's too, once more.
const profile = "lshark.pgo"

// checksumFile has the SHA-256 of every other file, for sha256sum -c.
const checksumFile = "SHA256SUMS"

// compile builds the binary of a work tree as file name, with more flags and
// environment for go build, returns its bytes, and notes the version and time that
// Go wrote into it.
func (r *release) compile(dir, name string, flags, env []string) ([]byte, error) {
	cmd := exec.Command("go", append([]string{"build", "-buildvcs=true", "-ldflags=-s -w -buildid=", "-o", name}, append(flags, ".")...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for %v: %w\n%s", env, err, text)
	}
	info, err := buildinfo.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r.version = packageVersion(info.Main.Version)
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			if r.time, err = time.Parse(time.RFC3339, s.Value); err != nil {
				return nil, err
			}
		}
	}
	if r.time.IsZero() {
		return nil, fmt.Errorf("the binary %s has no commit in it", name)
	}
	return os.ReadFile(name)
}

// packageVersion returns the version for packages and file names: that of the
// module without the v, and with ~ for -. dpkg and rpm sort 1.2.3~rc1 before
// 1.2.3, as Go does with v1.2.3-rc1.
func packageVersion(module string) string {
	return strings.ReplaceAll(strings.TrimPrefix(module, "v"), "-", "~")
}

// checkChangelog reports a release, not a snapshot or release candidate, that
// has no section in the changelog.
func (r *release) checkChangelog() error {
	if strings.Contains(r.version, "~") || bytes.Contains(r.docs["CHANGELOG.md"], []byte("\n## ["+r.version+"] - ")) {
		return nil
	}
	return fmt.Errorf("CHANGELOG.md has no section for %s: rename its section Unreleased to [%s] - DATE", r.version, r.version)
}

// cloneCommit clones the commit that is checked out at root, with its tags.
func cloneCommit(root, clone string) error {
	text, err := exec.Command("git", "clone", "--quiet", "--shared", root, clone).CombinedOutput()
	if err != nil {
		return fmt.Errorf("git clone: %w\n%s", err, text)
	}
	return nil
}

// makeEmpty creates a folder, or checks that it is empty, so that no file of
// an earlier release stays beside the new ones.
func makeEmpty(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty", dir)
	}
	return err
}
