package values

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"sync"
)

// alphabet has the characters of replacements of words. Names of file systems and pools
// must consist of such ones.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// word returns the replacement of a word: a name or a part of one, which is replaced by
// as many letters and digits. Words of letters and digits are permuted, so that their
// replacements depend on the key alone. For others, and where a replacement would be that
// of another word or an original, further ones are tried.
func (p *Mapper) word(word []byte) string {
	if r, ok := p.words[string(word)]; ok || len(word) == 0 {
		return r
	}
	const tries = 4096
	r := p.permuted(word)
	for try := uint64(1); r == nil || !p.free(r) && try < tries; try++ {
		r = p.tryWord(word, try)
	}
	p.words[string(word)] = string(r)
	p.taken[string(r)] = true
	return string(r)
}

// permuted returns the replacement of a word of letters and digits, nil for others.
func (p *Mapper) permuted(word []byte) []byte {
	digits := make([]byte, len(word))
	for i, c := range word {
		d := strings.IndexByte(alphabet, c)
		if d < 0 {
			return nil
		}
		digits[i] = byte(d)
	}
	c := cycle{p.keyed, "word", len(alphabet)}
	c.next(digits)
	for i, d := range digits {
		digits[i] = alphabet[d]
	}
	return digits
}

// minUnique is the length in bytes from which on a name that was seen before is not used as
// a replacement. There are too few shorter ones.
const minUnique = 4

// free reports whether a text may become the replacement of a word.
func (p *Mapper) free(r []byte) bool {
	if p.taken[string(r)] {
		return false
	}
	_, original := p.words[string(r)]
	return !original || len(r) < minUnique
}

// tryWord returns a pseudorandom text as long as the word, a different one for each try. It
// has letters and digits; when many of these were in use, as may happen with short words, any
// bytes that a file name can have.
func (p *Mapper) tryWord(word []byte, try uint64) []byte {
	const late = 256
	random := p.keyed.bytes(2*len(word), "other word", try, word)
	r := make([]byte, len(word))
	for i := range r {
		n := int(binary.BigEndian.Uint16(random[2*i:]))
		r[i] = alphabet[n%len(alphabet)]
		if c := byte(n); try > late && c > ' ' && c != '.' && c != '/' {
			r[i] = c
		}
	}
	return r
}

// fileName returns the replacement of a name in a directory. A leading dot and a usual
// extension stay.
func (p *Mapper) fileName(name []byte) string {
	if len(name) == 0 || p.isFixedFileName(name) || fidName().Match(name) {
		return string(name)
	}
	return p.replace(fileNames, name, (*Mapper).newFileName)
}

func (p *Mapper) newFileName(name []byte) string {
	dots := 0
	if name[0] == '.' {
		dots = 1
	}
	stem := name[dots:]
	for {
		i := bytes.LastIndexByte(stem, '.')
		if i <= 0 || !p.vocabulary.extensions[string(stem[i+1:])] {
			break
		}
		stem = stem[:i]
	}
	return string(name[:dots]) + p.word(stem) + string(name[dots+len(stem):])
}

// path returns the replacement of a path, name by name.
func (p *Mapper) path(path []byte) string {
	if bytes.IndexByte(path, '/') < 0 {
		return p.fileName(path)
	}
	return p.replace(paths, path, (*Mapper).newPath)
}

func (p *Mapper) newPath(path []byte) string {
	return eachPart(path, "/", func(_ int, name []byte) string { return p.fileName(name) })
}

func eachPart(text []byte, separator string, replacement func(i int, part []byte) string) string {
	parts := strings.Split(string(text), separator)
	for i, part := range parts {
		parts[i] = replacement(i, []byte(part))
	}
	return strings.Join(parts, separator)
}

func (p *Mapper) isFixedFileName(name []byte) bool {
	return p.vocabulary.fileNames[string(name)] || isTarget(name) || bytes.HasPrefix(name, []byte(".\x0c\x13\x14\x12:VOLATILE:"))
}

// fidName matches names that consist of a FID, and perhaps a number behind it, as those of the stripes of
// directories.
var fidName = sync.OnceValue(func() *regexp.Regexp {
	const fid = `0x[0-9a-fA-F]{1,16}:0x[0-9a-fA-F]{1,16}:0x[0-9a-fA-F]{1,16}`
	return regexp.MustCompile(`^(` + fid + `|\[` + fid + `\])(:[0-9]{0,4})?$`)
})

func span(b []byte, is func(byte) bool) int {
	for i, c := range b {
		if !is(c) {
			return i
		}
	}
	return len(b)
}

func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isHexDigit(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
func isLetter(c byte) bool   { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// allAre reports whether a text is not empty and consists of one kind of bytes.
func allAre(b []byte, is func(byte) bool) bool { return len(b) > 0 && span(b, is) == len(b) }

// xattrName returns the replacement of the name of an extended attribute. Names that the
// system fixes stay, and of the others the part up to the first dot.
func (p *Mapper) xattrName(name []byte) string {
	if p.vocabulary.xattrs[string(name)] || bytes.HasPrefix(name, []byte("lustre.lov")) {
		return string(name)
	}
	return p.replace(xattrNames, name, func(p *Mapper, name []byte) string {
		space, rest, ok := bytes.Cut(name, []byte("."))
		if !ok || !p.vocabulary.xattrSpaces[string(space)] {
			return p.word(name)
		}
		return string(space) + "." + p.word(rest)
	})
}
