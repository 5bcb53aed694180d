package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// packedFile is a file of an archive or a package, or of the release.
type packedFile struct {
	name string // with slashes
	mode int64  // permission bits
	data []byte
}

// readDocs returns what accompanies the binary, by the name in the work tree:
// the license, the README, its pages and pictures, the changelog, manual pages,
// completions and the profile for Wireshark.
func readDocs(root string) (map[string][]byte, error) {
	docs := make(map[string][]byte)
	for _, pattern := range []string{"LICENSE", "README.md", "CHANGELOG.md", "docs/*.[mps]*", "completions/*lshark*",
		"completions/wireshark/Lustre/*"} {
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

func isManPage(name string) bool { return strings.HasSuffix(name, ".1") }

// compress returns data as gzip writes them, without a name or time.
func compress(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b) // which fails only if the buffer does
	w.Write(data)
	w.Close()
	return b.Bytes()
}
