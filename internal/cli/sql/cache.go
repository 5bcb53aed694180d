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

// entry is what the cache has of a capture.
type entry struct {
	Capture string               `json:"capture"` // when it was converted first
	Damage  *capture.DamageError `json:"damage,omitempty"`

	folder string
	used   time.Time
	size   int64 // of its files, bytes
	tables []string
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

// entry returns the folder for a capture in a state. settings decide what is made of it.
func (c *cache) entry(state string, settings []string) string {
	key := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", c.release, state, settings))
	return filepath.Join(c.folder, parquetFolder, hex.EncodeToString(key[:]))
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

// find returns the file with a table in the folder of a capture, and the error for its damage; ok is
// false when it is not there.
func (c *cache) find(folder, table, capturePath string) (path string, damaged error, ok bool) {
	path = filepath.Join(folder, table+".parquet")
	about := filepath.Join(folder, captureFile)
	var e entry
	if _, err := os.Stat(path); err != nil || e.read(about) != nil {
		return path, nil, false
	}
	now := c.now()
	_ = os.Chtimes(about, now, now) // a cache that cannot be written is used all the same
	if e.Damage != nil {
		e.Damage.File = capturePath
		damaged = e.Damage
	}
	return path, damaged, true
}

// add moves a finished file into the folder of a capture and returns its name there. damaged is the
// damage of the capture, or nil.
func (c *cache) add(folder, table, file, capturePath string, damaged *capture.DamageError) (string, error) {
	abs, err := filepath.Abs(capturePath)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(entry{Capture: abs, Damage: damaged})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, table+".parquet")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	return path, errors.Join(os.WriteFile(filepath.Join(folder, captureFile), append(text, '\n'), iostreams.SecretFileMode), os.Rename(file, path))
}

// read reads what add has written. What is not complete is no JSON, and counts as not there.
func (e *entry) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, e)
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
		e := &entry{folder: filepath.Join(c.folder, parquetFolder, f.Name())}
		_ = e.read(filepath.Join(e.folder, captureFile)) // without a name it is shown all the same
		files, err := os.ReadDir(e.folder)
		if err != nil {
			continue // removed meanwhile, or no folder
		}
		for _, file := range files {
			info, err := file.Info()
			if err != nil {
				continue
			}
			e.size += info.Size()
			if table, ok := strings.CutSuffix(file.Name(), ".parquet"); ok {
				e.tables = append(e.tables, table)
			}
			if file.Name() == captureFile {
				e.used = info.ModTime()
			}
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Or(b.used.Compare(a.used), cmp.Compare(a.folder, b.folder)) })
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
		total += e.size
		if total > limit && c.now().Sub(e.used) > keepUsed {
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
