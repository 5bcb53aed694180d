package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// state identifies the content of a file without reading it.
type state struct {
	text    string
	changed time.Time // last time, of the content or anything else
}

// fileState returns the state of a file. The time of the last change of its inode cannot
// be set back, as that of its content can.
func fileState(path string) (state, error) {
	info, err := os.Stat(path)
	if err != nil {
		return state{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return state{}, err
	}
	changed := info.ModTime()
	text := fmt.Sprintf("%s %d %d", path, info.Size(), changed.UnixNano())
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode := time.Unix(s.Ctim.Unix())
		text += fmt.Sprintf(" %d %d %d", s.Dev, s.Ino, inode.UnixNano())
		if inode.After(changed) {
			changed = inode
		}
	}
	return state{text, changed}, nil
}
