// Command fuzz runs all fuzz targets of the repository, one after the other, for a given time
// in all. What a target finds is kept in a folder and used by the next run; an input that fails
// is written to the testdata of its package, as by go test, and belongs into the repository
// with the fix.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	total := flag.Duration("time", 30*time.Minute, "time for all targets together")
	parallel := flag.Int("parallel", 1, "inputs that are tried at the same time")
	corpus := flag.String("corpus", "", "folder for inputs that reach new code (default: in the cache of the user)")
	only := flag.String("only", "", "regular expression of the targets to run, as PACKAGE.TARGET")
	dict := flag.Bool("dictionary", false, "print the dictionary of contrib/oss-fuzz, and exit")
	flag.Parse()
	if *dict {
		os.Stdout.Write(dictionary())
		return
	}
	if err := run(*total, *parallel, *corpus, *only); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

// target is a func FuzzName of a package.
type target struct{ dir, name, program string }

func run(total time.Duration, parallel int, corpus, only string) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if corpus == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		corpus = filepath.Join(cache, "lshark-fuzz")
	}
	if corpus, err = filepath.Abs(corpus); err != nil {
		return err
	}
	bin, err := os.MkdirTemp("", "lshark-fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	targets, err := build(bin, chosen)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return errors.New("no such target")
	}
	var failed []error
	var all int64
	for _, t := range targets {
		n, err := t.fuzz(total/time.Duration(len(targets)), parallel, filepath.Join(corpus, t.dir))
		if all += n; err != nil {
			failed = append(failed, err)
		}
	}
	fmt.Printf("%12d in all, %d targets\n", all, len(targets))
	return errors.Join(failed...)
}

// build compiles the tests of packages with fuzz targets, and returns the chosen targets.
func build(bin string, chosen *regexp.Regexp) (targets []target, err error) {
	dirs, err := packages(".")
	if err != nil {
		return nil, err
	}
	for i, dir := range dirs {
		program := filepath.Join(bin, strconv.Itoa(i))
		cmd := exec.Command("go", "test", "-c", "-fuzz=.", "-o", program, "./"+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", dir, err, out)
		}
		cmd = exec.Command(program, "-test.list=^Fuzz")
		cmd.Dir = dir
		list, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		for name := range strings.FieldsSeq(string(list)) {
			if chosen.MatchString(dir + "." + name) {
				targets = append(targets, target{dir, name, program})
			}
		}
	}
	return targets, nil
}

// packages returns the folders that have fuzz targets.
func packages(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if dir := filepath.Dir(path); bytes.Contains(text, []byte("\nfunc Fuzz")) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return err
	})
	return dirs, err
}

var progress = regexp.MustCompile(`execs: (\d+)`)

// fuzz runs a target and returns how often it was executed.
func (t *target) fuzz(limit time.Duration, parallel int, corpus string) (execs int64, err error) {
	cmd := exec.Command(t.program, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+limit.String(),
		"-test.parallel="+strconv.Itoa(parallel), "-test.fuzzcachedir="+corpus)
	cmd.Dir = t.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	for _, count := range progress.FindAllSubmatch(out.Bytes(), -1) {
		execs, _ = strconv.ParseInt(string(count[1]), 10, 64) // digits only
	}
	if err != nil {
		return execs, fmt.Errorf("%s %s: %w\n%s", t.dir, t.name, err, &out)
	}
	fmt.Printf("%12d %s %s\n", execs, t.dir, t.name)
	return execs, nil
}
