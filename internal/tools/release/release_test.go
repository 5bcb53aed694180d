package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// needs skips a test where a program is missing. CI has to have them all.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		must.Equal(t, os.Getenv("CI"), "", program, "is missing, and CI must not skip this: install it in .ci/run")
		t.Skipf("%s is not installed", program)
	}
}

// output returns what a command prints on both outputs.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	text, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, text)
	}
	return string(text)
}

// released is empty in a plain run of the tests, which would compile everything
// once more; .ci/run sets it.
var (
	released  = flag.String("released", "", "try the files in this `folder`, which the command wrote for this system")
	optimized = flag.Bool("optimized", true, "the files were built with the profile")
)

// TestArchive builds the work tree for this machine, as go test does, and tries
// out the archive.
func TestArchive(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector everything would be compiled again, without it")
	}
	needs(t, "git")
	root := wiretest.Repo(".")
	if info, err := os.Stat(wiretest.Repo(".git")); err != nil || !info.IsDir() {
		t.Skip("Go finds no version here: this is no clone, or a second work tree of one")
	}
	docs := must.Value(readDocs(root))(t)
	here, r := target{runtime.GOOS, runtime.GOARCH}, release{docs: docs}
	binary := must.Value(r.compile(root, filepath.Join(t.TempDir(), "lshark"), nil, nil))(t)
	archive := must.Value(r.archive(here, binary))(t)
	name := filepath.Join(t.TempDir(), archive.name)
	must.NoError(t, os.WriteFile(name, archive.data, 0o600))
	tryArchive(t, name, here, slices.Sorted(maps.Keys(docs)))
}

// TestReleased tries out the files of a release of the commit that is checked out.
func TestReleased(t *testing.T) {
	if *released == "" {
		t.Skip("-released is not set")
	}
	for _, target := range targets {
		if has, _ := filepath.Glob(filepath.Join(*released, "*-"+target.os+"-"+target.arch+".tar.gz")); len(has) > 0 {
			archive := one(t, *released, "*-"+target.os+"-"+target.arch+".tar.gz")
			binary := tryArchive(t, archive, target, committed(t))
			checkStatic(t, binary)
			checkProfile(t, binary)
		}
	}
	one(t, *released, "*-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz")
	t.Run("deb", func(t *testing.T) { tryDeb(t, one(t, *released, "*_"+runtime.GOARCH+".deb")) })
	t.Run("rpm", func(t *testing.T) { tryRPM(t, one(t, *released, "*."+rpmArch[runtime.GOARCH]+".rpm")) })
	t.Run("checksums", func(t *testing.T) {
		needs(t, "sha256sum")
		t.Chdir(*released)
		files := must.Value(filepath.Glob("lshark*"))(t)
		text := output(t, "sha256sum", "--check", "--strict", checksumFile)
		assert.That(t, strings.Count(text, ": OK\n") == len(files), "sha256sum prints\n%s", text)
	})
}

// rpmArch is what rpm calls an architecture.
var rpmArch = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// TestFolderNotEmpty checks that no file of an earlier release stays beside the new ones.
func TestFolderNotEmpty(t *testing.T) {
	out := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(out, "old"), nil, 0o600))
	if err := build(wiretest.Repo("."), out, nil, false, false, io.Discard); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("building into a folder with files: error %v", err)
	}
}

// one returns the one file that matches a pattern.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	must.That(t, err == nil && len(names) == 1, "%s: %q, %v, want one file", pattern, names, err)
	return names[0]
}

// manPages returns the names of the manual pages of the commit.
func manPages(t *testing.T) []string { return committedIn(t, "completions/*.1") }

// docPages returns the names of the pages and pictures in docs/ of the commit.
func docPages(t *testing.T) []string { return committedIn(t, "docs/*.[mps]*") }

// committedIn returns the names, without folder, of the files of the commit that
// match a pattern.
func committedIn(t *testing.T, pattern string) (names []string) {
	t.Helper()
	for _, name := range committed(t) {
		if fits, err := path.Match(pattern, name); err == nil && fits {
			names = append(names, path.Base(name))
		}
	}
	must.That(t, len(names) >= 3, "%s: only %q are committed", pattern, names)
	return names
}

// committed returns the names of the files of the commit.
func committed(t *testing.T) []string {
	t.Helper()
	return strings.Fields(output(t, "git", "ls-tree", "-r", "--name-only", "--full-tree", "HEAD"))
}

