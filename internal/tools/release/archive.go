package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"path"
	"slices"
	"strings"
	"time"
)

// archive packs the binary and the documents as a tar.gz, or a zip for Windows.
func (r *release) archive(t target, binary []byte) (packedFile, error) {
	folder := "lshark-" + r.version + "-" + t.os + "-" + t.arch
	executable := "/lshark"
	if t.os == "windows" {
		executable += ".exe"
	}
	files := []packedFile{{folder + executable, 0o755, binary}}
	for name, data := range r.docs {
		if isManPage(name) {
			name = path.Join("man", "man1", path.Base(name))
		}
		files = append(files, packedFile{folder + "/" + name, 0o644, data})
	}
	slices.SortFunc(files, func(a, b packedFile) int { return strings.Compare(a.name, b.name) })
	if t.os == "windows" {
		data, err := zipped(files, r.time)
		return packedFile{folder + ".zip", 0o644, data}, err
	}
	data, err := tarred(files, r.time)
	return packedFile{folder + ".tar.gz", 0o644, compress(data)}, err
}

// tarred returns files as a tar archive, owned by root.
func tarred(files []packedFile, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)),
			Uname: "root", Gname: "root", ModTime: at, Format: tar.FormatGNU,
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func zipped(files []packedFile, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		part, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at})
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
