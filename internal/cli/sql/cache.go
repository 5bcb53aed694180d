package sql

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// cache is the folder with the Parquet files that were made of captures:
//
//	parquet/KEY/TABLE.parquet   what was made, complete or not there
//	parquet/KEY/capture.json    the capture, and where it is damaged; its time is that of the last use
//
// KEY is a hash of the name, size and time of the capture and of everything else that decides what
// is made of it. Only the owner can read the cache: it has what the captures have. A cache that
// others can write is not used.
type cache struct {
	folder  string
	release string // and schema: another one makes other files
	now     func() time.Time
}

func cacheFolder(env func(string) string) (string, error) {
	// By the specification a relative path is to be ignored.
	if base := env("XDG_CACHE_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "lshark"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the cache: set XDG_CACHE_HOME, or HOME: %w", err)
	}
	return filepath.Join(home, ".cache", "lshark"), nil
}

const (
	parquetFolder = "parquet"
	captureFile   = "capture.json"
)

func isCacheKey(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 2*sha256.Size
}

type entry struct {
	Capture string    `json:"capture"` // when it was converted first
	Damage  *damage   `json:"damage,omitempty"`
	Used    time.Time `json:"-"`
	Size    int64     `json:"-"` // of its files, bytes
	Tables  []string  `json:"-"`

	folder string
}

// damage is the place where a capture is damaged.
type damage struct {
	Offset int64  `json:"offset"`
	Cause  string `json:"cause"`
}

// check returns an error if others can change what is in the cache.
func (c *cache) check() error {
	for _, folder := range []string{c.folder, filepath.Join(c.folder, parquetFolder)} {
		info, err := os.Stat(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		const othersWrite = 0o022
		if !isOwn(info) || info.Mode().Perm()&othersWrite != 0 {
			return fmt.Errorf("%s is not used as a cache: it belongs to another user, or others can write into it", folder)
		}
	}
	return nil
}

// key returns the name of the entry of a capture in a state. settings decide what is made of it.
func (c *cache) key(capture, settings string) string { return hashOf(c.release, settings, capture) }

// hashOf returns the hash of texts, in hexadecimal.
func hashOf(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d %s\n", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fileState returns what identifies the content of a file without reading it: its path, its size
// and when it was changed.
func fileState(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	path, err = filepath.Abs(path)
	return fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano()), err
}

// touch sets the time of the last use of a file. A cache that cannot be written is
// used all the same.
func (c *cache) touch(path string) {
	now := c.now()
	_ = os.Chtimes(path, now, now)
}

// find returns the file with a table of a capture, and the error for its damage; ok is
// false when it is not there.
func (c *cache) find(key, table, capturePath string) (path string, damaged error, ok bool) {
	folder := filepath.Join(c.folder, parquetFolder, key)
	path = filepath.Join(folder, table+".parquet")
	var e entry
	if _, err := os.Stat(path); err != nil || readJSON(filepath.Join(folder, captureFile), &e) != nil {
		return path, nil, false
	}
	c.touch(filepath.Join(folder, captureFile))
	if e.Damage != nil {
		damaged = &capture.DamageError{File: capturePath, Offset: e.Damage.Offset, Cause: e.Damage.Cause}
	}
	return path, damaged, true
}

// add moves a finished file into the cache and returns its name there. damaged is the
// damage of the capture, or nil.
func (c *cache) add(key, table, file, capturePath string, damaged *capture.DamageError) (string, error) {
	folder := filepath.Join(c.folder, parquetFolder, key)
	abs, err := filepath.Abs(capturePath)
	if err != nil {
		return "", err
	}
	e := entry{Capture: abs}
	if damaged != nil {
		e.Damage = &damage{damaged.Offset, damaged.Cause}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	if err := writeJSON(filepath.Join(folder, captureFile), e); err != nil {
		return "", err
	}
	path := filepath.Join(folder, table+".parquet")
	return path, os.Rename(file, path)
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// writeJSON writes a file of JSON. One that is not complete is no JSON, and counts as not there.
func writeJSON(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), iostreams.SecretFileMode)
}

// entries returns what the cache has, the last used first.
func (c *cache) entries() ([]*entry, error) {
	folders, err := os.ReadDir(filepath.Join(c.folder, parquetFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []*entry
	for _, f := range folders {
		if !isCacheKey(f.Name()) {
			continue
		}
		e := &entry{folder: filepath.Join(c.folder, parquetFolder, f.Name())}
		_ = readJSON(filepath.Join(e.folder, captureFile), e) // without a name it is shown all the same
		files, err := os.ReadDir(e.folder)
		if err != nil {
			continue // removed meanwhile
		}
		for _, file := range files {
			info, err := file.Info()
			if err != nil {
				continue
			}
			e.Size += info.Size()
			if table, ok := strings.CutSuffix(file.Name(), ".parquet"); ok {
				e.Tables = append(e.Tables, table)
			}
			if file.Name() == captureFile {
				e.Used = info.ModTime()
			}
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.folder, b.folder)) })
	return list, nil
}

// keepUsed is how long files stay whatever the size of the cache is: another lshark may be about
// to read them.
const keepUsed = time.Hour

// prune removes what was not used for longest until the cache has at most limit bytes, and what
// killed processes left.
func (c *cache) prune(limit int64) error {
	list, err := c.entries()
	if err != nil {
		return err
	}
	var total int64
	var errs []error
	for _, e := range list {
		total += e.Size
		if total > limit && c.now().Sub(e.Used) > keepUsed {
			errs = append(errs, os.RemoveAll(e.folder))
		}
	}
	return errors.Join(append(errs, c.removeUnfinished(24*time.Hour))...)
}

// removeUnfinished removes what is not finished and was not changed for a while.
func (c *cache) removeUnfinished(age time.Duration) error {
	files, err := os.ReadDir(c.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, f := range files {
		info, err := f.Info()
		if err == nil && strings.HasPrefix(f.Name(), ".new-") && c.now().Sub(info.ModTime()) > age {
			errs = append(errs, os.RemoveAll(filepath.Join(c.folder, f.Name())))
		}
	}
	return errors.Join(errs...)
}

// clear removes everything that prune could remove.
func (c *cache) clear() error {
	return errors.Join(os.RemoveAll(filepath.Join(c.folder, parquetFolder)), c.removeUnfinished(0))
}
