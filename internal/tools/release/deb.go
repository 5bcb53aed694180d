package main

import (
	"bytes"
	"crypto/md5" // the checksum that dpkg --verify reads
	"fmt"
	"path"
	"strings"
)

// Fields of both kinds of packages.
const (
	summary     = "dissector for the network protocol of Lustre"
	homepage    = "https://github.com/lshark/lshark"
	description = `lshark reads the network traffic of Lustre file systems, from capture files
or a live interface, and shows every RPC as a line, as a tree with every
field, as JSON, or in tables of latencies and errors.`
)

// deb packs the binary for Debian and its descendants. See deb(5).
func (r *release) deb(t target, binary []byte) (product, error) {
	paths := completionPaths("usr/share/zsh/vendor-completions")
	paths["LICENSE"] = docFolder + "copyright"
	files := r.installed(binary, paths)
	data, err := tarred(withParents(files), r.time)
	if err != nil {
		return product{}, err
	}
	control, err := tarred([]packedFile{
		{"./control", 0o644, r.debControl(t, files)},
		{"./md5sums", 0o644, md5sums(files)},
	}, r.time)
	if err != nil {
		return product{}, err
	}
	return product{"lshark_" + r.version + "_" + t.arch + ".deb", r.ar([]packedFile{
		{"debian-binary", 0o100644, []byte("2.0\n")},
		{"control.tar.gz", 0o100644, compress(control)},
		{"data.tar.gz", 0o100644, compress(data)},
	})}, nil
}

// debControl returns the control file. Debian's names of the architectures
// that we build for are Go's.
func (r *release) debControl(t target, files []packedFile) []byte {
	size := 0
	for _, f := range files {
		size += (len(f.data) + 1023) / 1024
	}
	return fmt.Appendf(nil, `Package: lshark
Version: %s
Architecture: %s
Maintainer: the lshark authors <%s>
Installed-Size: %d
Section: net
Priority: optional
Homepage: %s
Description: %s
 %s
`, r.version, t.arch, homepage, size, homepage, summary, strings.ReplaceAll(description, "\n", "\n "))
}

func md5sums(files []packedFile) []byte {
	var b bytes.Buffer
	for _, f := range files {
		if !f.isDir() {
			fmt.Fprintf(&b, "%x  %s\n", md5.Sum(f.data), f.name)
		}
	}
	return b.Bytes()
}

// withParents returns the files under ./, with every folder above them, as
// dpkg expects them.
func withParents(files []packedFile) []packedFile {
	have := map[string]bool{"./": true}
	list := []packedFile{{"./", 0o755, nil}}
	for _, f := range files {
		f.name = "./" + f.name
		list = append(list, f)
		have[f.name] = true
	}
	for _, f := range files {
		for dir := path.Dir(strings.TrimSuffix(f.name, "/")); dir != "."; dir = path.Dir(dir) {
			if name := "./" + dir + "/"; !have[name] {
				have[name] = true
				list = append(list, packedFile{name, 0o755, nil})
			}
		}
	}
	sortFiles(list)
	return list
}

// ar returns files as an ar archive: a line of 60 bytes each, and the data,
// padded to an even length.
func (r *release) ar(files []packedFile) []byte {
	b := []byte("!<arch>\n")
	for _, f := range files {
		b = fmt.Appendf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, r.time.Unix(), 0, 0, f.mode, len(f.data))
		b = append(b, f.data...)
		if len(f.data)%2 != 0 {
			b = append(b, '\n')
		}
	}
	return b
}