// tryArchive checks the files of an archive that was made in a work tree with the given
// files, runs the program if it is one for this machine, and returns its path.
func tryArchive(t *testing.T, name string, of target, tree []string) string {
	t.Helper()
	files := untar(t, name)
	folder := strings.TrimSuffix(filepath.Base(name), ".tar.gz") + "/"
	want := []string{"lshark", "LICENSE", "README.md", "CHANGELOG.md",
		"completions/_lshark", "completions/lshark.bash", "completions/lshark.fish", "completions/lshark.ps1",
		"completions/wireshark/Lustre/colorfilters", "completions/wireshark/Lustre/preferences", "completions/wireshark/Lustre/recent"}
	for _, file := range tree {
		if fits, err := path.Match("completions/*.1", file); err == nil && fits {
			want = append(want, "man/man1/"+path.Base(file))
		}
		if fits, err := path.Match("docs/*.[mps]*", file); err == nil && fits {
			want = append(want, file)
		}
	}
	for _, file := range want {
		assert.That(t, len(files[folder+file]) != 0, "%s is not in the archive", file)
	}
	assert.Equal(t, len(files), len(want), "files in the archive")
	binary := filepath.Join(t.TempDir(), "lshark")
	must.NoError(t, os.WriteFile(binary, files[folder+"lshark"], 0o755))
	if of != (target{runtime.GOOS, runtime.GOARCH}) {
		return binary
	}
	module, _, _ := strings.Cut(strings.TrimPrefix(output(t, binary, "version"), "lshark "), " ")
	assert.Equal(t, folder, "lshark-"+packageVersion(module)+"-"+of.os+"-"+of.arch+"/", "lshark version", module)
	text := output(t, binary, wiretest.Sample("mount"))
	assert.That(t, strings.Contains(text, "MGS_CONNECT"), "the binary prints of mount.pcap\n%s", text)
	return binary
}

// untar returns the files of a tar.gz.
func untar(t *testing.T, name string) map[string][]byte {
	t.Helper()
	f := must.Value(os.Open(name))(t)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must.NoError(t, err)
	files := make(map[string][]byte)
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		must.NoError(t, err)
		if files[header.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if wantMode := int64(0o644); header.Mode != wantMode && filepath.Base(header.Name) != "lshark" {
			t.Errorf("%s: mode %o, want %o", header.Name, header.Mode, wantMode)
		}
	}
}

// checkProfile checks that a binary is optimized with the profile.
func checkProfile(t *testing.T, name string) {
	t.Helper()
	info := must.Value(buildinfo.ReadFile(name))(t)
	want := (debug.BuildSetting{Key: "-pgo", Value: profile})
	assert.That(t, slices.Contains(info.Settings, want) == *optimized, "%s is built with %v, want %v", name, info.Settings, want)
}

func checkStatic(t *testing.T, name string) {
	t.Helper()
	f, err := elf.Open(name)
	if format := (*elf.FormatError)(nil); errors.As(err, &format) {
		return // of another system
	}
	must.NoError(t, err)
	defer f.Close()
	for _, p := range f.Progs {
		assert.That(t, p.Type != elf.PT_INTERP && p.Type != elf.PT_DYNAMIC, "the binary is not static: it has a segment %s", p.Type)
	}
}

// packagePaths returns what a package installs, folders apart.
func packagePaths(t *testing.T, zsh, license string) []string {
	t.Helper()
	paths := []string{
		"/usr/bin/lshark",
		"/usr/share/bash-completion/completions/lshark",
		"/usr/share/fish/vendor_completions.d/lshark.fish",
		zsh, license,
		"/usr/share/doc/lshark/CHANGELOG.md",
		"/usr/share/doc/lshark/README.md",
	}
	for _, page := range manPages(t) {
		paths = append(paths, "/usr/share/man/man1/"+page+".gz")
	}
	for _, page := range docPages(t) {
		paths = append(paths, "/usr/share/doc/lshark/docs/"+page)
	}
	slices.Sort(paths)
	return paths
}

// checkInstalled compares the files below a folder with the paths wanted, and
// runs the program.
func checkInstalled(t *testing.T, root string, want []string) {
	t.Helper()
	var got []string
	err := filepath.WalkDir(filepath.Join(root, "usr"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		got = append(got, "/"+filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator))))
		info, err := entry.Info()
		if err == nil && (info.Mode().Perm()&0o111 != 0) != strings.HasPrefix(got[len(got)-1], "/usr/bin/") {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	})
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("installed, %v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	text := output(t, filepath.Join(root, "usr", "bin", "lshark"), "version")
	assert.That(t, strings.HasPrefix(text, "lshark v"), "the installed lshark prints of its version\n%s", text)
	page := filepath.Join(root, "usr", "share", "man", "man1", "lshark.1.gz")
	if text := output(t, "gzip", "-dc", page); !strings.HasPrefix(text, ".TH LSHARK 1 ") {
		t.Errorf("%s begins with %.40q", page, text)
	}
}

