package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// state identifies the content of a file without reading it.
type state struct {
	text    string
	changed time.Time // last time, of the content or anything else
}

func fileState(path string) (state, error) {
	info, err := os.Stat(path)
	if err != nil {
		return state{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return state{}, err
	}
	s := state{fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano()), info.ModTime()}
	s.addInode(info)
	return s, nil
}
