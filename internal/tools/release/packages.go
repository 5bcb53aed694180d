package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// packageFormat is what differs between the kinds of packages.
type packageFormat struct {
	name         string // nfpm's, and the suffix of the file
	zsh, license string // where completions for zsh and the license are installed
}

var packageFormats = []packageFormat{
	{"deb", "/usr/share/zsh/vendor-completions/_lshark", docFolder + "copyright"},
	{"rpm", "/usr/share/zsh/site-functions/_lshark", licenseFolder + "LICENSE"},
}

const (
	docFolder     = "/usr/share/doc/lshark/"
	licenseFolder = "/usr/share/licenses/lshark/"
)

const homepage = "https://github.com/lshark/lshark"

const description = `dissector for the network protocol of Lustre
lshark reads the network traffic of Lustre file systems, from capture files
or a live interface, and shows every RPC as a line, as a tree with every
field, as JSON, or in tables of latencies and errors.`

// packages packs the binary for Debian, for Red Hat and SUSE, and for their
// descendants, under the names that nfpm gives the packages. nfpm has a module
// of its own below the root of a work tree: in go.mod it would bring a hundred
// modules to everyone who builds lshark.
func (r *release) packages(t target, binary []byte, clone, work string) (list []packedFile, err error) {
	out := filepath.Join(work, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		return nil, err
	}
	for _, format := range packageFormats {
		config, err := r.packageConfig(t, format, binary, filepath.Join(work, format.name))
		if err != nil {
			return nil, err
		}
		cmd := exec.Command("go", "-C", filepath.Join(clone, "internal", "tools", "release", "nfpm"), "tool", "nfpm",
			"package", "--packager", format.name, "--config", "-", "--target", out)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
		cmd.Stdin = bytes.NewReader(config)
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("nfpm, for %s: %w\n%s", format.name, err, text)
		}
	}
	names, err := filepath.Glob(filepath.Join(out, "*"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, packedFile{filepath.Base(name), 0o644, data})
	}
	return list, err
}

// packageConfig returns nfpm's configuration for a package, and writes its files into folder stage.
func (r *release) packageConfig(t target, format packageFormat, binary []byte, stage string) ([]byte, error) {
	var contents []map[string]any
	add := func(source, to, kind string, mode int64) {
		contents = append(contents, map[string]any{"src": source, "dst": to, "type": kind, "file_info": map[string]int64{"mode": mode}})
	}
	add("", docFolder, "dir", 0o755)
	add("", docFolder+"docs", "dir", 0o755)
	if strings.HasPrefix(format.license, licenseFolder) {
		add("", licenseFolder, "dir", 0o755)
	}
	for _, f := range r.installed(binary, format) {
		source := filepath.Join(stage, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(source, f.data, 0o600); err != nil {
			return nil, err
		}
		kind := "file"
		if format.name == "rpm" {
			kind = rpmType(f.name)
		}
		add(source, f.name, kind, f.mode)
	}
	return json.Marshal(map[string]any{
		"name": "lshark", "version": r.version, "version_schema": "none", "arch": t.arch,
		"section": "net", "priority": "optional", "maintainer": "the lshark authors <" + homepage + ">",
		"homepage": homepage, "license": "MIT", "description": description, "mtime": r.time, "contents": contents,
		"rpm": map[string]string{"group": "Applications/Internet", "buildhost": "localhost"},
	})
}

// rpmType returns the kind of a file: rpm can leave out documents, and lists
// licenses.
func rpmType(name string) string {
	switch {
	case strings.HasPrefix(name, licenseFolder):
		return "license"
	case strings.HasPrefix(name, docFolder), strings.HasPrefix(name, "/usr/share/man/"):
		return "doc"
	}
	return "file"
}

// installed returns the files of a package. Completions for other systems are
// left out, and the profile for Wireshark, which the binary installs.
func (r *release) installed(binary []byte, format packageFormat) []packedFile {
	paths := map[string]string{
		"LICENSE":                 format.license,
		"completions/_lshark":     format.zsh,
		"completions/lshark.bash": "/usr/share/bash-completion/completions/lshark",
		"completions/lshark.fish": "/usr/share/fish/vendor_completions.d/lshark.fish",
	}
	files := []packedFile{{"/usr/bin/lshark", 0o755, binary}}
	for name, data := range r.docs {
		switch to := paths[name]; {
		case to != "":
			files = append(files, packedFile{to, 0o644, data})
		case isManPage(name):
			files = append(files, packedFile{"/usr/share/man/man1/" + path.Base(name) + ".gz", 0o644, compress(data)})
		case !strings.HasPrefix(name, "completions/"):
			files = append(files, packedFile{docFolder + name, 0o644, data})
		}
	}
	return files
}