func tryDeb(t *testing.T, name string) {
	needs(t, "dpkg-deb")
	version := strings.Split(filepath.Base(name), "_")[1]
	want := fmt.Sprintf("lshark %s %s", version, runtime.GOARCH)
	got := output(t, "dpkg-deb", "--show", "--showformat", "${Package} ${Version} ${Architecture}", name)
	assert.That(t, got == want, "dpkg-deb shows %q, want %q", got, want)
	root := filepath.Join(t.TempDir(), "root")
	output(t, "dpkg-deb", "--extract", name, root)
	paths := packagePaths(t, "/usr/share/zsh/vendor-completions/_lshark", "/usr/share/doc/lshark/copyright")
	checkInstalled(t, root, paths)

	control := filepath.Join(t.TempDir(), "control")
	output(t, "dpkg-deb", "--control", name, control)
	sums := must.Value(filepath.Abs(filepath.Join(control, "md5sums")))(t)
	t.Chdir(root)
	text := output(t, "md5sum", "--check", "--strict", sums)
	assert.That(t, strings.Count(text, ": OK\n") == len(paths), "md5sums covers\n%s\nwant %d files", text, len(paths))
}

func tryRPM(t *testing.T, name string) {
	needs(t, "rpm")
	text := output(t, "rpm", "--checksig", "--verbose", "--nosignature", name)
	assert.That(t, strings.Count(text, " SHA256 digest: OK\n") == 2, "rpm finds of the checksums\n%s", text)
	want := filepath.Base(name)
	got := output(t, "rpm", "--query", "--package", "--nosignature", "--queryformat", "%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm", name)
	assert.That(t, got == want, "the package %s calls itself %s", want, got)
	paths := packagePaths(t, "/usr/share/zsh/site-functions/_lshark", "/usr/share/licenses/lshark/LICENSE")
	listed := strings.Fields(output(t, "rpm", "--query", "--package", "--nosignature", "--list", name))
	for _, dir := range []string{"/usr/share/doc/lshark", "/usr/share/doc/lshark/docs", "/usr/share/licenses/lshark"} {
		if i := slices.Index(listed, dir); i >= 0 {
			listed = slices.Delete(listed, i, i+1)
		} else {
			t.Errorf("%s would stay when the package is removed", dir)
		}
	}
	slices.Sort(listed)
	if !slices.Equal(listed, paths) {
		t.Errorf("rpm lists\n%s\nwant\n%s", strings.Join(listed, "\n"), strings.Join(paths, "\n"))
	}
	if os.Geteuid() != 0 {
		t.Log("only root can install into another root: not tried")
		return
	}
	root := t.TempDir()
	output(t, "rpm", "--root", root, "--initdb")
	output(t, "rpm", "--root", root, "--install", "--nosignature", name)
	output(t, "rpm", "--root", root, "--verify", "lshark")
	checkInstalled(t, root, paths)
}

// TestWindowsArchive checks that Windows gets a zip with an .exe.
func TestWindowsArchive(t *testing.T) {
	r := release{version: "1.2.3", time: time.Unix(1800000000, 0), docs: map[string][]byte{
		"LICENSE": []byte("MIT"), "completions/lshark.1": []byte(".TH"), "completions/lshark.ps1": []byte("Register"),
	}}
	archive, err := r.archive(target{"windows", "amd64"}, []byte("MZ"))
	must.That(t, err == nil && archive.name == "lshark-1.2.3-windows-amd64.zip", "%s, %v", archive.name, err)
	z, err := zip.NewReader(bytes.NewReader(archive.data), int64(len(archive.data)))
	must.NoError(t, err)
	got := make(map[string]string)
	for _, f := range z.File {
		r := must.Value(f.Open())(t)
		data := must.Value(io.ReadAll(r))(t)
		got[strings.TrimPrefix(f.Name, "lshark-1.2.3-windows-amd64/")] = string(data)
	}
	want := map[string]string{"lshark.exe": "MZ", "LICENSE": "MIT", "man/man1/lshark.1": ".TH", "completions/lshark.ps1": "Register"}
	assert.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "the zip", got, want)
}

// TestVersion checks how versions of Go become versions of packages, and that
// a release is in the changelog.
func TestVersion(t *testing.T) {
	for _, tt := range []struct{ module, version string }{
		{"v1.2.3", "1.2.3"},
		{"v1.2.3-rc1", "1.2.3~rc1"},
		{"v0.0.0-20261122031704-654067e8b87a", "0.0.0~20261122031704~654067e8b87a"},
	} {
		assert.Equal(t, packageVersion(tt.module), tt.version, "packageVersion", tt.module)
	}
	r := release{docs: map[string][]byte{"CHANGELOG.md": []byte("# Changelog\n\n## [1.2.3] - 2026-12-01\n")}}
	for version, ok := range map[string]bool{"1.2.3": true, "1.2.4": false, "1.2.4~rc1": true} {
		r.version = version
		assert.Equal(t, r.checkChangelog() == nil, ok, "version", version)
	}
}

// TestTargets checks the flag -target.
func TestTargets(t *testing.T) {
	got, err := selectTargets("darwin/arm64,linux/amd64")
	assert.That(t, err == nil && fmt.Sprint(got) == "[darwin/arm64 linux/amd64]", "targets %v, %v", got, err)
	if got, err := selectTargets(""); err != nil || len(got) != len(targets) {
		t.Errorf("without a list: targets %v, %v", got, err)
	}
	if _, err := selectTargets("plan9/386"); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
		t.Errorf("an unknown target: error %v", err)
	}
}
