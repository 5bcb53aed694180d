package main

import (
	"bytes"
	"crypto/md5" // part of the format, beside SHA-256
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
)

// rpmRelease is the packaging's own number; each version is packaged once.
const rpmRelease = "1"

// rpmArchs has rpm's names of Go's architectures, and those by which a package
// provides itself for one.
var rpmArchs = map[string]struct{ name, isa string }{
	"amd64": {"x86_64", "x86-64"},
	"arm64": {"aarch64", "aarch-64"},
}

// rpm packs the binary for Red Hat, SUSE and their descendants. The format is
// that of the Linux Standard Base, 25.2: a lead, a header with checksums, a
// header about the package, and a compressed cpio archive.
func (r *release) rpm(t target, binary []byte) (product, error) {
	arch, ok := rpmArchs[t.arch]
	if !ok {
		return product{}, fmt.Errorf("rpm has no name for %s", t.arch)
	}
	paths := completionPaths("usr/share/zsh/site-functions")
	paths["LICENSE"] = licenseFolder + "LICENSE"
	files := append(r.installed(binary, paths), packedFile{licenseFolder, 0o755, nil})
	sortFiles(files)
	name := "lshark-" + r.version + "-" + rpmRelease

	archive := cpio(files, r.time.Unix())
	payload := compress(archive)
	header := r.rpmHeader(files, arch.name, arch.isa, payload).bytes(regionImmutable)

	both := append(bytes.Clone(header), payload...)
	md5sum := md5.Sum(both)
	var sums rpmTable
	sums.text(sigSHA1, fmt.Sprintf("%x", sha1.Sum(header)))
	sums.text(sigSHA256, fmt.Sprintf("%x", sha256.Sum256(header)))
	sums.uint32s(sigSize, uint32(len(both)))
	sums.binary(sigMD5, md5sum[:])
	sums.uint32s(sigPayloadSize, uint32(len(archive)))

	b := rpmLead(name)
	b = append(b, sums.bytes(regionSignatures)...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return product{name + "." + arch.name + ".rpm", append(b, both...)}, nil
}

const licenseFolder = "usr/share/licenses/lshark/"

// rpmLead returns the 96 bytes that begin a package. Only old programs read
// more of them than the magic number.
func rpmLead(name string) []byte {
	b := []byte{0xed, 0xab, 0xee, 0xdb, 3, 0, 0, 0, 0, 1} // version 3.0, a binary package
	b = append(b, make([]byte, 66)...)
	copy(b[10:75], name)
	b = append(b, 0, 1, 0, 5) // Linux; checksums stand in a header
	return append(b, make([]byte, 16)...)
}

// rpmHeader returns the header about the package.
func (r *release) rpmHeader(files []packedFile, arch, isa string, payload []byte) *rpmTable {
	evr := r.version + "-" + rpmRelease
	var h rpmTable
	h.texts(tagI18NTable, "C")
	h.text(tagName, "lshark")
	h.text(tagVersion, r.version)
	h.text(tagRelease, rpmRelease)
	h.translated(tagSummary, "Dissector for the network protocol of Lustre")
	h.translated(tagDescription, description)
	h.uint32s(tagBuildTime, uint32(r.time.Unix()))
	h.text(tagLicense, "MIT")
	h.translated(tagGroup, "Applications/Internet")
	h.text(tagURL, homepage)
	h.text(tagOS, "linux")
	h.text(tagArch, arch)
	h.text(tagSourceRPM, "lshark-"+evr+".src.rpm") // without it rpm takes this for a source package
	h.texts(tagProvideName, "lshark", "lshark("+isa+")")
	h.uint32s(tagProvideFlags, senseEqual, senseEqual)
	h.texts(tagProvideVersion, evr, evr)
	r.rpmRequires(&h)
	h.text(tagPayloadFormat, "cpio")
	h.text(tagPayloadCompressor, "gzip")
	h.text(tagPayloadFlags, "6")
	h.texts(tagPayloadDigest, fmt.Sprintf("%x", sha256.Sum256(payload)))
	h.uint32s(tagPayloadDigestAlgo, digestSHA256)
	r.rpmFiles(&h, files)
	return &h
}

// rpmRequires adds the features of rpm that the package uses, each with the
// version that brought it.
func (r *release) rpmRequires(h *rpmTable) {
	names := []string{"rpmlib(CompressedFileNames)", "rpmlib(FileDigests)", "rpmlib(PayloadFilesHavePrefix)"}
	versions := []string{"3.0.4-1", "4.6.0-1", "4.0-1"}
	if strings.Contains(r.version, "~") {
		names = append(names, "rpmlib(TildeInVersions)")
		versions = append(versions, "4.10.0-1")
	}
	flags := make([]uint32, len(names))
	for i := range flags {
		flags[i] = senseLess | senseEqual | senseRPMLib
	}
	h.texts(tagRequireName, names...)
	h.uint32s(tagRequireFlags, flags...)
	h.texts(tagRequireVersion, versions...)
}

// rpmFiles adds the arrays that describe the files, with an element per file.
func (r *release) rpmFiles(h *rpmTable, files []packedFile) {
	var size uint32
	var sizes, times, flags, verify, devices, inodes, folders []uint32
	var modes, rdevs []uint16
	var digests, links, owners, langs, bases, dirs []string
	dirIndex := make(map[string]uint32)
	for i, f := range files {
		dir, base := path.Split(strings.TrimSuffix("/"+f.name, "/"))
		if _, ok := dirIndex[dir]; !ok {
			dirIndex[dir] = uint32(len(dirs))
			dirs = append(dirs, dir)
		}
		digest := ""
		if !f.isDir() {
			digest = fmt.Sprintf("%x", sha256.Sum256(f.data))
		}
		size += uint32(len(f.data))
		sizes = append(sizes, uint32(len(f.data)))
		times = append(times, uint32(r.time.Unix()))
		flags = append(flags, fileFlags(f.name))
		verify = append(verify, ^uint32(0))
		devices = append(devices, 1)
		inodes = append(inodes, uint32(i+1))
		folders = append(folders, dirIndex[dir])
		modes = append(modes, uint16(unixMode(&f)))
		rdevs = append(rdevs, 0)
		digests = append(digests, digest)
		links = append(links, "")
		owners = append(owners, "root")
		langs = append(langs, "")
		bases = append(bases, base)
	}
	h.uint32s(tagSize, size)
	h.uint32s(tagFileSizes, sizes...)
	h.uint16s(tagFileModes, modes...)
	h.uint16s(tagFileRDevs, rdevs...)
	h.uint32s(tagFileMTimes, times...)
	h.texts(tagFileDigests, digests...)
	h.texts(tagFileLinkTos, links...)
	h.uint32s(tagFileFlags, flags...)
	h.texts(tagFileUserName, owners...)
	h.texts(tagFileGroupName, owners...)
	h.uint32s(tagFileVerifyFlags, verify...)
	h.uint32s(tagFileDevices, devices...)
	h.uint32s(tagFileInodes, inodes...)
	h.texts(tagFileLangs, langs...)
	h.uint32s(tagDirIndexes, folders...)
	h.texts(tagBaseNames, bases...)
	h.texts(tagDirNames, dirs...)
	h.uint32s(tagFileDigestAlgo, digestSHA256)
}

func fileFlags(name string) uint32 {
	switch {
	case strings.HasSuffix(name, "/"):
		return 0
	case strings.HasPrefix(name, licenseFolder):
		return fileLicense
	case strings.HasPrefix(name, docFolder), strings.HasPrefix(name, "usr/share/man/"):
		return fileDoc
	}
	return 0
}

// unixMode returns the file's type and permissions, as in st_mode.
func unixMode(f *packedFile) int64 {
	if f.isDir() {
		return 0o040000 | f.mode
	}
	return 0o100000 | f.mode
}
