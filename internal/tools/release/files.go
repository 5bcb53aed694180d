package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// packedFile is a file in an archive or package.
type packedFile struct {
	name string // relative, with slashes; a folder ends with one
	mode int64  // permission bits
	data []byte
}

func (f *packedFile) isDir() bool { return strings.HasSuffix(f.name, "/") }

// readDocs returns what accompanies the binary, by the name in the work tree:
// the license, the README and its pages, the changelog, manual pages,
// completions and the profile for Wireshark.
func readDocs(root string) (map[string][]byte, error) {
	docs := make(map[string][]byte)
	for _, pattern := range []string{"LICENSE", "README.md", "CHANGELOG.md", "docs/*.md", "completions/*lshark*", "completions/wireshark/Lustre/*"} {
		matches, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("%s: no such file", filepath.Join(root, pattern))
		}
		for _, match := range matches {
			data, err := os.ReadFile(match)
			if err != nil {
				return nil, err
			}
			docs[path.Join(path.Dir(pattern), filepath.Base(match))] = data
		}
	}
	return docs, nil
}

// completionPaths returns where packages install the completions, by their
// names in the work tree. The folder for zsh differs between systems.
func completionPaths(zsh string) map[string]string {
	return map[string]string{
		"completions/lshark.bash": "usr/share/bash-completion/completions/lshark",
		"completions/lshark.fish": "usr/share/fish/vendor_completions.d/lshark.fish",
		"completions/_lshark":     zsh + "/_lshark",
	}
}

// installed returns the files of a package, and the folders that belong to it
// alone, sorted by name. Documents go where paths says, manual pages compressed
// into their folder, everything else into usr/share/doc/lshark. Completions
// for other systems are left out, and the profile, which the binary installs.
func (r *release) installed(binary []byte, paths map[string]string) []packedFile {
	files := []packedFile{
		{"usr/bin/lshark", 0o755, binary},
		{docFolder, 0o755, nil},
		{docFolder + "docs/", 0o755, nil},
	}
	for name, data := range r.docs {
		switch to := paths[name]; {
		case to != "":
			files = append(files, packedFile{to, 0o644, data})
		case isManPage(name):
			files = append(files, packedFile{"usr/share/man/man1/" + path.Base(name) + ".gz", 0o644, compress(data)})
		case !strings.HasPrefix(name, "completions/"):
			files = append(files, packedFile{docFolder + name, 0o644, data})
		}
	}
	sortFiles(files)
	return files
}

const docFolder = "usr/share/doc/lshark/"

func isManPage(name string) bool { return strings.HasSuffix(name, ".1") }

func sortFiles(files []packedFile) {
	slices.SortFunc(files, func(a, b packedFile) int { return strings.Compare(a.name, b.name) })
}

// compress returns data as gzip writes them, without a name or time.
func compress(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return b.Bytes()
}
