package scan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// errEnough is returned when as much was written as -a allows.
var errEnough = errors.New("the last file is complete")

// saveOutput is where frames are written: the file of -w, or with -b files, one after another, named
// as those of tshark. The oldest is removed when the next one is complete, so that there is always one
// more than are to be kept while one of them is written. It may also be a stream, which has only w.
type saveOutput struct {
	path     string // of -w
	numbered bool   // -b: the names have numbers and times
	limit    limits // of a file
	last     int    // number of files to be written, 0: no limit

	file    *os.File // nil: closed
	w       *capture.Writer
	whole   int64 // bytes in file of whole blocks
	frames  int64 // in file
	ends    int64 // when file ends, with a limit of time
	number  int   // of file, from 1
	written []string
}

// newSaveOutput creates the file of -w, or the first one. With a FIFO it waits for the reader.
func newSaveOutput(sys *System, in *Input, path string) (*saveOutput, error) {
	s := &saveOutput{path: path, numbered: in.ring.any(), limit: in.ring, last: in.stop.files}
	if !s.numbered {
		s.limit, s.last = limits{bytes: in.stop.bytes}, 1
	}
	if path == "-" {
		return nil, exit.Usagef("-w -: standard output has the results; name a file")
	}
	if out, err := os.Stat(path); err == nil && sys.IsOut(out) {
		return nil, exit.Usagef("-w %s: standard output has the results; name another file", path)
	}
	if err := CheckOutput("-w "+path, path, in.files...); err != nil {
		return nil, err
	}
	return s, s.open(time.Now().UnixNano())
}

// open creates the next file, which begins at a time.
func (s *saveOutput) open(at int64) error {
	s.number++
	// Not os.Create, which opens for reading too: this process would then be a
	// reader of a FIFO, so opening would not wait for another reader, and
	// writing would not fail after that reader has closed it.
	file, err := os.OpenFile(s.name(at), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, iostreams.NewFileMode)
	if err != nil {
		return err
	}
	s.file, s.whole, s.frames, s.ends = file, 0, 0, at+int64(s.limit.duration)
	s.w = capture.NewWriter(blockFile{s})
	return nil
}

func (s *saveOutput) name(at int64) string {
	if !s.numbered {
		return s.path
	}
	ending := filepath.Ext(s.path)
	return fmt.Sprintf("%s_%05d_%s%s", strings.TrimSuffix(s.path, ending), s.number%maxFiles, time.Unix(0, at).Format("20060102150405"), ending)
}

// blockFile passes whole blocks on to the file.
type blockFile struct{ *saveOutput }

// Write writes blocks. A block of which a full disk takes a part is removed again, so that the
// file can be read.
func (b blockFile) Write(p []byte) (int, error) {
	n, err := b.file.Write(p)
	const sizeAt, header = 4, 8
	whole := 0
	for whole+header <= n {
		next := whole + int(binary.LittleEndian.Uint32(p[whole+sizeAt:]))
		if next > n {
			break
		}
		whole = next
	}
	b.whole += int64(whole)
	if info, statErr := b.file.Stat(); err != nil && n > whole && statErr == nil && info.Mode().IsRegular() {
		err = errors.Join(err, b.file.Truncate(b.whole))
	}
	return n, err
}

// Write adds a frame, and begins the next file when this one has reached a limit.
func (s *saveOutput) Write(f *capture.Frame, comment string) error {
	if err := s.reach(f.Time); err != nil {
		return err
	}
	if err := s.w.Write(f, comment); err != nil {
		return err
	}
	if s.frames++; s.frames == s.limit.packets || s.limit.bytes > 0 && s.w.Size() >= s.limit.bytes {
		return s.next(f.Time)
	}
	return nil
}

// reach ends the files that end before a time.
func (s *saveOutput) reach(now int64) error {
	for s.limit.duration > 0 && now >= s.ends {
		if err := s.next(s.ends); err != nil {
			return err
		}
	}
	return nil
}

// next completes the file and begins another one. It returns errEnough when that was the last.
func (s *saveOutput) next(at int64) error {
	if err := s.Close(); err != nil {
		return err
	}
	if s.number == s.last {
		return errEnough
	}
	return s.open(at)
}

// Flush writes what is buffered.
func (s *saveOutput) Flush() error { return s.w.Flush() }

// Close completes the file, and removes the oldest one if there are more than shall be kept.
func (s *saveOutput) Close() error {
	if s.file == nil {
		return nil
	}
	name := s.file.Name()
	err := errors.Join(s.w.Flush(), s.file.Close())
	s.file = nil
	if err != nil || s.limit.files == 0 {
		return err
	}
	s.written = append(s.written, name)
	for len(s.written) > s.limit.files && err == nil {
		if err = os.Remove(s.written[0]); errors.Is(err, fs.ErrNotExist) {
			err = nil // somebody has moved it
		}
		s.written = s.written[1:]
	}
	return err
}

// limits are where a live capture stops (-a), or where a file of it ends (-b). A limit of 0 is
// none.
type limits struct {
	duration time.Duration
	bytes    int64 // of a file
	packets  int64
	files    int // with -b, how many are kept
}

// maxFiles is above the number of a file, which has five digits.
const maxFiles = 100000

func (l *limits) any() bool { return *l != limits{} }

// endsFile reports whether there is a limit of a file.
func (l *limits) endsFile() bool { return l.duration > 0 || l.bytes > 0 || l.packets > 0 }

// parseLimits parses the values of -a or -b. Of two for the same quantity the last counts, as in
// tshark.
func parseLimits(flag string, given []string) (limits, error) {
	const kilobyte = 1000
	var l limits
	for _, text := range given {
		what, value, _ := strings.Cut(text, ":")
		wrong := exit.Usagef("%s %s: must be duration:SECS, filesize:KB, packets:N or files:N", flag, text)
		if what == "duration" {
			var err error
			if l.duration, err = time.ParseDuration(value + "s"); err != nil || l.duration <= 0 {
				return limits{}, wrong
			}
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 {
			return limits{}, wrong
		}
		switch {
		case what == "filesize" && n <= math.MaxInt64/kilobyte:
			l.bytes = n * kilobyte
		case what == "packets":
			l.packets = n
		case what == "files" && n < maxFiles:
			l.files = int(n)
		default:
			return limits{}, wrong
		}
	}
	return l, nil
}
