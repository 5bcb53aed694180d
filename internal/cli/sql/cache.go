package sql

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// cache is the folder with the Parquet files that were made of captures:
//
//	parquet/KEY/TABLE.parquet   what was made
//	parquet/KEY/capture         the path of the capture; its time is that of the last use
//
// KEY is a hash of the release, the name, size and time of the capture, and the flags. The command that
// writes a table decides whether an existing file is complete and current. Only the owner can read the
// cache: it has what the captures have. A cache that others can write is not used.
type cache struct {
	folder  string
	release string // another one makes other files
	now     func() time.Time
}

const (
	parquetFolder = "parquet"
	captureFile   = "capture"
)

// entry is what the cache has of a capture.
type entry struct {
	folder  string
	capture string // its path when it was used last
	used    time.Time
	size    int64 // of its files, bytes
	tables  []string
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
		if !iostreams.IsOwn(info) || info.Mode().Perm()&othersWrite != 0 {
			return fmt.Errorf("%s is not used as a cache: it belongs to another user, or others can write into it", folder)
		}
	}
	return nil
}

// use returns the folder for what is made of a capture with some flags, and notes that it is used.
func (c *cache) use(path string, args []string) (folder string, err error) {
	state, ok := flags.FileState(path)
	if !ok {
		return "", fmt.Errorf("%s: is not a file any more", path)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", c.release, path, state, args))
	folder = filepath.Join(c.folder, parquetFolder, hex.EncodeToString(key[:]))
	err = errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, captureFile), []byte(path), iostreams.SecretFileMode))
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return folder, nil
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
		name, _ := os.ReadFile(filepath.Join(e.folder, captureFile)) // without a name it is shown all the same
		e.capture = string(name)
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

// prune removes what was not used for longest until the cache has at most limit bytes.
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
	return errors.Join(errs...)
}

func (c *cache) clear() error { return os.RemoveAll(filepath.Join(c.folder, parquetFolder)) }
